//! Kernels and their arguments.

use std::collections::HashMap;

use crate::lexer::{Kind as Token, Token as Lexed};
use crate::{Error, Result};

/// A kernel of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kernel {
    /// Its name.
    pub name: String,
    /// Its arguments, in order.
    pub arguments: Vec<Argument>,
    /// The bytes of the text that define it: of the definition, or of the macro that makes it.
    pub spans: Vec<(usize, usize)>,
    /// The families that have it with these arguments.
    pub families: Families,
}

/// Families of kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the names of the families")]
pub struct Families {
    pub gpu: bool,
    pub cpu: bool,
}

impl Families {
    pub(crate) fn of(is_cpu: bool) -> Families {
        Families { gpu: !is_cpu, cpu: is_cpu }
    }

    fn meets(self, other: Families) -> bool {
        self.gpu && other.gpu || self.cpu && other.cpu
    }
}

/// An argument of a kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argument {
    /// Its name.
    pub name: String,
    /// Its type, without address space and `*`.
    pub kind: Kind,
    /// Where it is.
    pub space: Space,
}

/// Where an argument is, and what the kernel does with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Space {
    /// A value.
    Value,
    /// Memory that the kernel reads: `__global const` or `__constant`.
    Read,
    /// Memory that the kernel writes.
    Write,
    /// Memory of a work-group, of a length that the launch gives.
    Local,
}

/// The scalar types of kernel arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of OpenCL C")]
pub enum Kind {
    Scalar,
    Real,
    Float,
    Double,
    Uchar,
    Ushort,
    Uint,
    Int,
    Ulong,
}

impl Kernel {
    /// Takes over where `other`, of the same name and arguments, is defined and who has it.
    pub(crate) fn join(&mut self, other: &Kernel) {
        self.spans.extend(&other.spans);
        self.spans.sort_unstable();
        self.spans.dedup();
        self.families.gpu |= other.families.gpu;
        self.families.cpu |= other.families.cpu;
    }

    /// Whether a family has both, with different arguments.
    pub(crate) fn contradicts(&self, other: &Kernel) -> bool {
        self.name == other.name && self.arguments != other.arguments && self.families.meets(other.families)
    }
}

/// The kernels that are defined in preprocessed tokens, for these families.
pub(crate) fn kernels(tokens: &[Lexed<'_>], families: Families) -> Result<Vec<Kernel>> {
    let types: HashMap<&str, &str> = (tokens.windows(4))
        .filter(|w| w[0].is("typedef") && w[3].is(";"))
        .map(|w| (w[2].text.as_ref(), w[1].text.as_ref()))
        .collect();
    let mut all = Vec::new();
    let mut at = 0;
    while let Some(start) = (at..tokens.len()).find(|&k| tokens[k].is("__kernel") || tokens[k].is("kernel")) {
        at = start + 1;
        while tokens.get(at).is_some_and(|t| t.is("__attribute__") || t.is("void")) {
            at = if tokens[at].is("void") { at + 1 } else { closing(tokens, at + 1)? + 1 };
        }
        let name = tokens.get(at).filter(|t| t.kind == Token::Word);
        let name = name.ok_or_else(|| Error::new("no name follows `__kernel void`"))?.text.to_string();
        let open = at + 1;
        let close = closing(tokens, open).map_err(|e| e.within(&name))?;
        let mut arguments = Vec::new();
        for part in tokens[open + 1..close].split(|t| t.is(",")) {
            let text: Vec<&str> =
                part.iter().map(|t| *types.get(t.text.as_ref()).unwrap_or(&t.text.as_ref())).collect();
            let read = argument(&text).ok_or_else(|| Error::new(format!("{name}: argument `{}`", text.join(" "))))?;
            arguments.push(read);
        }
        at = close + 1;
        if tokens.get(at).is_some_and(|t| t.is("{")) {
            let last = tokens.get(at + 1).ok_or_else(|| Error::new(format!("{name} has no end")))?;
            all.push(Kernel { name, arguments, spans: vec![(tokens[start].begin, last.end)], families });
        }
    }
    Ok(all)
}

/// The place of the bracket that closes the one at `open`.
fn closing(tokens: &[Lexed<'_>], open: usize) -> Result<usize> {
    let mut depth = 0_usize;
    for (k, token) in tokens.iter().enumerate().skip(open) {
        if token.is("(") {
            depth += 1;
        } else if token.is(")") {
            depth = depth.saturating_sub(1);
        }
        if depth == 0 {
            return if k == open { Err(Error::new("expected `(`")) } else { Ok(k) };
        }
    }
    Err(Error::new("a bracket `(` is not closed"))
}

/// An argument; `None` for a type that has no counterpart.
fn argument(words: &[&str]) -> Option<Argument> {
    let (name, rest) = words.split_last()?;
    let mut space = Space::Value;
    let mut is_const = false;
    let mut pointers = 0;
    let mut kind = None;
    for word in rest {
        match *word {
            "__global" | "global" => space = Space::Write,
            "__constant" | "constant" => space = Space::Read,
            "__local" | "local" => space = Space::Local,
            "const" => is_const = true,
            "restrict" | "__restrict" | "volatile" => {}
            "*" => pointers += 1,
            word => {
                let read = match word {
                    "SCALAR" => Kind::Scalar,
                    "REAL" => Kind::Real,
                    "float" => Kind::Float,
                    "double" => Kind::Double,
                    "uchar" => Kind::Uchar,
                    "ushort" => Kind::Ushort,
                    "uint" => Kind::Uint,
                    "int" => Kind::Int,
                    "ulong" => Kind::Ulong,
                    _ => return None,
                };
                if kind.replace(read).is_some() {
                    return None;
                }
            }
        }
    }
    if pointers != i32::from(space != Space::Value) {
        return None;
    }
    if space == Space::Write && is_const {
        space = Space::Read;
    }
    let kind = kind?;
    let narrow = matches!(kind, Kind::Uchar | Kind::Ushort | Kind::Int);
    let is_launched = space != Space::Value || !narrow;
    is_launched.then(|| Argument { name: (*name).to_owned(), kind, space })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexer;

    #[test]
    fn arguments_have_types_and_spaces() {
        let text = "__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void f(ulong n, REAL a, \
                    const __global uint *restrict p, __constant int *d, __global float *out, __local REAL *t) { }";
        let kernels = kernels(&lexer::tokens(text), Families::default()).unwrap();
        let got: Vec<_> = kernels[0].arguments.iter().map(|a| (a.name.as_str(), a.kind, a.space)).collect();
        let expected = [
            ("n", Kind::Ulong, Space::Value),
            ("a", Kind::Real, Space::Value),
            ("p", Kind::Uint, Space::Read),
            ("d", Kind::Int, Space::Read),
            ("out", Kind::Float, Space::Write),
            ("t", Kind::Real, Space::Local),
        ];
        assert_eq!(got, expected);
        assert_eq!(kernels[0].spans, [(0, text.len())]);
    }

    #[test]
    fn unknown_types_are_errors() {
        for (text, expected) in [
            ("__kernel void f(float4 v) {}", "f: argument `float4 v`"),
            ("__kernel void f(uint *v) {}", "f: argument `uint * v`"),
            ("__kernel void f(uint v {}", "f: a bracket `(` is not closed"),
            ("__kernel void (uint v) {}", "no name follows"),
        ] {
            let error = kernels(&lexer::tokens(text), Families::default()).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
        assert_eq!(kernels(&lexer::tokens("__kernel void f(uint n);"), Families::default()).unwrap(), []);
    }
}
