//! The components of multigrid, one by one, on device vectors that hold square grids.

use super::cycle::{Components, Sweeps};
use super::launch::Rows;
use super::params::Smoother;
use super::passes::{self, Grids, Pass};
use super::poisson2::Poisson2Cpu;
use super::poisson2::fused;
use super::{poisson2, side};
use crate::matrix::Values;
use crate::multigrid::cycle::Order;
use crate::runtime::KernelFamily;
use crate::{Error, Real, Result, Vector};

/// The side of the grid in `first`, when the others live in the same context and are as long.
fn same_side<T: Real>(
    argument: &'static str,
    first: &Vector<T>,
    others: &[(&'static str, &Vector<T>)],
) -> Result<usize> {
    let n = side(argument, first.len())?;
    others.iter().try_for_each(|(name, other)| first.check_same(other, name))?;
    Ok(n)
}

/// out = `sweeps` sweeps of weighted Jacobi from u for `-Laplace_h u = f`, with h = 1 / (N - 1):
/// each is u + omega h^2 / 4 (f + Laplace_h u) inside; the boundary of `out` is that of `u`.
///
/// All are grids of N by N points, N at least 3. More than one sweep takes a temporary vector.
///
/// # Errors
/// [`Error::Shape`] when the length of `u` is no square of at least 3; [`Error::Length`] or
/// [`Error::Context`] that names `f` or `out`; [`Error::Value`] for an `omega` that is not finite;
/// [`Error::Allocation`].
pub fn jacobi<T: Real>(u: &Vector<T>, f: &Vector<T>, out: &mut Vector<T>, sweeps: usize, omega: T) -> Result<()> {
    let n = same_side("u", u, &[("f", f), ("out", out)])?;
    check_sweeps(sweeps)?;
    if !omega.is_finite() {
        return Err(Error::value("omega", "a finite number", omega));
    }
    let together = match u.context().family() {
        KernelFamily::Gpu => fused::JACOBI_TOGETHER,
        KernelFamily::Cpu => 1,
    };
    in_passes(sweeps.div_ceil(together), u, out, |pass, from, to| match together.min(sweeps - pass * together) {
        1 => poisson2::jacobi(n, T::zero(), omega, from, f, to),
        count => fused::jacobi((n, Rows::all(n)), count, T::zero(), omega, from, f, to),
    })
}

/// An error for more sweeps than a call that nothing can interrupt should do.
fn check_sweeps(sweeps: usize) -> Result<()> {
    const MOST: usize = 1_000_000;
    match sweeps <= MOST {
        true => Ok(()),
        false => Err(Error::value("sweeps", format!("at most {MOST} in a call"), sweeps)),
    }
}

/// Runs `pass` so many times, the first from `u`, each further one from what the one before made, the last one to `out`.
fn in_passes<T: Real>(
    count: usize,
    u: &Vector<T>,
    out: &mut Vector<T>,
    mut pass: impl FnMut(usize, &Vector<T>, &mut Vector<T>) -> Result<()>,
) -> Result<()> {
    match count {
        0 => out.copy_from(u),
        1 => pass(0, u, out),
        _ => {
            let mut other = u.like()?;
            let (mut from, mut to) = if count.is_multiple_of(2) { (out, &mut other) } else { (&mut other, out) };
            pass(0, u, to)?;
            for k in 1..count {
                std::mem::swap(&mut from, &mut to);
                pass(k, from, to)?;
            }
            Ok(())
        }
    }
}

/// out = `sweeps` sweeps of red-black Gauss-Seidel from u for `-Laplace_h u = f`, the points with
/// even i + j first; the boundary of `out` is that of `u`.
///
/// All are grids of N by N points, N at least 3. A CPU takes a temporary copy of some rows.
///
/// # Errors
/// [`Error::Shape`] when the length of `u` is no square of at least 3; [`Error::Length`] or
/// [`Error::Context`] that names `f` or `out`; [`Error::Allocation`].
pub fn red_black<T: Real>(u: &Vector<T>, f: &Vector<T>, out: &mut Vector<T>, sweeps: usize) -> Result<()> {
    let n = same_side("u", u, &[("f", f), ("out", out)])?;
    check_sweeps(sweeps)?;
    match u.context().family() {
        KernelFamily::Gpu => passes(n, u, f, out, sweeps),
        KernelFamily::Cpu => {
            out.copy_from(u)?;
            relax_red_black(out, f, sweeps)
        }
    }
}

/// [`red_black`] on a GPU, which goes from one grid to another.
fn passes<T: Real>(n: usize, u: &Vector<T>, f: &Vector<T>, out: &mut Vector<T>, sweeps: usize) -> Result<()> {
    in_passes(sweeps.div_ceil(passes::TOGETHER), u, out, |pass, from, to| {
        let count = passes::TOGETHER.min(sweeps - pass * passes::TOGETHER);
        let pass = Pass::smoothing(Sweeps { count, order: Order::RedFirst });
        pass.run(
            (n, Rows::all(n)),
            T::zero(),
            &Grids { f, u: from, out: to, correction: from, coarse: from, sums: None },
        )
    })
}

/// [`red_black`] in place: u is the start and the result. A GPU takes a temporary grid.
///
/// # Errors
/// As [`red_black`].
pub fn relax_red_black<T: Real>(u: &mut Vector<T>, f: &Vector<T>, sweeps: usize) -> Result<()> {
    let n = same_side("u", u, &[("f", f)])?;
    let context = u.context().clone();
    match context.family() {
        KernelFamily::Gpu if sweeps == 0 => Ok(()),
        KernelFamily::Gpu => {
            let mut out = u.like()?;
            passes(n, u, f, &mut out, sweeps)?;
            std::mem::swap(u, &mut out);
            Ok(())
        }
        KernelFamily::Cpu => {
            let most = sweeps.min(TOGETHER);
            let mut components = Poisson2Cpu::<T>::new(&context, &[n], 0.0, Smoother::RedBlack, 1.0, most)?;
            (0..sweeps).step_by(TOGETHER).try_for_each(|done| {
                let count = TOGETHER.min(sweeps - done);
                components.smooth(0, u, f, Sweeps { count, order: Order::RedFirst })
            })
        }
    }
}

/// Sweeps that a CPU makes in one pass over memory; their rows must fit its caches.
const TOGETHER: usize = 4;

/// d = f + Laplace_h u inside, 0 on the boundary; grids of N by N points, N at least 3.
///
/// # Errors
/// As [`red_black`], for `f` and `d`.
pub fn defect<T: Real>(u: &Vector<T>, f: &Vector<T>, d: &mut Vector<T>) -> Result<()> {
    let n = same_side("u", u, &[("f", f), ("d", d)])?;
    poisson2::defect(n, T::zero(), u, f, d)
}

/// Bilinear interpolation of `coarse`, M by M points, to `fine`, 2 M - 1 by 2 M - 1, at every
/// point; M at least 3.
///
/// # Errors
/// [`Error::Shape`] when the length of `coarse` is no square of at least 3; [`Error::Length`] or
/// [`Error::Context`] that names `fine`.
pub fn interpolate<T: Real>(coarse: &Vector<T>, fine: &mut Vector<T>) -> Result<()> {
    let n = 2 * side("coarse", coarse.len())? - 1;
    check_other("fine", n, coarse, fine)?;
    poisson2::interpolate(n, coarse, fine)
}

/// Full weighting of `fine`, N by N points, to `coarse`, M by M with M = (N + 1) / 2: the stencil
/// 1/16 `[1 2 1; 2 4 2; 1 2 1]` inside, 0 on the boundary; N odd, at least 5.
///
/// # Errors
/// [`Error::Shape`] when `fine` is no such grid; [`Error::Length`] or [`Error::Context`] that names
/// `coarse`.
pub fn restrict<T: Real>(fine: &Vector<T>, coarse: &mut Vector<T>) -> Result<()> {
    let n = side("fine", fine.len())?;
    if n < 5 || n.is_multiple_of(2) {
        return Err(Error::Shape {
            argument: "fine",
            expected: "a square grid with an odd number of points per side, at least 5".into(),
            got: format!("{n} by {n} points"),
        });
    }
    let m = n.div_ceil(2);
    check_other("coarse", m, fine, coarse)?;
    poisson2::restrict(m, Rows::all(n), fine, coarse)
}

/// An error unless `other` has `side` points per side and lives where `first` does.
fn check_other<T: Real>(argument: &'static str, side: usize, first: &Vector<T>, other: &Vector<T>) -> Result<()> {
    if !first.context().same(other.context()) {
        return Err(Error::Context { argument });
    }
    crate::error::check_length(argument, side * side, other.len())
}
