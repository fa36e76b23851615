//! The table of allowed arrows.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use serde_json::Value;

use crate::system::{self, Workspace};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Table {
    /// Crate to the crates of the workspace that it may depend on.
    pub(super) crates: BTreeMap<String, Vec<String>>,
    /// Crate to the rules inside it.
    pub(super) modules: BTreeMap<String, CrateRules>,
}

#[derive(Deserialize)]
pub(super) struct CrateRules {
    /// Most lines of a file.
    pub(super) max_lines: usize,
    /// Forbidden arrows (`a -> b`) that are still there, with the reason.
    #[serde(default)]
    pub(super) exceptions: BTreeMap<String, String>,
    /// Top-level module to those that it may name.
    #[serde(flatten)]
    arrows: BTreeMap<String, Vec<String>>,
}

impl Table {
    /// # Errors
    /// For text that is no such table, and for arrows to modules that have no line.
    pub(super) fn parse(text: &str) -> Result<Table> {
        let table: Table = toml::from_str(text)?;
        for (name, rules) in &table.modules {
            ensure!(table.crates.contains_key(name), "`{name}` is not under [crates]");
            for (module, named) in &rules.arrows {
                for other in named {
                    ensure!(
                        rules.arrows.contains_key(other),
                        "{name}: `{module}` may name `{other}`, which has no line"
                    );
                }
            }
        }
        Ok(table)
    }

    /// Dependencies between crates of the workspace that the table does not allow. Those of tests alone are free.
    pub(super) fn check_crates(&self, workspace: &Workspace) -> Result<Vec<String>> {
        let mut cargo = workspace.cargo();
        cargo.args(["metadata", "--format-version", "1", "--no-deps"]);
        let metadata: Value = serde_json::from_slice(&system::capture_ok(&mut cargo)?.stdout)?;
        let packages = metadata["packages"].as_array().context("cargo metadata lists packages")?;
        let names: BTreeSet<&str> = packages.iter().filter_map(|package| package["name"].as_str()).collect();
        let mut faults = Vec::new();
        for package in packages {
            let name = package["name"].as_str().context("a package has a name")?;
            let Some(allowed) = self.crates.get(name) else {
                faults.push(format!("the crate `{name}` is not in the table of layers"));
                continue;
            };
            let dependencies = package["dependencies"].as_array().context("a package has dependencies")?;
            for dependency in dependencies.iter().filter(|dependency| dependency["kind"] != "dev") {
                let other = dependency["name"].as_str().unwrap_or_default();
                if names.contains(other) && !allowed.iter().any(|one| one == other) {
                    faults.push(format!("the crate `{name}` depends on `{other}`, which its layer may not"));
                }
            }
        }
        Ok(faults)
    }
}

impl CrateRules {
    pub(super) fn allows(&self, from: &str, to: &str) -> bool {
        self.arrows.get(from).is_some_and(|named| named.iter().any(|module| module == to))
    }

    pub(super) fn is_excepted(&self, from: &str, to: &str) -> bool {
        self.exceptions.contains_key(&format!("{from} -> {to}"))
    }

    /// The modules of the crate.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.arrows.keys().map(String::as_str)
    }

    pub(super) fn knows(&self, module: &str) -> bool {
        self.arrows.contains_key(module) || module == super::graph::ROOT
    }
}
