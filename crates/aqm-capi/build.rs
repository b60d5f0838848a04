//! Names the shared library by the version of its interface, as distributions do.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // Before 1.0 the interface may change with the minor version.
    let version = concat!(env!("CARGO_PKG_VERSION_MAJOR"), ".", env!("CARGO_PKG_VERSION_MINOR"));
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libaqmlab.so.{version}");
    }
}
