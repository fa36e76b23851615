//! Systems of `clinalg solve` on one device.

use std::mem::replace;

use clinalg::precond::{IluKind, fallback_factors, instability, is_unsuited};
use clinalg::solve::{KrylovMemory, Preconditioner, Report, Resumable, Stopping};
use clinalg::{Context, Csr, CsrParts, Scalar, Vector};

use super::method::{Made, Method, Precond, PrecondOptions, described, preconditioner, solver};
use super::number::Number;
use super::{AnySystem, Args};
use crate::exit::Failure;
use crate::interrupt;

/// The methods of [`AnySystem`] about the matrix, the vectors and the preconditioner of a system on one device.
macro_rules! on_one_device {
    () => {
        fn storage(&self) -> String {
            self.a.explain()
        }

        fn preconditioner(&self) -> String {
            self.preconditioner.as_ref().map_or_else(String::new, |made| made.1.clone())
        }

        fn set_right_side(&mut self, b: &[T]) -> Result<(), Failure> {
            Ok(self.b.write(b)?)
        }

        fn start_from(&mut self, x: Option<&[T]>) -> Result<(), Failure> {
            match x {
                Some(x) => self.x.write(x)?,
                None => self.x.fill(T::from_f64(0.0))?,
            }
            Ok(())
        }

        fn solution(&self) -> Result<Vec<T>, Failure> {
            Ok(self.x.to_vec()?)
        }
    };
}
pub(super) use on_one_device;

/// A system on one device.
pub(super) struct System<T: Scalar> {
    a: Csr<T>,
    b: Vector<T>,
    x: Vector<T>,
    /// The name of `preconditioner`.
    precond: Precond,
    preconditioner: Made<T>,
    /// The first preconditioner with its name, while another one is in use.
    first: Option<(Precond, Made<T>)>,
    /// The preconditioner of the method that took over, while another one is in use.
    second: Option<(Precond, Made<T>)>,
    /// Whether the first preconditioner has the factors of a last resort.
    is_last: bool,
    solver: Box<dyn Resumable<T>>,
    /// What took the place of the first choice, and why.
    replaced: Vec<String>,
}

impl<T: Number> System<T> {
    pub(super) fn new(
        context: &Context,
        args: &Args,
        method: Method,
        stopping: &Stopping,
        parts: &CsrParts<T>,
        b: &[T],
    ) -> Result<System<T>, Failure> {
        let a = Csr::from_parts(context, parts)?;
        let (mut replaced, mut is_last) = (Vec::new(), false);
        let (precond, preconditioner) = made(&a, parts, args, method, &mut replaced, &mut is_last)?;
        let solver = solver(context, method, stopping.clone(), args.sizes(), parts.rows)?;
        let (b, x) = (Vector::from_slice(context, b)?, Vector::zeros(context, parts.rows)?);
        Ok(System { a, b, x, precond, preconditioner, first: None, second: None, is_last, solver, replaced })
    }
}

/// The preconditioner that was named or chosen. Where a chosen one cannot be made, ILUT stands in for ILU(0), the factors of a last resort for ILUT, and
/// the diagonal, or none, for all; `is_last` says whether the factors are those.
pub(super) fn made<T: Number>(
    a: &Csr<T>,
    parts: &CsrParts<T>,
    args: &Args,
    method: Method,
    replaced: &mut Vec<String>,
    is_last: &mut bool,
) -> Result<(Precond, Made<T>), Failure> {
    let make = |precond: Precond| match precond.coarsening() {
        Some(coarsening) => T::hierarchy(a, coarsening, args),
        None if precond == Precond::Saddle => T::saddle(a, parts, method),
        None => preconditioner(a, parts, PrecondOptions { precond, ..args.precond_options() }),
    };
    let mut last = make(args.precond).map(|made| (args.precond, made));
    if args.may_fall_back() {
        if let (Precond::Ilu, Ok((_, Some((m, _))))) = (args.precond, &mut last)
            && let Some(gain) = instability(&mut **m, a, parts)?
        {
            log::warn!(
                "ILU(0) is unstable for this matrix (it enlarges the vector of ones by {gain:.0e}, relative to A); using ILUT instead"
            );
            let why = format!("ILU(0) enlarges the vector of ones by {gain:.0e} relative to A, so it is unstable");
            replaced.push(format!("{}: {why}", Precond::Ilut.title()));
            last = make(Precond::Ilut).map(|made| (Precond::Ilut, made));
        }
        if args.precond == Precond::Ilu
            && replaced.is_empty()
            && matches!(&last, Err(Failure::Library(error)) if is_unsuited(error))
        {
            last = make(Precond::Ilut).map(|made| (Precond::Ilut, made));
            replaced.push(format!("{}: ILU(0) cannot be computed", Precond::Ilut.title()));
        }
        if let (Precond::Ilu | Precond::Ilut, Err(Failure::Library(error))) = (args.precond, &last)
            && is_unsuited(error)
        {
            let why = format!("ILUT cannot be computed ({error})");
            last = last_resort(a, parts, args);
            *is_last = last.is_ok();
            match &last {
                Ok((Precond::Lu, _)) => replaced.push(format!("{}: {why}", Precond::Lu.title())),
                Ok(_) => replaced.push(format!("ILUT with replaced pivots: {why}")),
                Err(_) => {}
            }
        }
        for other in [Precond::Jacobi, Precond::None] {
            match &last {
                Err(Failure::Library(error)) if is_unsuited(error) => {
                    log::warn!(
                        "the chosen preconditioner could not be set up ({error}); using {} instead",
                        other.title()
                    );
                    replaced.push(format!("{}: the previous choice could not be set up ({error})", other.title()));
                    last = make(other).map(|made| (other, made));
                }
                _ => break,
            }
        }
    }
    last
}

/// The factors for a system on which another preconditioner failed, complete or not.
fn last_resort<T: Number>(a: &Csr<T>, parts: &CsrParts<T>, args: &Args) -> Result<(Precond, Made<T>), Failure> {
    let options = PrecondOptions { precond: Precond::Ilut, ..args.precond_options() };
    let m = fallback_factors(a.context(), parts, &options.ilu())?;
    let precond = if matches!(m.kind(), IluKind::Complete { .. }) { Precond::Lu } else { Precond::Ilut };
    Ok((precond, described(m, parts)))
}

impl<T: Number> AnySystem<T> for System<T> {
    fn stopping_mut(&mut self) -> &mut Stopping {
        self.solver.stopping_mut()
    }

    fn change_method(&mut self, args: &Args, method: Method, stopping: Stopping) -> Result<(), Failure> {
        self.solver = solver(self.a.context(), method, stopping, args.sizes(), self.a.rows())?;
        // MINRES is the last method, where GMRES failed with another preconditioner.
        let precond = if method == Method::Minres { Precond::None } else { args.second() };
        // The factors of a method that takes over are more exact than those chosen for the first one.
        let is_same = match precond {
            Precond::Ilut if args.may_fall_back() => self.is_last,
            _ => precond == self.precond,
        };
        if is_same {
            self.replaced.push(format!("{} with the same preconditioner, for any nonsingular matrix", method.title()));
            return Ok(());
        }
        if precond == Precond::None && args.explanation.is_none() {
            log::warn!(
                "MINRES takes over from GMRES and runs without the preconditioner given by --precond {}",
                self.precond.name()
            );
        }
        let options = PrecondOptions { precond, ..args.precond_options() };
        let is_it = |before: Precond| before == precond || (before, precond) == (Precond::Lu, Precond::Ilut);
        let made = match self.second.take_if(|second| is_it(second.0)) {
            Some(second) => Ok(second),
            None if precond == Precond::None => Ok((precond, None)),
            None => {
                let parts = self.a.to_parts()?;
                match precond {
                    Precond::Ilut if args.may_fall_back() => last_resort(&self.a, &parts, args),
                    _ => preconditioner(&self.a, &parts, options).map(|made| (precond, made)),
                }
            }
        };
        match made {
            Ok((precond, made)) => {
                let why = match method {
                    Method::Minres => "the residual never rises and the matrix need not be definite",
                    _ if precond == Precond::Lu => {
                        "exact up to rounding and replaced pivots, for any nonsingular matrix"
                    }
                    _ => "more accurate factors, for any nonsingular matrix",
                };
                self.replaced.push(format!("{} with {}: {why}", method.title(), precond.title()));
                let before = (replace(&mut self.precond, precond), replace(&mut self.preconditioner, made));
                match self.first {
                    None => self.first = Some(before),
                    Some(_) => self.second = Some(before),
                }
            }
            Err(Failure::Library(error)) if is_unsuited(&error) => {
                log::warn!(
                    "{} could not be set up for GMRES ({error}); keeping {}",
                    precond.title(),
                    self.precond.title()
                );
                self.replaced.push(format!(
                    "{} with {}, as {} could not be set up ({error})",
                    method.title(),
                    self.precond.title(),
                    precond.title()
                ));
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn first_method(&mut self, args: &Args, method: Method, stopping: Stopping) -> Result<(), Failure> {
        self.solver = solver(self.a.context(), method, stopping, args.sizes(), self.a.rows())?;
        if let Some((precond, made)) = self.first.take() {
            (self.precond, self.preconditioner) = (precond, made);
        }
        Ok(())
    }

    on_one_device!();

    fn precond(&self) -> Option<Precond> {
        Some(self.precond)
    }

    fn replaced(&self) -> &[String] {
        &self.replaced
    }

    fn solve(
        &mut self,
        memory: Option<&mut KrylovMemory<T>>,
        progress: &mut dyn FnMut(usize, f64),
    ) -> Result<Report, Failure> {
        let System { a, b, x, preconditioner, solver, .. } = self;
        let m = preconditioner.as_mut().map(|(m, _)| &mut **m as &mut dyn Preconditioner<T>);
        let progress = &mut |iteration, residual| {
            progress(iteration, residual);
            interrupt::go_on()
        };
        Ok(match memory {
            Some(memory) => solver.solve_from(memory, a, m, b, x, progress)?,
            None => solver.solve_with(a, m, b, x, progress)?,
        })
    }
}
