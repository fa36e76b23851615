//! The licences of what programs and libraries contain.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::setup;
use crate::system::{self, Workspace};

/// The file in which the licences of others are.
pub(crate) const FILE: &str = "THIRD-PARTY-LICENCES.txt";

/// A package whose code is linked.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Package {
    name: String,
    version: String,
    /// An SPDX expression.
    licence: String,
    authors: String,
    folder: PathBuf,
}

/// The text of [`FILE`] for the products: every package that is linked into them, the standard library of Rust and what the
/// linker adds, with the words of their licences.
pub(crate) fn text(workspace: &Workspace) -> Result<String> {
    let mut cargo = workspace.cargo();
    cargo.args(["metadata", "--format-version", "1", "--locked", "--filter-platform", "x86_64-unknown-linux-gnu"]);
    let metadata = system::capture_ok(&mut cargo)?;
    let metadata: Value = serde_json::from_slice(&metadata.stdout).context("cargo metadata printed no JSON")?;
    let packages = linked(&metadata, &crate::products::PACKAGES)?;
    let mut texts: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut list = String::new();
    for package in &packages {
        let name = format!("{} {}", package.name, package.version);
        let by = if package.authors.is_empty() { String::new() } else { format!(", by {}", package.authors) };
        writeln!(list, "{name}: {}{by}", package.licence)?;
        let files = licence_files(&package.folder)?;
        // Its own copy of a text that lies beside this file anyway is not needed.
        if files.is_empty() && !package.licence.contains("Apache-2.0") {
            bail!("{name} is under `{}` and has no file with its words", package.licence);
        }
        if files.is_empty() {
            writeln!(list, "    used under Apache-2.0, whose words are those of LICENSE-APACHE")?;
        }
        for file in files {
            let words = std::fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
            let words = String::from_utf8_lossy(&words).replace("\r\n", "\n").trim_end().to_owned();
            texts.entry(words).or_default().insert(name.clone());
        }
    }
    let mut out = format!(
        "clinalg is under the MIT licence or the Apache licence 2.0, as you choose. Its program and libraries contain code of others:\n\
         \n{list}\nThe standard library of Rust: MIT OR Apache-2.0; the licences of its parts are at the end.\n\
         Start files of the GNU C library: LGPL-2.1-or-later, with the permission to link them into any program.\n\
         The compiler's run-time library of Zig: MIT.\n"
    );
    let zig = setup::ziglang(workspace).context("zig is not installed")?;
    let others = [
        ("the GNU C library", zig.join("lib/libc/glibc/LICENSES")),
        ("Zig", zig.join("LICENSE")),
        ("the standard library of Rust", rust_library(workspace)?),
    ];
    let texts = texts.into_iter().map(|(words, names)| (names.into_iter().collect::<Vec<_>>().join(", "), words));
    for (names, words) in texts {
        section(&mut out, &names, &words)?;
    }
    for (name, file) in others {
        let words = std::fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let is_page = file.extension().is_some_and(|extension| extension == "html");
        section(&mut out, name, &if is_page { plain(&words) } else { words })?;
    }
    Ok(out)
}

fn section(out: &mut String, names: &str, words: &str) -> Result<()> {
    writeln!(out, "\n{}\n{names}\n\n{}", "=".repeat(78), words.trim_end())?;
    Ok(())
}

/// Where the toolchain says what its standard library contains.
fn rust_library(workspace: &Workspace) -> Result<PathBuf> {
    let root = system::capture_ok(workspace.command("rustc").args(["--print", "sysroot"]))?;
    let file = Path::new(&system::text(&root)).join("share/doc/rust/COPYRIGHT-library.html");
    ensure!(file.is_file(), "{} is missing: this toolchain does not say what its library contains", file.display());
    Ok(file)
}

/// The packages of others whose code gets into `roots`: what they depend on when they run, procedural macros left out.
fn linked(metadata: &Value, roots: &[&str]) -> Result<BTreeSet<Package>> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let id = |value: &Value| value.as_str().map(str::to_owned).context("packages have an identifier");
    let packages = list(&metadata["packages"]);
    let by_id: BTreeMap<&str, &Value> = packages.iter().filter_map(|p| Some((p["id"].as_str()?, p))).collect();
    let nodes = list(&metadata["resolve"]["nodes"]);
    let nodes: BTreeMap<&str, &Value> = nodes.iter().filter_map(|n| Some((n["id"].as_str()?, n))).collect();
    let is_root = |package: &&Value| package["name"].as_str().is_some_and(|name| roots.contains(&name));
    let mut open = packages.iter().filter(is_root).map(|p| id(&p["id"])).collect::<Result<Vec<_>>>()?;
    ensure!(open.len() == roots.len(), "cargo metadata lacks one of {}", roots.join(", "));
    let mut seen = BTreeSet::new();
    let mut found = BTreeSet::new();
    while let Some(next) = open.pop() {
        if !seen.insert(next.clone()) {
            continue;
        }
        let package = by_id.get(next.as_str()).with_context(|| format!("cargo metadata lacks {next}"))?;
        if list(&package["targets"]).iter().any(|target| list(&target["kind"]).contains(&"proc-macro".into())) {
            continue;
        }
        if !package["source"].is_null() {
            found.insert(described(package)?);
        }
        for dependency in list(&nodes.get(next.as_str()).context("each package has a node")?["deps"]) {
            if list(&dependency["dep_kinds"]).iter().any(|kind| kind["kind"].is_null()) {
                open.push(id(&dependency["pkg"])?);
            }
        }
    }
    Ok(found)
}

fn described(package: &Value) -> Result<Package> {
    let text = |key: &str| package[key].as_str().map(str::to_owned);
    let name = text("name").context("packages have a name")?;
    let manifest = text("manifest_path").context("packages have a manifest")?;
    let authors = package["authors"].as_array().cloned().unwrap_or_default();
    let authors: Vec<&str> = authors.iter().filter_map(Value::as_str).collect();
    Ok(Package {
        licence: text("license").with_context(|| format!("{name} names no licence"))?,
        version: text("version").context("packages have a version")?,
        authors: authors.join(", "),
        folder: Path::new(&manifest).parent().context("a manifest lies in a folder")?.to_owned(),
        name,
    })
}

/// Files with the words of a licence, wherever they lie in a package; a part may have its own.
fn licence_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(licence_files(&path)?);
            continue;
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
        let begins = ["LICENSE", "LICENCE", "UNLICENSE", "COPYING", "COPYRIGHT", "NOTICE"];
        let is_source = ["RS", "PY", "TOML"].iter().any(|extension| name.ends_with(&format!(".{extension}")));
        if begins.iter().any(|begin| name.starts_with(begin)) && !is_source {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// The words of a page: without its tags and with its characters.
fn plain(page: &str) -> String {
    let mut out = String::new();
    let mut rest = page;
    while let Some((words, tag)) = rest.split_once('<') {
        out.push_str(words);
        rest = tag.split_once('>').map_or("", |(_, rest)| rest);
    }
    out.push_str(rest);
    let characters = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&#x27;", "'"), ("&amp;", "&")];
    let out = characters.iter().fold(out, |out, (name, character)| out.replace(name, character));
    // Indentation and empty lines of the page's own.
    let mut lines: Vec<&str> = Vec::new();
    for line in out.lines().map(str::trim_end) {
        if !line.is_empty() || lines.last().is_some_and(|last| !last.is_empty()) {
            lines.push(line);
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metadata() -> Value {
        let package = |name: &str, source: Value, kind: &str| {
            serde_json::json!({"name": name, "id": name, "version": "1.0.0", "license": "MIT", "authors": ["A"],
                "source": source, "manifest_path": format!("/crates/{name}/Cargo.toml"), "targets": [{"kind": [kind]}]})
        };
        let others = || Value::from("registry");
        let edge = |to: &str, kind: Value| serde_json::json!({"pkg": to, "dep_kinds": [{"kind": kind}]});
        let node = |id: &str, deps: Vec<Value>| serde_json::json!({"id": id, "deps": deps});
        serde_json::json!({
            "packages": [
                package("ours", Value::Null, "lib"), package("part", Value::Null, "lib"), package("linked", others(), "lib"),
                package("macros", others(), "proc-macro"), package("of_macros", others(), "lib"),
                package("for_build", others(), "lib"), package("for_tests", others(), "lib"), package("deep", others(), "lib"),
            ],
            "resolve": {"nodes": [
                node("ours", vec![edge("part", Value::Null), edge("for_tests", "dev".into()), edge("for_build", "build".into())]),
                node("part", vec![edge("linked", Value::Null), edge("macros", Value::Null)]),
                node("linked", vec![edge("deep", Value::Null)]),
                node("macros", vec![edge("of_macros", Value::Null)]),
                node("of_macros", vec![]), node("for_build", vec![]), node("for_tests", vec![]), node("deep", vec![]),
            ]},
        })
    }

    #[test]
    fn what_is_linked_is_found() {
        let found = linked(&metadata(), &["ours"]).unwrap();
        assert_eq!(found.iter().map(|package| package.name.as_str()).collect::<Vec<_>>(), ["deep", "linked"]);
        assert!(linked(&metadata(), &["theirs"]).is_err());
    }

    #[test]
    fn files_of_parts_are_found() {
        let folder = tempfile::tempdir().unwrap();
        for file in ["LICENSE-MIT", "src/licence.rs", "src/lib.rs", "assets/font/LICENSE", "NOTICE.md"] {
            system::write_file(&folder.path().join(file), "words").unwrap();
        }
        let found = licence_files(folder.path()).unwrap();
        let names: Vec<_> = found.iter().map(|file| file.strip_prefix(folder.path()).unwrap().to_owned()).collect();
        assert_eq!(names, ["LICENSE-MIT", "NOTICE.md", "assets/font/LICENSE"].map(PathBuf::from));
    }

    #[test]
    fn pages_become_text() {
        let page = "<html>\n<p>A &amp; B &lt;a@b.c&gt;</p>\n\n\n<pre>\n  words\n</pre></html>";
        assert_eq!(plain(page), "A & B <a@b.c>\n\n  words");
    }
}
