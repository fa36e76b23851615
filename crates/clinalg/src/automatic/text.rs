//! Methods, preconditioners and limits from a text.

use std::str::FromStr;

use super::{AutomaticParams, Method, PreconditionerKind};
use crate::{Error, Result};

/// A method, a preconditioner and limits, as a text such as `cg,amg,tol=1e-8` names them: parts between commas in any
/// order, upper or lower case, with or without spaces. What the text does not name is `None`.
///
/// | part | example |
/// |---|---|
/// | a method | `gmres` |
/// | a direct solver: GMRES with a complete factorisation | `direct` |
/// | a preconditioner; `none`, or `auto` for the one that suits the matrix | `ilut` |
/// | the relative residual to reach, above 0 and below 1 | `tol=1e-8` |
/// | the maximum number of iterations | `max-iterations=200` |
/// | iterations of GMRES between restarts, at least 1 | `restart=50` |
/// | the dimension of the shadow space of IDR(s), at least 1 | `idr-dimension=8` |
///
/// These are the names of the program's options. An unknown name is an error that lists the known ones.
///
/// ```
/// use clinalg::automatic::{Method, PreconditionerKind, SolverText};
///
/// let wanted: SolverText = "cg, amg, tol=1e-8".parse()?;
/// assert_eq!((wanted.method, wanted.preconditioner), (Some(Method::Cg), Some(PreconditionerKind::Amg)));
/// assert_eq!((wanted.tolerance, wanted.max_iterations), (Some(1e-8), None));
/// # Ok::<(), clinalg::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct SolverText {
    /// The method.
    pub method: Option<Method>,
    /// The preconditioner; `None` also for `auto`.
    pub preconditioner: Option<PreconditionerKind>,
    /// The relative residual to reach.
    pub tolerance: Option<f64>,
    /// The maximum number of iterations.
    pub max_iterations: Option<usize>,
    /// Iterations of GMRES between restarts.
    pub restart: Option<usize>,
    /// The dimension of the shadow space of IDR(s).
    pub idr_dimensions: Option<usize>,
}

/// The argument that errors name.
const ARGUMENT: &str = "solver";
/// The name of GMRES with a complete factorisation.
const DIRECT: &str = "direct";

impl SolverText {
    /// The names of the methods.
    pub const METHODS: &[(&str, Method)] = &[
        ("cg", Method::Cg),
        ("block-cg", Method::BlockCg),
        ("fcg", Method::FlexibleCg),
        ("minres", Method::Minres),
        ("bicgstab", Method::BiCgStab),
        ("idrs", Method::Idr),
        ("gmres", Method::Gmres),
        ("richardson", Method::Richardson),
        ("lsqr", Method::Lsqr),
        ("lsmr", Method::Lsmr),
    ];

    /// The names of the preconditioners, without `auto`.
    pub const PRECONDITIONERS: &[(&str, PreconditionerKind)] = &[
        ("none", PreconditionerKind::None),
        ("jacobi", PreconditionerKind::Jacobi),
        ("amg", PreconditionerKind::Amg),
        ("sa", PreconditionerKind::SmoothedAggregation),
        ("classical", PreconditionerKind::Classical),
        ("spai0", PreconditionerKind::Spai0),
        ("ssor", PreconditionerKind::Ssor),
        ("ilu", PreconditionerKind::Ilu),
        ("ilut", PreconditionerKind::Ilut),
        ("lu", PreconditionerKind::Lu),
        ("ic", PreconditionerKind::Cholesky),
        ("fsai", PreconditionerKind::Fsai),
        ("saddle", PreconditionerKind::Saddle),
    ];

    /// The parameters with what the text names.
    pub fn apply(&self, mut params: AutomaticParams) -> AutomaticParams {
        params.method = self.method.or(params.method);
        params.preconditioner = self.preconditioner.or(params.preconditioner);
        params.restart = self.restart.unwrap_or(params.restart);
        params.idr_dimensions = self.idr_dimensions.unwrap_or(params.idr_dimensions);
        if let Some(tolerance) = self.tolerance {
            params = params.tolerance(tolerance);
        }
        match self.max_iterations {
            Some(iterations) => params.max_iterations(iterations),
            None => params,
        }
    }
}

/// The value that `names` has for `name`.
fn named<T: Copy>(names: &[(&str, T)], name: &str) -> Option<T> {
    names.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
}

/// Sets what may be named once.
fn set<T>(place: &mut Option<T>, value: T, what: &str, part: &str) -> Result<()> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(Error::value(ARGUMENT, format!("one {what}"), format!("a text with a second {what}, `{part}`"))),
    }
}

fn number<T: FromStr>(part: &str, value: &str, expected: &str, is_valid: impl Fn(&T) -> bool) -> Result<T> {
    let value = value.parse::<T>().ok().filter(is_valid);
    value.ok_or_else(|| Error::value(ARGUMENT, expected, format!("`{part}`")))
}

impl FromStr for SolverText {
    type Err = Error;

    /// # Errors
    /// [`Error::Value`] that names the part and what is known.
    fn from_str(text: &str) -> Result<SolverText> {
        SolverText::parse_where(text, |_| true, |_| true)
    }
}

impl SolverText {
    /// As [`str::parse`], for callers that have only some of the methods and preconditioners; others are as unknown names.
    ///
    /// # Errors
    /// [`Error::Value`] that names the part and what is known.
    pub fn parse_where(
        text: &str,
        has_method: impl Fn(Method) -> bool,
        has_preconditioner: impl Fn(PreconditionerKind) -> bool,
    ) -> Result<SolverText> {
        let method_of = |name: &str| named(SolverText::METHODS, name).filter(|method| has_method(*method));
        let preconditioner_of =
            |name: &str| named(SolverText::PRECONDITIONERS, name).filter(|kind| has_preconditioner(*kind));
        let unknown = |part: &str| {
            let methods = SolverText::METHODS.iter().filter(|known| has_method(known.1));
            let kinds = SolverText::PRECONDITIONERS.iter().filter(|known| has_preconditioner(known.1));
            let expected = format!(
                "parts between commas: {DIRECT}, a method ({}), a preconditioner (auto, {}), tol=, max-iterations=, restart= or idr-dimension=",
                methods.map(|known| known.0).collect::<Vec<_>>().join(", "),
                kinds.map(|known| known.0).collect::<Vec<_>>().join(", ")
            );
            Error::value(ARGUMENT, expected, format!("`{part}`"))
        };
        let mut found = SolverText::default();
        let mut preconditioner = None;
        for part in text.split(',').map(|part| part.trim().to_ascii_lowercase()) {
            let part = part.as_str();
            let count = |value, what: &str| {
                number(part, value, &format!("{what} with a whole number, at least 1"), |&count: &usize| count > 0)
            };
            match part.split_once('=').map(|(key, value)| (key.trim_end(), value.trim_start())) {
                Some(("tol", value)) => {
                    let expected = "tol= with a number above 0 and below 1, such as tol=1e-8";
                    let tolerance =
                        number(part, value, expected, |&tolerance: &f64| tolerance > 0.0 && tolerance < 1.0)?;
                    set(&mut found.tolerance, tolerance, "tol=", part)?;
                }
                Some(("max-iterations", value)) => {
                    let most = number(part, value, "max-iterations= with a whole number", |_| true)?;
                    set(&mut found.max_iterations, most, "max-iterations=", part)?;
                }
                Some(("restart", value)) => set(&mut found.restart, count(value, "restart=")?, "restart=", part)?,
                Some(("idr-dimension", value)) => {
                    set(&mut found.idr_dimensions, count(value, "idr-dimension=")?, "idr-dimension=", part)?;
                }
                Some(_) => return Err(unknown(part)),
                None if part == DIRECT => {
                    set(&mut found.method, Method::Gmres, "method", part)?;
                    set(&mut preconditioner, Some(PreconditionerKind::Lu), "preconditioner", part)?;
                }
                None => match (method_of(part), preconditioner_of(part)) {
                    (Some(method), _) => set(&mut found.method, method, "method", part)?,
                    (None, Some(kind)) => set(&mut preconditioner, Some(kind), "preconditioner", part)?,
                    (None, None) if part == "auto" => set(&mut preconditioner, None, "preconditioner", part)?,
                    (None, None) => return Err(unknown(part)),
                },
            }
        }
        found.preconditioner = preconditioner.flatten();
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_a_text_is_taken() {
        let text = " GMRES ,ilut, tol = 1e-6,max-iterations=0,restart=50,idr-dimension=8";
        let expected = SolverText {
            method: Some(Method::Gmres),
            preconditioner: Some(PreconditionerKind::Ilut),
            tolerance: Some(1e-6),
            max_iterations: Some(0),
            restart: Some(50),
            idr_dimensions: Some(8),
        };
        assert_eq!(text.parse::<SolverText>().unwrap(), expected);
        assert_eq!("auto".parse::<SolverText>().unwrap(), SolverText::default());
        for (name, method) in SolverText::METHODS {
            assert_eq!(name.parse::<SolverText>().unwrap().method, Some(*method));
        }
        let direct: SolverText = "direct".parse().unwrap();
        assert_eq!((direct.method, direct.preconditioner), (Some(Method::Gmres), Some(PreconditionerKind::Lu)));
        for (name, kind) in SolverText::PRECONDITIONERS {
            assert_eq!(name.parse::<SolverText>().unwrap().preconditioner, Some(*kind));
        }
    }

    #[test]
    fn faults_of_a_text_are_named() {
        for (text, needles) in [
            ("direct,amg", &["one preconditioner", "`amg`"][..]),
            ("cq,amg", &["`cq`", "cg, block-cg", "auto, none, jacobi", "tol="]),
            ("", &["``", "cg, block-cg"]),
            ("cg,", &["``"]),
            ("cg,tolerance=1e-8", &["`tolerance=1e-8`", "tol="]),
            ("cg,gmres", &["one method", "`gmres`"]),
            ("cg,cg", &["a text with a second method, `cg`, expected one method"]),
            ("auto,ilu", &["one preconditioner", "`ilu`"]),
            ("tol=1e-8,tol=1e-8", &["one tol="]),
            ("tol=nan", &["above 0 and below 1", "`tol=nan`"]),
            ("tol=0", &["above 0 and below 1"]),
            ("tol=", &["above 0 and below 1"]),
            ("restart=0", &["at least 1"]),
            ("max-iterations=-1", &["a whole number"]),
            ("idr-dimension=2.5", &["at least 1"]),
        ] {
            let message = text.parse::<SolverText>().unwrap_err().to_string();
            assert!(needles.iter().all(|needle| message.contains(needle)), "{text}: {message}");
        }
    }

    #[test]
    fn parameters_that_a_text_does_not_name_stay() {
        let params = AutomaticParams::default().method(Method::Cg).tolerance(1e-3);
        let params = "ic,max-iterations=7".parse::<SolverText>().unwrap().apply(params);
        assert_eq!((params.method, params.preconditioner), (Some(Method::Cg), Some(PreconditionerKind::Cholesky)));
        assert_eq!((params.stopping.tolerance, params.stopping.max_iterations), (Some(1e-3), 7));
        assert!(!params.takes_over_at_limit);
    }
}
