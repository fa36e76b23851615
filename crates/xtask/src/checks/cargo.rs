//! Formatting, clippy and documentation.

use anyhow::Result;

use crate::outcome::Outcome;
use crate::system::{self, Workspace};

pub(crate) fn fmt(workspace: &Workspace) -> Result<Outcome> {
    system::run(workspace.cargo().args(["fmt", "--all", "--check"]))?;
    Ok(Outcome::ok(""))
}

pub(crate) fn clippy(workspace: &Workspace) -> Result<Outcome> {
    system::run(workspace.cargo().args(["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))?;
    Ok(Outcome::ok(""))
}

pub(crate) fn docs(workspace: &Workspace) -> Result<Outcome> {
    let mut cargo = workspace.cargo();
    system::run(cargo.args(["doc", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings"))?;
    Ok(Outcome::ok(""))
}
