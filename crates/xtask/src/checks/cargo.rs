//! Formatting, clippy and documentation.

use anyhow::Result;

use crate::system::{self, Workspace};
use crate::verdict::Verdict;

pub(crate) fn fmt(workspace: &Workspace) -> Result<Verdict> {
    system::run(workspace.cargo().args(["fmt", "--all", "--check"]))?;
    Ok(Verdict::ok(""))
}

pub(crate) fn clippy(workspace: &Workspace) -> Result<Verdict> {
    system::run(workspace.cargo().args(["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))?;
    Ok(Verdict::ok(""))
}

pub(crate) fn docs(workspace: &Workspace) -> Result<Verdict> {
    let mut cargo = workspace.cargo();
    system::run(cargo.args(["doc", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings"))?;
    Ok(Verdict::ok(""))
}
