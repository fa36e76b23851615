//! The parser of formulas.
//!
//! ```text
//! formula    = or
//! or         = and { "||" and }
//! and        = comparison { "&&" comparison }
//! comparison = sum [ ("<" | "<=" | ">" | ">=" | "==" | "!=") sum ]
//! sum        = product { ("+" | "-") product }
//! product    = sign { ("*" | "/" | ".*" | "./") sign }
//! sign       = [ "-" | "+" ] sign | power
//! power      = atom [ ("^" | ".^") sign ]
//! atom       = number | name | name "'" | name "[" offset { "," offset } "]" | name "(" formula { "," formula } ")"
//!            | "(" formula ")"
//! ```
//! `~=` is `!=`. Powers group from right to left, 2^3^2 = 2^(3^2), as in mathematics; for [`Powers::LeftToRight`] from left to right, as in
//! MATLAB, `power = atom { "^" { "-" | "+" } atom }`. Those with a whole exponent from 1 to 16 are products, others `pow`. Comparisons are 1 or 0; `if(c, a, b)` is `a` where
//! c is not 0. `sum(f)` adds f over all points; in f a name with a prime is the value at the point that is added.

use crate::model::formula::{Binary, Expr, FUNCTIONS, FUNCTIONS_OF_TWO};
use crate::{Error, Result};

/// How chains of powers group: what 2^3^2 is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Powers {
    /// 2^(3^2) = 512, as in mathematics, Fortran and Python.
    #[default]
    RightToLeft,
    /// (2^3)^2 = 64, as in MATLAB and Octave.
    LeftToRight,
}

/// Names that a formula may use.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names<'a> {
    pub(crate) fields: &'a [String],
    pub(crate) parameters: &'a [String],
    pub(crate) data: &'a [String],
    pub(crate) definitions: &'a [(String, Expr)],
    pub(crate) dims: usize,
    /// Distance of the points along each axis.
    pub(crate) spacing: [f64; 3],
    /// Whether primes may stand outside sums: in definitions, which are used in sums.
    pub(crate) primes: bool,
    pub(crate) powers: Powers,
}

/// Names with a meaning of their own. Those of coordinates, indices and the spacing are not among them: a field, parameter, data or a
/// definition of such a name hides them.
pub(crate) const RESERVED: [&str; 4] = ["t", "pi", "if", "sum"];

/// Whether `name` can name a field, a parameter or a definition.
pub(crate) fn is_name(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !RESERVED.contains(&name)
        && !FUNCTIONS.contains(&name)
        && !FUNCTIONS_OF_TWO.iter().any(|(known, _)| *known == name)
}

/// The axis of `dx`, `dy` or `dz`; 3 for another name.
fn axis_of_spacing(name: &str) -> usize {
    ["dx", "dy", "dz"].iter().position(|known| *known == name).unwrap_or(3)
}

/// Reads a formula.
pub(crate) fn parse(text: &str, names: &Names<'_>) -> Result<Expr> {
    let chars: Vec<char> = text.chars().collect();
    let mut parser = Parser { text, chars: &chars, at: 0, names, depth: 0, nodes: 0, in_sum: false };
    let expr = parser.or()?;
    parser.skip();
    if parser.at < chars.len() {
        return Err(parser.fail(parser.at, format!("`{}` is not expected here", chars[parser.at])));
    }
    if depth(&expr) > TREE_DEPTH {
        return Err(parser.fail(0, format!("nested more than {TREE_DEPTH} deep, with its definitions")));
    }
    Ok(expr)
}

/// Depth of the tree; without recursion, whatever it is.
fn depth(expr: &Expr) -> usize {
    let (mut deepest, mut open) = (0, vec![(expr, 1)]);
    while let Some((expr, depth)) = open.pop() {
        deepest = deepest.max(depth);
        open.extend(expr.parts().into_iter().map(|part| (part, depth + 1)));
    }
    deepest
}

struct Parser<'a> {
    text: &'a str,
    chars: &'a [char],
    at: usize,
    names: &'a Names<'a>,
    depth: usize,
    /// Operators so far, with those of definitions.
    nodes: usize,
    in_sum: bool,
}

/// Deepest nesting of a formula: its tree is walked by recursion.
const DEPTH: usize = 200;

/// Most operators of a formula with the definitions in it.
const NODES: usize = 10_000;

/// Deepest tree, with chains of operators and definitions.
const TREE_DEPTH: usize = 1_000;

/// Largest offset of a neighbour along an axis.
const FARTHEST: i32 = 1 << 24;

impl Parser<'_> {
    fn fail(&self, at: usize, reason: impl Into<String>) -> Error {
        Error::Formula { formula: self.text.into(), column: at + 1, reason: reason.into() }
    }

    /// Counts operators of the formula.
    fn count(&mut self, more: usize) -> Result<()> {
        self.nodes += more;
        match self.nodes > NODES {
            true => Err(self.fail(self.at, format!("more than {NODES} operators, with those of definitions"))),
            false => Ok(()),
        }
    }

    fn skip(&mut self) {
        while self.chars.get(self.at).is_some_and(|c| c.is_whitespace()) {
            self.at += 1;
        }
    }

    /// Takes `sign` if it comes next.
    fn take(&mut self, sign: &str) -> bool {
        self.skip();
        let there = sign.chars().enumerate().all(|(k, c)| self.chars.get(self.at + k) == Some(&c));
        if there {
            self.at += sign.chars().count();
        }
        there
    }

    fn expect(&mut self, sign: &str) -> Result<()> {
        if self.take(sign) {
            return Ok(());
        }
        let found = self.chars.get(self.at).map_or("the end".into(), |c| format!("`{c}`"));
        Err(self.fail(self.at, format!("expected `{sign}`, found {found}")))
    }

    /// A chain of operators of one rank, from left to right.
    fn chain(&mut self, signs: &[(&str, Binary)], next: fn(&mut Self) -> Result<Expr>) -> Result<Expr> {
        let mut left = next(self)?;
        let mut length = 0;
        while let Some((_, op)) = signs.iter().find(|(sign, _)| self.take(sign)) {
            length += 1;
            if length > DEPTH {
                return Err(self.fail(self.at, format!("more than {DEPTH} operators in a row; use parentheses")));
            }
            self.count(1)?;
            left = Expr::Binary(*op, Box::new(left), Box::new(next(self)?));
        }
        Ok(left)
    }

    fn or(&mut self) -> Result<Expr> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(self.fail(self.at, format!("nested more than {DEPTH} deep")));
        }
        let expr = self.chain(&[("||", Binary::Or)], |p| p.chain(&[("&&", Binary::And)], Self::comparison));
        self.depth -= 1;
        expr
    }

    fn comparison(&mut self) -> Result<Expr> {
        let left = self.sum()?;
        let signs = [
            ("<=", Binary::LessEqual),
            (">=", Binary::GreaterEqual),
            ("==", Binary::Equal),
            ("!=", Binary::NotEqual),
            ("~=", Binary::NotEqual),
            ("<", Binary::Less),
            (">", Binary::Greater),
        ];
        match signs.iter().find(|(sign, _)| self.take(sign)) {
            Some((_, op)) => Ok(Expr::Binary(*op, Box::new(left), Box::new(self.sum()?))),
            None => Ok(left),
        }
    }

    fn sum(&mut self) -> Result<Expr> {
        self.chain(&[("+", Binary::Add), ("-", Binary::Subtract)], Self::product)
    }

    fn product(&mut self) -> Result<Expr> {
        let signs = [("*", Binary::Multiply), ("/", Binary::Divide), (".*", Binary::Multiply), ("./", Binary::Divide)];
        self.chain(&signs, Self::sign)
    }

    fn sign(&mut self) -> Result<Expr> {
        self.signed(Self::power)
    }

    /// Signs, and what they stand before.
    fn signed(&mut self, next: fn(&mut Self) -> Result<Expr>) -> Result<Expr> {
        let mut negative = false;
        loop {
            if self.take("-") {
                negative = !negative;
            } else if !self.take("+") {
                break;
            }
        }
        Ok(match next(self)? {
            Expr::Number(v) if negative => Expr::Number(-v),
            inner if negative => Expr::Negate(Box::new(inner)),
            inner => inner,
        })
    }

    fn power(&mut self) -> Result<Expr> {
        let mut base = self.atom()?;
        let mut length = 0;
        while self.take("^") || self.take(".^") {
            length += 1;
            self.depth += 1;
            if self.depth > DEPTH || length > DEPTH {
                return Err(self.fail(self.at, format!("nested more than {DEPTH} deep")));
            }
            let exponent = match self.names.powers {
                Powers::RightToLeft => self.sign()?,
                Powers::LeftToRight => self.signed(Self::atom)?,
            };
            self.depth -= 1;
            base = match exponent {
                Expr::Number(n) if n.fract() == 0.0 && (1.0..=16.0).contains(&n) => {
                    Expr::Power(Box::new(base), n as u32)
                }
                other => Expr::Binary(Binary::Pow, Box::new(base), Box::new(other)),
            };
        }
        Ok(base)
    }

    fn atom(&mut self) -> Result<Expr> {
        self.skip();
        let start = self.at;
        match self.chars.get(start) {
            None => Err(self.fail(start, "the formula ends where a value is expected")),
            Some('(') => {
                self.at += 1;
                let inner = self.or()?;
                self.expect(")")?;
                Ok(inner)
            }
            Some(c) if c.is_ascii_digit() || *c == '.' => self.number(),
            Some(c) if c.is_ascii_alphabetic() || *c == '_' => self.named(),
            Some(c) => Err(self.fail(start, format!("`{c}` is not expected here"))),
        }
    }

    fn number(&mut self) -> Result<Expr> {
        let start = self.at;
        let digit = |p: &Self, k: usize| p.chars.get(k).is_some_and(char::is_ascii_digit);
        while digit(self, self.at) || self.chars.get(self.at) == Some(&'.') {
            self.at += 1;
        }
        if matches!(self.chars.get(self.at), Some('e' | 'E')) {
            let sign = usize::from(matches!(self.chars.get(self.at + 1), Some('+' | '-')));
            if digit(self, self.at + 1 + sign) {
                self.at += 1 + sign;
                while digit(self, self.at) {
                    self.at += 1;
                }
            }
        }
        let text: String = self.chars[start..self.at].iter().collect();
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(Expr::Number(value)),
            _ => Err(self.fail(start, format!("`{text}` is not a number"))),
        }
    }

    fn named(&mut self) -> Result<Expr> {
        let start = self.at;
        while self.chars.get(self.at).is_some_and(|c| c.is_ascii_alphanumeric() || *c == '_') {
            self.at += 1;
        }
        let name: String = self.chars[start..self.at].iter().collect();
        if self.take("(") {
            return self.call(start, &name);
        }
        let field = self.names.fields.iter().position(|f| *f == name);
        if self.take("[") {
            let Some(field) = field else { return Err(self.fail(start, format!("`{name}` is not a field"))) };
            let offset = self.offsets()?;
            if self.in_sum && offset != [0; 3] {
                return Err(self.fail(start, "a sum reads no neighbours"));
            }
            return Ok(Expr::Field { field, offset });
        }
        let known = self.known(start, &name, field)?;
        let mut nodes = 0;
        known.walk(&mut |_| nodes += 1);
        self.count(nodes - 1)?;
        if !self.take("'") {
            if !self.in_sum && !self.names.primes && known.reads_sources() {
                return Err(self.fail(start, format!("`{name}` has primes, which have a meaning in `sum` only")));
            }
            if self.in_sum && known.cannot_be_summed() {
                return Err(self.fail(start, format!("`{name}` has a sum or a neighbour, which a sum does not take")));
            }
            return Ok(known);
        }
        if !self.in_sum && !self.names.primes {
            return Err(self.fail(start, "a prime has a meaning in `sum` only"));
        }
        match known {
            Expr::Field { .. } | Expr::Data(_) | Expr::Coordinate(_) | Expr::Index(_) => {
                Ok(Expr::Source(Box::new(known)))
            }
            _ => Err(self.fail(start, format!("`{name}` is not a field, data, a coordinate or an index"))),
        }
    }

    /// What a name without offsets stands for.
    fn known(&self, start: usize, name: &str, field: Option<usize>) -> Result<Expr> {
        if let Some(field) = field {
            return Ok(Expr::Field { field, offset: [0; 3] });
        }
        if let Some(p) = self.names.parameters.iter().position(|p| *p == name) {
            return Ok(Expr::Parameter(p));
        }
        if let Some(d) = self.names.data.iter().position(|d| *d == name) {
            return Ok(Expr::Data(d));
        }
        if let Some((_, expr)) = self.names.definitions.iter().find(|(n, _)| *n == name) {
            return Ok(expr.clone());
        }
        let axis = |letters: &str| letters.find(name).filter(|a| *a < self.names.dims);
        match name {
            "t" => Ok(Expr::Time),
            "pi" => Ok(Expr::Number(std::f64::consts::PI)),
            "x" | "y" | "z" if axis("xyz").is_some() => Ok(Expr::Coordinate(axis("xyz").unwrap_or(0))),
            "i" | "j" | "k" if axis("ijk").is_some() => Ok(Expr::Index(axis("ijk").unwrap_or(0))),
            "dx" | "dy" | "dz" if axis_of_spacing(name) < self.names.dims => {
                Ok(Expr::Number(self.names.spacing[axis_of_spacing(name)]))
            }
            _ => {
                let named = [self.names.fields, self.names.parameters, self.names.data].concat();
                let known = if named.is_empty() { String::new() } else { format!("; known are {}", named.join(", ")) };
                Err(self.fail(start, format!("`{name}` is not known{known}")))
            }
        }
    }

    fn call(&mut self, start: usize, name: &str) -> Result<Expr> {
        if name == "sum" {
            if self.in_sum {
                return Err(self.fail(start, "a sum inside a sum"));
            }
            self.in_sum = true;
            let inner = self.or()?;
            self.in_sum = false;
            self.expect(")")?;
            return Ok(Expr::Sum(Box::new(inner)));
        }
        let mut arguments = vec![self.or()?];
        while self.take(",") {
            arguments.push(self.or()?);
        }
        self.expect(")")?;
        let of_two = FUNCTIONS_OF_TWO.iter().find(|(known, _)| *known == name);
        let wanted = match name {
            "if" => 3,
            _ if of_two.is_some() => 2,
            _ if FUNCTIONS.contains(&name) => 1,
            _ => {
                let two = FUNCTIONS_OF_TWO.map(|(name, _)| name).join(", ");
                let known = format!("{}, {two}, if and sum", FUNCTIONS.join(", "));
                return Err(self.fail(start, format!("`{name}` is not a function; known are {known}")));
            }
        };
        if arguments.len() != wanted {
            let wanted = if wanted == 1 { "one argument".into() } else { format!("{wanted} arguments") };
            return Err(self.fail(start, format!("`{name}` takes {wanted}, not {}", arguments.len())));
        }
        let mut next = arguments.into_iter().map(Box::new);
        let mut take = || next.next().expect("the number of arguments was checked");
        Ok(match (name, of_two) {
            ("if", _) => Expr::If(take(), take(), take()),
            (_, Some((_, op))) => Expr::Binary(*op, take(), take()),
            _ => {
                let function = FUNCTIONS.iter().position(|f| *f == name).expect("the name was checked");
                Expr::Call(function, take())
            }
        })
    }

    fn offsets(&mut self) -> Result<[i32; 3]> {
        let mut offset = [0; 3];
        let start = self.at;
        for axis in 0.. {
            self.skip();
            let from = self.at;
            let negative = self.take("-");
            if !negative {
                self.take("+");
            }
            self.skip();
            let digits = self.at;
            while self.chars.get(self.at).is_some_and(char::is_ascii_digit) {
                self.at += 1;
            }
            let text: String = self.chars[digits..self.at].iter().collect();
            let value: i32 = match text.parse() {
                Ok(value) if value > FARTHEST => {
                    return Err(self.fail(from, format!("an offset is at most {FARTHEST}")));
                }
                Ok(value) => value,
                Err(_) => return Err(self.fail(from, "an offset is a whole number")),
            };
            if axis < self.names.dims {
                offset[axis] = if negative { -value } else { value };
            }
            if self.take("]") {
                return match axis + 1 == self.names.dims {
                    true => Ok(offset),
                    false => Err(self.fail(start, format!("{} offsets on a {}-D grid", axis + 1, self.names.dims))),
                };
            }
            self.expect(",")?;
        }
        unreachable!("the loop ends by returning")
    }
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::model::formula::Values;

    struct Point;

    impl Values<f64> for Point {
        fn time(&self) -> f64 {
            0.5
        }
        fn parameter(&self, number: usize) -> f64 {
            [3.0, 4.0][number]
        }
        fn coordinate(&self, axis: usize) -> f64 {
            [0.25, 0.75][axis]
        }
        fn index(&self, axis: usize) -> f64 {
            [6.0, 7.0][axis]
        }
        fn field(&self, field: usize, offset: [i32; 3]) -> f64 {
            100.0 * (field + 1) as f64 + 10.0 * f64::from(offset[0]) + f64::from(offset[1])
        }
        fn data(&self, _: usize) -> f64 {
            9.0
        }
        fn source(&self, leaf: &Expr) -> f64 {
            2.0 * leaf.eval(self)
        }
        fn sum(&self, formula: &Expr) -> f64 {
            3.0 * formula.eval(self)
        }
    }

    fn read(text: &str) -> Result<Expr> {
        let fields = ["u".to_owned(), "v".to_owned()];
        let parameters = ["alpha".to_owned(), "beta".to_owned()];
        let data = ["mass".to_owned()];
        let mut names = Names {
            fields: &fields,
            parameters: &parameters,
            data: &data,
            definitions: &[],
            dims: 2,
            spacing: [1.0; 3],
            primes: true,
            powers: Powers::default(),
        };
        let definitions = [("twice", "2"), ("apart", "u' - u"), ("next", "u[1,0]")]
            .map(|(name, text)| (name.to_owned(), parse(text, &names).unwrap()));
        (names.definitions, names.primes) = (&definitions, false);
        parse(text, &names)
    }

    #[test]
    fn formulas_have_the_values_of_arithmetic() {
        let cases = [
            ("1 + 2*3 - 4/8", 6.5),
            ("2^3^2", 512.0),
            ("-2^2", -4.0),
            ("2^-1", 0.5),
            ("2^0.5", 2.0_f64.sqrt()),
            ("(1+2)*3", 9.0),
            ("8/4/2", 1.0),
            ("1-2-3", -4.0),
            ("--3", 3.0),
            ("1.5e-1 + .25", 0.4),
            ("u[1,-2] + v", 308.0),
            ("u[ +1 , 0 ]", 110.0),
            ("alpha*beta + t + x + y", 13.5),
            ("i + 10*j", 76.0),
            ("if(t < 1 && x >= 0.25, 5, 7)", 5.0),
            ("if(t > 1 || 1 == 2, 5, 7)", 7.0),
            ("min(1, 2) + max(3, 4) + pow(2, 3)", 13.0),
            ("sin(pi/2) + abs(-2) + sqrt(9) + exp(0) + log(1)", 7.0),
            ("twice*3", 6.0),
            ("sum(mass' * apart) + mass", 3.0 * 18.0 * 100.0 + 9.0),
            ("sum(x' - x + j')", 3.0 * (0.25 + 14.0)),
            ("rsqrt(16)", 0.25),
            ("(t != 0.5) + (1 <= 1)", 1.0),
        ];
        for (text, expected) in cases {
            let got: f64 = read(text).unwrap_or_else(|e| panic!("{e}")).eval(&Point);
            assert!((got - expected).abs() < 1e-14, "{text}: {got}");
        }
    }

    #[test]
    fn functions_have_the_values_of_matlab() {
        let cases = [
            ("floor(-1.5) + 10*ceil(-1.5) + 100*round(-1.5) + 1000*fix(-1.5)", -1212.0),
            ("round(2.5) + 10*round(0.49999999999999994)", 3.0),
            ("sign(-3) + 10*sign(0) + 100*sign(7)", 99.0),
            ("mod(5, 3) + 10*mod(-1, 3) + 100*mod(5, -3) + 1000*mod(-5, -3)", 2.0 + 20.0 - 100.0 - 2000.0),
            ("mod(5, 0) + 10*mod(6, 3) + 100*mod(0.5, 0.25)", 5.0),
            ("rem(5, 3) + 10*rem(-1, 3) + 100*rem(5, -3) + 1000*rem(-5, -3)", 2.0 - 10.0 + 200.0 - 2000.0),
            ("log10(1000) + log2(8) + log1p(0) + expm1(0)", 6.0),
            ("atan2(1, -1) - 3*pi/4 + atan2(-1, 0) + pi/2", 0.0),
            ("hypot(3, 4) + asinh(0) + acosh(1) + atanh(0)", 5.0),
            (
                "2.*3 + 8./4 + 2.^3 + alpha.*beta.^2",
                6.0 + 2.0
                    + 8.0
                    + read("alpha").unwrap().eval::<f64>(&Point) * {
                        read("beta").unwrap().eval::<f64>(&Point).powi(2)
                    },
            ),
            ("(1 ~= 2) + (1 ~= 1)", 1.0),
        ];
        for (text, expected) in cases {
            let got: f64 = read(text).unwrap_or_else(|e| panic!("{e}")).eval(&Point);
            assert!((got - expected).abs() < 1e-12, "{text}: {got}");
        }
        for nan in ["sign(log(-1))", "rem(1, 0)", "mod(1, log(-1))"] {
            assert!(read(nan).unwrap().eval::<f64>(&Point).is_nan(), "{nan}");
        }
    }

    #[test]
    fn chains_of_powers_group_as_the_language_says() {
        let value = |text: &str, powers: Powers| -> f64 {
            let names = Names { powers, ..Names::default() };
            parse(text, &names).unwrap_or_else(|e| panic!("{e}")).eval(&Point)
        };
        for (text, right, left) in [
            ("2^3^2", 512.0, 64.0),
            ("2.^3.^2", 512.0, 64.0),
            ("2^-1^2", 0.5, 0.25),
            ("-2^2 + 2^-1 + (-1)^0", -2.5, -2.5),
            ("2^--1", 2.0, 2.0),
            ("-2^2^3", -256.0, -64.0),
            ("4^0.5^2", 4.0_f64.powf(0.25), 4.0),
        ] {
            assert!((value(text, Powers::RightToLeft) - right).abs() < 1e-14, "{text}");
            assert!((value(text, Powers::LeftToRight) - left).abs() < 1e-14, "{text}");
        }
        let deep = Names { powers: Powers::LeftToRight, ..Names::default() };
        assert!(parse(&format!("1{}", "^1".repeat(100_000)), &deep).is_err());
        assert!(parse(&format!("1{}", "^-".repeat(100_000)), &deep).is_err());
    }

    #[test]
    fn an_unknown_function_is_answered_with_those_known() {
        let said = |text: &str| read(text).unwrap_err().to_string();
        let error = said("modulus(1, 2)");
        assert!(["`modulus`", "mod", "floor", "atan2", "if"].iter().all(|name| error.contains(name)), "{error}");
        assert!(said("w + 1").contains("known are u, v, alpha, beta, mass"), "{}", said("w + 1"));
        assert!(said("atan2(1)").contains("2 arguments"), "{}", said("atan2(1)"));
    }

    #[test]
    fn formulas_that_grow_without_bound_are_errors() {
        let reason = |text: &str| match crate::System::from_text(text, &[]) {
            Err(Error::Formula { reason, .. }) => reason,
            other => panic!("{other:?}"),
        };
        let doubled: String = (1..60).map(|k| format!("define d{k} = d{} + d{}\n", k - 1, k - 1)).collect();
        assert!(reason(&format!("define d0 = t\n{doubled}u' = d59")).contains("operators"));
        let chained: String =
            (1..60).map(|k| format!("define d{k} = {}d{}{}\n", "sin(".repeat(50), k - 1, ")".repeat(50))).collect();
        assert!(reason(&format!("define d0 = t\n{chained}u' = d59")).contains("deep"));
        let sums = (0..150).fold("t".to_owned(), |inner, _| format!("({inner}{})", "+1".repeat(150)));
        assert!(reason(&format!("u' = {sums}")).contains("operators"));
        assert!(reason("grid 9\nu' = u[-2147483647]").contains("offset"));
    }

    #[test]
    fn errors_name_the_column() {
        let cases = [
            ("", 1),
            ("1 +", 4),
            ("1 + * 2", 5),
            ("(1 + 2", 7),
            ("1 2", 3),
            ("w + 1", 1),
            ("u + w", 5),
            ("u[1]", 3),
            ("u[1,2,3]", 3),
            ("u[0.5,1]", 4),
            ("u[a,1]", 3),
            ("alpha[1,0]", 1),
            ("sin(1, 2)", 1),
            ("1 + foo(2)", 5),
            ("z", 1),
            ("1 $ 2", 3),
            ("1..2", 1),
            ("1 + u'", 5),
            ("1 + apart", 5),
            ("sum(1 + sum(2))", 9),
            ("sum(u[1,0])", 5),
            ("sum(1 + next)", 9),
            ("sum(alpha')", 5),
            ("sum(2", 6),
            ("sum(1, 2)", 6),
            ("u[99999999999,0]", 3),
            ("\u{e9}", 1),
        ];
        for (text, expected) in cases {
            match read(text) {
                Err(Error::Formula { column, .. }) => assert_eq!(column, expected, "{text}"),
                other => panic!("{text}: {other:?}"),
            }
        }
        assert!(read(&"(".repeat(100_000)).is_err());
        assert!(read(&"-".repeat(100_000)).is_err());
        assert!(read(&format!("1{}", "^1".repeat(100_000))).is_err());
        assert!(read(&format!("1{}", "+1".repeat(100_000))).is_err());
    }
}
