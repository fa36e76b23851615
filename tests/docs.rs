//! The README and the book against the code: links, pages, commands with their options, identifiers, variables.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace")
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn files(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.expect("a readable folder").path();
        if path.is_dir() {
            files(&path, extension, found);
        } else if path.extension().is_some_and(|e| e == extension) {
            found.push(path);
        }
    }
}

/// The pages of the book.
fn book() -> Vec<PathBuf> {
    let mut found = Vec::new();
    files(&root().join("docs"), "md", &mut found);
    found.sort();
    found
}

/// The dated notes on measurements, which are not in the book.
fn notes() -> Vec<PathBuf> {
    let mut found = Vec::new();
    files(&root().join("benches/notes"), "md", &mut found);
    found
}

/// The book and the Markdown files at the top.
fn pages() -> Vec<PathBuf> {
    let mut found = book();
    for name in ["README.md", "CHANGELOG.md", "CONTRIBUTING.md"] {
        found.extend(Some(root().join(name)).filter(|path| path.exists()));
    }
    found
}

/// The Rust sources of all crates.
fn sources() -> String {
    let mut found = Vec::new();
    files(&root().join("crates"), "rs", &mut found);
    found.iter().map(|path| text(path)).collect()
}

/// A page taken apart.
struct Page {
    path: PathBuf,
    /// Its text without fenced blocks.
    prose: Vec<String>,
    /// Language and lines of each fenced block.
    blocks: Vec<(String, Vec<String>)>,
}

fn parse(path: &Path) -> Page {
    let mut page = Page { path: path.to_owned(), prose: Vec::new(), blocks: Vec::new() };
    let mut inside = false;
    for line in text(path).lines() {
        match (line.trim_start().strip_prefix("```"), inside) {
            (Some(language), false) => page.blocks.push((language.to_owned(), Vec::new())),
            (Some(_), true) => {}
            (None, true) => page.blocks.last_mut().expect("an open block").1.push(line.to_owned()),
            (None, false) => page.prose.push(line.to_owned()),
        }
        inside ^= line.trim_start().starts_with("```");
    }
    assert!(!inside, "{}: a fenced block is not closed", path.display());
    page
}

impl Page {
    /// Targets of links and pictures.
    fn links(&self) -> Vec<String> {
        let mut found = Vec::new();
        for line in &self.prose {
            for after in without_code(line).split("](").skip(1) {
                found.extend(after.split_once(')').map(|(target, _)| target.to_owned()));
            }
        }
        found
    }

    /// The anchors of its headings, as GitHub and mdBook form them.
    fn anchors(&self) -> Vec<String> {
        let heading = |line: &String| line.starts_with('#').then(|| line.trim_start_matches('#').trim().to_lowercase());
        let keep = |c: char| match c {
            ' ' => Some('-'),
            c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c),
            _ => None,
        };
        self.prose.iter().filter_map(heading).map(|h| h.chars().filter_map(keep).collect()).collect()
    }

    /// Pieces of code in which a command may stand: console lines and inline code.
    fn commands(&self) -> Vec<String> {
        let console = self.blocks.iter().filter(|(language, _)| language == "console").flat_map(|(_, lines)| lines);
        let mut found: Vec<String> =
            console.filter_map(|line| line.strip_prefix("$ ").or(line.strip_prefix("# "))).map(str::to_owned).collect();
        for line in &self.prose {
            found.extend(line.split('`').skip(1).step_by(2).map(str::to_owned));
        }
        found
    }
}

fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect()
}

/// Every `prefix` with the characters of a name that follow it.
fn names(text: &str, prefix: &str, part: impl Fn(char) -> bool) -> BTreeSet<String> {
    let rest = |(at, _): (usize, &str)| {
        let tail = &text[at + prefix.len()..];
        let end = tail.find(|c| !part(c)).unwrap_or(tail.len());
        format!("{prefix}{}", tail[..end].trim_end_matches(':'))
    };
    text.match_indices(prefix).map(rest).filter(|name| name != prefix).collect()
}

#[test]
fn relative_links_resolve() {
    let mut broken = Vec::new();
    for page in [pages(), notes()].concat().iter().map(|path| parse(path)) {
        for link in page.links() {
            if link.starts_with("http") || link.starts_with("mailto:") {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = match file {
                "" => page.path.clone(),
                file => page.path.parent().expect("a folder").join(file),
            };
            let found = target.exists() && (anchor.is_empty() || parse(&target).anchors().iter().any(|a| a == anchor));
            if !found {
                broken.push(format!("{}: {link}", page.path.display()));
            }
        }
    }
    assert!(broken.is_empty(), "broken links:\n{}", broken.join("\n"));
}

#[test]
fn every_page_is_in_the_summary_and_blocks_have_languages() {
    let docs = root().join("docs");
    let summary = parse(&docs.join("SUMMARY.md")).links();
    let mut faults = Vec::new();
    for path in book() {
        let name = path.strip_prefix(&docs).expect("below docs").display().to_string();
        if name != "SUMMARY.md" && !summary.contains(&name) {
            faults.push(format!("{name} is not in SUMMARY.md"));
        }
    }
    for page in [book(), vec![root().join("README.md")]].concat().iter().map(|path| parse(path)) {
        if page.blocks.iter().any(|(language, _)| language.is_empty()) {
            faults.push(format!("{}: a fenced block without a language", page.path.display()));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn rust_examples_are_compiled() {
    // Pages of other crates are compiled with those.
    let list = ["clinalg/src/book.rs", "clinalg-ode/src/lib.rs", "clinalg-bem/src/lib.rs"]
        .map(|file| text(&root().join("crates").join(file)))
        .concat();
    for page in pages().iter().map(|path| parse(path)) {
        let name = page.path.strip_prefix(root()).expect("below the root").display().to_string();
        let examples = page.blocks.iter().any(|(language, _)| language.starts_with("rust"));
        assert_eq!(
            list.contains(&format!("\"{name}\"")) || list.contains(&format!("/{name}\"")),
            examples,
            "{name}: Rust blocks and crates/clinalg/src/book.rs"
        );
    }
}

/// C, C++ and CMake blocks of the book are the examples, which the tests of the C interface compile and run.
#[test]
fn c_examples_are_those_of_the_repository() {
    let mut examples = Vec::new();
    for extension in ["c", "cpp", "txt"] {
        files(&root().join("examples"), extension, &mut examples);
    }
    let examples: Vec<_> = examples.iter().map(|path| text(path)).collect();
    let mut seen = 0;
    for page in book().iter().map(|path| parse(path)) {
        let meant = |language: &str| matches!(language, "c" | "cpp" | "cmake");
        // Pages about kernels show OpenCL C.
        if page.path.parent().is_some_and(|folder| !folder.ends_with("guide") && !folder.ends_with("guide/ode")) {
            continue;
        }
        for (language, lines) in page.blocks.iter().filter(|(language, _)| meant(language)) {
            seen += 1;
            let block = lines.join("\n") + "\n";
            assert!(examples.contains(&block), "{}: a {language} block is no example", page.path.display());
        }
    }
    assert!(seen >= 3, "only {seen} blocks found");
}

/// The functions and codes that the page on C names are in the header.
#[test]
fn names_of_the_c_interface_exist() {
    let header = text(&root().join("crates/clinalg-capi/include/clinalg.h"));
    let page = text(&root().join("docs/guide/c.md"));
    let part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    for prefix in ["clinalg_", "CLINALG_"] {
        for name in names(&page, prefix, part) {
            let known = header.split(|c| !part(c)).any(|word| word == name);
            let elsewhere = ["clinalg_examples"]; // the name of the CMake project
            assert!(known || elsewhere.contains(&name.as_str()), "{name} is not in clinalg.h");
        }
    }
}

#[test]
fn error_identifiers_are_those_of_the_source() {
    let identifiers = |text: &str, quote: char| -> BTreeSet<String> {
        let found = names(text, &format!("{quote}clinalg:"), |c| c.is_alphanumeric() || c == ':');
        found
            .iter()
            .map(|id| id[1..].to_owned())
            .filter(|id| !id.contains("::") && id.matches(':').count() == 2)
            .collect()
    };
    let library = identifiers(&text(&root().join("crates/clinalg/src/error.rs")), '"');
    let table = identifiers(&text(&root().join("docs/guide/errors.md")), '`');
    let missing: Vec<_> = library.difference(&table).collect();
    assert!(missing.is_empty(), "not in docs/guide/errors.md: {missing:?}");
    let mut matlab = Vec::new();
    files(&root().join("matlab"), "m", &mut matlab);
    let mut known = identifiers(&sources(), '"');
    known.extend(matlab.iter().flat_map(|path| identifiers(&text(path), '\'')));
    for path in pages() {
        let unknown: Vec<_> = identifiers(&text(&path), '`').into_iter().filter(|id| !known.contains(id)).collect();
        assert!(unknown.is_empty(), "{}: {unknown:?} are not in the source", path.display());
    }
}

#[test]
fn environment_variables_are_those_of_the_source() {
    let part = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    let known = names(&sources(), "\"CLINALG_", part);
    let constants = names(&text(&root().join("crates/clinalg-capi/include/clinalg.h")), "CLINALG_", part);
    for path in pages() {
        for variable in names(&text(&path), "CLINALG_", part) {
            let found = known.contains(&format!("\"{variable}")) || constants.contains(&variable);
            assert!(found, "{}: {variable} is unknown", path.display());
        }
    }
}

/// The subcommand and the arguments after each `program` in a command line.
fn calls<'a>(command: &'a str, program: &str) -> Vec<(&'a str, Vec<&'a str>)> {
    let words: Vec<&str> = command.split_whitespace().collect();
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let is_package = at > 0 && matches!(words[at - 1], "-p" | "--package");
        if (*word == program || word.ends_with(&format!("/{program}"))) && !is_package {
            let stop = |w: &&&str| !matches!(**w, "|" | ">" | "&&" | "||" | ";");
            let mut rest = words[at + 1..].iter().take_while(stop).copied();
            let subcommand = rest.next().filter(|w| w.chars().all(|c| c.is_ascii_lowercase()));
            found.extend(subcommand.map(|subcommand| (subcommand, rest.collect())));
        }
    }
    found
}

/// The help of a subcommand on one line; empty where there is no such subcommand.
fn help(subcommand: &str) -> String {
    let output =
        Command::new(env!("CARGO_BIN_EXE_clinalg")).args([subcommand, "--help"]).output().expect("the program");
    let words = String::from_utf8_lossy(&output.stdout);
    if output.status.success() { words.split_whitespace().collect::<Vec<_>>().join(" ") } else { String::new() }
}

/// The choices that the help lists for an option; empty for a free value.
fn choices<'a>(help: &'a str, option: &str) -> Vec<&'a str> {
    let Some((_, after)) = help.split_once(&format!("{option} <")) else { return Vec::new() };
    let own = after.split(" --").next().unwrap_or(after);
    let Some((_, list)) = own.split_once("[possible values: ") else { return Vec::new() };
    list.split(']').next().unwrap_or_default().split(", ").collect()
}

#[test]
fn commands_and_options_exist() {
    let mut faults = Vec::new();
    let mut seen = 0;
    for page in pages().iter().map(|path| parse(path)) {
        for command in page.commands() {
            for (subcommand, arguments) in calls(&command, "clinalg") {
                seen += 1;
                let help = help(subcommand);
                if help.is_empty() {
                    faults.push(format!("{}: no `clinalg {subcommand}` ({command})", page.path.display()));
                    continue;
                }
                for (at, option) in arguments.iter().enumerate().filter(|(_, word)| word.starts_with("--")) {
                    let known = help.split([' ', ',', '=', '[']).any(|word| word == *option);
                    let allowed = choices(&help, option);
                    let value = arguments.get(at + 1).copied().unwrap_or_default();
                    let fits = allowed.is_empty() || value.split(['|', ',']).all(|v| allowed.contains(&v));
                    if !known || !fits {
                        faults.push(format!("{}: {option} {value} in `{command}`", page.path.display()));
                    }
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(seen > 10, "only {seen} commands found in the documentation");
}

/// The page of all bindings names every command of the program.
#[test]
fn every_command_is_in_the_table_of_functions() {
    let page = text(&root().join("docs/reference/functions.md"));
    let output = Command::new(env!("CARGO_BIN_EXE_clinalg")).arg("-h").output().expect("the program");
    let help = String::from_utf8_lossy(&output.stdout).into_owned();
    let (_, list) = help.split_once("Commands:\n").expect("a list of commands");
    let commands: Vec<_> = list
        .lines()
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.strip_prefix("  ").filter(|line| !line.starts_with(' ')))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|command| *command != "help")
        .collect();
    assert!(commands.len() >= 9, "{help}");
    for command in commands {
        assert!(
            page.contains(&format!("`clinalg {command}`")),
            "`clinalg {command}` is not in docs/reference/functions.md"
        );
    }
}

/// What the program prints in the root of the repository; `None` without a device.
fn output(arguments: &str) -> Option<String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_clinalg"));
    let output = command.current_dir(root()).args(arguments.split_whitespace()).output().expect("the program");
    if output.status.code() == Some(3) {
        clinalg_testing::found(Err::<(), _>(String::from_utf8_lossy(&output.stderr).trim()));
        return None;
    }
    Some(String::from_utf8(output.stdout).expect("UTF-8"))
}

/// Whether a word of a page stands for one of the program: numbers may differ as between devices.
fn alike(shown: &str, printed: &str) -> bool {
    let number = |word: &str| word.trim_matches(['(', ')', ',']).parse::<f64>().ok();
    match (number(shown), number(printed)) {
        (Some(a), Some(b)) if a.fract() == 0.0 => (a - b).abs() <= 0.1 * a.abs(),
        (Some(a), Some(b)) if a < 1e-9 => b < 10.0 * a,
        (Some(a), Some(b)) => a < 2.0 * b && b < 2.0 * a,
        _ => shown == printed,
    }
}

/// Lines that begin so depend on the machine.
const OF_THE_MACHINE: [&str; 3] = ["device", "time", "seconds"];

#[test]
fn output_in_pages_differs_from_that_of_the_program() {
    let solve = "solve tests/data/heat_sink.mtx --rhs tests/data/heat_sink_b.mtx";
    let jacobi = format!("{solve} --precond jacobi");
    for (page, begin, arguments) in
        [("docs/tutorial.md", "Poisson problem", "poisson"), ("docs/guide/program.md", "matrix ", &jacobi)]
    {
        let Some(printed) = output(arguments) else { return };
        let page = parse(&root().join(page));
        let shown = page.blocks.iter().find(|(_, lines)| lines[0].starts_with(begin)).expect("a block of output");
        for line in shown.1.iter().filter(|line| !OF_THE_MACHINE.iter().any(|label| line.starts_with(label))) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let found = printed.lines().any(|other| {
                let other: Vec<&str> = other.split_whitespace().collect();
                other.len() == words.len() && words.iter().zip(other).all(|(shown, printed)| alike(shown, printed))
            });
            assert!(
                found,
                "{}: `{line}` is not in the output of `clinalg {arguments}`:\n{printed}",
                page.path.display()
            );
        }
    }
    // Iterations in the text of the tutorial.
    let tutorial = parse(&root().join("docs/tutorial.md")).prose.join(" ");
    for (before, preconditioner) in [("and needs ", "auto"), ("one it takes ", "none"), ("by a third, to ", "jacobi")] {
        let Some(printed) = output(&format!("{solve} --precond {preconditioner} --json")) else { return };
        let printed: serde_json::Value = serde_json::from_str(&printed).expect("JSON");
        let (_, after) = tutorial.split_once(before).unwrap_or_else(|| panic!("`{before}` is not in the tutorial"));
        let shown: String = after.chars().take_while(char::is_ascii_digit).collect();
        assert!(alike(&shown, &printed["iterations"].to_string()), "`{before}{shown}`: {}", printed["iterations"]);
    }
}

#[test]
fn notes_and_raw_files_that_pages_cite_exist() {
    let text: String = [book(), notes()].concat().iter().map(|page| text(page)).collect();
    let files = names(&text, "2026-", |c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    // A name may end a sentence.
    let files: Vec<_> = files.iter().map(|name| name.trim_end_matches('.')).filter(|name| name.contains('.')).collect();
    assert!(files.len() > 30, "{files:?}");
    for name in &files {
        let found = ["benches/results", "benches/notes"].iter().any(|folder| root().join(folder).join(name).is_file());
        assert!(found, "{name} is neither in benches/results nor in benches/notes");
    }
}

/// Notes and raw files that no page cites any more are deleted.
#[test]
fn every_note_and_raw_file_is_cited() {
    let book: String = pages().iter().map(|page| text(page)).collect();
    for note in notes() {
        let name = note.file_name().and_then(|name| name.to_str()).expect("a plain name");
        assert!(book.contains(name), "no page cites benches/notes/{name}");
    }
    let text: String = notes().iter().map(|page| text(page)).chain([book]).collect();
    let mut seen = 0;
    for entry in std::fs::read_dir(root().join("benches/results")).expect("the folder of raw files") {
        let name = entry.expect("an entry").file_name().into_string().expect("a plain name");
        let stem = name.rsplit_once('.').map_or(&*name, |(stem, _)| stem);
        assert!(text.contains(stem), "no page cites benches/results/{name}");
        seen += 1;
    }
    assert!(seen > 30, "{seen} raw files");
}
