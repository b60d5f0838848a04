//! Scripts of packetdrill's repository, for whoever has them.

use std::path::Path;

#[test]
fn public_scripts_are_read() {
    let Some(root) = std::env::var_os("AQMLAB_PACKETDRILL") else {
        println!("skipped: AQMLAB_PACKETDRILL names no copy of https://github.com/google/packetdrill");
        return;
    };
    let folder = Path::new(&root).join("gtests/net/tcp/slow_start");
    assert!(folder.is_dir(), "{} is no folder", folder.display());
}
