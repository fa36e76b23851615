//! The sources of several kernels made at run time as the source of one program.

use std::collections::{HashMap, HashSet};

/// The sources of one program: each kernel's name and source, in their order. What stands before the kernels is written
/// once where it is the same. `local` is the context's work-group size, which a kernel may define anew.
///
/// `None` where they cannot stand in one program: definitions of one name, or of the same text after other macros.
pub(super) fn together(kernels: &[(&str, &str)], local: usize) -> Option<String> {
    let mut text = String::new();
    // Definitions by their text, with the preprocessor's lines before them.
    let mut known: HashMap<&str, String> = HashMap::new();
    let mut names = HashSet::new();
    for (name, source) in kernels {
        text.push_str(&format!("#line 1 \"{name}.cl\"\n"));
        let body = body_of(source);
        let mut directives = String::new();
        for (part, directive) in parts(&source[..body]) {
            if directive {
                directives.push_str(part);
                text.push_str(part);
                continue;
            }
            match known.get(part) {
                Some(before) if *before == directives => {}
                Some(_) => return None,
                None => {
                    if !declared(part).into_iter().all(|name| names.insert(name)) {
                        return None;
                    }
                    known.insert(part, directives.clone());
                    text.push_str(part);
                }
            }
        }
        text.push_str(&source[body..]);
        text.push('\n');
        for defined in definitions(source).into_iter().chain(["LOCAL"]) {
            text.push_str(&format!("#undef {defined}\n"));
        }
        text.push_str(&format!("#define LOCAL {local}\n"));
    }
    Some(text)
}

/// The pragmas of a source, which hold until a program's end.
pub(super) fn pragmas(source: &str) -> String {
    source.lines().filter(|line| line.starts_with("#pragma")).collect()
}

/// Where the first kernel begins.
fn body_of(source: &str) -> usize {
    match source.starts_with("__kernel") {
        true => 0,
        false => source.find("\n__kernel").map_or(source.len(), |at| at + 1),
    }
}

/// Runs of preprocessor lines and of other lines, with whether they are the former.
fn parts(text: &str) -> Vec<(&str, bool)> {
    let mut parts: Vec<(&str, bool)> = Vec::new();
    let (mut begin, mut at, mut continued) = (0, 0, false);
    for line in text.split_inclusive('\n') {
        let directive = continued || line.starts_with('#');
        continued = directive && line.trim_end().ends_with('\\');
        if let Some((part, same)) = parts.last_mut()
            && *same == directive
        {
            *part = &text[begin..at + line.len()];
        } else {
            begin = at;
            parts.push((line, directive));
        }
        at += line.len();
    }
    parts
}

/// The functions and types that a text declares outside of braces and parentheses, each once.
fn declared(text: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let (mut depth, mut word) = (0_usize, None);
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    for (at, c) in text.char_indices() {
        match c {
            _ if is_word(c) => {
                let begin = word.filter(|(_, end)| *end == at).map_or(at, |(begin, _)| begin);
                word = Some((begin, at + 1));
                continue;
            }
            '(' | ';' if depth == 0 => {
                let name = word.take().map(|(begin, end)| &text[begin..end]);
                names.extend(name.filter(|name| !names.contains(name)));
            }
            _ => {}
        }
        match c {
            '(' | '{' => depth += 1,
            ')' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if !c.is_whitespace() {
            word = None;
        }
    }
    names
}

/// The macros that a source defines, each once.
fn definitions(source: &str) -> Vec<&str> {
    let mut all: Vec<&str> = Vec::new();
    for line in source.lines() {
        let Some(rest) = line.trim_start().strip_prefix("#define ") else { continue };
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        if !all.contains(&&rest[..end]) {
            all.push(&rest[..end]);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "#define N 3\ninline int three(void)\n{\n    return N;\n}\n";

    #[test]
    fn what_is_the_same_stands_once_and_macros_end() {
        let first = format!("{HEAD}#define K 4\n__kernel void a(__global int *x)\n{{\n    x[0] = K * three();\n}}\n");
        let second = format!("{HEAD}#define K 5\n__kernel void b(__global int *x)\n{{\n    x[0] = K * three();\n}}\n");
        let text = together(&[("a", &first), ("b", &second)], 64).unwrap();
        assert_eq!(text.matches("inline int three").count(), 1, "{text}");
        let after = &text[text.find("void a(").unwrap()..];
        assert!(after.find("#undef K").unwrap() < after.find("#define K 5").unwrap(), "{text}");
        assert!(after.contains("#undef N\n") && after.contains("#define LOCAL 64\n"), "{text}");
    }

    #[test]
    fn a_definition_after_other_macros_is_another() {
        let other = HEAD.replace("N 3", "N 4");
        let kernel = |head: &str, name: &str| format!("{head}__kernel void {name}(void) {{}}\n");
        assert!(together(&[("a", &kernel(HEAD, "a")), ("b", &kernel(&other, "b"))], 64).is_none());
        assert!(together(&[("a", &kernel(HEAD, "a")), ("b", &kernel(HEAD, "b"))], 64).is_some());
    }

    #[test]
    fn definitions_of_one_name_stay_apart() {
        let kernel = |value: u32, name: &str| {
            format!("inline int three(int a)\n{{\n    return {value};\n}}\n__kernel void {name}(void) {{}}\n")
        };
        assert!(together(&[("a", &kernel(3, "a")), ("b", &kernel(4, "b"))], 64).is_none());
        let text = "typedef struct { int s; } value3;\ninline value3 again3 (const int p, int (*f)(int))\n{ g(p); }\nint h(int);\n";
        assert_eq!(declared(text), ["value3", "again3", "h"]);
    }

    #[test]
    fn continued_lines_belong_to_their_directive() {
        let text = "#define TWO(a) \\\n    (2 * (a))\nint f(int);\n\n#define K 1\n";
        let expected =
            [("#define TWO(a) \\\n    (2 * (a))\n", true), ("int f(int);\n\n", false), ("#define K 1\n", true)];
        assert_eq!(parts(text), expected);
        assert_eq!(definitions(text), ["TWO", "K"]);
        assert_eq!(body_of("__kernel void a(void) {}"), 0);
        assert_eq!(pragmas("#pragma A\nint x;\n#pragma B\n"), "#pragma A#pragma B");
    }
}
