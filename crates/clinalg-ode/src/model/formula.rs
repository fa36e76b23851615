//! Formulas of right-hand sides as trees, and their evaluation in Rust; [`parse`](crate::model::parse) reads them.

use clinalg::Real;

/// Functions of one argument that formulas know.
pub(crate) const FUNCTIONS: [&str; 26] = [
    "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "exp", "expm1",
    "log", "log1p", "log10", "log2", "sqrt", "rsqrt", "abs", "sign", "floor", "ceil", "round", "fix",
];

/// Functions of two arguments that formulas know.
pub(crate) const FUNCTIONS_OF_TWO: [(&str, Binary); 7] = [
    ("min", Binary::Min),
    ("max", Binary::Max),
    ("pow", Binary::Pow),
    ("mod", Binary::Mod),
    ("rem", Binary::Rem),
    ("atan2", Binary::Atan2),
    ("hypot", Binary::Hypot),
];

/// A formula as a tree.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Expr {
    Number(f64),
    Time,
    /// Run-time parameter of this number.
    Parameter(usize),
    /// Coordinate along an axis.
    Coordinate(usize),
    /// Grid index along an axis.
    Index(usize),
    Field {
        field: usize,
        offset: [i32; 3],
    },
    /// Value at the point in this array of data.
    Data(usize),
    /// A leaf at the point that a sum adds: a field, data, a coordinate or a grid index.
    Source(Box<Expr>),
    /// A sum over all points.
    Sum(Box<Expr>),
    /// What the system's snippet of OpenCL C returns.
    Snippet,
    Negate(Box<Expr>),
    Binary(Binary, Box<Expr>, Box<Expr>),
    /// A product of equal factors.
    Power(Box<Expr>, u32),
    /// One of [`FUNCTIONS`], by its place.
    Call(usize, Box<Expr>),
    If(Box<Expr>, Box<Expr>, Box<Expr>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Pow,
    Min,
    Max,
    /// The remainder with the sign of the divisor; a where that is 0.
    Mod,
    /// The remainder with the sign of the dividend.
    Rem,
    Atan2,
    Hypot,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    And,
    Or,
}

/// What a formula is evaluated with.
pub(crate) trait Values<T> {
    fn time(&self) -> T;
    fn parameter(&self, number: usize) -> T;
    fn coordinate(&self, axis: usize) -> T;
    fn index(&self, axis: usize) -> T;
    fn field(&self, field: usize, offset: [i32; 3]) -> T;
    fn data(&self, number: usize) -> T;
    /// The leaf at the point that is added.
    fn source(&self, leaf: &Expr) -> T;
    /// The sum of a formula over all points.
    fn sum(&self, formula: &Expr) -> T;
}

impl Expr {
    /// The formulas that this one is made of.
    pub(crate) fn parts(&self) -> Vec<&Expr> {
        match self {
            Expr::Negate(a) | Expr::Power(a, _) | Expr::Call(_, a) | Expr::Source(a) | Expr::Sum(a) => vec![a],
            Expr::Binary(_, a, b) => vec![a, b],
            Expr::If(a, b, c) => vec![a, b, c],
            Expr::Number(_) | Expr::Time | Expr::Parameter(_) | Expr::Coordinate(_) | Expr::Index(_) => Vec::new(),
            Expr::Field { .. } | Expr::Data(_) | Expr::Snippet => Vec::new(),
        }
    }

    /// Calls `see` with this formula and all that it is made of.
    pub(crate) fn walk<'a>(&'a self, see: &mut impl FnMut(&'a Expr)) {
        see(self);
        for part in self.parts() {
            part.walk(see);
        }
    }

    /// Calls `see` with every access to a field at the point or a neighbour.
    pub(crate) fn accesses(&self, see: &mut impl FnMut(usize, [i32; 3])) {
        match self {
            Expr::Field { field, offset } => see(*field, *offset),
            Expr::Source(_) => {}
            other => other.parts().into_iter().for_each(|part| part.accesses(see)),
        }
    }

    /// The formula with -t for t.
    pub(super) fn with_time_reversed(&self) -> Expr {
        let part = |part: &Expr| Box::new(part.with_time_reversed());
        match self {
            Expr::Time => Expr::Negate(Box::new(Expr::Time)),
            Expr::Negate(a) => Expr::Negate(part(a)),
            Expr::Power(a, n) => Expr::Power(part(a), *n),
            Expr::Call(function, a) => Expr::Call(*function, part(a)),
            Expr::Source(a) => Expr::Source(part(a)),
            Expr::Sum(a) => Expr::Sum(part(a)),
            Expr::Binary(op, a, b) => Expr::Binary(*op, part(a), part(b)),
            Expr::If(c, a, b) => Expr::If(part(c), part(a), part(b)),
            Expr::Number(_) | Expr::Parameter(_) | Expr::Coordinate(_) | Expr::Index(_) => self.clone(),
            Expr::Field { .. } | Expr::Data(_) | Expr::Snippet => self.clone(),
        }
    }

    /// Whether a leaf with a prime stands outside sums.
    pub(super) fn reads_sources(&self) -> bool {
        match self {
            Expr::Source(_) => true,
            Expr::Sum(_) => false,
            other => other.parts().into_iter().any(Expr::reads_sources),
        }
    }

    pub(crate) fn cannot_be_summed(&self) -> bool {
        match self {
            Expr::Sum(_) => true,
            Expr::Field { offset, .. } => *offset != [0; 3],
            other => other.parts().into_iter().any(Expr::cannot_be_summed),
        }
    }

    pub(crate) fn eval<T: Real>(&self, values: &impl Values<T>) -> T {
        let truth = |b: bool| if b { T::one() } else { T::zero() };
        match self {
            Expr::Number(v) => T::from_f64(*v),
            Expr::Time => values.time(),
            Expr::Parameter(p) => values.parameter(*p),
            Expr::Coordinate(axis) => values.coordinate(*axis),
            Expr::Index(axis) => values.index(*axis),
            Expr::Field { field, offset } => values.field(*field, *offset),
            Expr::Data(k) => values.data(*k),
            Expr::Source(leaf) => values.source(leaf),
            Expr::Sum(formula) => values.sum(formula),
            Expr::Snippet => T::nan(),
            Expr::Negate(a) => -a.eval(values),
            Expr::Power(a, n) => {
                let base = a.eval(values);
                (1..*n).fold(base, |product, _| product * base)
            }
            Expr::If(c, a, b) => match c.eval(values) != T::zero() {
                true => a.eval(values),
                false => b.eval(values),
            },
            Expr::Call(function, a) => {
                let v = a.eval(values);
                match FUNCTIONS[*function] {
                    "sin" => v.sin(),
                    "cos" => v.cos(),
                    "tan" => v.tan(),
                    "asin" => v.asin(),
                    "acos" => v.acos(),
                    "atan" => v.atan(),
                    "sinh" => v.sinh(),
                    "cosh" => v.cosh(),
                    "tanh" => v.tanh(),
                    "asinh" => v.asinh(),
                    "acosh" => v.acosh(),
                    "atanh" => v.atanh(),
                    "exp" => v.exp(),
                    "expm1" => v.exp_m1(),
                    "log" => v.ln(),
                    "log1p" => v.ln_1p(),
                    "log10" => v.log10(),
                    "log2" => v.log2(),
                    "sqrt" => v.sqrt(),
                    "rsqrt" => v.sqrt().recip(),
                    // 0 and NaN stay what they are.
                    "sign" if v > T::zero() => T::one(),
                    "sign" if v < T::zero() => -T::one(),
                    "sign" => v,
                    "floor" => v.floor(),
                    "ceil" => v.ceil(),
                    "round" => v.round(),
                    "fix" => v.trunc(),
                    _ => v.abs(),
                }
            }
            Expr::Binary(op, a, b) => {
                let (a, b) = (a.eval(values), b.eval(values));
                match op {
                    Binary::Add => a + b,
                    Binary::Subtract => a - b,
                    Binary::Multiply => a * b,
                    Binary::Divide => a / b,
                    Binary::Pow => a.powf(b),
                    Binary::Min => a.min(b),
                    Binary::Max => a.max(b),
                    Binary::Mod => modulo(a, b),
                    Binary::Rem => a % b,
                    Binary::Atan2 => a.atan2(b),
                    Binary::Hypot => a.hypot(b),
                    Binary::Less => truth(a < b),
                    Binary::LessEqual => truth(a <= b),
                    Binary::Greater => truth(a > b),
                    Binary::GreaterEqual => truth(a >= b),
                    Binary::Equal => truth(a == b),
                    Binary::NotEqual => truth(a != b),
                    Binary::And => truth(a != T::zero() && b != T::zero()),
                    Binary::Or => truth(a != T::zero() || b != T::zero()),
                }
            }
        }
    }
}

/// The remainder of a / b with the sign of b.
fn modulo<T: Real>(a: T, b: T) -> T {
    let rest = a % b;
    if b == T::zero() {
        a
    } else if rest != T::zero() && (rest < T::zero()) != (b < T::zero()) {
        rest + b
    } else {
        rest
    }
}

/// Collects, each once, what a sum reads at the point itself and at the point that it adds.
pub(crate) fn leaves<'a>(formula: &'a Expr, own: &mut Vec<&'a Expr>, sources: &mut Vec<&'a Expr>) {
    let keep = |all: &mut Vec<&'a Expr>, leaf: &'a Expr| {
        if !all.contains(&leaf) {
            all.push(leaf);
        }
    };
    match formula {
        Expr::Source(leaf) => keep(sources, leaf),
        Expr::Field { .. } | Expr::Data(_) | Expr::Coordinate(_) | Expr::Index(_) => keep(own, formula),
        other => other.parts().into_iter().for_each(|part| leaves(part, own, sources)),
    }
}
