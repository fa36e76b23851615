//! The short help (`-h`) and the full help (`--help`).

use clap::{Arg, Command};

/// How the first lines of the examples of a command begin.
const EXAMPLE: &str = "  clinalg ";
/// Examples that `-h` shows.
const EXAMPLES: usize = 3;

/// The options that `-h` shows of commands with many; of others all that do not hide themselves.
const MAIN: [(&str, &str); 8] = [
    ("poisson", "n points size sides dim shift f boundary coefficient cycle precision tol max_cycles out plot resume"),
    ("wave", "n points size sides steps end_time c scheme initial force precision out series plot frames resume"),
    (
        "waveform",
        "problem n parameters initial method h steps windows iterations eps variant precision plot series resume",
    ),
    ("heat-bem", "mesh refine steps end_time alpha problem boundary initial method precision tol points out plot"),
    (
        "elastodynamics",
        "mesh frequency frequencies shear poisson density problem boundary method precision tol points out plot vtk",
    ),
    ("ode", "problem n parameters initial list method t_end h rtol precision out plot series frames"),
    ("solve", "rhs x0 method precond solver explain precision tol max_iterations out plot resume"),
    ("bench", "n precision only samples kernels solvers plot"),
];

/// The program whose `-h` has a line or two for each of the main options and a few examples, and whose `--help` has everything.
pub(crate) fn with_short_and_long_help(program: Command) -> Command {
    let more = "`clinalg COMMAND -h` lists the options of a command, `clinalg COMMAND --help` explains them.\n\
                `clinalg --help` has examples, environment variables and exit codes.";
    let program = program.mut_args(with_two_lengths).mut_subcommands(|command| {
        let name = command.get_name().to_owned();
        let main = MAIN.iter().find(|(command, _)| *command == name).map(|(_, main)| main.split(' '));
        let command = command.mut_args(|arg| {
            let is_other = main.clone().is_some_and(|mut main| !main.any(|name| arg.get_id() == name));
            let is_hidden = arg.is_hide_short_help_set()
                || is_other && arg.get_long().is_some() && !arg.is_global_set() && arg.get_id() != "help";
            arg.hide_short_help(is_hidden)
        });
        let Some(long) = command.get_after_help().map(ToString::to_string) else {
            return command.mut_args(with_two_lengths);
        };
        let examples: Vec<&str> =
            long.lines().filter(|line| line.starts_with(EXAMPLE) && line.len() <= 100).take(EXAMPLES).collect();
        let more = format!("`clinalg {name} --help` has all options and explains them and the output.");
        let short = if examples.is_empty() { more } else { format!("Examples:\n{}\n\n{more}", examples.join("\n")) };
        command.mut_args(with_two_lengths).after_help(short).after_long_help(long)
    });
    let long = program.get_after_help().map(ToString::to_string).unwrap_or_default();
    program.after_help(more).after_long_help(long)
}

fn with_two_lengths(arg: Arg) -> Arg {
    let for_every_command = arg.is_global_set();
    let Some(long) = arg.get_help().map(ToString::to_string) else { return arg };
    let short = first_statement(&long);
    // Paragraphs after the first are in the long help only already.
    let long = arg.get_long_help().map_or(long, ToString::to_string);
    let hidden = for_every_command && arg.get_id() != "device" || arg.is_hide_short_help_set();
    arg.help(short).long_help(long).hide_short_help(hidden)
}

/// The text up to the first colon, semicolon or end of a sentence that stands in no brackets, and the default at its end.
fn first_statement(text: &str) -> String {
    let (said, default) = match text.rfind(" [default: ") {
        Some(at) if text.ends_with(']') => text.split_at(at),
        _ => (text, ""),
    };
    let mut depth = 0_usize;
    let mut end = said.len();
    for (at, c) in said.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            ':' | ';' | '.' if depth == 0 && said[at + 1..].starts_with([' ', '\n']) => {
                end = at;
                break;
            }
            _ => {}
        }
    }
    format!("{}{default}", &said[..end])
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::Cli;

    #[test]
    fn a_statement_ends_outside_brackets() {
        let cases = [
            ("Time step; with --end-time, an upper bound", "Time step"),
            ("Write u: .npy or .csv [default: none]", "Write u [default: none]"),
            ("Points (2^k + 1; more is slower) of a side", "Points (2^k + 1; more is slower) of a side"),
            ("Factor 0.5 of c", "Factor 0.5 of c"),
            ("Steps. More of them [sic]", "Steps"),
        ];
        for (long, short) in cases {
            assert_eq!(first_statement(long), short);
        }
    }

    #[test]
    fn short_help_has_at_most_40_lines_and_long_help_is_complete() {
        let mut program = with_short_and_long_help(Cli::command()).term_width(100);
        let lines = |text: clap::builder::StyledStr| text.to_string().lines().count();
        assert!(lines(program.render_help()) <= 40);
        program.build();
        for command in program.get_subcommands_mut() {
            let (short, long) = (command.render_help().to_string(), command.render_long_help().to_string());
            let name = command.get_name();
            assert!(short.lines().count() <= 40, "{name}: {} lines\n{short}", short.lines().count());
            let all = ["--options", "--json", "--quiet"];
            assert!(name == "help" || all.iter().all(|option| long.contains(option)), "{name}: {long}");
            assert!(name == "help" || short.contains("--help"), "{name}: {short}");
            // Every option that the short help has to show is one.
            let main = MAIN.iter().find(|(command, _)| *command == name).map_or("", |(_, main)| main);
            for option in main.split_whitespace() {
                let arg = command.get_arguments().find(|arg| arg.get_id() == option);
                assert!(arg.is_some_and(|arg| !arg.is_hide_short_help_set()), "{name}: {option}");
            }
        }
    }
}
