//! The layers of the crates: which module may name which, and that no circle crosses modules.
//!
//! The table is `.ci/layers.toml`; the arrows come from the paths in the sources.

mod graph;
mod table;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, Result};

use crate::outcome::Outcome;
use crate::system::Workspace;
use graph::{Arrow, Graph};
use table::{CrateRules, Table};

/// The allowed arrows.
const TABLE: &str = ".ci/layers.toml";
/// The page that describes crates and modules, and the crates whose modules it names.
const PAGE: &str = "docs/internals/architecture.md";
const DESCRIBED: [&str; 5] = ["clinalg", "clinalg-bem", "clinalg-ode", "clinalg-handles", "clinalg-cli"];

pub(crate) fn run(workspace: &Workspace) -> Result<Outcome> {
    let text = std::fs::read_to_string(workspace.path(TABLE)).with_context(|| format!("cannot read {TABLE}"))?;
    let table = Table::parse(&text).with_context(|| format!("{TABLE} is not a table of layers"))?;
    let mut faults = table.check_crates(workspace)?;
    for name in table.crates.keys().filter(|name| !table.modules.contains_key(*name)) {
        if workspace.path(format!("crates/{name}/src")).is_dir() {
            faults.push(format!("{TABLE} has no modules of the crate {name}"));
        }
    }
    let page = std::fs::read_to_string(workspace.path(PAGE)).with_context(|| format!("cannot read {PAGE}"))?;
    faults.extend(not_described(&page, &table));
    let (mut files, mut arrows, mut exceptions) = (0, 0, 0);
    for (name, rules) in &table.modules {
        let mut graph = Graph::read(&workspace.path(format!("crates/{name}/src")))?;
        files += graph.files.len();
        arrows += graph.arrows.len();
        print!("{}", picture(name, &graph));
        faults.extend(leave_out_exceptions(name, &mut graph, rules));
        exceptions += rules.exceptions.len();
        faults.extend(check(name, &graph, rules));
    }
    for fault in &faults {
        println!("{fault}");
    }
    Ok(match faults.len() {
        0 => Outcome::ok(format!("{files} files, {arrows} arrows between files, {exceptions} exceptions")),
        n => Outcome::failed(format!("{n} faults against {TABLE}")),
    })
}

/// Crates and modules that the page does not name in its list.
fn not_described(page: &str, table: &Table) -> Vec<String> {
    let list = page.split("```").nth(1).unwrap_or_default();
    // A crate stands two blanks from the left, its modules farther to the right.
    let of_crate = |name: &str| {
        let start = list.find(&format!("\n  {name}/"))? + 1;
        let rest = &list[start..];
        let end = rest
            .match_indices("\n  ")
            .find(|(at, _)| !rest[at + 3..].starts_with(' '))
            .map_or(rest.len(), |(at, _)| at);
        Some(&rest[..end])
    };
    let mut faults = Vec::new();
    for (name, rules) in &table.modules {
        let Some(text) = of_crate(name) else {
            faults.push(format!("{PAGE} does not list the crate {name}"));
            continue;
        };
        let words: BTreeSet<&str> = text.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
        let missing = rules.names().filter(|module| DESCRIBED.contains(&name.as_str()) && !words.contains(module));
        faults.extend(missing.map(|module| format!("{PAGE} does not name the module {module} of {name}")));
    }
    faults
}

/// The arrows between the top-level modules of a crate, one line a module.
fn picture(name: &str, graph: &Graph) -> String {
    let mut modules: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for file in graph.files.iter().filter(|file| !file.is_root() && !file.for_tests) {
        modules.entry(file.module()).or_default();
    }
    for arrow in &graph.arrows {
        let (from, to) = (graph.files[arrow.from].module(), graph.files[arrow.to].module());
        if from != to {
            modules.entry(from).or_default().insert(to);
        }
    }
    let width = modules.keys().map(|module| module.len()).max().unwrap_or(0);
    let mut text = format!("{name}\n");
    for (module, named) in modules {
        let named: Vec<&str> = named.into_iter().collect();
        let line = format!("  {module:<width$} -> {}", named.join(", "));
        text.push_str(line.trim_end_matches(['-', '>', ' ']));
        text.push('\n');
    }
    text
}

/// Takes the excepted arrows out of the graph; an exception that no arrow needs is a fault.
fn leave_out_exceptions(name: &str, graph: &mut Graph, rules: &CrateRules) -> Vec<String> {
    let mut unused: BTreeMap<&str, &str> = rules.exceptions.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    let Graph { files, arrows } = graph;
    arrows.retain(|arrow| {
        let (from, to) = (files[arrow.from].module(), files[arrow.to].module());
        unused.remove(format!("{from} -> {to}").as_str());
        !rules.is_excepted(from, to)
    });
    for (arrow, reason) in rules.exceptions.iter().filter(|(arrow, _)| !unused.contains_key(arrow.as_str())) {
        println!("  exception: {arrow} ({reason})");
    }
    unused.keys().map(|arrow| format!("{name}: the exception `{arrow}` is not needed any more")).collect()
}

/// What the rules of a crate forbid, one line each.
fn check(name: &str, graph: &Graph, rules: &CrateRules) -> Vec<String> {
    let mut faults = Vec::new();
    for file in graph.files.iter().filter(|file| file.lines > rules.max_lines) {
        let place = place(name, &file.path);
        faults.push(format!("{place}: {} lines; at most {} are allowed in this crate", file.lines, rules.max_lines));
    }
    let mut reported = BTreeSet::new();
    for Arrow { from, to, line } in &graph.arrows {
        let (from, to) = (&graph.files[*from], &graph.files[*to]);
        if from.module() == to.module() || rules.allows(from.module(), to.module()) {
            continue;
        }
        if reported.insert((from.path.clone(), to.module())) {
            let place = place(name, &from.path);
            faults.push(format!(
                "{place}:{line}: `{}` names `{}`, which its layer may not",
                from.module(),
                to.module()
            ));
        }
    }
    for circle in graph.circles() {
        let names: Vec<String> = circle.iter().map(|&file| graph.files[file].path.display().to_string()).collect();
        faults.push(format!(
            "{name}: these files of different modules name each other in a circle: {}",
            names.join(", ")
        ));
    }
    let unknown = graph.files.iter().filter(|file| !file.for_tests).map(graph::File::module);
    let unknown = unknown.filter(|module| !rules.knows(module));
    for module in unknown.collect::<BTreeSet<_>>() {
        faults.push(format!("{name}: the module `{module}` is not in {TABLE}"));
    }
    faults
}

fn place(name: &str, path: &Path) -> String {
    format!("crates/{name}/src/{}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A crate of three modules with these texts, checked against `rules`.
    fn faults(files: &[(&str, &str)], rules: &str) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let graph = Graph::read(folder.path()).unwrap();
        let table = Table::parse(rules).unwrap();
        check("one", &graph, &table.modules["one"])
    }

    #[test]
    fn the_page_lists_every_crate_and_its_modules() {
        let rules = "[crates]\nclinalg = []\nclinalg-cli = []\n[modules.clinalg]\nmax_lines = 5\nops = []\nsolve = []\n\
                     [modules.clinalg-cli]\nmax_lines = 5\nplot = []\n";
        let table = Table::parse(rules).unwrap();
        let page = "# A\n```text\ncrates/\n  clinalg/   the core\n    ops/   products\n  clinalg-cli/  the program, with plot\n```\nsolve\n";
        assert_eq!(not_described(page, &table), [format!("{PAGE} does not name the module solve of clinalg")]);
        let page = "```text\ncrates/\n  clinalg/\n    ops, solve\n```\n";
        assert_eq!(not_described(page, &table), [format!("{PAGE} does not list the crate clinalg-cli")]);
    }

    const RULES: &str = "[crates]\none = []\n[modules.one]\nmax_lines = 5\nlow = []\nhigh = [\"low\"]\n";
    const ROOT: (&str, &str) = ("lib.rs", "mod low; mod high; pub use high::Tall; pub use low::Short;");

    #[test]
    fn arrows_upward_are_found_however_they_are_written() {
        let high = ("high/mod.rs", "pub use inner::Tall; mod inner;");
        let inner = ("high/inner.rs", "use crate::low::Short; pub struct Tall(Short);");
        assert_eq!(faults(&[ROOT, high, inner, ("low.rs", "pub struct Short;")], RULES), [""; 0]);
        for text in [
            "use crate::high::Tall;",
            "use crate::{high::Tall};",
            "use super::high::inner::Tall;",
            "use crate::Tall;",
            "pub fn f() -> crate::high::Tall { todo!() }",
            "mod deep { use super::super::Tall; }",
            "pub fn f() { println!(\"{:?}\", crate::high::Tall); }",
        ] {
            let found = faults(&[ROOT, high, inner, ("low.rs", text)], RULES);
            assert!(found.iter().any(|fault| fault.contains("low.rs:1: `low` names `high`")), "{text}: {found:?}");
        }
    }

    #[test]
    fn exceptions_are_left_out_and_must_be_needed() {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in
            [ROOT, ("low.rs", "use crate::Tall; pub struct Short;"), ("high.rs", "pub struct Tall(crate::Short);")]
        {
            std::fs::write(folder.path().join(path), text).unwrap();
        }
        let mut graph = Graph::read(folder.path()).unwrap();
        let text =
            format!("{RULES}[modules.one.exceptions]\n\"low -> high\" = \"old\"\n\"high -> other\" = \"older\"\n");
        let table = Table::parse(&text).unwrap();
        let rules = &table.modules["one"];
        assert_eq!(
            leave_out_exceptions("one", &mut graph, rules),
            ["one: the exception `high -> other` is not needed any more"]
        );
        assert_eq!(check("one", &graph, rules), [""; 0]);
    }

    #[test]
    fn what_only_tests_name_is_no_arrow() {
        let low = ("low.rs", "pub struct Short;\n#[cfg(test)]\nmod tests { use crate::Tall; }");
        assert_eq!(faults(&[ROOT, ("high.rs", "pub struct Tall;"), low], RULES), [""; 0]);
    }

    #[test]
    fn circles_long_files_and_unknown_modules_are_faults() {
        let rules = RULES.replace("low = []", "low = [\"high\"]");
        let (low, high) = (("low.rs", "use crate::high::Tall;"), ("high.rs", "use crate::low::Short;"));
        let found = faults(&[ROOT, low, high], &rules);
        assert!(found.len() == 1 && found[0].contains("circle: high.rs, low.rs"), "{found:?}");
        let found = faults(&[ROOT, ("low.rs", "\n\n\n\n\n\n"), ("high.rs", "")], RULES);
        assert!(found.len() == 1 && found[0].contains("low.rs: 6 lines; at most 5"), "{found:?}");
        let found = faults(&[("lib.rs", "mod other;"), ("other.rs", "")], RULES);
        assert!(found.len() == 1 && found[0].contains("`other` is not in"), "{found:?}");
    }
}
