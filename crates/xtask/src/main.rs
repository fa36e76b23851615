//! Set-up, demo, tests and checks of the clinalg workspace, run as `cargo xtask <command>`.

mod checks;
mod ci;
mod dist;
mod elf;
mod install;
mod matlab;
mod notices;
mod opencl_c;
mod outcome;
mod packages;
mod products;
mod setup;
mod system;
mod test_programs;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

use crate::setup::{Installer, Need};
use crate::system::{Profile, Workspace};
use crate::test_programs::{Counts, Failure, Outcome};

#[derive(Parser)]
#[command(bin_name = "cargo xtask", about = "Set-up, demo, tests and checks of clinalg", max_term_width = 100)]
struct Args {
    /// Install nothing: where something is missing, print the command that would install it
    /// (CLINALG_NO_INSTALL=1 does the same)
    #[arg(long, global = true)]
    no_install: bool,
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Solve the Poisson problem at 1025 x 1025 points and draw the solution and the convergence
    ///
    /// Builds the program, installs an OpenCL loader and PoCL if the machine has no OpenCL device, and writes its
    /// pictures to target/demo/.
    Demo,
    /// Run every test of the workspace
    ///
    /// Without arguments the test programs run side by side and all of them run, whatever fails; the last line counts
    /// the tests: passed, failed, skipped.
    /// Installs an OpenCL loader and PoCL if the machine has no OpenCL device, and a C++ compiler if it has none.
    Test {
        /// Take every family of kernels and every method, not only what this machine's device would get, as .ci/run does
        /// (sets CLINALG_TEST_THOROUGH)
        #[arg(long)]
        thorough: bool,
        /// Be thorough and take the cases as well that take minutes (sets CLINALG_TEST_LONG)
        #[arg(long)]
        long: bool,
        /// Passed on to `cargo test`, which runs one program after the other
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// Run the checks beyond the tests and print a table of their results
    ///
    /// A check whose tools are not available is listed as skipped with the reason; with CI=true a missing PoCL is an
    /// error. The exit code is 1 if a check failed.
    Ci {
        /// Checks or groups of checks to run [default: all]
        checks: Vec<String>,
        /// List the checks
        #[arg(long)]
        list: bool,
        /// Take the cases as well that take minutes (sets CLINALG_TEST_LONG)
        #[arg(long)]
        long: bool,
        /// With `drivers`: run the self-test on the drivers of this release of Debian (13) instead, PoCL and Mesa's rusticl with
        /// llvmpipe, in a root folder that debootstrap makes below target/drivers/ (as root)
        #[arg(long, value_name = "RELEASE")]
        debian: Option<u32>,
    },
    /// Build the C library and the program and install them
    ///
    /// The library comes with headers, pkg-config file and CMake package, the program with completions for bash, zsh and fish
    /// and manual pages. The folder may be moved afterwards.
    Install {
        /// Where `lib`, `include`, `bin` and `share` go
        #[arg(long)]
        prefix: PathBuf,
    },
    /// Build the functions for MATLAB and Octave
    ///
    /// Makes target/matlab/, a folder to add to the path of either host, and a package for Octave's `pkg install` in
    /// target/octave/.
    Matlab,
    /// Make archives for machines without Rust
    ///
    /// The program, the C library, the folder for MATLAB and Octave and a package for Octave that needs no compiler, for x86-64
    /// Linux with the GNU C library 2.17 or newer, in target/dist/ (with another profile in target/dist-PROFILE/).
    /// Installs cargo-zigbuild and the compiler zig into target/drivers/.
    Dist {
        /// How the products are built
        #[arg(long, value_enum, default_value_t = Profile::Dist)]
        profile: Profile,
        /// Unpack each archive and use it, as `cargo xtask ci dist` does
        #[arg(long)]
        check: bool,
    },
    /// Find out what is missing and install it
    ///
    /// System packages come through the system's package manager, everything else goes to target/drivers/. Exits
    /// with 1, after printing the exact command, if something is missing that may not or cannot be installed.
    Setup {
        /// What the machine is set up for
        #[arg(long = "for", value_enum, default_value_t = Purpose::Test)]
        purpose: Purpose,
        /// What the crate clinalg-mpi needs as well: an MPI library and libclang
        #[arg(long)]
        mpi: bool,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Purpose {
    /// `cargo xtask demo`
    Demo,
    /// `cargo xtask test`
    Test,
    /// `cargo xtask ci`
    Ci,
}

fn main() -> ExitCode {
    let args = Args::parse();
    match run(args) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: Args) -> Result<ExitCode> {
    let mut workspace = Workspace::find()?;
    let installer = Installer::new(args.no_install);
    match args.task {
        Task::Demo => demo(&workspace, &installer),
        Task::Test { thorough, long, args } => {
            workspace.thorough |= thorough;
            workspace.long |= long;
            if args.is_empty() {
                return all_tests(&workspace, &installer);
            }
            workspace.build_program(Profile::Dev)?;
            setup::device(&workspace, &installer, Profile::Dev)?;
            setup::provide(&workspace, &installer, &[Need::Cxx, Need::OpenClHeaders])?;
            let mut cargo = workspace.cargo();
            cargo.arg("test");
            if !chooses_packages(&args) {
                cargo.arg("--workspace");
            }
            cargo.envs(extent(&workspace));
            system::exit_code(cargo.args(args))
        }
        Task::Ci { list: true, .. } => {
            ci::list();
            Ok(ExitCode::SUCCESS)
        }
        Task::Ci { checks, debian: Some(release), .. } => ci::debian(&workspace, &installer, &checks, release),
        Task::Ci { checks, long, .. } => {
            workspace.long |= long;
            ci::run(&workspace, &installer, &checks)
        }
        Task::Install { prefix } => {
            install::run(&workspace, &prefix)?;
            Ok(ExitCode::SUCCESS)
        }
        Task::Matlab => {
            matlab::build(&workspace)?;
            Ok(ExitCode::SUCCESS)
        }
        Task::Dist { profile, check } => {
            let archives = dist::run(&workspace, &installer, profile)?;
            if check {
                setup::provide(&workspace, &installer, &checks::dist::NEEDS)?;
                checks::dist::try_all(&workspace, &archives)?;
            }
            Ok(ExitCode::SUCCESS)
        }
        Task::Setup { purpose, mpi } => {
            if mpi {
                setup::provide(&workspace, &installer, &Need::OF_MPI)?;
            }
            match purpose {
                Purpose::Demo => {
                    workspace.build_program(Profile::Release)?;
                    setup::device(&workspace, &installer, Profile::Release)?;
                }
                Purpose::Test => {
                    workspace.build_program(Profile::Dev)?;
                    setup::device(&workspace, &installer, Profile::Dev)?;
                    setup::provide(&workspace, &installer, &[Need::Cxx, Need::OpenClHeaders])?;
                }
                Purpose::Ci => setup::provide(&workspace, &installer, &Need::ALL)?,
            }
            println!("everything is there");
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// Builds and runs all test programs, then the examples of the documentation.
fn all_tests(workspace: &Workspace, installer: &Installer) -> Result<ExitCode> {
    setup::provide(workspace, installer, &[Need::Cxx, Need::OpenClHeaders])?;
    let programs = test_programs::build(workspace)?;
    // Tests of the program have had it built.
    setup::device(workspace, installer, Profile::Dev)?;
    let gateway = matlab::build_for_tests(workspace)?;
    let mut variables = vec![(matlab::GATEWAY, gateway.as_path())];
    variables.extend(extent(workspace));
    let Outcome { mut counts, mut failed } = test_programs::run(&programs.iter().collect::<Vec<_>>(), &variables);
    let mut examples = workspace.cargo();
    examples.arg("test").args(workspace.packages()).args(["--doc", "--no-fail-fast"]);
    println!("$ {}", system::words(&examples));
    let output = system::capture(&mut examples)?;
    let said = system::text(&output);
    println!("{said}");
    counts += Counts::of(&said, output.status.success());
    if !output.status.success() {
        failed.push(Failure::new("examples of the documentation", &said));
    }
    let all_passed = failed.is_empty();
    if all_passed {
        println!("all {} test programs and the examples of the documentation passed", programs.len());
    }
    // Once more, since what they said is far above.
    for failure in &failed {
        println!("{failure}");
    }
    println!("{counts}");
    Ok(if all_passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The variables that say how much is tested.
fn extent<'a>(workspace: &Workspace) -> impl Iterator<Item = (&'a str, &'a Path)> + use<'a> {
    let asked = [(workspace.thorough, system::THOROUGH_TESTS), (workspace.long, system::LONG_TESTS)];
    asked.into_iter().filter(|(asked, _)| *asked).map(|(_, name)| (name, Path::new("1")))
}

/// Whether arguments for cargo say which packages are meant.
fn chooses_packages(args: &[String]) -> bool {
    let choice = |arg: &String| arg.starts_with("-p") || arg.starts_with("--package") || arg == "--workspace";
    args.iter().take_while(|arg| *arg != "--").any(choice)
}

fn demo(workspace: &Workspace, installer: &Installer) -> Result<ExitCode> {
    workspace.build_program(Profile::Release)?;
    setup::device(workspace, installer, Profile::Release)?;
    std::fs::create_dir_all(workspace.path("target/demo"))?;
    let mut program = workspace.program(Profile::Release);
    system::exit_code(program.args(["poisson", "--n", "1025", "--plot", "target/demo/poisson.png"]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        use clap::CommandFactory;
        Args::command().debug_assert();
    }

    #[test]
    fn arguments_of_tests_go_through_unchanged() {
        let line = ["xtask", "test", "-p", "clinalg", "csr", "--", "--nocapture", "--no-install"];
        let Task::Test { long, args, .. } = Args::parse_from(line).task else { panic!("test") };
        assert!(!long);
        assert_eq!(args, line[2..]);
        let parsed = Args::parse_from(["xtask", "test", "--long", "-p", "clinalg"]).task;
        assert!(matches!(parsed, Task::Test { long: true, args, .. } if args == ["-p", "clinalg"]));
        assert!(chooses_packages(&args));
        assert!(!chooses_packages(&["csr".to_owned(), "--".to_owned(), "-p".to_owned()]));
    }
}
