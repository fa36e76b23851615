//! The committed header declares the functions of the common table. The C++ headers use each of them, or the table says why not. That
//! the header is what cbindgen makes of the crate is tested by the package `clinalg-header`.

use std::collections::BTreeSet;
use std::path::Path;

use clinalg_handles::table::{Offer, cpp, cpp_functions, functions};

#[test]
fn the_version_of_the_header_is_that_of_the_library() {
    let header = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("include/clinalg.h")).unwrap();
    let parts = [
        ("MAJOR", env!("CARGO_PKG_VERSION_MAJOR")),
        ("MINOR", env!("CARGO_PKG_VERSION_MINOR")),
        ("PATCH", env!("CARGO_PKG_VERSION_PATCH")),
    ];
    for (part, number) in parts {
        let line = format!("#define CLINALG_VERSION_{part} {number}");
        assert!(header.lines().any(|l| l == line), "cbindgen.toml lacks `{line}`");
    }
}

/// C text without its comments.
fn without_comments(text: &str) -> String {
    let mut code = String::new();
    let mut rest = text;
    while let Some((before, comment)) = rest.split_once("/*") {
        code += before;
        rest = comment.split_once("*/").map_or("", |(_, after)| after);
    }
    code += rest;
    code.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// The declarations of functions in C text, each on one line.
fn declarations(text: &str) -> BTreeSet<String> {
    let code = without_comments(text);
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

#[test]
fn option_structures_begin_with_their_size() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let code = without_comments(&std::fs::read_to_string(root.join("include/clinalg.h")).unwrap());
    let guide = std::fs::read_to_string(root.join("../../docs/guide/c.md")).unwrap();
    let declared = declarations(&code);
    let mut seen = 0;
    for structure in code.split("typedef struct {").skip(1) {
        let (body, rest) = structure.split_once('}').unwrap();
        let name = rest.split(';').next().unwrap().trim();
        if !name.ends_with("_options") {
            continue;
        }
        seen += 1;
        assert_eq!(body.split(';').next().map(str::trim), Some("size_t struct_size"), "{name}");
        let defaults = format!("clinalg_status {name}_default({name} *options, size_t struct_size);");
        assert!(declared.contains(&defaults), "there is no {defaults}");
        assert!(guide.contains(&format!("`{name}`")), "docs/guide/c.md does not list {name} among those that grow");
    }
    assert!(seen >= 13, "only {seen} option structures found");
}

/// The code of every C++ header.
fn cpp_headers() -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("include/clinalg");
    let mut code = String::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        assert!(text.lines().count() <= 700, "a header of more than 700 lines");
        code += &without_comments(&text);
    }
    code
}

#[test]
fn cpp_offers_every_function_of_c() {
    let code = cpp_headers();
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let words: BTreeSet<_> = code.split(|c| !is_part(c)).collect();
    let mut listed = BTreeSet::new();
    for name in cpp_functions() {
        assert!(listed.insert(name), "{name} is listed twice");
    }
    for function in functions().filter_map(|function| function.c.names().first()) {
        assert!(listed.remove(function), "clinalg-handles/src/table/cpp.rs lacks {function}");
        match cpp(function).unwrap() {
            Offer::Names(names) => {
                assert!(words.contains(function), "no C++ header calls {function}");
                for name in names {
                    let found = |word: &str| match word.strip_prefix("operator") {
                        Some(_) => code.contains(&format!("{word}(")),
                        None => words.contains(word),
                    };
                    // `what` is that of the base class.
                    let is_known = |word: &&str| found(word) || *word == "what";
                    assert!(
                        !names.is_empty() && name.split("::").all(|word| is_known(&word)),
                        "{function}: no {name} in C++"
                    );
                }
            }
            Offer::Missing(reason) => {
                assert!(reason.split(' ').count() >= 3, "{function}: {reason}");
                assert!(!words.contains(function), "a C++ header calls {function}, which the table says is not used");
            }
        }
    }
    assert!(listed.is_empty(), "no functions of C: {listed:?}");
}

#[test]
fn the_cpp_header_includes_every_part() {
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("include");
    let text = std::fs::read_to_string(include.join("clinalg.hpp")).unwrap();
    for entry in std::fs::read_dir(include.join("clinalg")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(text.contains(&format!("#include \"clinalg/{name}\"")), "clinalg.hpp lacks {name}");
    }
}
