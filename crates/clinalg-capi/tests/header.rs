//! The committed header declares the functions of the common table. The C++ headers use each of them, or the table says why not. That
//! the header is what cbindgen makes of the crate is tested by the package `clinalg-header`.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;

use clinalg_handles::table::{Function, Offer, cpp, cpp_functions, functions};

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
        .map(|statement| format!("{statement};"))
        .collect()
}

fn header() -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("include/clinalg.h")).unwrap()
}

#[test]
fn the_functions_are_those_of_the_common_table() {
    let declared = declarations(&header());
    let table: BTreeSet<_> = functions().filter_map(Function::declaration).collect();
    assert!(declared.len() > 60, "{declared:?}");
    let missing: Vec<_> = declared.difference(&table).collect();
    let extra: Vec<_> = table.difference(&declared).collect();
    assert!(missing.is_empty() && extra.is_empty(), "not in the table: {missing:#?}\nnot in the header: {extra:#?}");
}

/// Functions about the library as a whole, which have no noun.
const LIBRARY: &[&str] =
    &["clinalg_version", "clinalg_shutdown", "clinalg_last_error_message", "clinalg_last_error_id"];
/// The nouns of the names of functions: kinds of objects, problems, devices and files.
const NOUNS: &[&str] = &[
    "amg",
    "array",
    "band",
    "dense",
    "device",
    "eigen",
    "elastodynamics",
    "factorisation",
    "heat",
    "matrix",
    "matrix_market",
    "multigrid",
    "object",
    "ode",
    "opencl",
    "operator",
    "poisson",
    "preconditioner",
    "saddle",
    "solver",
    "sparse",
    "system",
    "team",
    "vector",
    "wave",
    "waveform",
];

#[test]
fn names_begin_with_a_noun_that_the_guide_lists() {
    let guide = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/c.md")).unwrap();
    let section = guide.split("## Names\n").nth(1).and_then(|rest| rest.split("\n## ").next()).unwrap();
    let mut unused: BTreeSet<_> = NOUNS.iter().collect();
    let has_noun = |name: &&str| !LIBRARY.contains(name);
    for name in functions().filter_map(|function| function.c.names().first().copied()).filter(has_noun) {
        let rest = name.strip_prefix("clinalg_").unwrap();
        let is_noun = |noun: &&&str| rest.strip_prefix(**noun).is_some_and(|verb| verb.starts_with('_'));
        let noun = NOUNS.iter().filter(is_noun).max_by_key(|noun| noun.len());
        let noun = noun.unwrap_or_else(|| panic!("{name} begins with no noun"));
        assert!(section.contains(&format!("`{noun}`")), "docs/guide/c.md does not say what `{noun}` stands for");
        unused.remove(noun);
    }
    assert!(unused.is_empty(), "no function begins with {unused:?}");
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
    assert!(seen >= 12, "only {seen} option structures found");
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

/// C++ code without comments, and where its classes and functions are.
struct Code(String);

impl Code {
    /// The end of what the bracket at `open` begins.
    fn end(&self, open: usize) -> usize {
        let bytes = self.0.as_bytes();
        let (up, down) = if bytes[open] == b'(' { (b'(', b')') } else { (b'{', b'}') };
        let mut depth = 0;
        for (at, &byte) in bytes.iter().enumerate().skip(open) {
            depth += i32::from(byte == up) - i32::from(byte == down);
            if depth == 0 {
                return at + 1;
            }
        }
        bytes.len()
    }

    /// The end of the definition whose head is at `from`; nothing for a declaration.
    fn definition(&self, from: usize) -> Option<usize> {
        let open = from + self.0[from..].find(['{', ';'])?;
        (self.0.as_bytes()[open] == b'{').then(|| self.end(open))
    }

    /// The places of a whole word.
    fn places(&self, word: &str, within: Range<usize>) -> Vec<usize> {
        let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        let is_whole = |at: &usize| {
            let (before, after) = (&self.0[..*at], &self.0[at + word.len()..]);
            !is_part(before.chars().next_back()) && !is_part(after.chars().next())
        };
        self.0[within.clone()].match_indices(word).map(|(at, _)| within.start + at).filter(is_whole).collect()
    }

    /// Where classes and types of that name are defined.
    fn classes(&self, name: &str) -> Vec<Range<usize>> {
        let range = |at: usize| {
            let before = self.0[..at].trim_end();
            if before.ends_with("class") || before.ends_with("struct") {
                return self.definition(at).map(|end| at..end);
            }
            let start = before.rfind([';', '{', '}']).map_or(0, |at| at + 1);
            let is_type = before[start..].trim_start().starts_with("typedef");
            (is_type && self.0[at + name.len()..].starts_with(';')).then_some(start..at)
        };
        self.places(name, 0..self.0.len()).into_iter().filter_map(range).collect()
    }

    /// Where functions of that name are defined.
    fn functions(&self, name: &str, within: Range<usize>) -> Vec<Range<usize>> {
        let range = |at: usize| {
            let mut open = at + name.len();
            if self.0[open..].starts_with('<') {
                open += self.0[open..].find('>')? + 1;
            }
            let is_function = self.0[open..].starts_with('(');
            is_function.then(|| self.definition(self.end(open))).flatten().map(|end| at..end)
        };
        self.places(name, within).into_iter().filter_map(range).collect()
    }

    /// What of `names`, classes, functions or members, is not defined by a call of `function` or by way of another one of them.
    fn unreached<'n>(&self, function: &str, names: &[&'n str]) -> Vec<&'n str> {
        let last = |name: &'n str| name.rsplit("::").next().unwrap_or(name);
        let bodies = |name: &'n str| match name.split_once("::") {
            Some((class, member)) => {
                self.classes(class).into_iter().flat_map(|within| self.functions(member, within)).collect::<Vec<_>>()
            }
            None => [self.classes(name), self.functions(name, 0..self.0.len())].concat(),
        };
        let mut reached: Vec<&'n str> = Vec::new();
        loop {
            let known = reached.len();
            for &name in names {
                let calls = |body: Range<usize>| {
                    let inside = (body.start + last(name).len()).min(body.end)..body.end;
                    let named = |word: &str| !self.places(word, inside.clone()).is_empty();
                    named(function) || reached.iter().any(|&other| named(last(other)))
                };
                if !reached.contains(&name) && bodies(name).into_iter().any(calls) {
                    reached.push(name);
                }
            }
            if reached.len() == known {
                return names.iter().copied().filter(|name| !reached.contains(name)).collect();
            }
        }
    }
}

/// Functions whose results a constructor keeps for the members that the table names.
const KEPT: &[(&str, &str)] = &[
    ("clinalg_last_error_message", "Error"),
    ("clinalg_last_error_id", "Error"),
    ("clinalg_ode_step_info", "OdeStep"),
];

#[test]
fn cpp_offers_every_function_of_c() {
    let code = Code(cpp_headers());
    let all = 0..code.0.len();
    // The search tells what is there from what is not.
    assert_eq!(code.unreached("clinalg_array_norm2", &["norm", "norm1", "Vector::norm"]), ["norm1", "Vector::norm"]);
    assert_eq!(code.unreached("clinalg_solver_solve", &["Solver::solve", "Solver::refill"]), ["Solver::refill"]);
    let mut listed = BTreeSet::new();
    for name in cpp_functions() {
        assert!(listed.insert(name), "{name} is listed twice");
    }
    for function in functions().filter_map(|function| function.c.names().first()) {
        assert!(listed.remove(function), "clinalg-handles/src/table/cpp.rs lacks {function}");
        match cpp(function).unwrap() {
            Offer::Names(names) => {
                assert!(!names.is_empty(), "{function}");
                let kept = KEPT.iter().find(|(name, _)| name == function);
                let names = kept.map_or(names, |(_, class)| std::slice::from_ref(class));
                let unreached = code.unreached(function, names);
                assert!(unreached.is_empty(), "{function}: no definition of {unreached:?} in C++ calls it");
            }
            Offer::Missing(reason) => {
                assert!(reason.split(' ').count() >= 3, "{function}: {reason}");
                let called = !code.places(function, all.clone()).is_empty();
                assert!(!called, "a C++ header calls {function}, which the table says is not used");
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
