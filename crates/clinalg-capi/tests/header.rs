//! The committed header is what cbindgen makes of the crate, and declares the functions of the common table.

use std::collections::BTreeSet;
use std::path::Path;

use clinalg_handles::table::functions;

/// Set to write the header instead of comparing it.
const UPDATE: &str = "CLINALG_UPDATE_HEADER";

#[test]
fn header_is_current() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_root_or_default(root);
    let bindings = cbindgen::Builder::new().with_crate(root).with_config(config).generate().unwrap();
    let mut made = Vec::new();
    bindings.write(&mut made);
    let file = root.join("include/clinalg.h");
    if std::env::var_os(UPDATE).is_some() {
        std::fs::write(&file, &made).unwrap();
    }
    let committed = std::fs::read(&file).unwrap_or_default();
    assert!(
        committed == made,
        "{} is not current: run `{UPDATE}=1 cargo test -p clinalg-capi --test header`",
        file.display()
    );
}

/// The declarations of functions in C text, each on one line.
fn declarations(text: &str) -> BTreeSet<String> {
    let mut code = String::new();
    let mut rest = text;
    while let Some((before, comment)) = rest.split_once("/*") {
        code += before;
        rest = comment.split_once("*/").map_or("", |(_, after)| after);
    }
    code += rest;
    // A declaration ends at the first semicolon; what stands before it on lines of their own belongs to the preprocessor or to
    // a type.
    let lines: Vec<_> = code.lines().filter(|line| !line.starts_with('#')).collect();
    let words = |statement: &str| statement.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_function = |statement: &String| {
        let name = statement.split('(').next().unwrap_or_default().split([' ', '*']).next_back().unwrap_or_default();
        statement.contains('(') && name.starts_with("clinalg_") && !statement.starts_with("typedef")
    };
    lines
        .join("\n")
        .split(';')
        .map(|statement| words(statement.rsplit('{').next().unwrap_or_default()))
        .filter(is_function)
        .map(|statement| statement + ";")
        .collect()
}

#[test]
fn the_functions_are_those_of_the_common_table() {
    let header = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("include/clinalg.h")).unwrap();
    let declared = declarations(&header);
    let table: BTreeSet<_> = functions().filter_map(|function| function.declaration()).collect();
    assert!(declared.len() > 60, "{declared:?}");
    let missing: Vec<_> = declared.difference(&table).collect();
    let extra: Vec<_> = table.difference(&declared).collect();
    assert!(missing.is_empty() && extra.is_empty(), "not in the table: {missing:#?}\nnot in the header: {extra:#?}");
}
