//! Functions element by element that are evaluated when their values are needed, several in one kernel.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use clinalg::ops::{self, Binary, Unary};
use clinalg::{Complex, Precision, Result};

use crate::kind::{Info, Kind, ScalarType};
use crate::object::cell::{Cell, Entry, use_one};
use crate::object::pending::{self, Expression, Pending};
use crate::registry::{Operand, Registry};

/// An operand: an object or a number of the host.
#[derive(Debug, Clone, Copy)]
pub enum Term {
    /// A full object.
    Handle(u64),
    /// A number in this precision.
    Number(Complex<f64>, Precision),
}

/// An operand that was looked up.
struct Found {
    term: pending::Term,
    scalar: ScalarType,
    /// `None` for a number.
    shape: Option<(usize, usize)>,
    nonnegative: bool,
}

impl Found {
    fn is_real_number(&self) -> bool {
        matches!(self.term, pending::Term::Number(number) if number.im == 0.0)
    }

    fn number(&self) -> Option<f64> {
        if let pending::Term::Number(number) = self.term { Some(number.re) } else { None }
    }
}

fn is_full(info: &Info) -> bool {
    Kind::FULL.contains(&info.kind) && info.rows * info.cols > 0
}

impl Registry {
    fn found(&self, argument: &'static str, term: Term) -> Result<Option<Found>> {
        let handle = match term {
            Term::Number(number, precision) => {
                let scalar = ScalarType::new(precision, number.im != 0.0);
                let nonnegative = number.re >= 0.0 && number.re.is_sign_positive();
                let term = pending::Term::Number(number);
                return Ok(Some(Found { term, scalar, shape: None, nonnegative }));
            }
            Term::Handle(handle) => handle,
        };
        let cell = self.cell(&Operand::new(argument, handle, Kind::ALL))?;
        if cell.marked.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let (info, nonnegative) = (cell.info(), cell.pending().is_some_and(|pending| pending.nonnegative));
        let found = || Found {
            term: pending::Term::Cell(cell),
            scalar: info.scalar(),
            shape: Some((info.rows, info.cols)),
            nonnegative,
        };
        Ok(is_full(&info).then(found))
    }

    /// f(a), element by element, of a full object: a new dense matrix that is computed when its values are needed. `None` where the result may be complex
    /// and `a` is real, where the device has no such function of complex numbers, of objects that are not full, are empty or have one element, and of
    /// those that [`mark`](Registry::mark) named.
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle); those of the evaluation of `a`.
    pub fn lazy_map(&self, f: Unary, a: u64) -> Result<Option<u64>> {
        let Some(Found { term: pending::Term::Cell(cell), scalar, shape: Some(shape), nonnegative }) =
            self.found("a", Term::Handle(a))?
        else {
            return Ok(None);
        };
        let possible = match f {
            _ if scalar.is_complex() => f.is_complex(),
            Unary::Sqrt | Unary::Log => nonnegative,
            Unary::Conjugate => false,
            _ => true,
        };
        if !possible || shape == (1, 1) {
            return Ok(None);
        }
        let keeps_sign = matches!(
            f,
            Unary::Floor | Unary::Ceil | Unary::Round | Unary::Fix | Unary::Sign | Unary::Tanh | Unary::Atan
        );
        let positive = matches!(f, Unary::Exp | Unary::Abs | Unary::Sqrt | Unary::Cosh) || (keeps_sign && nonnegative);
        self.lazy(Expression::One(f, cell), scalar, shape, positive && !scalar.is_complex()).map(Some)
    }

    /// f(a, b), element by element, of full objects and numbers of one type: a new dense matrix that is computed when its values are needed. A row, a column
    /// or a single element is repeated. `None` where the operands are of different types, both are numbers, shapes do not fit, the result may be complex
    /// and the operands are real, where the result has one element, of objects that are not full or are empty, and of those that [`mark`](Registry::mark)
    /// named.
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle); those of the evaluation of the operands.
    pub fn lazy_map2(&self, f: Binary, a: Term, b: Term) -> Result<Option<u64>> {
        let (Some(mut a), Some(mut b)) = (self.found("a", a)?, self.found("b", b)?) else { return Ok(None) };
        let Some(scalar) = common_type(&a, &b) else { return Ok(None) };
        let Some(shape) = common_shape(a.shape, b.shape).filter(|&shape| shape != (1, 1)) else { return Ok(None) };
        let mut f = f;
        if f == Binary::Power {
            match b.number() {
                Some(2.0) => (f, b) = (Binary::Times, copied(&a)),
                Some(-1.0) => (f, a, b) = (Binary::Divide, one(&b), a),
                // As MATLAB and Octave multiply.
                Some(3.0) if !scalar.is_complex() => {
                    let square = Expression::Two(Binary::Times, a.term.clone(), a.term.clone());
                    let square = pending(square, scalar, shape, true)?;
                    (f, b) = (Binary::Times, copied(&a));
                    let entry = Entry::new(Arc::new(square).into());
                    a = Found { term: pending::Term::Cell(Arc::new(entry)), ..a };
                }
                Some(exponent) if exponent.fract() == 0.0 || a.nonnegative => {}
                _ => return Ok(None),
            }
        }
        // Of 0 and -0 the first one counts: as in Octave that of the array.
        if matches!(f, Binary::Max | Binary::Min) && a.number().is_some() {
            std::mem::swap(&mut a, &mut b);
        }
        if scalar.is_complex() {
            // Infinite parts stay apart, as in a product of a complex and a real number.
            match f {
                Binary::Times if b.is_real_number() => f = Binary::TimesReal,
                Binary::Times if a.is_real_number() => {
                    f = Binary::TimesReal;
                    std::mem::swap(&mut a, &mut b);
                }
                Binary::Divide if b.is_real_number() => f = Binary::DivideReal,
                _ => {}
            }
        }
        if scalar.is_complex() && !f.is_complex() {
            return Ok(None);
        }
        let is_square = match (&a.term, &b.term) {
            (pending::Term::Cell(a), pending::Term::Cell(b)) => Arc::ptr_eq(a, b),
            _ => false,
        };
        let nonnegative = !scalar.is_complex()
            && match f {
                Binary::Plus => a.nonnegative && b.nonnegative,
                // Not for exponents below zero, as 1 / -0 is negative, nor for other divisors.
                Binary::Power => a.nonnegative && b.nonnegative,
                Binary::Divide => a.nonnegative && b.number().is_some_and(|divisor| divisor > 0.0),
                Binary::Times => is_square || (a.nonnegative && b.nonnegative),
                Binary::Max => a.nonnegative || b.nonnegative,
                Binary::Min | Binary::Mod => a.nonnegative && b.nonnegative,
                Binary::Rem => a.nonnegative,
                Binary::Hypot => true,
                _ => false,
            };
        // An operand of another shape is computed once and not for each of its repetitions.
        for operand in [&a, &b] {
            if let (pending::Term::Cell(cell), true) = (&operand.term, operand.shape != Some(shape)) {
                pending::evaluate(cell)?;
            }
        }
        self.lazy(Expression::Two(f, a.term, b.term), scalar, shape, nonnegative).map(Some)
    }

    /// Notes that the caller keeps dimensions of its own for the array, which lazy functions then leave alone.
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle).
    pub fn mark(&self, a: u64) -> Result<()> {
        self.cell(&Operand::new("a", a, Kind::VALUES))?.marked.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// An expression that waits, whose operands are evaluated first where one kernel does not do all of it.
    fn lazy(
        &self,
        expression: Expression,
        scalar: ScalarType,
        shape: (usize, usize),
        nonnegative: bool,
    ) -> Result<u64> {
        if !expression.plan().fits() {
            expression.terms().try_for_each(pending::evaluate)?;
        }
        Ok(self.insert_pending(pending(expression, scalar, shape, nonnegative)?))
    }

    /// How an object is computed: the expression that waits for its evaluation, or how the products of a sparse matrix run.
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle).
    pub fn explain(&self, a: u64) -> Result<String> {
        let cell = self.cell(&Operand::new("a", a, Kind::VALUES))?;
        let info = cell.info();
        match cell.pending() {
            Some(pending) => Ok(pending.explain()),
            None if info.kind == Kind::Csr => self.explain_products(a),
            None => Ok(format!("{} x {} {}, in the memory of the device", info.rows, info.cols, info.kind.words())),
        }
    }
}

fn pending(expression: Expression, scalar: ScalarType, shape: (usize, usize), nonnegative: bool) -> Result<Pending> {
    let operand: &Cell = expression.terms().next().expect("an operand is an object");
    let context = use_one("a", operand, false)?.context().expect("operands are full objects");
    Ok(Pending { scalar, shape, context, nonnegative, expression })
}

fn copied(a: &Found) -> Found {
    Found { term: a.term.clone(), ..*a }
}

/// 1 in the precision of a number.
fn one(like: &Found) -> Found {
    Found { term: pending::Term::Number(Complex::new(1.0, 0.0)), nonnegative: true, ..*like }
}

/// The type of the result, where the operands have it as well.
fn common_type(a: &Found, b: &Found) -> Option<ScalarType> {
    let fits = |number: &Found, scalar: ScalarType| {
        (scalar.precision() == Precision::F32 || number.scalar.precision() == Precision::F64)
            && (scalar.is_complex() || !number.scalar.is_complex())
    };
    match (a.shape, b.shape) {
        (Some(_), Some(_)) => (a.scalar == b.scalar).then_some(a.scalar),
        (Some(_), None) => fits(b, a.scalar).then_some(a.scalar),
        (None, Some(_)) => fits(a, b.scalar).then_some(b.scalar),
        (None, None) => None,
    }
}

fn common_shape(a: Option<(usize, usize)>, b: Option<(usize, usize)>) -> Option<(usize, usize)> {
    match (a, b) {
        (Some(a), Some(b)) => ops::expanded(a, b).ok(),
        (a, b) => a.or(b),
    }
}
