//! Licences and security advisories of the dependencies.

use std::collections::BTreeSet;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::outcome::Outcome;
use crate::system::{self, Workspace};

/// SPDX identifiers, one a line, of what a dependency may be under.
const LIST: &str = ".ci/licences.txt";

/// Every package of the lock file must be under a licence of the list.
pub(crate) fn licences(workspace: &Workspace) -> Result<Outcome> {
    let list = std::fs::read_to_string(workspace.path(LIST)).with_context(|| format!("cannot read {LIST}"))?;
    let allowed = allowed(&list);
    let metadata = system::capture_ok(workspace.cargo().args(["metadata", "--format-version", "1", "--locked"]))?;
    let metadata: Value = serde_json::from_slice(&metadata.stdout).context("cargo metadata printed no JSON")?;
    let packages = metadata["packages"].as_array().context("cargo metadata lists packages")?;
    let mut faults = 0;
    for package in packages {
        let (name, version) = (package["name"].as_str().unwrap_or("?"), package["version"].as_str().unwrap_or("?"));
        let fault = match package["license"].as_str() {
            None => Some("names no licence".to_owned()),
            Some(text) => match is_allowed(text, &allowed) {
                Ok(true) => None,
                Ok(false) => Some(format!("is under `{text}`, which {LIST} does not allow")),
                Err(error) => Some(format!("has the licence `{text}`: {error}")),
            },
        };
        if let Some(fault) = fault {
            println!("{name} {version} {fault}");
            faults += 1;
        }
    }
    Ok(match faults {
        0 => Outcome::ok(format!("{} packages", packages.len())),
        n => Outcome::failed(format!("{n} of {} packages", packages.len())),
    })
}

/// Asks a tool with a database of advisories, if one is installed.
pub(crate) fn advisories(workspace: &Workspace) -> Result<Outcome> {
    let tools: [(&str, &[&str]); 2] = [("cargo-deny", &["deny", "check", "advisories"]), ("cargo-audit", &["audit"])];
    let Some((_, args)) = tools.into_iter().find(|(program, _)| system::find_program(program).is_some()) else {
        return Ok(Outcome::skipped("neither cargo-deny nor cargo-audit is installed"));
    };
    system::run(workspace.cargo().args(args))?;
    Ok(Outcome::ok(format!("cargo {}", args.join(" "))))
}

fn allowed(list: &str) -> BTreeSet<&str> {
    list.lines().map(|line| line.split('#').next().unwrap_or_default().trim()).filter(|id| !id.is_empty()).collect()
}

/// Whether an SPDX expression can be met by licences of the list alone. `/` is an old way to write `OR`.
fn is_allowed(expression: &str, allowed: &BTreeSet<&str>) -> Result<bool> {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let mut words = spaced.split_whitespace().peekable();
    let result = any_of(&mut words, allowed)?;
    match words.next() {
        None => Ok(result),
        Some(word) => bail!("`{word}` is out of place"),
    }
}

type Words<'a> = std::iter::Peekable<std::str::SplitWhitespace<'a>>;

fn any_of(words: &mut Words<'_>, allowed: &BTreeSet<&str>) -> Result<bool> {
    let mut result = all_of(words, allowed)?;
    while words.next_if_eq(&"OR").is_some() {
        result |= all_of(words, allowed)?;
    }
    Ok(result)
}

fn all_of(words: &mut Words<'_>, allowed: &BTreeSet<&str>) -> Result<bool> {
    let mut result = one(words, allowed)?;
    while words.next_if_eq(&"AND").is_some() {
        result &= one(words, allowed)?;
    }
    Ok(result)
}

fn one(words: &mut Words<'_>, allowed: &BTreeSet<&str>) -> Result<bool> {
    match words.next() {
        Some("(") => {
            let result = any_of(words, allowed)?;
            if words.next() != Some(")") {
                bail!("a parenthesis is not closed");
            }
            Ok(result)
        }
        None | Some("OR" | "AND" | "WITH" | ")") => bail!("a licence is missing"),
        Some(id) => {
            // An exception only adds permissions.
            if words.next_if_eq(&"WITH").is_some() && words.next().is_none() {
                bail!("an exception is missing");
            }
            Ok(allowed.contains(id))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(expression: &str) -> Result<bool> {
        is_allowed(expression, &allowed("# ours\nMIT\nApache-2.0  # with patents\n\nUnicode-3.0\n"))
    }

    #[test]
    fn expressions_are_evaluated() {
        for good in [
            "MIT",
            "GPL-3.0-only OR MIT",
            "MIT/GPL-2.0",
            "Apache-2.0 / MIT",
            "(MIT OR GPL-2.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception",
            "GPL-2.0 AND Zlib OR MIT",
        ] {
            assert!(check(good).unwrap(), "{good}");
        }
        for bad in ["GPL-3.0-only", "MIT AND GPL-2.0", "(MIT OR Apache-2.0) AND Zlib", "MIT AND (Zlib OR ISC)"] {
            assert!(!check(bad).unwrap(), "{bad}");
        }
    }

    #[test]
    fn broken_expressions_are_errors() {
        for broken in ["", "MIT OR", "(MIT", "MIT)", "AND MIT", "MIT Apache-2.0", "MIT WITH"] {
            assert!(check(broken).is_err(), "{broken}");
        }
    }
}
