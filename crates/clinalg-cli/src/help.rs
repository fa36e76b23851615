//! The short help (`-h`) and the full help (`--help`).

use clap::{Arg, Command};

/// How the first lines of the examples of a command begin.
const EXAMPLE: &str = "  clinalg ";
/// Examples that `-h` shows.
const EXAMPLES: usize = 3;

/// The program whose `-h` has a line or two for each option and a few examples, and whose `--help` has everything.
pub(crate) fn with_short_and_long_help(program: Command) -> Command {
    let more = "`clinalg COMMAND -h` lists the options of a command, `clinalg COMMAND --help` explains them.\n\
                `clinalg --help` has examples, environment variables and exit codes.";
    let program = program.mut_args(with_two_lengths).mut_subcommands(|command| {
        let name = command.get_name().to_owned();
        let Some(long) = command.get_after_help().map(ToString::to_string) else {
            return command.mut_args(with_two_lengths);
        };
        let examples: Vec<&str> = long.lines().filter(|line| line.starts_with(EXAMPLE)).take(EXAMPLES).collect();
        let more =
            format!("`clinalg {name} --help` explains all options, including those of every command, and the output.");
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
    fn short_help_has_at_most_80_lines_and_long_help_is_complete() {
        let mut program = with_short_and_long_help(Cli::command()).term_width(100);
        let lines = |text: clap::builder::StyledStr| text.to_string().lines().count();
        assert!(lines(program.render_help()) <= 40);
        program.build();
        for command in program.get_subcommands_mut() {
            let (short, long) = (command.render_help().to_string(), command.render_long_help().to_string());
            let name = command.get_name();
            assert!(short.lines().count() <= 80, "{name}: {} lines\n{short}", short.lines().count());
            let all = ["--options", "--json", "--quiet"];
            assert!(name == "help" || all.iter().all(|option| long.contains(option)), "{name}: {long}");
            assert!(name == "help" || short.contains("--help"), "{name}: {short}");
        }
    }
}
