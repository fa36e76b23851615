//! The project's words: phrases that documents, comments and strings do not use, and identifiers that code does not, with what stands instead.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::outcome::Outcome;
use crate::system::Workspace;

/// The phrases.
const TABLE: &str = ".ci/words.toml";

/// Where they are looked for, besides the Markdown files at the top.
const FOLDERS: [&str; 6] = ["docs", "crates", "kernels", "matlab", "tests", "examples"];

/// Extensions of the files looked at; those of code begin at the second.
const EXTENSIONS: [&str; 9] = ["md", "rs", "cl", "clh", "c", "cpp", "h", "hpp", "m"];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    /// Phrase in lower case to replacement.
    say: BTreeMap<String, String>,
    /// Identifier to replacement; `*` at its beginning or end stands for anything.
    identifiers: BTreeMap<String, String>,
}

pub(crate) fn run(workspace: &Workspace) -> Result<Outcome> {
    let text = std::fs::read_to_string(workspace.path(TABLE)).with_context(|| format!("cannot read {TABLE}"))?;
    let table: Table = toml::from_str(&text).with_context(|| format!("{TABLE} is not a table of words"))?;
    let mut files = Vec::new();
    for entry in std::fs::read_dir(workspace.path("."))? {
        let path = entry?.path();
        if path.extension().is_some_and(|e| e == "md") {
            files.push(path);
        }
    }
    for folder in FOLDERS {
        collect(&workspace.path(folder), &mut files)?;
    }
    files.sort();
    let mut found = 0;
    for file in &files {
        let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
        let name = file.strip_prefix(workspace.path(".")).unwrap_or(file).display();
        for (line, phrase) in search(&text, table.say.keys().map(String::as_str)) {
            println!("{name}:{line}: `{phrase}`; say: {}", table.say[phrase]);
            found += 1;
        }
        if file.extension().is_some_and(|e| e == EXTENSIONS[0]) {
            continue;
        }
        for (line, identifier, pattern) in identifiers(&text, &table.identifiers) {
            println!("{name}:{line}: `{identifier}`; say: {}", table.identifiers[pattern]);
            found += 1;
        }
    }
    Ok(match found {
        0 => {
            let Table { say, identifiers } = &table;
            let (phrases, names, count) = (say.len(), identifiers.len(), files.len());
            Outcome::ok(format!("{phrases} phrases and {names} identifiers in none of {count} files"))
        }
        n => Outcome::failed(format!("{n} times a phrase or identifier of {TABLE}")),
    })
}

/// Files of the folder and those below it; links are not followed.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let entry = entry?;
        let (path, kind) = (entry.path(), entry.file_type()?);
        if kind.is_dir() && entry.file_name() != "target" {
            collect(&path, files)?;
        } else if kind.is_file() && path.extension().is_some_and(|e| EXTENSIONS.iter().any(|extension| e == *extension))
        {
            files.push(path);
        }
    }
    Ok(())
}

/// Lines, from 1 on, at which the phrases begin. Marks of comments and line breaks count as one blank.
fn search<'a>(text: &str, phrases: impl Iterator<Item = &'a str>) -> Vec<(usize, &'a str)> {
    let mut joined = String::with_capacity(text.len());
    let mut starts = Vec::new();
    for line in text.lines() {
        starts.push(joined.len());
        let bare = line.trim().trim_start_matches(['/', '!', '%', '*', '#', '|']).trim_end_matches('\\').trim();
        joined.push_str(&bare.to_lowercase());
        joined.push(' ');
    }
    let mut found: Vec<(usize, &str)> = phrases
        .flat_map(|phrase| joined.match_indices(phrase).map(move |(at, _)| (at, phrase)))
        .filter(|(at, phrase)| {
            let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
            !is_part(joined[..*at].chars().next_back()) && !is_part(joined[at + phrase.len()..].chars().next())
        })
        .map(|(at, phrase)| (starts.partition_point(|start| *start <= at), phrase))
        .collect();
    found.sort_unstable();
    found
}

/// Lines, from 1 on, with an identifier that a pattern matches, and the pattern.
fn identifiers<'t, 'p>(text: &'t str, patterns: &'p BTreeMap<String, String>) -> Vec<(usize, &'t str, &'p str)> {
    let words = |line: &'t str| line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let all = text.lines().enumerate().flat_map(|(k, line)| words(line).map(move |word| (k + 1, word)));
    let matched = |word: &str| patterns.keys().find(|pattern| matches(word, pattern)).map(String::as_str);
    let mut known = HashMap::new();
    all.filter_map(|(line, word)| Some((line, word, (*known.entry(word).or_insert_with(|| matched(word)))?))).collect()
}

/// Whether a pattern with `*` at its beginning or end, or at neither, matches.
fn matches(word: &str, pattern: &str) -> bool {
    let (core, open_begin) = pattern.strip_prefix('*').map_or((pattern, false), |rest| (rest, true));
    let (core, open_end) = core.strip_suffix('*').map_or((core, false), |rest| (rest, true));
    match (open_begin, open_end) {
        (true, true) => word.contains(core),
        (true, false) => word.ends_with(core),
        (false, true) => word.starts_with(core),
        (false, false) => word == core,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(usize, &'static str)> {
        search(text, ["red fish", "whale"].into_iter())
    }

    #[test]
    fn phrases_are_found_across_lines_and_marks_of_comments() {
        assert_eq!(found("one\n/// A Red\n/// fish.\n% whale"), [(2, "red fish"), (4, "whale")]);
        assert_eq!(found("let s = \"a red \\\n    fish\";"), [(1, "red fish")]);
    }

    #[test]
    fn parts_of_words_are_not_found() {
        assert_eq!(found("whales, whale_oil, a coloured fish, red fishing"), []);
    }

    #[test]
    fn identifiers_are_found_whole_or_by_their_ends() {
        let patterns = ["Whale", "*_swims", "red_*", "*fish*"];
        let patterns = patterns.map(|pattern| (pattern.to_owned(), String::new())).into();
        let text = "struct Whale;\nfn it_swims() { red_shoe(Whales, catfishes, it_swims_so, bored_) }";
        let found: Vec<_> = identifiers(text, &patterns).into_iter().map(|(line, word, _)| (line, word)).collect();
        assert_eq!(found, [(1, "Whale"), (2, "it_swims"), (2, "red_shoe"), (2, "catfishes")]);
    }

    #[test]
    fn the_table_is_in_lower_case_and_names_a_replacement() {
        let table: Table = toml::from_str(include_str!("../../../../.ci/words.toml")).unwrap();
        assert!(!table.say.is_empty() && !table.identifiers.is_empty());
        for phrase in table.say.keys() {
            assert_eq!(*phrase, phrase.to_lowercase());
        }
        for (phrase, say) in table.say.iter().chain(&table.identifiers) {
            assert!(!say.is_empty(), "{phrase}");
        }
    }
}
