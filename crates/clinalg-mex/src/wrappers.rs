//! The files `matlab/Mex*.m` and `matlab/Contents.m`, made from the table.

use std::fmt::Write as _;
use std::path::Path;

use crate::function::Function;
use crate::functions::GROUPS;
use crate::table::all;

/// Widest line of help text.
const WIDTH: usize = 130;

/// A statement in two lines where it is too wide, with a place for two blanks before it.
fn continued(statement: &str) -> String {
    let fits = WIDTH - "   ...".len();
    match statement.get(..fits).filter(|_| statement.len() + 2 > WIDTH).and_then(|start| start.rfind(", ")) {
        Some(comma) => format!("{} ...\n  {}", &statement[..=comma], &statement[comma + 2..]),
        None => statement.to_owned(),
    }
}

/// `<name>.m`: help text and a call of the gateway with fixed arguments, which costs the interpreter
/// least. A missing argument shows when it is used, so that a good call pays for no check.
fn wrapper(f: &Function) -> String {
    let names: Vec<_> = f.inputs.iter().map(|i| i.name).collect();
    let mut file = String::new();
    let outputs = match f.outputs {
        [] => String::new(),
        [one] => format!("{one} = "),
        several => format!("[{}] = ", several.join(", ")),
    };
    let declaration = format!("function {outputs}{}({})", f.name, names.join(", "));
    let _ = writeln!(file, "{}", continued(&declaration));
    let _ = writeln!(file, "%{}  {}", f.name, f.title);
    let mut usage = f.usage();
    if usage.chars().count() + "%   ".len() > WIDTH {
        usage = usage.replacen(" = ", " = ...\n    ", 1);
    }
    let start = usage.find('\n').map_or(0, |end| end + 1);
    if usage.len() - start + "%   ".len() > WIDTH
        && let Some(comma) = usage[start..start + WIDTH - "%    ...".len()].rfind(" [, ")
    {
        usage.replace_range(start + comma..=start + comma, " ...\n      ");
    }
    let mut help = format!("{usage}\n\n{}\n\nExample:\n", f.text);
    for line in f.example.lines() {
        let _ = writeln!(help, "  {line}");
    }
    let _ = write!(help, "\nSee also {}.", f.see.join(", "));
    for line in help.lines() {
        let _ = writeln!(file, "{}", format!("%   {line}").trim_end());
    }
    file += "\n% Made from the table in crates/clinalg-mex; edit it there.\n";

    for (position, name) in names.iter().enumerate().skip(f.required).rev() {
        let _ = writeln!(file, "if nargin < {}, {name} = []; end", position + 1);
    }
    let mut arguments = vec![format!("'{}'", f.name)];
    arguments.extend(names.iter().map(|&n| n.to_owned()));
    let call = format!("clinalg_mex({});", arguments.join(", "));
    let mut lines = Vec::new();
    if f.prints {
        lines.extend(["if nargout == 0".into(), format!("  {call}"), "else".into()]);
        lines.extend([format!("  {outputs}{call}"), "end".into()]);
    } else {
        lines.push(format!("{outputs}{call}"));
    }
    let lines: Vec<_> = lines.iter().map(|line| continued(line)).collect();
    if f.required == 0 {
        file += &(lines.join("\n") + "\n");
    } else {
        let _ = writeln!(file, "try\n  {}\ncatch problem", lines.join("\n  "));
        let _ = writeln!(file, "  if nargin < {}, clinalg_mex('{}'); end", f.required, f.name);
        file += "  rethrow(problem);\nend\n";
    }
    file + "end\n"
}

fn contents() -> String {
    let mut file = format!("% clinalg: linear algebra on any OpenCL device\n% Version {}\n", env!("CARGO_PKG_VERSION"));
    let width = all().iter().map(|f| f.name.len()).max().unwrap_or(0);
    for (topic, functions) in GROUPS {
        let _ = writeln!(file, "%\n% {topic}");
        for f in functions.iter().copied().flatten() {
            let _ = writeln!(file, "%   {:width$} - {}", f.name, f.title);
        }
    }
    file + "%\n% Objects that behave like matrices: see <a href=\"matlab:help clinalg\">clinalg</a>.\n"
}

/// Compares the files with what the table makes; with `UPDATE_WRAPPERS=1` writes them.
#[test]
fn the_files_are_those_of_the_table() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../matlab");
    let update = std::env::var_os("UPDATE_WRAPPERS").is_some();
    let mut files: Vec<_> = all().iter().map(|f| (format!("{}.m", f.name), wrapper(f))).collect();
    files.push(("Contents.m".into(), contents()));
    for (name, text) in &files {
        let path = folder.join(name);
        if update {
            std::fs::write(&path, text).unwrap();
        }
        let found = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(found == *text, "{name} differs from the table; UPDATE_WRAPPERS=1 cargo test -p clinalg-mex writes it");
    }
    let known = |name: &str| files.iter().any(|(file, _)| file == name);
    for entry in std::fs::read_dir(&folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(!name.starts_with("Mex") || known(&name), "{name} is not in the table");
    }
}

#[test]
fn lines_fit_a_window() {
    for f in all() {
        for line in wrapper(f).lines() {
            assert!(line.chars().count() <= WIDTH, "{}: {line}", f.name);
        }
    }
}
