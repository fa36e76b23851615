//! Formulas in OpenCL C.

use clinalg::Real;

use crate::model::formula::{Binary, Expr, FUNCTIONS};

impl Expr {
    /// The formula in OpenCL C. `leaf` gives the text of what depends on the point.
    pub(crate) fn opencl<T: Real>(&self, leaf: &mut impl FnMut(&Expr) -> String) -> String {
        match self {
            Expr::Number(v) => literal(T::from_f64(*v)),
            Expr::Time | Expr::Parameter(_) | Expr::Coordinate(_) | Expr::Index(_) | Expr::Field { .. } => leaf(self),
            Expr::Data(_) | Expr::Source(_) | Expr::Sum(_) | Expr::Snippet => leaf(self),
            Expr::Negate(a) => format!("(-{})", a.opencl::<T>(leaf)),
            Expr::Power(a, 1) => a.opencl::<T>(leaf),
            Expr::Power(a, n) => format!("power({}, {n})", a.opencl::<T>(leaf)),
            Expr::Call(f, a) => format!("{}({})", function_name(*f), a.opencl::<T>(leaf)),
            Expr::If(c, a, b) => {
                let (c, a, b) = (c.opencl::<T>(leaf), a.opencl::<T>(leaf), b.opencl::<T>(leaf));
                format!("({c} != ZERO ? {a} : {b})")
            }
            Expr::Binary(op, a, b) => binary_text(*op, &a.opencl::<T>(leaf), &b.opencl::<T>(leaf)),
        }
    }
}

/// What OpenCL C calls one of [`FUNCTIONS`].
pub(crate) fn function_name(function: usize) -> &'static str {
    match FUNCTIONS[function] {
        "abs" => "fabs",
        "fix" => "trunc",
        // That of OpenCL C makes 0 of NaN.
        "sign" => "signum",
        name => name,
    }
}

/// Two operands and what is between them, in OpenCL C.
pub(crate) fn binary_text(op: Binary, a: &str, b: &str) -> String {
    match op {
        Binary::Add => format!("({a} + {b})"),
        Binary::Subtract => format!("({a} - {b})"),
        Binary::Multiply => format!("({a} * {b})"),
        Binary::Divide => format!("({a} / {b})"),
        Binary::Pow => format!("pow({a}, {b})"),
        Binary::Min => format!("fmin({a}, {b})"),
        Binary::Max => format!("fmax({a}, {b})"),
        Binary::Mod => format!("modulo({a}, {b})"),
        Binary::Rem => format!("fmod({a}, {b})"),
        Binary::Atan2 => format!("atan2({a}, {b})"),
        Binary::Hypot => format!("hypot({a}, {b})"),
        Binary::Less => format!("({a} < {b} ? ONE : ZERO)"),
        Binary::LessEqual => format!("({a} <= {b} ? ONE : ZERO)"),
        Binary::Greater => format!("({a} > {b} ? ONE : ZERO)"),
        Binary::GreaterEqual => format!("({a} >= {b} ? ONE : ZERO)"),
        Binary::Equal => format!("({a} == {b} ? ONE : ZERO)"),
        Binary::NotEqual => format!("({a} != {b} ? ONE : ZERO)"),
        Binary::And => format!("(({a} != ZERO && {b} != ZERO) ? ONE : ZERO)"),
        Binary::Or => format!("(({a} != ZERO || {b} != ZERO) ? ONE : ZERO)"),
    }
}

/// A number of this precision in OpenCL C, to the last bit.
pub(crate) fn literal<T: Real>(value: T) -> String {
    let suffix = if T::PRECISION == clinalg::Precision::F32 { "f" } else { "" };
    format!("({value:e}{suffix})").replace('e', if format!("{value:e}").contains('.') { "e" } else { ".0e" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_keep_their_bits() {
        for v in [0.1, 1.0, -2.5e-300, 1e22, 1.0 / 3.0] {
            let text = literal(v);
            assert_eq!(text.trim_matches(['(', ')']).parse::<f64>().unwrap(), v, "{text}");
            assert!(text.contains('.'));
        }
        assert_eq!(literal(2.0_f32), "(2.0e0f)");
    }
}
