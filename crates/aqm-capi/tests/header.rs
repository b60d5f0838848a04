//! The header in the tree is what cbindgen makes of the source.

use std::path::Path;

/// `AQMLAB_HEADER=write cargo test -p aqm-capi --test header` writes it.
#[test]
fn the_header_is_current() {
    let crate_dir = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(crate_dir.join("cbindgen.toml")).unwrap();
    let made = cbindgen::generate_with_config(crate_dir, config).unwrap();
    let mut text = Vec::new();
    made.write(&mut text);
    let path = crate_dir.join("include/aqmlab.h");
    if std::env::var("AQMLAB_HEADER").as_deref() == Ok("write") {
        std::fs::write(&path, &text).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept.as_bytes() == text,
        "include/aqmlab.h is not what src says: AQMLAB_HEADER=write cargo test -p aqm-capi --test header"
    );
}
