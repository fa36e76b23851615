//! The committed header declares the functions that `docs/reference/functions.md` names. The C++ headers use each of them, or the page
//! says why not. That the header is what cbindgen makes of the crate is tested by the package `clinalg-header`.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;

use clinalg_testing::bindings::{Availability, Function, declarations, functions, header, name, without_comments};

#[test]
fn the_version_of_the_header_is_that_of_the_library() {
    let header = include("clinalg.h");
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

fn include(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("include").join(name)).unwrap()
}

#[test]
fn functions_match_the_page_of_functions() {
    let declared = declarations(&header());
    let declared: BTreeSet<_> = declared.iter().map(|declaration| name(declaration)).collect();
    assert!(declared.len() > 60, "{declared:?}");
    let functions = functions();
    let page: BTreeSet<_> = functions.iter().filter_map(Function::c_name).collect();
    let missing: Vec<_> = declared.difference(&page).collect();
    let extra: Vec<_> = page.difference(&declared).collect();
    assert!(
        missing.is_empty() && extra.is_empty(),
        "not in docs/reference/functions.md: {missing:#?}\nnot in the header: {extra:#?}"
    );
}

#[test]
fn the_page_has_every_function_once_and_a_reason_for_every_gap() {
    let functions = functions();
    let mut titles = BTreeSet::new();
    let mut c = BTreeSet::new();
    for function in &functions {
        let title = &function.title;
        assert!(titles.insert(title), "{title} is there twice");
        assert!(title.ends_with('.'), "{title}");
        assert!(function.c.names().len() <= 1, "{title} a row has one C function");
        assert!(function.c_name().is_none_or(|name| c.insert(name)), "{title} its C function is there twice");
        for offer in function.offers() {
            match offer {
                Availability::Names(names) => assert!(names.iter().all(|name| !name.is_empty()), "{title} {names:?}"),
                Availability::Missing(reason) => assert!(reason.split(' ').count() >= 3, "{title} {reason}"),
            }
        }
        assert!(function.offers().iter().any(|offer| !offer.names().is_empty()), "{title} is nowhere");
        if let Availability::Missing(_) = function.c {
            assert_eq!(function.cpp, function.c, "{title} what C lacks, C++ lacks for the same reason");
        }
    }
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
    let functions = functions();
    for name in functions.iter().filter_map(Function::c_name).filter(has_noun) {
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
    let code = header();
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

/// Functions whose results a constructor keeps for the members that the page names.
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
    for function in functions() {
        let Some(name) = function.c_name() else { continue };
        match &function.cpp {
            Availability::Names(names) => {
                let kept = KEPT.iter().find(|(kept, _)| *kept == name);
                let names = kept.map_or_else(|| names.iter().map(String::as_str).collect(), |(_, class)| vec![*class]);
                let unreached = code.unreached(name, &names);
                assert!(unreached.is_empty(), "{name}: no definition of {unreached:?} in C++ calls it");
            }
            Availability::Missing(_) => {
                let called = !code.places(name, all.clone()).is_empty();
                assert!(!called, "a C++ header calls {name}, which the page says is not used");
            }
        }
    }
}

#[test]
fn the_cpp_header_includes_every_part() {
    let text = include("clinalg.hpp");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("include/clinalg");
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(text.contains(&format!("#include \"clinalg/{name}\"")), "clinalg.hpp lacks {name}");
    }
}
