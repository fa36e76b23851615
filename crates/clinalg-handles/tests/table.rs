//! The table of functions and the page made from it.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use clinalg_handles::table::{GROUPS, Offer, RUST_ONLY, cpp, functions};

/// Set to write the page instead of comparing it.
const UPDATE: &str = "CLINALG_UPDATE_FUNCTIONS";

#[test]
fn every_function_is_described_once_and_every_gap_has_a_reason() {
    let mut names = BTreeSet::new();
    let mut c = BTreeSet::new();
    for function in functions() {
        assert!(names.insert(function.name), "{} is there twice", function.name);
        assert!(function.title.ends_with('.'), "{}: {}", function.name, function.title);
        assert!(function.c.names().len() <= 1, "{}: a description has one C function", function.name);
        assert!(
            function.c.names().iter().all(|name| c.insert(*name)),
            "{}: its C function is there twice",
            function.name
        );
        assert!(!function.c.names().is_empty() || function.arguments.is_empty(), "{}", function.name);
        let offers = [function.c, function.matlab, function.program];
        for offer in offers {
            match offer {
                Offer::Names(names) => assert!(!names.is_empty(), "{}", function.name),
                Offer::Missing(reason) => assert!(reason.split(' ').count() >= 3, "{}: {reason}", function.name),
            }
        }
        assert!(offers.iter().any(|offer| !offer.names().is_empty()), "{} is nowhere", function.name);
    }
}

fn page() -> String {
    let mut page = String::from(
        "# Functions of the language bindings\n\nWhat C, C++ (`clinalg.hpp`, namespace `clinalg`), MATLAB with GNU Octave and the program offer for \
         each operation, and why one of them lacks it. Made from\n`crates/clinalg-handles/src/table`; `CLINALG_UPDATE_FUNCTIONS=1 cargo test -p clinalg-handles --test table` \
         writes it.\n",
    );
    let cell = |offer: &Offer, prefix: &str| match offer {
        Offer::Names(names) => names.iter().map(|name| format!("`{prefix}{name}`")).collect::<Vec<_>>().join(", "),
        Offer::Missing(reason) => format!("({reason})"),
    };
    for group in GROUPS {
        let _ = write!(
            page,
            "\n## {}\n\n| what it does | C | C++ | MATLAB, Octave | program |\n|---|---|---|---|---|\n",
            group.title
        );
        for f in group.functions {
            // What C lacks, C++ lacks for the same reason.
            let in_cpp = f.c.names().first().and_then(|name| cpp(name)).unwrap_or(f.c);
            let (c, in_cpp, matlab) = (cell(&f.c, ""), cell(&in_cpp, ""), cell(&f.matlab, ""));
            let _ = writeln!(page, "| {} | {c} | {in_cpp} | {matlab} | {} |", f.title, cell(&f.program, "clinalg "));
        }
    }
    page += "\n## Only in Rust\n\n| what it does | why no other binding has it |\n|---|---|\n";
    for (title, reason) in RUST_ONLY {
        let _ = writeln!(page, "| {title} | {reason} |");
    }
    page
}

#[test]
fn the_page_is_that_of_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/functions.md");
    let page = page();
    if std::env::var_os(UPDATE).is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &page).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == page,
        "{} is not current: run `{UPDATE}=1 cargo test -p clinalg-handles --test table`",
        path.display()
    );
}
