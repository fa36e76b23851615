//! Tokens of OpenCL C with the places they come from.

use std::borrow::Cow;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Identifier or keyword.
    Word,
    Number,
    /// Character or string.
    Text,
    /// Operator or bracket.
    Mark,
    /// The end of a line that no backslash continues.
    LineEnd,
}

#[derive(Debug, Clone)]
pub(crate) struct Token<'s> {
    pub(crate) kind: Kind,
    pub(crate) text: Cow<'s, str>,
    /// The bytes of the source that the token stands for: those of a macro's invocation where it comes from one.
    pub(crate) begin: usize,
    pub(crate) end: usize,
    /// Whether a blank stands before it.
    pub(crate) space: bool,
}

impl Token<'_> {
    pub(crate) fn is(&self, text: &str) -> bool {
        self.text == text && !matches!(self.kind, Kind::Text | Kind::LineEnd)
    }
}

const MARKS: [&str; 24] = [
    "<<=", ">>=", "...", "##", "++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "==", "!=", "<=", ">=",
    "&&", "||", "<<", ">>", "->", "::",
];

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

pub(crate) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut all = Vec::new();
    let mut at = 0;
    let mut space = false;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let blank = if rest.starts_with("//") {
            Some(rest.find('\n').unwrap_or(rest.len()))
        } else if let Some(comment) = rest.strip_prefix("/*") {
            Some(comment.find("*/").map_or(rest.len(), |k| k + 4))
        } else if rest.starts_with("\\\n") {
            Some(2)
        } else if rest.starts_with("\\\r\n") {
            Some(3)
        } else if first != '\n' && first.is_whitespace() {
            Some(first.len_utf8())
        } else {
            None
        };
        if let Some(length) = blank {
            at += length;
            space = true;
            continue;
        }
        let (kind, length) = match first {
            '\n' => (Kind::LineEnd, 1),
            '"' | '\'' => (Kind::Text, quoted(rest, first)),
            '0'..='9' => (Kind::Number, number(rest)),
            '.' if rest[1..].starts_with(|c: char| c.is_ascii_digit()) => (Kind::Number, number(rest)),
            c if is_word(c) => (Kind::Word, rest.find(|c| !is_word(c)).unwrap_or(rest.len())),
            c => (Kind::Mark, MARKS.iter().find(|m| rest.starts_with(**m)).map_or(c.len_utf8(), |m| m.len())),
        };
        all.push(Token { kind, text: Cow::Borrowed(&rest[..length]), begin: at, end: at + length, space });
        at += length;
        space = false;
    }
    all
}

fn quoted(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (k, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return k + 1,
            _ => {}
        }
    }
    rest.len()
}

/// A preprocessing number: digits, letters and points, and signs behind an exponent.
fn number(rest: &str) -> usize {
    let mut before = ' ';
    for (k, c) in rest.char_indices() {
        let sign = matches!(c, '+' | '-') && matches!(before, 'e' | 'E' | 'p' | 'P');
        if !(is_word(c) || c == '.' || sign) {
            return k;
        }
        before = c;
    }
    rest.len()
}
