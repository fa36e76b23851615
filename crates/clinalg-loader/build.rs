//! Puts an empty `libOpenCL.a` on the link path: the entry points are defined by this crate, so no
//! OpenCL development library is needed where the `ocl` crate asks the linker for one.

use std::path::PathBuf;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    for name in ["libOpenCL.a", "OpenCL.lib"] {
        std::fs::write(out.join(name), b"!<arch>\n").expect("OUT_DIR is writable");
    }
    println!("cargo:rustc-link-search=native={}", out.display());
}
