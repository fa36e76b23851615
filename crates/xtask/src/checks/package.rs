//! The crates as they would be published: packed, unpacked elsewhere, compiled from there, and used by a program.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::outcome::Outcome;
use crate::setup::Need;
use crate::system::{self, Workspace};

/// Where the packages are unpacked.
const FOLDER: &str = "target/ci/package";

/// A program that depends on the packed crates.
const PROGRAM: &str = r#"//! Solves A x = b for the 1-D Laplacian on every device.

use clinalg::solve::{Cg, CgParams, Solver};
use clinalg::{Context, Csr, Vector};

fn main() -> clinalg::Result<()> {
    let n = 100;
    let mut entries = Vec::new();
    for i in 0..n {
        entries.push((i, i, 2.0));
        if i > 0 {
            entries.push((i, i - 1, -1.0));
            entries.push((i - 1, i, -1.0));
        }
    }
    for device in clinalg::runtime::devices()? {
        let context = Context::new(&device, &Default::default())?;
        let a = Csr::from_triplets(&context, n, n, &entries)?;
        let b = Vector::filled(&context, n, 1.0)?;
        let mut x = Vector::zeros(&context, n)?;
        let report = Cg::new(&context, n, CgParams::default())?.solve(&a, None, &b, &mut x)?;
        // The solution is i (n + 1 - i) / 2 for i from 1 to n.
        for (i, x) in x.to_vec()?.into_iter().enumerate() {
            let want = ((i + 1) * (n - i)) as f64 / 2.0;
            assert!((x - want).abs() < 1e-5 * want, "{i}: {x} instead of {want} ({report})");
        }
        println!("solved on {}", device.info().name);
    }
    Ok(())
}
"#;

pub(crate) fn run(workspace: &Workspace) -> Result<Outcome> {
    let folder = workspace.path(FOLDER);
    system::fresh_folder(&folder)?;
    let packages = published(workspace)?;
    let mut cargo = workspace.cargo();
    // Verified together below: cargo's own verification would compile every dependency once per crate.
    cargo.args(["package", "--quiet", "--allow-dirty", "--no-verify", "--target-dir"]).arg(&folder);
    cargo.args(packages.iter().flat_map(|package| ["--package", &package.name]));
    system::capture_ok(&mut cargo)?;
    for Package { name, version, .. } in &packages {
        let file = folder.join("package").join(format!("{name}-{version}.crate"));
        system::capture_ok(workspace.command("tar").arg("-xmzf").arg(&file).arg("-C").arg(&folder))?;
    }
    write_program(workspace, &folder, &packages)?;
    // With the workspace's optimisation, and as in .ci/run without debug information, dependencies are those compiled for clippy and the
    // tests. The unpacked files are as new as the packages, so that none counts as compiled before.
    let target = workspace.target();
    let cargo = |args: &[&str]| {
        let mut cargo = workspace.cargo();
        cargo.current_dir(&folder).args(args).env("CARGO_TARGET_DIR", &target).env("CARGO_PROFILE_DEV_OPT_LEVEL", "1");
        system::capture_ok(&mut cargo).map(drop)
    };
    // What a package may lack shows before any code is generated.
    cargo(&["check", "--quiet", "--workspace"])?;
    // What is optional is left out; each crate by itself, since features of one command add up.
    for package in packages.iter().filter(|package| package.has_default_features) {
        cargo(&["check", "--quiet", "--no-default-features", "--package", &package.name])?;
    }
    if !Need::Pocl.is_there(workspace) {
        return Ok(Outcome::skipped(format!(
            "{} crates pass the compiler; there is no PoCL to run a program on",
            packages.len()
        )));
    }
    cargo(&["build", "--quiet", "--package", "downstream"])?;
    let program = target.join("debug").join(format!("downstream{}", std::env::consts::EXE_SUFFIX));
    let output = system::capture_ok(&mut workspace.command(program))?;
    let said = system::text(&output);
    if !said.contains("solved on ") {
        return Ok(Outcome::failed(format!("the program that uses the packages said: {}", said.trim())));
    }
    Ok(Outcome::ok(format!(
        "{} crates pass the compiler from their packages, also without default features, and a program that uses them runs",
        packages.len()
    )))
}

/// A crate that may be published.
struct Package {
    name: String,
    version: String,
    has_default_features: bool,
}

/// The crates that may be published.
fn published(workspace: &Workspace) -> Result<Vec<Package>> {
    let output = system::capture_ok(workspace.cargo().args(["metadata", "--format-version", "1", "--no-deps"]))?;
    let metadata: Value = serde_json::from_slice(&output.stdout).context("`cargo metadata` printed no JSON")?;
    let packages = metadata["packages"].as_array().context("`cargo metadata` lists no packages")?;
    let text = |value: &Value| value.as_str().map(str::to_owned).context("packages have a name and a version");
    let chosen = packages.iter().filter(|package| package["publish"].is_null());
    let package = |package: &Value| {
        let has_default_features = package["features"]["default"].as_array().is_some_and(|default| !default.is_empty());
        Ok(Package { name: text(&package["name"])?, version: text(&package["version"])?, has_default_features })
    };
    chosen.map(package).collect()
}

/// A workspace of the unpacked crates and the program, in which each stands for the one of the registry.
fn write_program(workspace: &Workspace, folder: &Path, packages: &[Package]) -> Result<()> {
    let unpacked: Vec<String> =
        packages.iter().map(|package| format!("{}-{}", package.name, package.version)).collect();
    if let Some(missing) = unpacked.iter().find(|name| !folder.join(name).join("Cargo.toml").is_file()) {
        bail!("the package {missing} holds no manifest");
    }
    let quoted: Vec<String> = unpacked.iter().map(|name| format!("{name:?}")).collect();
    let patches =
        packages.iter().zip(&quoted).map(|(package, path)| format!("{} = {{ path = {path} }}\n", package.name));
    let manifest = format!(
        "[workspace]\nresolver = \"2\"\nmembers = [\"downstream\", {}]\n\n[patch.crates-io]\n{}",
        quoted.join(", "),
        patches.collect::<String>()
    );
    let clinalg = packages.iter().find(|package| package.name == "clinalg").context("clinalg is published")?;
    let program = folder.join("downstream");
    std::fs::create_dir_all(program.join("src"))?;
    let write = |path: PathBuf, text: &str| {
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    };
    write(folder.join("Cargo.toml"), &manifest)?;
    write(
        program.join("Cargo.toml"),
        &format!(
            "[package]\nname = \"downstream\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\nclinalg = \"{}\"\n",
            clinalg.version
        ),
    )?;
    write(program.join("src/main.rs"), PROGRAM)?;
    // The versions that are tested.
    std::fs::copy(workspace.path("Cargo.lock"), folder.join("Cargo.lock")).context("cannot copy Cargo.lock")?;
    Ok(())
}
