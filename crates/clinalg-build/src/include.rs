//! `#include "..."` of kernel files.

use std::path::Path;

use crate::{Error, Result};

/// The text of `folder/name` with its includes in their place, each file once. `#line` directives keep the places of messages.
///
/// # Errors
/// A file cannot be read; the message says where it is included.
pub fn resolve(folder: &Path, name: &str) -> Result<String> {
    let mut seen = vec![name.to_owned()];
    append(folder, name, &mut seen)
}

fn append(folder: &Path, name: &str, seen: &mut Vec<String>) -> Result<String> {
    let path = folder.join(name);
    let text = std::fs::read_to_string(&path).map_err(|e| Error::new(format!("{}: {e}", path.display())))?;
    let mut out = String::with_capacity(text.len());
    for (k, line) in text.lines().enumerate() {
        match included(line) {
            Some(other) if seen.iter().any(|known| known == other) => out.push('\n'),
            Some(other) => {
                seen.push(other.to_owned());
                let inner = append(folder, other, seen).map_err(|e| e.within(format!("{name}:{}", k + 1)))?;
                out.push_str(&format!("#line 1 \"{other}\"\n{inner}#line {} \"{name}\"\n", k + 2));
            }
            None => {
                out.push_str(line);
                out.push('\n');
            }
        }
    }
    Ok(out)
}

/// The file that a line includes.
fn included(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?.trim();
    rest.strip_prefix('"')?.strip_suffix('"')
}

/// The file and the line of a place in a text that [`resolve`] made; `name` is that of the text itself.
pub(crate) fn place(text: &str, name: &str, at: usize) -> String {
    let (mut file, mut line) = (name, 1);
    for row in text[..at].split_inclusive('\n') {
        match row.strip_prefix("#line ").and_then(|rest| rest.trim_end().split_once(' ')) {
            Some((number, other)) => {
                line = number.parse().unwrap_or(1);
                file = other.trim_matches('"');
            }
            None => line += usize::from(row.ends_with('\n')),
        }
    }
    format!("{file}:{line}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_file_is_included_once_and_lines_are_known() {
        let folder = std::env::temp_dir().join(format!("clinalg-build-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
        write("a.cl", "int a;\n#include \"b.clh\"\n#include \"c.clh\"\nint end;\n");
        write("b.clh", "#include \"c.clh\"\nint b;\n");
        write("c.clh", "int c;\n");
        write("d.cl", "\n#include \"none.clh\"\n");
        let text = resolve(&folder, "a.cl").unwrap();
        let missing = resolve(&folder, "d.cl").unwrap_err().to_string();
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(text.matches("int c;").count(), 1);
        for (what, expected) in [("int a", "a.cl:1"), ("int c", "c.clh:1"), ("int b", "b.clh:2"), ("int end", "a.cl:4")]
        {
            assert_eq!(place(&text, "a.cl", text.find(what).unwrap()), expected, "{text}");
        }
        assert!(missing.starts_with("d.cl:2: ") && missing.contains("none.clh"), "{missing}");
    }
}
