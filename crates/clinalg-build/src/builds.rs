//! The `//@` lines of a kernel file's header.

use crate::{Error, Result};

/// A program type of a kernel file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Variant {
    /// The name of the generated type; empty for the one without defines, which is called `Program`.
    pub name: String,
    /// `NAME=value` pairs of every build of the variant.
    pub defines: Vec<(String, String)>,
}

/// One way in which a kernel file is compiled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Build {
    /// The place of its variant in the file's list.
    pub variant: usize,
    /// `NAME=value` pairs, those of the variant first.
    pub defines: Vec<(String, String)>,
}

impl Build {
    /// The defines as `NAME=value`, with blanks between.
    pub fn defines_text(&self) -> String {
        self.defines.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
    }
}

/// What a header says.
#[derive(Debug)]
pub(crate) struct Header {
    pub(crate) owner: String,
    pub(crate) variants: Vec<Variant>,
    pub(crate) builds: Vec<Build>,
    pub(crate) is_rounded: bool,
    pub(crate) has_doubles: bool,
    pub(crate) is_one_program: bool,
}

/// Without a `crate` line the file belongs to `clinalg`; without a `build` line there is one build without defines.
pub(crate) fn parse(text: &str) -> Result<Header> {
    let mut owner = "clinalg".to_owned();
    let mut variants = vec![Variant::default()];
    let mut builds = Vec::new();
    let (mut is_rounded, mut has_doubles, mut is_one_program) = (false, false, false);
    for (k, line) in text.lines().enumerate() {
        let Some(rest) = line.strip_prefix("//@") else { continue };
        let fault = |reason: String| Error::new(format!("line {}: {reason}", k + 1));
        let mut words = rest.split_whitespace().peekable();
        match words.next() {
            Some("crate") => words.next().ok_or_else(|| fault("`crate` needs a name".into()))?.clone_into(&mut owner),
            Some("variant") => {
                let name = words.next().ok_or_else(|| fault("`variant` needs a name".into()))?;
                if variants.iter().any(|v| v.name == name) {
                    return Err(fault(format!("there are two variants {name}")));
                }
                variants.push(Variant { name: name.to_owned(), defines: defines(words).map_err(fault)? });
            }
            Some("build") => {
                let name = words.next_if(|word| !word.contains('=')).unwrap_or_default();
                let variant = variants.iter().position(|v| v.name == name);
                let variant = variant.ok_or_else(|| fault(format!("no variant {name} stands above")))?;
                let mut all = variants[variant].defines.clone();
                all.extend(defines(words).map_err(fault)?);
                builds.push(Build { variant, defines: all });
            }
            Some("rounded") => is_rounded = true,
            Some("doubles") => has_doubles = true,
            Some("one_program") => is_one_program = true,
            other => {
                let got = other.unwrap_or_default();
                return Err(fault(format!(
                    "expected `build`, `variant`, `crate`, `rounded`, `doubles` or `one_program` after //@, found `{got}`"
                )));
            }
        }
    }
    if builds.is_empty() {
        builds.push(Build { variant: 0, defines: Vec::new() });
    }
    Ok(Header { owner, variants, builds, is_rounded, has_doubles, is_one_program })
}

fn defines<'w>(words: impl Iterator<Item = &'w str>) -> Result<Vec<(String, String)>, String> {
    let pair = |word: &str| match word.split_once('=') {
        Some((name, value)) if !name.is_empty() && !value.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err(format!("`{word}` is not NAME=value")),
    };
    words.map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builds_have_the_defines_of_their_variant() {
        let text = "//@ crate bem\n//@ build\n//@ build A=1 B=2\n//@ variant Dots DOTS=1\n//@ build Dots A=3\n//@ rounded\n//@ doubles\n//@ one_program\n";
        let Header { owner, variants, builds, is_rounded, has_doubles, is_one_program } = parse(text).unwrap();
        assert!(is_rounded && !parse("//@ build\n").unwrap().is_rounded);
        assert!(has_doubles && !parse("//@ build\n").unwrap().has_doubles);
        assert!(is_one_program && !parse("//@ build\n").unwrap().is_one_program);
        assert_eq!(owner, "bem");
        assert_eq!(variants.iter().map(|v| v.name.as_str()).collect::<Vec<_>>(), ["", "Dots"]);
        assert_eq!(builds.iter().map(Build::defines_text).collect::<Vec<_>>(), ["", "A=1 B=2", "DOTS=1 A=3"]);
        assert_eq!(builds[2].variant, 1);
        assert_eq!(parse("int x;\n").unwrap().builds, [Build { variant: 0, defines: Vec::new() }]);
    }

    #[test]
    fn mistakes_have_their_line() {
        for (text, expected) in [
            ("//@ build A\n", "line 1: no variant A"),
            ("\n//@ build A=\n", "line 2: `A=` is not NAME=value"),
            ("//@ variant\n", "line 1: `variant` needs a name"),
            ("//@ variant X A=1\n//@ variant X B=1\n", "line 2: there are two variants X"),
            (
                "//@ binaries\n",
                "line 1: expected `build`, `variant`, `crate`, `rounded`, `doubles` or `one_program` after //@, found `binaries`",
            ),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
