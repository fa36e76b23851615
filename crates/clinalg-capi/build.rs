//! Names the shared library as programs that link it look for it.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        // The number that programs depend on is major.minor while the major number is 0.
        let soname = format!("libclinalg.so.{}.{}", env!("CARGO_PKG_VERSION_MAJOR"), env!("CARGO_PKG_VERSION_MINOR"));
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,{soname}");
        // OpenCL drivers keep threads that may call back into a library that was unloaded.
        println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
}
