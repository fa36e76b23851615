//! The committed header of the C interface is what cbindgen makes of its crate.

use std::path::Path;

/// Set to write the header instead of comparing it.
const UPDATE: &str = "CLINALG_UPDATE_HEADER";

#[test]
fn header_is_current() {
    let root = &Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates/clinalg-capi");
    let config = cbindgen::Config::from_root_or_default(root);
    let bindings = cbindgen::Builder::new().with_crate(root).with_config(config).generate().unwrap();
    let mut made = Vec::new();
    bindings.write(&mut made);
    let file = root.join("include/clinalg.h");
    if std::env::var_os(UPDATE).is_some() {
        std::fs::write(&file, &made).unwrap();
    }
    let committed = std::fs::read(&file).unwrap_or_default();
    assert!(committed == made, "{} is not current: run `{UPDATE}=1 cargo test -p clinalg-header`", file.display());
}
