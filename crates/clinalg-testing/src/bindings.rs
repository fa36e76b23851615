//! What the language bindings offer, as `docs/reference/functions.md` says, and what the C header declares.

use std::collections::BTreeSet;
use std::path::Path;

/// A cell of the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Availability {
    /// Names of functions.
    Names(Vec<String>),
    /// Nothing, for this reason.
    Missing(String),
}

impl Availability {
    /// Parses a cell; a number in brackets refers to an entry of `reasons`, counted from 1.
    fn parse(cell: &str, reasons: &[&str]) -> Availability {
        match cell.strip_prefix('(').and_then(|cell| cell.strip_suffix(')')) {
            Some(reason) => {
                let numbered = reason.parse().ok().and_then(|k: usize| reasons.get(k.checked_sub(1)?));
                Availability::Missing(numbered.unwrap_or(&reason).to_string())
            }
            None => Availability::Names(cell.split(", ").map(|name| name.trim_matches('`').to_owned()).collect()),
        }
    }

    /// The names; none where the function is missing.
    pub fn names(&self) -> &[String] {
        match self {
            Availability::Names(names) => names,
            Availability::Missing(_) => &[],
        }
    }
}

/// A row of the page: one operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// What it does, in a sentence.
    pub title: String,
    /// The C interface.
    pub c: Availability,
    /// The namespace `clinalg` of C++.
    pub cpp: Availability,
    /// MATLAB and GNU Octave.
    pub matlab: Availability,
    /// The program, with `clinalg` before the command.
    pub program: Availability,
}

impl Function {
    /// What each binding offers, in the order of the columns.
    pub fn offers(&self) -> [&Availability; 4] {
        [&self.c, &self.cpp, &self.matlab, &self.program]
    }

    /// The C function, if there is one.
    pub fn c_name(&self) -> Option<&str> {
        self.c.names().first().map(String::as_str)
    }
}

fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Why C has no operations on arrays.
const VECTORS: &str = "(C has the vector operations instead)";

/// Every row of `docs/reference/functions.md`.
///
/// # Panics
/// If the page cannot be read, or a row has another number of columns.
pub fn functions() -> Vec<Function> {
    let page = read("docs/reference/functions.md");
    let (tables, _) = page.split_once("\n## Only in Rust").expect("a section on what only Rust offers");
    let numbered = tables.lines().filter_map(|line| line.split_once(". "));
    let reasons: Vec<&str> = numbered.filter(|(k, _)| k.parse::<usize>().is_ok()).map(|(_, text)| text).collect();
    let rows = tables.lines().filter_map(|line| line.strip_prefix("| ")).filter(|row| !row.starts_with("what it does"));
    rows.map(|row| {
        let cells: Vec<_> = row.trim_end_matches(" |").split(" | ").collect();
        // Operations on objects have no column for the program.
        let (title, c, cpp, matlab, program) = match cells[..] {
            [title, c, cpp, matlab, program] => (title, c, cpp, matlab, program),
            [title, c, cpp, matlab] => (title, c, cpp, matlab, "(1)"),
            // Operations on arrays are those of MATLAB.
            [title, matlab] => (title, VECTORS, VECTORS, matlab, "(1)"),
            _ => panic!("two, four or five columns are expected: {row}"),
        };
        let [c, cpp, matlab, program] = [c, cpp, matlab, program].map(|cell| Availability::parse(cell, &reasons));
        Function { title: title.to_owned(), c, cpp, matlab, program }
    })
    .collect()
}

/// C text without its comments.
pub fn without_comments(text: &str) -> String {
    let mut code = String::new();
    let mut rest = text;
    while let Some((before, comment)) = rest.split_once("/*") {
        code += before;
        rest = comment.split_once("*/").map_or("", |(_, after)| after);
    }
    code += rest;
    code.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// The code of the C header, without comments.
///
/// # Panics
/// If the header cannot be read.
pub fn header() -> String {
    without_comments(&read("crates/clinalg-capi/include/clinalg.h"))
}

/// The declarations of functions in C code, each on one line.
pub fn declarations(code: &str) -> BTreeSet<String> {
    // A declaration ends at the first semicolon; what stands before it on lines of their own belongs to the preprocessor or to
    // a type.
    let lines: Vec<_> = code.lines().filter(|line| !line.starts_with('#')).collect();
    let words = |statement: &str| statement.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_function = |statement: &String| {
        statement.contains('(') && name(statement).starts_with("clinalg_") && !statement.starts_with("typedef")
    };
    lines
        .join("\n")
        .split(';')
        .map(|statement| words(statement.rsplit('{').next().unwrap_or_default()))
        .filter(is_function)
        .map(|statement| format!("{statement};"))
        .collect()
}

/// The name of the function of a [declaration](declarations).
pub fn name(declaration: &str) -> &str {
    declaration.split('(').next().unwrap_or_default().split([' ', '*']).next_back().unwrap_or_default()
}

/// Types and names of the arguments of a [declaration](declarations); a pointer has its star with the type.
pub fn arguments(declaration: &str) -> Vec<(&str, &str)> {
    let list = declaration.split_once('(').and_then(|(_, rest)| rest.rsplit_once(')')).map_or("", |(list, _)| list);
    list.split(", ")
        .filter_map(|argument| {
            let at = argument.rfind([' ', '*'])? + 1;
            Some((argument[..at].trim_end(), &argument[at..]))
        })
        .collect()
}
