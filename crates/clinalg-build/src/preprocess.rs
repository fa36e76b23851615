//! The C preprocessor, as far as kernel files use it.
//!
//! Bodies of functions are skipped: only their brackets are kept, and macros in them are not expanded.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::include;
use crate::lexer::{self, Kind, Token};
use crate::{Error, Result};

#[derive(Debug, Clone)]
struct Macro<'s> {
    /// `None` for a macro without parentheses.
    parameters: Option<Vec<String>>,
    body: Vec<Token<'s>>,
}

/// The scalar type of a build, which signatures keep by its name.
const SCALAR: &str = "SCALAR";

/// A conditional section that is open.
struct Section {
    /// Whether the text around it is taken.
    outer: bool,
    /// Whether one of its branches has been taken.
    done: bool,
    /// Whether the present branch is.
    taken: bool,
}

#[derive(Default)]
struct Preprocessor<'s> {
    macros: HashMap<String, Macro<'s>>,
    sections: Vec<Section>,
    depth: usize,
    out: Vec<Token<'s>>,
}

/// The tokens of `text` outside of function bodies, with `defines`; `name` is the file's, without its extension.
pub(crate) fn preprocess<'s>(name: &str, text: &'s str, defines: &'s [(String, String)]) -> Result<Vec<Token<'s>>> {
    let mut state = Preprocessor::default();
    let fixed = [("REAL_BITS", "64"), ("LOCAL", "256"), ("__OPENCL_VERSION__", "120")];
    let all = fixed.into_iter().chain(defines.iter().map(|(n, v)| (n.as_str(), v.as_str())));
    for (name, value) in all {
        state.macros.insert(name.to_owned(), Macro { parameters: None, body: lexer::tokens(value) });
    }
    state.run(name, text)?;
    Ok(state.out)
}

impl<'s> Preprocessor<'s> {
    fn run(&mut self, name: &str, text: &'s str) -> Result<()> {
        let tokens = lexer::tokens(text);
        let mut at = 0;
        let mut fresh = true;
        while at < tokens.len() {
            let token = &tokens[at];
            if fresh && token.is("#") {
                let end = (at..tokens.len()).find(|&k| tokens[k].kind == Kind::LineEnd).unwrap_or(tokens.len());
                let place = |error: Error| error.within(include::place(text, &format!("{name}.cl"), token.begin));
                self.directive(&tokens[at + 1..end]).map_err(place)?;
                at = end;
                continue;
            }
            fresh = token.kind == Kind::LineEnd;
            if token.kind == Kind::LineEnd || !self.taken() {
                at += 1;
            } else if self.depth == 0 {
                let (expanded, next) = self.expand_at(&tokens, at, &[]);
                expanded.into_iter().for_each(|token| self.push(token));
                at = next;
            } else {
                self.push(token.clone());
                at += 1;
            }
        }
        match (self.sections.is_empty(), self.depth) {
            (true, 0) => Ok(()),
            (false, _) => Err(Error::new("a conditional section has no #endif")),
            (_, depth) => Err(Error::new(format!("{depth} brackets `{{` are not closed"))),
        }
    }

    fn taken(&self) -> bool {
        self.sections.last().is_none_or(|section| section.taken)
    }

    fn push(&mut self, token: Token<'s>) {
        if token.is("}") {
            self.depth = self.depth.saturating_sub(1);
        }
        if self.depth == 0 {
            self.out.push(token.clone());
        }
        if token.is("{") {
            self.depth += 1;
        }
    }

    fn directive(&mut self, line: &[Token<'s>]) -> Result<()> {
        let Some(name) = line.first() else { return Ok(()) };
        let rest = &line[1..];
        let word = || rest.first().filter(|t| t.kind == Kind::Word).map(|t| t.text.as_ref());
        match name.text.as_ref() {
            "if" | "ifdef" | "ifndef" => {
                let outer = self.taken();
                let taken = outer
                    && match name.text.as_ref() {
                        "if" => self.condition(rest)?,
                        "ifdef" => self.macros.contains_key(word().unwrap_or_default()),
                        _ => !self.macros.contains_key(word().unwrap_or_default()),
                    };
                self.sections.push(Section { outer, done: taken, taken });
            }
            "elif" | "else" => {
                let wanted = match self.sections.last() {
                    None => return Err(Error::new("#else without #if")),
                    Some(section) => section.outer && !section.done,
                };
                let taken = wanted && (name.is("else") || self.condition(rest)?);
                if let Some(section) = self.sections.last_mut() {
                    section.taken = taken;
                    section.done |= taken;
                }
            }
            "endif" => {
                self.sections.pop().ok_or_else(|| Error::new("#endif without #if"))?;
            }
            _ if !self.taken() => {}
            "define" => {
                let name = word().ok_or_else(|| Error::new("#define without a name"))?.to_owned();
                let with_parentheses = rest.get(1).is_some_and(|t| t.is("(") && !t.space);
                let (parameters, body) = if with_parentheses {
                    let close = rest.iter().position(|t| t.is(")")).ok_or_else(|| Error::new("#define without `)`"))?;
                    let words = rest[2..close].iter().filter(|t| !t.is(","));
                    (Some(words.map(|t| t.text.to_string()).collect()), rest[close + 1..].to_vec())
                } else {
                    (None, rest[1..].to_vec())
                };
                if name != SCALAR {
                    self.macros.insert(name, Macro { parameters, body });
                }
            }
            "undef" => drop(self.macros.remove(word().unwrap_or_default())),
            "error" => {
                let text: Vec<&str> = rest.iter().map(|t| t.text.as_ref()).collect();
                return Err(Error::new(format!("#error {}", text.join(" "))));
            }
            _ => {}
        }
        Ok(())
    }

    /// What the token at `at` stands for, and the place behind it.
    fn expand_at(&self, tokens: &[Token<'s>], at: usize, hidden: &[&str]) -> (Vec<Token<'s>>, usize) {
        let token = &tokens[at];
        let known = (token.kind == Kind::Word && !hidden.contains(&token.text.as_ref()))
            .then(|| self.macros.get_key_value(token.text.as_ref()))
            .flatten();
        let Some((name, found)) = known else { return (vec![token.clone()], at + 1) };
        let inner: Vec<&str> = hidden.iter().copied().chain([name.as_str()]).collect();
        let Some(parameters) = &found.parameters else {
            let body = relocate(found.body.clone(), token.begin, token.end);
            return (self.expand(&body, &inner), at + 1);
        };
        let Some((arguments, next)) = arguments(tokens, at + 1) else { return (vec![token.clone()], at + 1) };
        let whole: Vec<Vec<Token>> = arguments.iter().map(|a| self.expand(a, hidden)).collect();
        let mut body: Vec<Token> = Vec::new();
        let mut paste = false;
        for (k, part) in found.body.iter().enumerate() {
            if part.is("##") {
                paste = true;
                continue;
            }
            let pasted = paste || found.body.get(k + 1).is_some_and(|t| t.is("##"));
            let argument = parameters.iter().position(|p| *p == part.text).filter(|_| part.kind == Kind::Word);
            let mut new = match argument {
                Some(k) if pasted => arguments.get(k).cloned().unwrap_or_default(),
                Some(k) => whole.get(k).cloned().unwrap_or_default(),
                None => vec![part.clone()],
            };
            if paste && let (Some(last), false) = (body.last_mut(), new.is_empty()) {
                last.text = Cow::Owned(format!("{}{}", last.text, new.remove(0).text));
            }
            body.append(&mut new);
            paste = false;
        }
        let body = relocate(body, token.begin, tokens[next - 1].end);
        (self.expand(&body, &inner), next)
    }

    fn expand(&self, tokens: &[Token<'s>], hidden: &[&str]) -> Vec<Token<'s>> {
        let mut out = Vec::new();
        let mut at = 0;
        while at < tokens.len() {
            let (mut new, next) = self.expand_at(tokens, at, hidden);
            out.append(&mut new);
            at = next;
        }
        out
    }

    fn condition(&self, line: &[Token<'s>]) -> Result<bool> {
        let mut plain = Vec::new();
        let mut at = 0;
        while at < line.len() {
            let token = &line[at];
            let asks = token.is("defined") || token.text.starts_with("__has_");
            if !asks {
                plain.push(token.clone());
                at += 1;
                continue;
            }
            let bracket = line.get(at + 1).is_some_and(|t| t.is("("));
            let name = line.get(at + 1 + usize::from(bracket)).ok_or_else(|| Error::new("`defined` without a name"))?;
            let yes = token.is("defined") && self.macros.contains_key(name.text.as_ref());
            let text = Cow::Borrowed(if yes { "1" } else { "0" });
            plain.push(Token { kind: Kind::Number, text, ..token.clone() });
            at += if bracket { 4 } else { 2 };
        }
        let tokens = self.expand(&plain, &[]);
        let mut parser = Expression { tokens: &tokens, at: 0 };
        let value = parser.binary(0)?;
        match tokens.get(parser.at) {
            None => Ok(value != 0),
            Some(token) => Err(Error::new(format!("unexpected `{}` in a condition", token.text))),
        }
    }
}

fn relocate(mut tokens: Vec<Token<'_>>, begin: usize, end: usize) -> Vec<Token<'_>> {
    tokens.iter_mut().for_each(|t| (t.begin, t.end) = (begin, end));
    tokens
}

/// The arguments between the brackets that begin at `at`, line ends aside, and the place behind them.
fn arguments<'s>(tokens: &[Token<'s>], at: usize) -> Option<(Vec<Vec<Token<'s>>>, usize)> {
    let start = (at..tokens.len()).find(|&k| tokens[k].kind != Kind::LineEnd)?;
    if !tokens[start].is("(") {
        return None;
    }
    let mut all = vec![Vec::new()];
    let mut depth = 0;
    for (k, token) in tokens.iter().enumerate().skip(start + 1) {
        match token.text.as_ref() {
            ")" if depth == 0 => return Some((all, k + 1)),
            "," if depth == 0 => {
                all.push(Vec::new());
                continue;
            }
            "(" => depth += 1,
            ")" => depth -= 1,
            _ if token.kind == Kind::LineEnd => continue,
            _ => {}
        }
        all.last_mut()?.push(token.clone());
    }
    None
}

struct Expression<'t, 's> {
    tokens: &'t [Token<'s>],
    at: usize,
}

/// Binary operators by their binding, the loosest first.
const LEVELS: [&[&str]; 10] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<", ">", "<=", ">="],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

impl Expression<'_, '_> {
    fn binary(&mut self, level: usize) -> Result<i64> {
        if level == LEVELS.len() {
            return self.unary();
        }
        let mut left = self.binary(level + 1)?;
        while let Some(operator) = self.tokens.get(self.at).and_then(|t| LEVELS[level].iter().find(|o| t.is(o))) {
            self.at += 1;
            let right = self.binary(level + 1)?;
            left = match *operator {
                "||" => i64::from(left != 0 || right != 0),
                "&&" => i64::from(left != 0 && right != 0),
                "|" => left | right,
                "^" => left ^ right,
                "&" => left & right,
                "==" => i64::from(left == right),
                "!=" => i64::from(left != right),
                "<" => i64::from(left < right),
                ">" => i64::from(left > right),
                "<=" => i64::from(left <= right),
                ">=" => i64::from(left >= right),
                "<<" => left << (right & 63),
                ">>" => left >> (right & 63),
                "+" => left.wrapping_add(right),
                "-" => left.wrapping_sub(right),
                "*" => left.wrapping_mul(right),
                "/" => left.checked_div(right).unwrap_or(0),
                _ => left.checked_rem(right).unwrap_or(0),
            };
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<i64> {
        let token = self.tokens.get(self.at).ok_or_else(|| Error::new("a condition ends early"))?;
        self.at += 1;
        match (token.kind, token.text.as_ref()) {
            (_, "!") => Ok(i64::from(self.unary()? == 0)),
            (_, "-") => Ok(-self.unary()?),
            (_, "+") => self.unary(),
            (_, "~") => Ok(!self.unary()?),
            (_, "(") => {
                let value = self.binary(0)?;
                self.at += 1;
                Ok(value)
            }
            (Kind::Number, text) => {
                let digits = text.trim_end_matches(['u', 'U', 'l', 'L']);
                let value = match digits.strip_prefix("0x") {
                    Some(digits) => i64::from_str_radix(digits, 16),
                    None => digits.parse(),
                };
                value.map_err(|_| Error::new(format!("`{text}` is no whole number")))
            }
            (Kind::Word, _) => Ok(0),
            (_, text) => Err(Error::new(format!("unexpected `{text}` in a condition"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(text: &str, defines: &[(&str, &str)]) -> Result<String> {
        let defines: Vec<(String, String)> = defines.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        let tokens = preprocess("demo", text, &defines)?;
        Ok(tokens.iter().map(|t| t.text.as_ref()).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn conditions_are_evaluated() {
        for (condition, expected) in [
            ("A == 3 && B < 4", "yes"),
            ("defined(A) || defined NOTHING", "yes"),
            ("!defined(A)", "no"),
            ("NOTHING", "no"),
            ("1 + 2 * 3 == 7 && (1 << 4) == 0x10u", "yes"),
            ("__has_builtin(__builtin_x)", "no"),
        ] {
            let text = format!("#if {condition}\nyes\n#else\nno\n#endif\n");
            assert_eq!(run(&text, &[("A", "3"), ("B", "-1")]).unwrap(), expected, "{condition}");
        }
        let text = "#ifdef X\n#if 1\na\n#endif\n#elif A\nb\n#elif 1\nc\n#endif\n#ifndef X\nd\n#endif";
        assert_eq!(run(text, &[("A", "0")]).unwrap(), "c d");
        assert_eq!(run(text, &[("A", "1")]).unwrap(), "b d");
    }

    #[test]
    fn macros_are_expanded() {
        let text = "#define NAMED(name) name##_gpu\n#define TWO(a, b) a + b\n#define SELF SELF + 1\n#define N(x) NAMED(x)\n\
                    NAMED(fill) TWO((1, 2), \\\n NAMED(x)) SELF N(a) NAMED";
        assert_eq!(run(text, &[]).unwrap(), "fill_gpu ( 1 , 2 ) + x_gpu SELF + 1 a_gpu NAMED");
    }

    #[test]
    fn bodies_are_skipped() {
        assert_eq!(run("void f() { if (x) { y; } #z }\nint n; // {\n/* { */", &[]).unwrap(), "void f ( ) { } int n ;");
        assert!(run("void f() {", &[]).is_err());
        assert!(run("#if 1\n", &[]).is_err());
        assert_eq!(run("\n#error no way\n", &[]).unwrap_err().to_string(), "demo.cl:2: #error no way");
    }
}
