//! The program on a machine without OpenCL: it starts, and says in words what is missing.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::outcome::Outcome;
use crate::products::Products;
use crate::setup::{self, Need};
use crate::system::{self, Workspace};

/// Commands that need a device; each must fail with words and the exit code for it.
const WITH_DEVICE: [&[&str]; 4] = [&["devices"], &["devices", "--json"], &["poisson", "--n", "65"], &["doctor"]];
/// Commands that need none; each must succeed.
const WITHOUT_DEVICE: [&[&str]; 2] = [&["--help"], &["poisson", "--backend", "reference", "--n", "65"]];

/// A user who has to wait longer thinks the program hangs.
const LIMIT: Duration = Duration::from_secs(1);
/// The exit code of `chroot` when all went well but the program to run does not exist.
const NO_SUCH_PROGRAM: i32 = 127;

/// Runs the program in a folder that holds nothing else, and with a loader that knows no driver.
pub(crate) fn run(workspace: &Workspace) -> Result<Outcome> {
    let program = Products::build(workspace)?.program();
    let mut faults = Vec::new();
    let mut left_out = Vec::new();

    match picture(&workspace.path("target/ci/bare"), &program)? {
        Ok(enter) => check("no loader", enter, &mut faults),
        Err(reason) => left_out.push(format!("without a loader: {reason}")),
    }
    if Need::Loader.is_there(workspace) {
        let no_drivers = workspace.path("target/ci/no-drivers");
        system::fresh_folder(&no_drivers)?;
        let start = || {
            let mut command = workspace.command(&program);
            command.env("OCL_ICD_VENDORS", &no_drivers);
            command
        };
        check("no driver", start, &mut faults);
    } else {
        left_out.push("with a loader alone: there is none here".to_owned());
    }

    for fault in &faults {
        println!("{fault}");
    }
    Ok(match (faults.len(), left_out.len()) {
        (0, 0) => Outcome::ok("without a loader and without a driver"),
        (0, 1) => Outcome::ok(format!("left out {}", left_out[0])),
        (0, _) => Outcome::skipped(left_out.join("; ")),
        (n, _) => Outcome::failed(format!("{n} faults, see above")),
    })
}

/// Puts the program and the libraries it starts with into `folder`, as the root of a machine with nothing else.
///
/// The answer makes commands that run the program in there, or says why that cannot be done.
fn picture(folder: &Path, program: &Path) -> Result<Result<impl Fn() -> Command + use<>, String>> {
    if !cfg!(target_os = "linux") {
        return Ok(Err("only on Linux".to_owned()));
    }
    system::fresh_folder(folder)?;
    let linked = system::capture_ok(Command::new("ldd").arg(program))?;
    for library in libraries(&system::text(&linked)) {
        if library.to_string_lossy().contains("OpenCL") {
            bail!("the program links {}, so it does not start where that is missing", library.display());
        }
        let copy = folder.join(library.strip_prefix("/").context("ldd names libraries by absolute paths")?);
        std::fs::create_dir_all(copy.parent().context("a library lies in a folder")?)?;
        std::fs::copy(&library, &copy).with_context(|| format!("cannot copy {}", library.display()))?;
    }
    std::fs::copy(program, folder.join("clinalg"))?;

    let chroot = system::find_program("chroot").context("chroot is not installed")?;
    let folder = folder.to_owned();
    let enter = move |as_user: bool, program: &str| {
        let mut command = Command::new(if as_user { Path::new("unshare") } else { &chroot });
        if as_user {
            command.args(["--user", "--map-root-user"]).arg(&chroot);
        }
        command.arg(&folder).arg(program).env_clear();
        command
    };
    for as_user in [false, true] {
        let tried = system::capture(&mut enter(as_user, "/no-such-program"));
        if tried.is_ok_and(|out| out.status.code() == Some(NO_SUCH_PROGRAM)) {
            return Ok(Ok(move || enter(as_user, "/clinalg")));
        }
    }
    Ok(Err("neither root nor user namespaces, which chroot needs".to_owned()))
}

/// The files that `ldd` names.
fn libraries(ldd: &str) -> Vec<PathBuf> {
    let file = |line: &str| {
        let name = line.split_once("=>").map_or(line, |(_, file)| file);
        Some(PathBuf::from(name.split_whitespace().next()?)).filter(|path| path.is_absolute())
    };
    ldd.lines().filter_map(file).collect()
}

/// Runs every command on a machine as described by `situation`.
fn check(situation: &str, start: impl Fn() -> Command, faults: &mut Vec<String>) {
    let commands = WITH_DEVICE.iter().map(|c| (c, false)).chain(WITHOUT_DEVICE.iter().map(|c| (c, true)));
    for (args, succeeds) in commands {
        let found = match system::capture_within(start().args(*args), 10 * LIMIT) {
            Ok((output, time)) => judge(output.status.code(), &system::text(&output), time, succeeds),
            Err(error) => vec![format!("{error:#}")],
        };
        faults.extend(found.iter().map(|fault| format!("{situation}: clinalg {}: {fault}", args.join(" "))));
    }
}

/// What is wrong with an answer of the program.
fn judge(code: Option<i32>, text: &str, time: Duration, succeeds: bool) -> Vec<String> {
    let mut faults = Vec::new();
    let expected = if succeeds { 0 } else { setup::NO_DEVICE };
    match code {
        None => faults.push("ended by a signal".to_owned()),
        Some(code) if code != expected => faults.push(format!("exit code {code} instead of {expected}")),
        Some(_) => {}
    }
    if text.contains("panicked at") {
        faults.push("shows a panic".to_owned());
    }
    if !succeeds && !text.contains("install") {
        faults.push("does not say what to install".to_owned());
    }
    if time > LIMIT {
        faults.push(format!("took {:.1} s", time.as_secs_f64()));
    }
    if !faults.is_empty() {
        faults.push(format!("it said:\n  {}", text.replace('\n', "\n  ")));
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ldd_is_read() {
        let ldd = "\tlinux-vdso.so.1 (0x00007ffd)\n\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x0001)\n\
                   \tlibgone.so => not found\n\t/lib64/ld-linux-x86-64.so.2 (0x0002)\n";
        assert_eq!(
            libraries(ldd),
            [Path::new("/lib/x86_64-linux-gnu/libc.so.6"), Path::new("/lib64/ld-linux-x86-64.so.2")]
        );
        assert_eq!(libraries("\tstatically linked\n"), [] as [PathBuf; 0]);
    }

    #[test]
    fn words_and_a_code_are_a_good_answer() {
        let quick = Duration::from_millis(20);
        assert_eq!(judge(Some(3), "no OpenCL loader; apt-get install pocl", quick, false), [] as [String; 0]);
        assert_eq!(judge(Some(0), "Usage: clinalg", quick, true), [] as [String; 0]);
    }

    #[test]
    fn everything_else_is_a_fault() {
        let quick = Duration::from_millis(20);
        for (code, text, time, succeeds, word) in [
            (None, "install", quick, false, "signal"),
            (Some(101), "install", quick, false, "code 101"),
            (Some(0), "install", quick, false, "code 0"),
            (Some(3), "", quick, true, "code 3"),
            (Some(3), "no device", quick, false, "what to install"),
            (Some(3), "thread 'main' panicked at x.rs: install", quick, false, "shows a panic"),
            (Some(3), "install", Duration::from_secs(2), false, "2.0 s"),
        ] {
            let faults = judge(code, text, time, succeeds);
            assert!(faults[0].contains(word), "{faults:?}");
        }
    }
}
