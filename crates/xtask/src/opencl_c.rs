//! Tokens of OpenCL C with their lines, as far as structural checks need them.

/// What a token is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// Identifier or keyword.
    Word,
    /// Number, character or string.
    Literal,
    /// Operator or bracket, the longest match.
    Mark,
}

/// A token of a source text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Token<'s> {
    pub(crate) kind: Kind,
    pub(crate) text: &'s str,
    /// 1-based.
    pub(crate) line: usize,
}

impl Token<'_> {
    pub(crate) fn is(&self, text: &str) -> bool {
        self.text == text && self.kind != Kind::Literal
    }
}

/// A `#define`.
#[derive(Debug)]
pub(crate) struct Macro<'s> {
    pub(crate) name: &'s str,
    pub(crate) line: usize,
    /// What it stands for; the lines are those of the definition.
    pub(crate) body: Vec<Token<'s>>,
}

/// A source text without comments: what stands outside directives, and the macros.
///
/// All branches of conditional directives are kept; other directives are dropped.
#[derive(Debug, Default)]
pub(crate) struct Source<'s> {
    pub(crate) tokens: Vec<Token<'s>>,
    pub(crate) macros: Vec<Macro<'s>>,
}

const MARKS: [&str; 22] = [
    "<<=", ">>=", "...", "++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "==", "!=", "<=", ">=", "&&",
    "||", "<<", ">>", "->",
];

impl<'s> Source<'s> {
    pub(crate) fn parse(text: &'s str) -> Source<'s> {
        let mut source = Source::default();
        let mut lexer = Lexer { rest: text, line: 1, line_is_fresh: true };
        while let Some(piece) = lexer.next() {
            match piece {
                Piece::Token(token) => source.tokens.push(token),
                Piece::Directive(line) => source.macros.extend(lexer.directive(line)),
                Piece::LineEnd => {}
            }
        }
        source
    }
}

enum Piece<'s> {
    Token(Token<'s>),
    /// The `#` that begins a directive on this line.
    Directive(usize),
    LineEnd,
}

struct Lexer<'s> {
    rest: &'s str,
    line: usize,
    /// Nothing but blanks stood on this line so far.
    line_is_fresh: bool,
}

impl<'s> Lexer<'s> {
    /// Drops `bytes` of the text, counting lines.
    fn skip(&mut self, bytes: usize) -> &'s str {
        let (taken, rest) = self.rest.split_at(bytes);
        self.line += taken.matches('\n').count();
        self.rest = rest;
        taken
    }

    fn skip_to(&mut self, end: &str, from: usize) {
        let bytes = self.rest[from..].find(end).map_or(self.rest.len(), |k| from + k + end.len());
        self.skip(bytes);
    }

    fn next(&mut self) -> Option<Piece<'s>> {
        loop {
            let first = self.rest.chars().next()?;
            if first == '\n' {
                self.skip(1);
                self.line_is_fresh = true;
                return Some(Piece::LineEnd);
            } else if let Some(splice) = ["\\\n", "\\\r\n"].iter().find(|s| self.rest.starts_with(**s)) {
                self.skip(splice.len());
            } else if first.is_whitespace() {
                self.skip(first.len_utf8());
            } else if self.rest.starts_with("//") {
                self.skip_line_comment();
            } else if self.rest.starts_with("/*") {
                self.skip_to("*/", 2);
            } else {
                break;
            }
        }
        let line = self.line;
        let fresh = std::mem::replace(&mut self.line_is_fresh, false);
        if fresh && self.rest.starts_with('#') {
            self.skip(1);
            return Some(Piece::Directive(line));
        }
        let (kind, length) = self.measure();
        Some(Piece::Token(Token { kind, text: self.skip(length), line }))
    }

    /// Up to, not including, the end of the line; a comment continues after a spliced line.
    fn skip_line_comment(&mut self) {
        let mut end = 0;
        loop {
            end += self.rest[end..].find('\n').unwrap_or(self.rest.len() - end);
            if end == self.rest.len() || !self.rest[..end].trim_end_matches('\r').ends_with('\\') {
                break;
            }
            end += 1;
        }
        self.skip(end);
    }

    /// Kind and length of the token at the front.
    fn measure(&self) -> (Kind, usize) {
        let rest = self.rest;
        let run = |part_of: fn(char) -> bool| rest.find(|c| !part_of(c)).unwrap_or(rest.len());
        let first = rest.chars().next().unwrap_or(' ');
        let number_after_dot = rest.starts_with('.') && rest[1..].starts_with(|c: char| c.is_ascii_digit());
        if first.is_ascii_digit() || number_after_dot {
            let mut length = 0;
            let mut exponent = false;
            for c in rest.chars() {
                if !(c.is_ascii_alphanumeric() || c == '.' || (exponent && "+-".contains(c))) {
                    break;
                }
                exponent = "eEpP".contains(c) && !(rest.starts_with("0x") && "eE".contains(c));
                length += 1;
            }
            (Kind::Literal, length)
        } else if first.is_alphanumeric() || first == '_' {
            (Kind::Word, run(|c| c.is_alphanumeric() || c == '_'))
        } else if first == '"' || first == '\'' {
            let mut escaped = false;
            let inside = rest[1..].find(|c| {
                let end = (c == first && !escaped) || c == '\n';
                escaped = c == '\\' && !escaped;
                end
            });
            (Kind::Literal, inside.map_or(rest.len(), |k| k + 2))
        } else {
            let mark = MARKS.iter().find(|mark| rest.starts_with(**mark));
            (Kind::Mark, mark.map_or(first.len_utf8(), |mark| mark.len()))
        }
    }

    /// The rest of a directive that began on `line`.
    fn directive(&mut self, line: usize) -> Option<Macro<'s>> {
        let mut tokens = Vec::new();
        // A function-like macro has its parenthesis right behind the name.
        let mut parameters_follow = false;
        loop {
            match self.next() {
                Some(Piece::Token(token)) => {
                    tokens.push(token);
                    if tokens.len() == 2 {
                        parameters_follow = self.rest.starts_with('(');
                    }
                }
                Some(Piece::Directive(_)) => {}
                Some(Piece::LineEnd) | None => break,
            }
        }
        if !tokens.first()?.is("define") {
            return None;
        }
        let name = tokens.get(1)?.text;
        let parameters = if parameters_follow { 1 + tokens[2..].iter().position(|t| t.is(")"))? } else { 0 };
        Some(Macro { name, line, body: tokens.split_off(2 + parameters) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<(&str, usize)> {
        Source::parse(text).tokens.iter().map(|t| (t.text, t.line)).collect()
    }

    #[test]
    fn lines_are_counted_through_comments() {
        let text = "a /* x\n y */ b // c \\\n still a comment\nd";
        assert_eq!(words(text), [("a", 1), ("b", 2), ("d", 4)]);
    }

    #[test]
    fn operators_take_the_longest_match() {
        assert_eq!(words("i+=1"), [("i", 1), ("+=", 1), ("1", 1)]);
        assert_eq!(words("a<<=b>>c"), [("a", 1), ("<<=", 1), ("b", 1), (">>", 1), ("c", 1)]);
        assert_eq!(words("x.s0"), [("x", 1), (".", 1), ("s0", 1)]);
    }

    #[test]
    fn numbers_and_strings_are_one_token() {
        assert_eq!(words("1.5e-3f+.25"), [("1.5e-3f", 1), ("+", 1), (".25", 1)]);
        assert_eq!(words("0xFEu-1"), [("0xFEu", 1), ("-", 1), ("1", 1)]);
        assert_eq!(words(r#"f("a\"} // b", '}')"#).len(), 6);
        assert!(!Source::parse(r#""barrier""#).tokens[0].is("barrier"));
    }

    #[test]
    fn directives_are_dropped_and_their_branches_kept() {
        let text = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n#if A \\\n && B\nx\n#else\ny\n  # endif\nz";
        assert_eq!(words(text), [("x", 4), ("y", 6), ("z", 8)]);
    }

    #[test]
    fn macros_keep_the_lines_of_their_bodies() {
        let source = Source::parse(
            "#define TWICE(a, b) \\\n    first(a); \\\n    second(b)\n#define SIZE (3)\n#define FLAG\nend",
        );
        let [twice, size, flag] = &source.macros[..] else { panic!("three macros: {source:?}") };
        assert_eq!((twice.name, twice.line), ("TWICE", 1));
        assert_eq!(twice.body.iter().map(|t| (t.text, t.line)).next(), Some(("first", 2)));
        assert_eq!(twice.body.iter().filter(|t| t.line == 3).count(), 4);
        assert_eq!(size.body.len(), 3, "the parenthesis after a blank belongs to the body");
        assert!(flag.body.is_empty());
        assert_eq!(source.tokens[0].line, 6);
    }
}
