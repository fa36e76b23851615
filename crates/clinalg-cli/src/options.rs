//! Options of a command in a TOML file: `--options` reads what `--print-options` writes.

use std::path::Path;

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command};
use toml::{Table, Value};

use crate::exit::{Failure, usage};

/// Options that no file has: what they do ends with a run.
const NOT_KEPT: [&str; 8] = ["options", "print_options", "json", "quiet", "verbose", "resume", "help", "version"];

/// The key of the command's name.
const COMMAND: &str = "command";

/// The command line with the options of `--options FILE` before those that are given, and whether there was such a file.
///
/// # Errors
/// [`Failure::File`] for a file that cannot be read; [`Failure::Usage`] for what is no option of the command.
pub(crate) fn arguments(given: Vec<String>, program: &Command) -> Result<(Vec<String>, bool), Failure> {
    let Some(path) = value_of(&given, "--options") else { return Ok((given, false)) };
    let path = Path::new(&path);
    let text = clinalg::io::read_text(path).map_err(|error| Failure::file(path, error))?;
    let mut table: Table = text.parse().map_err(|error| Failure::file(path, error))?;
    let own = match table.remove(COMMAND) {
        Some(Value::String(name)) => Some(name),
        Some(other) => return Err(Failure::file(path, format!("{COMMAND} = {other}: expected the name of a command"))),
        None => None,
    };
    let at = given.iter().skip(1).position(|word| is_command(program, word)).map(|at| at + 1);
    let name = match (own, at.map(|at| given[at].clone())) {
        (Some(own), Some(given)) if own != given => {
            return usage!("{} holds options of `clinalg {own}`, not of `clinalg {given}`", path.display());
        }
        (_, Some(name)) | (Some(name), None) => name,
        (None, None) => {
            return usage!("{}: give the command, or `{COMMAND} = \"poisson\"` in the file", path.display());
        }
    };
    let Some(command) = program.find_subcommand(&name) else {
        return Err(Failure::file(path, format!("there is no command `{name}`")));
    };
    let mut words = vec![given[0].clone(), name.clone()];
    for (key, value) in &table {
        words.extend(words_of(path, command, key, value)?);
    }
    let rest = given.iter().enumerate().skip(1).filter(|(k, _)| Some(*k) != at).map(|(_, word)| word.clone());
    words.extend(rest);
    Ok((words, true))
}

/// Whether `word` is a command of the program.
pub(crate) fn is_command(program: &Command, word: &str) -> bool {
    program.find_subcommand(word).is_some()
}

/// The value of an option in a command line.
pub(crate) fn value_of(words: &[String], option: &str) -> Option<String> {
    words.iter().enumerate().find_map(|(k, word)| match word.strip_prefix(option)? {
        "" => words.get(k + 1).cloned(),
        rest => rest.strip_prefix('=').map(str::to_owned),
    })
}

/// The words of an option.
fn words_of(path: &Path, command: &Command, key: &str, value: &Value) -> Result<Vec<String>, Failure> {
    let fits = |arg: &&Arg| name(arg) == key && !NOT_KEPT.contains(&arg.get_id().as_str());
    let Some(arg) = command.get_arguments().find(fits) else {
        let known: Vec<&str> = kept(command).map(name).collect();
        let message =
            format!("`{key}` is not an option of {}; expected one of {}", command.get_name(), known.join(", "));
        return Err(Failure::file(path, message));
    };
    let word = |value: &Value| -> Result<String, Failure> {
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Integer(number) => number.to_string(),
            // 1e-9 as it was written.
            Value::Float(number) => format!("{number:?}"),
            other => return Err(Failure::file(path, format!("{key} = {other}: expected a number or a text"))),
        };
        Ok(if arg.is_positional() { text } else { format!("--{key}={text}") })
    };
    match (takes_value(arg), value) {
        (false, Value::Boolean(true)) => Ok(vec![format!("--{key}")]),
        (false, Value::Boolean(false)) => Ok(Vec::new()),
        (false, other) => Err(Failure::file(path, format!("{key} = {other}: expected true or false"))),
        (true, Value::Array(values)) => values.iter().map(word).collect(),
        (true, value) => Ok(vec![word(value)?]),
    }
}

/// The key of an option.
fn name(arg: &Arg) -> &str {
    arg.get_long().unwrap_or(arg.get_id().as_str())
}

pub(crate) fn takes_value(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::Set | ArgAction::Append)
}

/// The options that a file may have.
fn kept(command: &Command) -> impl Iterator<Item = &Arg> {
    command.get_arguments().filter(|arg| !NOT_KEPT.contains(&arg.get_id().as_str()))
}

/// The options of the command in `matches` as TOML, the defaults as comments.
pub(crate) fn print(matches: &ArgMatches, program: &Command) -> String {
    let (name_of, own) = matches.subcommand().expect("clap asks for a command");
    let command = program.find_subcommand(name_of).expect("clap has found it");
    let mut text = format!("{COMMAND} = {}\n", quoted(name_of));
    for arg in kept(command) {
        let id = arg.get_id().as_str();
        let source = own.value_source(id);
        let values: Vec<String> = match takes_value(arg) {
            true => own.get_raw(id).into_iter().flatten().map(|raw| literal(&raw.to_string_lossy())).collect(),
            false => vec![own.get_flag(id).to_string()],
        };
        let value = match &values[..] {
            [] => continue,
            [one] => one.clone(),
            several => format!("[{}]", several.join(", ")),
        };
        let given = source == Some(ValueSource::CommandLine);
        text.push_str(&format!("{}{} = {value}\n", if given { "" } else { "# " }, name(arg)));
    }
    text
}

/// A number as it is, all else as a text.
fn literal(raw: &str) -> String {
    match format!("x = {raw}").parse::<Table>() {
        Ok(table) if matches!(table.get("x"), Some(Value::Integer(_) | Value::Float(_))) => raw.to_owned(),
        _ => quoted(raw),
    }
}

fn quoted(text: &str) -> String {
    Value::String(text.into()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    use crate::Cli;

    #[test]
    fn what_is_printed_is_read() {
        let words = |line: &[&str]| line.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>();
        let line = ["clinalg", "poisson", "--n", "33", "--f", "1 + x*\"\"", "--tol=1e-8"];
        let matches = Cli::command().try_get_matches_from(line).unwrap();
        let text = print(&matches, &Cli::program());
        assert!(text.contains("\nn = 33\n") && text.contains("\n# dim = 2\n") && text.contains("tol = 1e-8"), "{text}");
        let file = tempfile::NamedTempFile::with_suffix(".toml").unwrap();
        std::fs::write(&file, &text).unwrap();
        let path = file.path().to_str().unwrap();
        let (joined, found) = arguments(words(&["clinalg", "--options", path, "--n", "65"]), &Cli::program()).unwrap();
        assert!(found);
        let matches = Cli::command().args_override_self(true).try_get_matches_from(joined).unwrap();
        let own = matches.subcommand_matches("poisson").unwrap();
        assert_eq!(own.get_one::<usize>("n"), Some(&65));
        assert_eq!(own.get_one::<String>("f").map(String::as_str), Some("1 + x*\"\""));
        for (text, needle) in [("command = \"wave\"", "clinalg wave"), ("m = 3", "`m`"), ("n = true", "number")] {
            std::fs::write(&file, text).unwrap();
            let words =
                arguments(words(&["clinalg", "poisson", "--options", path]), &Cli::program()).unwrap_err().message();
            assert!(words.contains(needle), "{words}");
        }
    }

    /// With the options of every command, those that may be repeated, negative ones, and numbers as people write them.
    #[test]
    fn every_command_reads_what_it_printed() {
        let lines = [
            "devices",
            "doctor",
            "cache --warm --processes 3",
            "poisson --n 33 --cycle w --f sin(pi*x) --coefficient 1+1000*(x>0.5) --tol 1e-9 --out u.vtu",
            "poisson --points 25x33 --sides x0=neumann,y=periodic --dxx 2+x --size 1x2 --cells",
            "wave --points 33x17 --size 2x1 --sides all=absorbing --sponge .25 --mode 2,3 --dt 1E-3",
            "waveform --problem heat2d --n 9 --windows 3",
            "heat-bem --mesh sphere --boundary -t --source 0,0,-5 --steps 4 --problem neumann --report",
            "elastodynamics --mesh cavity:4 --frequencies 0:4:9 --damping 0.10",
            "ode --problem heat2d --n 9 --initial u=-x*y --parameter a=1 --parameter b=-2e-3 --h 1e-4",
            "solve A.mtx --precond ilut --drop 1e-3 --fill 5 --reorder rcm --plot-pattern p.png",
            "solve A.mtx --rhs b.mtx --method gmres --restart 30 --precond ssor --tol 1e-12",
            "bench --only dot,axpby",
            "tune --op gemm",
            "completions bash",
            "man",
            "schema poisson",
        ];
        let known: Vec<String> = Cli::command().get_subcommands().map(|c| c.get_name().to_owned()).collect();
        for name in known {
            assert!(lines.iter().any(|line| line.split(' ').next() == Some(name.as_str())), "{name} has no line here");
        }
        let file = tempfile::NamedTempFile::with_suffix(".toml").unwrap();
        for line in lines {
            let words = ["clinalg"].into_iter().chain(line.split(' ')).map(str::to_owned);
            let text = print(&Cli::command().try_get_matches_from(words).unwrap(), &Cli::program());
            std::fs::write(&file, &text).unwrap();
            let given = ["clinalg", "--options", file.path().to_str().unwrap()].map(str::to_owned).to_vec();
            let (joined, _) = arguments(given, &Cli::program()).unwrap();
            let matches = Cli::command().args_override_self(true).try_get_matches_from(joined).unwrap();
            let [before, after]: [toml::Table; 2] =
                [text, print(&matches, &Cli::program())].map(|text| text.parse().unwrap());
            assert_eq!(after, before, "{line}");
            assert!(before.len() > 1 || line.split(' ').count() == 1, "{line}: {before}");
        }
    }
}
