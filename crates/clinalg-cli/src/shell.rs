//! `clinalg completions` and `clinalg man`: what a shell and `man` know of the program.

use std::io::Write;
use std::path::PathBuf;

use clap::Command;
use clap::builder::PossibleValuesParser;
use clap_complete::Shell;
use clap_mangen::Man;
use clinalg_ode::METHODS;
use clinalg_ode::integrate::STABILISED;
use clinalg_ode::problems::PROBLEMS;
use clinalg_ode::waveform::VARIANTS;

use crate::exit::{Exit, Failure};
use crate::output::Output;
use crate::paths::write_file;
use crate::{elastodynamics, heat_bem, ode};

/// Print the completions of a shell
///
/// The script completes commands, options and their values: names of problems, methods, meshes and variants too. `cargo xtask install` puts the
/// scripts of bash, zsh and fish where these shells look for them.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  clinalg completions bash > ~/.local/share/bash-completion/completions/clinalg
  clinalg completions zsh > ~/.zfunc/_clinalg
  clinalg completions fish > ~/.config/fish/completions/clinalg.fish")]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Print the manual page, or write the pages of all commands
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  clinalg man | man -l -                     read the page
  clinalg man --out ~/.local/share/man/man1  then: man clinalg, man clinalg-poisson")]
pub(crate) struct ManArgs {
    /// Write clinalg.1 and a page per command into this folder, which is created if necessary
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Names that options of a command take beside files or formulas.
fn names() -> Vec<(&'static str, &'static str, Vec<&'static str>)> {
    let ode_methods = METHODS.iter().copied().chain([STABILISED]).collect();
    let relaxed = VARIANTS.map(|(name, _)| name).to_vec();
    vec![
        ("ode", "problem", PROBLEMS.to_vec()),
        ("ode", "method", ode_methods),
        ("ode", "variant", ode::variants()),
        ("waveform", "problem", PROBLEMS.to_vec()),
        ("waveform", "method", METHODS.to_vec()),
        ("waveform", "variant", relaxed),
        ("heat-bem", "mesh", heat_bem::MESHES.to_vec()),
        ("heat-bem", "boundary", vec!["fundamental"]),
        ("elastodynamics", "mesh", elastodynamics::MESHES.to_vec()),
        ("elastodynamics", "boundary", vec!["point-force", "pressure"]),
    ]
}

pub(crate) fn completions(args: &CompletionsArgs, program: Command, out: &mut Output) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    let mut program = names().into_iter().fold(program, |program, (command, option, names)| {
        program.mut_subcommand(command, |command| {
            command.mut_arg(option, |arg| arg.value_parser(PossibleValuesParser::new(names)))
        })
    });
    clap_complete::generate(args.shell, &mut program, "clinalg", &mut script);
    out.raw(&script)?;
    Ok(Exit::Done)
}

pub(crate) fn man(args: &ManArgs, program: Command, out: &mut Output) -> Result<Exit, Failure> {
    // Fills in the options that all commands have.
    let mut program = program.disable_help_subcommand(true);
    program.build();
    match &args.out {
        None => out.raw(&page(program)?)?,
        Some(folder) => {
            std::fs::create_dir_all(folder).map_err(|error| Failure::file(folder, error))?;
            for command in program.get_subcommands().chain([&program]) {
                // `clinalg-poisson` of a subcommand.
                let name = command.get_display_name().unwrap_or(command.get_name());
                let path = folder.join(format!("{name}.1"));
                write_file(&path, &page(command.clone())?)?;
            }
        }
    }
    Ok(Exit::Done)
}

fn page(command: Command) -> Result<Vec<u8>, Failure> {
    let mut page = Vec::new();
    Man::new(command).render(&mut page).map_err(Failure::Stdout)?;
    page.flush().map_err(Failure::Stdout)?;
    Ok(page)
}
