//! The system's package manager.

use std::process::Command;

use anyhow::{Result, bail};

use crate::system;

/// A package manager whose package names we know.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Manager {
    Apt,
    Dnf,
    Pacman,
    Zypper,
    Brew,
}

impl Manager {
    const ALL: [Manager; 5] = [Manager::Apt, Manager::Dnf, Manager::Pacman, Manager::Zypper, Manager::Brew];

    /// The one whose program `exists`.
    pub(crate) fn detect(exists: impl Fn(&str) -> bool) -> Option<Manager> {
        Manager::ALL.into_iter().find(|manager| exists(manager.program()))
    }

    fn program(self) -> &'static str {
        match self {
            Manager::Apt => "apt-get",
            Manager::Dnf => "dnf",
            Manager::Pacman => "pacman",
            Manager::Zypper => "zypper",
            Manager::Brew => "brew",
        }
    }

    /// What a person types to install `packages`.
    pub(crate) fn by_hand(self, packages: &[&str]) -> String {
        let words = match self {
            Manager::Apt => "sudo apt-get install --no-install-recommends",
            Manager::Dnf => "sudo dnf install",
            Manager::Pacman => "sudo pacman -S --needed",
            Manager::Zypper => "sudo zypper install",
            Manager::Brew => "brew install",
        };
        format!("{words} {}", packages.join(" "))
    }
}

/// How this process may act as the administrator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Administrator {
    Root,
    Sudo,
}

impl Administrator {
    fn detect() -> Option<Administrator> {
        let succeeds = |program: &str, args: &[&str]| system::capture_ok(Command::new(program).args(args)).ok();
        if succeeds("id", &["-u"]).is_some_and(|out| system::text(&out) == "0") {
            return Some(Administrator::Root);
        }
        succeeds("sudo", &["-n", "true"]).map(|_| Administrator::Sudo)
    }

    fn apt(self, args: &[&str]) -> Command {
        let mut command = match self {
            Administrator::Root => Command::new("env"),
            Administrator::Sudo => {
                let mut sudo = Command::new("sudo");
                sudo.args(["-n", "env"]);
                sudo
            }
        };
        command.args(["DEBIAN_FRONTEND=noninteractive", "apt-get", "--quiet"]).args(args);
        command
    }
}

/// Installs what may be installed without asking a person.
///
/// # Errors
/// In words that hold the command to type, if the manager is not apt or this process may not act as the administrator;
/// apt's failure, after a second try with fresh package lists.
pub(crate) fn install(manager: Manager, packages: &[&str]) -> Result<()> {
    let by_hand = manager.by_hand(packages);
    if manager != Manager::Apt {
        bail!("run `{by_hand}`");
    }
    let Some(administrator) = Administrator::detect() else {
        bail!("neither root nor `sudo` without a password; run `{by_hand}`");
    };
    let known = |package: &str| apt_candidate(package);
    let mut updated = false;
    if !packages.iter().all(|p| known(p)) {
        system::run(&mut administrator.apt(&["update"]))?;
        updated = true;
    }
    let (there, unknown): (Vec<&str>, Vec<&str>) = packages.iter().copied().partition(|p| known(p));
    if !there.is_empty() {
        let args: Vec<&str> =
            ["install", "--yes", "--no-install-recommends"].into_iter().chain(there.iter().copied()).collect();
        let mut done = system::run(&mut administrator.apt(&args));
        if done.is_err() {
            // Old lists name files that the mirror no longer has; a download may just have broken off.
            if !updated {
                system::run(&mut administrator.apt(&["update"]))?;
            }
            done = system::run(&mut administrator.apt(&args));
        }
        done?;
    }
    if !unknown.is_empty() {
        bail!("the package lists of this system have no {}", unknown.join(", "));
    }
    Ok(())
}

fn apt_candidate(package: &str) -> bool {
    system::capture_ok(Command::new("apt-cache").args(["policy", package]).env("LC_ALL", "C"))
        .is_ok_and(|out| has_candidate(&system::text(&out)))
}

/// Whether the output of `apt-cache policy PACKAGE` names a version that can be installed.
fn has_candidate(policy: &str) -> bool {
    policy
        .lines()
        .filter_map(|line| line.trim().strip_prefix("Candidate:"))
        .any(|version| !matches!(version.trim(), "" | "(none)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manager_is_found_by_its_program() {
        assert_eq!(Manager::detect(|program| program == "dnf"), Some(Manager::Dnf));
        assert_eq!(Manager::detect(|program| ["apt-get", "brew"].contains(&program)), Some(Manager::Apt));
        assert_eq!(Manager::detect(|_| false), None);
    }

    #[test]
    fn commands_to_type() {
        assert_eq!(
            Manager::Apt.by_hand(&["ocl-icd-libopencl1", "pocl-opencl-icd"]),
            "sudo apt-get install --no-install-recommends ocl-icd-libopencl1 pocl-opencl-icd"
        );
        assert_eq!(Manager::Brew.by_hand(&["pocl"]), "brew install pocl");
    }

    #[test]
    fn a_candidate_is_a_version() {
        assert!(has_candidate("oclgrind:\n  Installed: (none)\n  Candidate: 21.10-3\n  Version table:\n"));
        assert!(!has_candidate("libclc-19:\n  Installed: (none)\n  Candidate: (none)\n"));
        assert!(!has_candidate(""), "a package that the lists do not know at all");
    }

    #[test]
    fn managers_we_do_not_drive_get_the_command() {
        let error = install(Manager::Pacman, &["pocl"]).unwrap_err().to_string();
        assert_eq!(error, "run `sudo pacman -S --needed pocl`");
    }
}
