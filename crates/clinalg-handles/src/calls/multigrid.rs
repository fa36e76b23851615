//! The components of multigrid on handles.

use clinalg::matrix::Values;
use clinalg::multigrid;
use clinalg::{Dense, Real, Result, Vector};

use crate::kind::Kind;
use crate::object::{Object, Stored, typed_real};
use crate::registry::{Operand, Registry};

/// A grid of `side` by `side` points, in the kind of storage that `like` has.
fn new_grid<T: Real>(like: &Stored<T>, side: usize) -> Result<Stored<T>> {
    let context = like.context();
    Ok(match like {
        Stored::Dense(_) => Stored::Dense(Dense::zeros(context, side, side)?),
        _ => Stored::Vector(Vector::zeros(context, side * side)?),
    })
}

/// An operation from some grids to one, by precision.
trait Step {
    /// Points per side of a new result, from the first grid's.
    fn side(&self, side: usize) -> usize;
    fn run<T: Real>(&self, inputs: &[&Vector<T>], out: &mut Vector<T>) -> Result<()>;
    /// Changes the first grid.
    fn run_in_place<T: Real>(&self, others: &[&Vector<T>], out: &mut Vector<T>) -> Result<()> {
        let first = out.try_clone()?;
        let inputs: Vec<_> = std::iter::once(&first).chain(others.iter().copied()).collect();
        self.run(&inputs, out)
    }
}

/// `sweeps` sweeps of weighted Jacobi.
struct Jacobi(usize, f64);

impl Step for Jacobi {
    fn side(&self, side: usize) -> usize {
        side
    }

    fn run<T: Real>(&self, inputs: &[&Vector<T>], out: &mut Vector<T>) -> Result<()> {
        multigrid::jacobi(inputs[0], inputs[1], out, self.0, T::from_f64(self.1))
    }
}

/// `sweeps` sweeps of red-black Gauss-Seidel.
struct RedBlack(usize);

impl Step for RedBlack {
    fn side(&self, side: usize) -> usize {
        side
    }

    fn run<T: Real>(&self, inputs: &[&Vector<T>], out: &mut Vector<T>) -> Result<()> {
        multigrid::red_black(inputs[0], inputs[1], out, self.0)
    }

    fn run_in_place<T: Real>(&self, others: &[&Vector<T>], out: &mut Vector<T>) -> Result<()> {
        multigrid::relax_red_black(out, others[0], self.0)
    }
}

struct Defect;

impl Step for Defect {
    fn side(&self, side: usize) -> usize {
        side
    }

    fn run<T: Real>(&self, inputs: &[&Vector<T>], out: &mut Vector<T>) -> Result<()> {
        multigrid::defect(inputs[0], inputs[1], out)
    }
}

struct Interpolate;

impl Step for Interpolate {
    fn side(&self, side: usize) -> usize {
        2 * side - 1
    }

    fn run<T: Real>(&self, inputs: &[&Vector<T>], out: &mut Vector<T>) -> Result<()> {
        multigrid::interpolate(inputs[0], out)
    }
}

struct Restrict;

impl Step for Restrict {
    fn side(&self, side: usize) -> usize {
        side.div_ceil(2)
    }

    fn run<T: Real>(&self, inputs: &[&Vector<T>], out: &mut Vector<T>) -> Result<()> {
        multigrid::restrict(inputs[0], out)
    }
}

impl Registry {
    /// `sweeps` sweeps of weighted Jacobi from u for -Laplace_h u = f: [`multigrid::jacobi`] into `out`, which may be u, or
    /// into a new grid; gives the handle of the result.
    ///
    /// # Errors
    /// Any of the operations on grids: [`Error::Handle`](clinalg::Error::Handle),
    /// [`Error::Precision`](clinalg::Error::Precision), [`Error::Value`](clinalg::Error::Value) when the output is another
    /// input than u, and those of the function named.
    pub fn jacobi(&self, u: u64, f: u64, out: Option<u64>, sweeps: usize, omega: f64) -> Result<u64> {
        self.step(&Jacobi(sweeps, omega), &[("u", u), ("f", f)], "out", out)
    }

    /// `sweeps` sweeps of red-black Gauss-Seidel from u for -Laplace_h u = f: [`multigrid::red_black`] into `out`, which may
    /// be u, or into a new grid; gives the handle of the result.
    ///
    /// # Errors
    /// As [`jacobi`](Registry::jacobi).
    pub fn red_black(&self, u: u64, f: u64, out: Option<u64>, sweeps: usize) -> Result<u64> {
        self.step(&RedBlack(sweeps), &[("u", u), ("f", f)], "out", out)
    }

    /// d = f + Laplace_h u: [`multigrid::defect`] into `d` or into a new grid; gives the handle of the result.
    ///
    /// # Errors
    /// As [`jacobi`](Registry::jacobi).
    pub fn defect(&self, u: u64, f: u64, d: Option<u64>) -> Result<u64> {
        self.step(&Defect, &[("u", u), ("f", f)], "d", d)
    }

    /// Bilinear interpolation: [`multigrid::interpolate`] into `fine` or into a new grid; gives the handle of the result.
    ///
    /// # Errors
    /// As [`jacobi`](Registry::jacobi).
    pub fn interpolate(&self, coarse: u64, fine: Option<u64>) -> Result<u64> {
        self.step(&Interpolate, &[("coarse", coarse)], "fine", fine)
    }

    /// Full weighting: [`multigrid::restrict`] into `coarse` or into a new grid; gives the handle of the result.
    ///
    /// # Errors
    /// As [`jacobi`](Registry::jacobi).
    pub fn restrict(&self, fine: u64, coarse: Option<u64>) -> Result<u64> {
        self.step(&Restrict, &[("fine", fine)], "coarse", coarse)
    }

    fn step(
        &self,
        step: &impl Step,
        inputs: &[(&'static str, u64)],
        output: &'static str,
        out: Option<u64>,
    ) -> Result<u64> {
        let in_place = out == Some(inputs[0].1) && inputs.len() > 1;
        let names = &inputs[usize::from(in_place)..];
        let operands: Vec<_> = names.iter().map(|&(name, handle)| Operand::new(name, handle, Kind::FULL)).collect();
        let target = out.map(|handle| Operand::new(output, handle, Kind::FULL));
        let made = self.call(&operands, target, |objects, out| {
            typed_real!(objects[0], names[0].0, T => {
                let given: Result<Vec<&Vector<T>>> =
                    objects.iter().zip(names).map(|(o, (name, _))| o.stored::<T>(name)?.full(name)).collect();
                let given = given?;
                match out {
                    Some(out) => {
                        let out = out.stored_mut::<T>(output)?.full_mut(output)?;
                        if in_place { step.run_in_place(&given, out)? } else { step.run(&given, out)? }
                        Ok(None)
                    }
                    None => {
                        let side = step.side(multigrid::side(names[0].0, given[0].len())?);
                        let mut made = new_grid(objects[0].stored::<T>(names[0].0)?, side)?;
                        step.run(&given, made.full_mut(output)?)?;
                        Ok(Some(Object::from(made)))
                    }
                }
            })
        })?;
        Ok(made.map_or_else(|| out.expect("a call writes its output or makes one"), |o: Object| self.insert(o)))
    }
}
