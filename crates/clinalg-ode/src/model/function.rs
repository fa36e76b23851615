//! Formulas of named numbers, outside any grid.

use clinalg::Real;

use crate::model::formula::{Expr, Values};
use crate::model::parse::{self, Names, Powers};
use crate::{Error, Result};

/// A formula of some named variables and of the time `t`, in the language of right-hand sides without fields and grids.
///
/// ```
/// let f = clinalg_ode::Function::parse("x^2 + sin(pi*t)", &["x", "y"])?;
/// assert_eq!(f.at(&[3.0, 7.0], 0.5), 10.0);
/// # Ok::<(), clinalg_ode::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Function {
    text: String,
    variables: usize,
    pub(crate) expr: Expr,
}

/// What a function is evaluated with.
struct At<'a> {
    variables: &'a [f64],
    time: f64,
}

impl Function {
    /// Reads `text`; `variables` are the names it may use besides `t` and `pi`.
    ///
    /// # Errors
    /// [`Error::Formula`] with the column of what cannot be read.
    pub fn parse(text: &str, variables: &[&str]) -> Result<Function> {
        let parameters: Vec<String> = variables.iter().map(|&name| name.into()).collect();
        // Without dimensions no name means a coordinate or an index.
        let names = Names { parameters: &parameters, ..Names::default() };
        let expr = parse::parse(text, &names)?;
        if expr.cannot_be_summed() {
            let before = text.find("sum").map_or("", |at| &text[..at]);
            let reason = "`sum` has a meaning on grids only".into();
            return Err(Error::Formula { formula: text.into(), column: before.chars().count() + 1, reason });
        }
        Ok(Function { text: text.into(), variables: variables.len(), expr })
    }

    /// The value of a constant expression, such as `8/3` or `2*pi`.
    ///
    /// ```
    /// assert_eq!(clinalg_ode::Function::constant("8/3")?, 8.0 / 3.0);
    /// assert!(clinalg_ode::Function::constant("1/0").is_err());
    /// # Ok::<(), clinalg_ode::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Formula`] for what cannot be read; [`Error::Value`] for an expression that depends on `t`, for a value that is
    /// not finite, and for a chain of powers, which MATLAB groups in another way than other languages.
    pub fn constant(text: &str) -> Result<f64> {
        let value_with = |powers: Powers| {
            let expr = parse::parse(text, &Names { powers, ..Names::default() })?;
            let mut varies = expr.cannot_be_summed();
            expr.walk(&mut |part| varies |= matches!(part, Expr::Time | Expr::Sum(_)));
            if varies {
                return Err(Error::value("constant", "an expression without t and sum", text));
            }
            Ok(expr.eval(&At { variables: &[], time: 0.0 }))
        };
        let (value, other): (f64, f64) = (value_with(Powers::RightToLeft)?, value_with(Powers::LeftToRight)?);
        if !value.is_finite() {
            return Err(Error::value("constant", "a finite value", text));
        }
        if value != other {
            return Err(Error::value("constant", "parentheses in a chain of powers", text));
        }
        Ok(value)
    }

    /// The formula as it was given.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// How many variables it may use.
    pub(crate) fn variables(&self) -> usize {
        self.variables
    }

    /// Its value; `variables` in the order of their names.
    ///
    /// # Panics
    /// Where there are fewer variables than names.
    pub fn at(&self, variables: &[f64], time: f64) -> f64 {
        assert!(variables.len() >= self.variables, "{} variables, {} names", variables.len(), self.variables);
        self.expr.eval(&At { variables, time })
    }
}

impl<T: Real> Values<T> for At<'_> {
    fn time(&self) -> T {
        T::from_f64(self.time)
    }

    fn parameter(&self, number: usize) -> T {
        T::from_f64(self.variables[number])
    }

    fn coordinate(&self, _: usize) -> T {
        unreachable!("a formula without dimensions has no coordinates")
    }

    fn index(&self, _: usize) -> T {
        unreachable!("a formula without dimensions has no indices")
    }

    fn field(&self, _: usize, _: [i32; 3]) -> T {
        unreachable!("a formula without dimensions has no fields")
    }

    fn data(&self, _: usize) -> T {
        unreachable!("a formula without dimensions has no data")
    }

    fn source(&self, _: &Expr) -> T {
        unreachable!("a formula outside a sum adds no points")
    }

    fn sum(&self, _: &Expr) -> T {
        unreachable!("a formula with a sum was refused")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_come_in_the_order_of_their_names() {
        let f = Function::parse("x - 2*y + 100*z*t", &["x", "y", "z"]).unwrap();
        assert_eq!(f.at(&[1.0, 2.0, 3.0], 0.5), 147.0);
    }

    #[test]
    fn constant_expressions_have_a_value() {
        for (text, value) in [("3", 3.0), ("-1e-3", -1e-3), ("8/3", 8.0 / 3.0), ("2*pi", std::f64::consts::TAU)] {
            assert_eq!(Function::constant(text).unwrap(), value, "{text}");
        }
        assert_eq!(Function::constant("2^(3^2)").unwrap(), 512.0);
        for text in ["", "t", "2*t", "a", "1/0", "0/0", "1 2", "inf", "2^3^2", "sum(1)"] {
            assert!(Function::constant(text).is_err(), "{text}");
        }
    }

    #[test]
    fn names_of_grids_are_not_known() {
        for (text, column) in [("x + i", 5), ("w", 1), ("x[1]", 1), ("x +", 4), ("sin(x", 6), ("1 + sum(x)", 5)] {
            match Function::parse(text, &["x"]).unwrap_err() {
                Error::Formula { column: got, .. } => assert_eq!(got, column, "{text}"),
                other => panic!("{text}: {other}"),
            }
        }
    }
}
