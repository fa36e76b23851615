//! The test of the header is a package of its own, since cbindgen takes long to compile.
