//! Generalised minimal residuals.

use super::run::{Run, check_system};
use super::{Operator, Params, Preconditioner, Report, Stop};
use crate::ops::{self, DotParts, scale_raw};
use crate::runtime::{Arg, Kernel, Range, Shape, files};
use crate::{Buffer, Context, Error, Real, Result, Vector};

/// A diagonal entry of R below this many times the machine precision, relative to the largest one,
/// counts as zero.
const DEPENDENT: f64 = 16.0;

/// Restarted GMRES for any square nonsingular A, with an optional preconditioner applied from the
/// left (Saad and Schultz 1986; Saad, Iterative Methods for Sparse Linear Systems, 2003, algorithms
/// 6.9, 6.11 and 9.4): classical Gram-Schmidt twice, after which the basis is orthogonal to working precision (Giraud,
/// Langou, Rozloznik and van den Eshof 2005), and Givens rotations.
///
/// Owns `restart + 2` vectors of `n` values. Iteration j of a cycle takes a product and reads numbers back once; the vectors
/// of the basis are taken eight at a time, in about `j / 2 + 8` launches.
///
/// With a preconditioner the method minimises |M^-1 (b - A x)|. The history then is this norm,
/// scaled at each restart to agree with |b - A x|; the tolerance holds for the true residual in any
/// case. [`Stop::Stagnated`] is reported for a cycle that gains nothing: every further one would
/// do the same.
#[derive(Debug)]
pub struct Gmres<T: Real> {
    basis: Vec<Vector<T>>,
    w: Vector<T>,
    norms: DotParts<T>,
    projection: Projection<T>,
    small: Small,
}

/// Vectors of a basis that a launch takes; `VECTORS` in `krylov.cl`.
const VECTORS: usize = 8;
/// Work-groups per compute unit of the launches on a basis.
const GROUPS: usize = 4;

/// Takes the vectors of a basis out of another one, with the coefficients in the memory of the device.
#[derive(Debug)]
struct Projection<T: Real> {
    /// Dot products in parts, those of each vector together.
    partial: Buffer<T>,
    /// Dot products of the first and of the second pass, with the square of the vector before and after.
    number: Buffer<T>,
    parts: usize,
}

impl<T: Real> Projection<T> {
    /// For vectors of `n` values and at most `most` of them in a basis.
    fn new(context: &Context, n: usize, most: usize) -> Result<Projection<T>> {
        let parts = match context.shape() {
            Shape::Gpu => n.div_ceil(context.local()).min(context.units() * GROUPS).max(1),
            Shape::Cpu => context.chunks().min(n).max(1),
        };
        let partial = Buffer::uninit(context, parts * (most + 1))?;
        Ok(Projection { partial, number: Buffer::uninit(context, 2 * (most + 1))?, parts })
    }

    /// w -= V V'w twice for orthonormal columns `v` of V. Gives the sums of the coefficients in `column`, and |w| before and
    /// after.
    fn apply(&mut self, v: &[Vector<T>], w: &mut Vector<T>, column: &mut [f64]) -> Result<(f64, f64)> {
        let count = v.len();
        self.dots(v, true, w)?;
        self.join(count + 1, 0)?;
        self.subtract(v, w, 0)?;
        self.dots(v, false, w)?;
        self.join(count, count + 1)?;
        self.subtract(v, w, count + 1)?;
        self.join(1, 2 * count + 1)?;
        let mut numbers = vec![T::zero(); 2 * count + 2];
        self.number.read_range(0, &mut numbers)?;
        let number = |k: usize| numbers[k].wide();
        (0..count).for_each(|i| column[i] = number(i) + number(count + 1 + i));
        Ok((number(count).sqrt(), number(2 * count + 1).sqrt()))
    }

    /// x += sum of y times the vectors of the basis.
    fn combine(&mut self, v: &[Vector<T>], y: impl Iterator<Item = f64>, x: &mut Vector<T>) -> Result<()> {
        self.number.write_range(0, &y.map(|y| T::of(-y)).collect::<Vec<_>>())?;
        self.subtract(v, x, 0)
    }

    fn kernel(context: &Context, names: [&'static str; 2]) -> Kernel {
        let kernel = |name| Kernel::new(&files::KRYLOV, name, T::PRECISION);
        match context.shape() {
            Shape::Gpu => kernel(names[0]).with(&[("WIDTH", 16 / size_of::<T>() as u64)]),
            Shape::Cpu => kernel(names[1]),
        }
    }

    /// One launch item or group for each of `parts`.
    fn range(context: &Context, parts: usize) -> Range {
        match context.shape() {
            Shape::Gpu => Range::d1(parts * context.local(), context.local()),
            Shape::Cpu => Range::d1(parts, 1),
        }
    }

    /// The dot products of w with the vectors, and as the last one with itself.
    fn dots(&self, v: &[Vector<T>], itself: bool, w: &Vector<T>) -> Result<()> {
        let context = w.context();
        let kernel = Self::kernel(context, ["dot_basis_gpu", "dot_basis_cpu"]);
        let count = v.len() + usize::from(itself);
        for first in (0..count).step_by(VECTORS) {
            let some = VECTORS.min(count - first);
            let sizes = [Arg::size(w.len()), Arg::U32(first as u32), Arg::U32(some as u32)];
            // w stands for vectors that are missing, too.
            let places: [Arg; VECTORS] = std::array::from_fn(|k| v.get(first + k).unwrap_or(w).buffer().arg());
            let args = [sizes.as_slice(), &places, &[w.buffer().arg(), self.partial.arg()]].concat();
            context.run(&kernel, Self::range(context, self.parts), &args)?;
        }
        Ok(())
    }

    /// Joins the parts of `count` dot products, which go to the numbers from `to` on.
    fn join(&self, count: usize, to: usize) -> Result<()> {
        let context = self.partial.context();
        let kernel = Self::kernel(context, ["join_dots_gpu", "join_dots_cpu"]);
        let args = [Arg::U32(self.parts as u32), self.partial.arg(), Arg::U32(to as u32), self.number.arg()];
        context.run(&kernel, Self::range(context, count), &args)
    }

    /// w -= V c with the numbers from `from` on for c; leaves |w|^2 in parts.
    fn subtract(&self, v: &[Vector<T>], w: &mut Vector<T>, from: usize) -> Result<()> {
        let context = w.context();
        let kernel = Self::kernel(context, ["subtract_basis_gpu", "subtract_basis_cpu"]);
        for (k, some) in v.chunks(VECTORS).enumerate() {
            let first = (from + k * VECTORS) as u32;
            let sizes = [Arg::size(w.len()), Arg::U32(first), Arg::U32(some.len() as u32)];
            // The first one stands for vectors that are missing.
            let places: [Arg; VECTORS] = std::array::from_fn(|k| some.get(k).unwrap_or(&some[0]).buffer().arg());
            let rest = [self.number.arg(), w.buffer().arg(), self.partial.arg()];
            let args = [sizes.as_slice(), &places, &rest].concat();
            context.run(&kernel, Self::range(context, self.parts), &args)?;
        }
        Ok(())
    }
}

/// The least squares problem of one cycle, on the host.
#[derive(Debug)]
struct Small {
    /// Column j of R, `j + 1` entries (the column in work has one more).
    columns: Vec<Vec<f64>>,
    /// Cosine and sine of each rotation.
    rotations: Vec<(f64, f64)>,
    /// The rotated right-hand side.
    g: Vec<f64>,
    y: Vec<f64>,
}

impl Small {
    fn new(restart: usize) -> Small {
        Small {
            columns: (0..restart).map(|j| vec![0.0; j + 2]).collect(),
            rotations: vec![(1.0, 0.0); restart],
            g: vec![0.0; restart + 1],
            y: vec![0.0; restart],
        }
    }

    /// Rotates column j into R. Returns the norm of the new residual, or `None` where the column
    /// depends on the former ones to working precision `eps` and has to be left out.
    fn rotate(&mut self, j: usize, eps: f64) -> Option<f64> {
        let (former, rest) = self.columns.split_at_mut(j);
        let column = &mut rest[0];
        for (i, &(c, s)) in self.rotations[..j].iter().enumerate() {
            (column[i], column[i + 1]) = (c * column[i] + s * column[i + 1], c * column[i + 1] - s * column[i]);
        }
        let length = column[j].hypot(column[j + 1]);
        let largest = former.iter().enumerate().map(|(i, c)| c[i]).fold(0.0, f64::max);
        if length <= DEPENDENT * eps * largest || length == 0.0 {
            return None;
        }
        let (c, s) = (column[j] / length, column[j + 1] / length);
        self.rotations[j] = (c, s);
        column[j] = length;
        (self.g[j], self.g[j + 1]) = (c * self.g[j], -s * self.g[j]);
        Some(self.g[j + 1].abs())
    }

    /// Solves R y = g for the first `count` unknowns.
    fn solve(&mut self, count: usize) {
        for i in (0..count).rev() {
            let rest: f64 = (i + 1..count).map(|j| self.columns[j][i] * self.y[j]).sum();
            self.y[i] = (self.g[i] - rest) / self.columns[i][i];
        }
    }
}

impl<T: Real> Gmres<T> {
    /// A solver for systems of `n` equations that restarts after `restart` iterations; more than
    /// `n` are never needed.
    ///
    /// # Errors
    /// [`Error::Value`] for `restart` 0; [`Error::Allocation`]; [`Error::NoFp64`].
    pub fn new(context: &Context, n: usize, restart: usize) -> Result<Gmres<T>> {
        if restart == 0 {
            return Err(Error::value("restart", "at least 1", restart));
        }
        let restart = restart.min(n.max(1));
        let basis = (0..=restart).map(|_| Vector::uninit(context, n)).collect::<Result<_>>()?;
        let projection = Projection::new(context, n, restart)?;
        let (w, norms) = (Vector::uninit(context, n)?, DotParts::new(context)?);
        Ok(Gmres { basis, w, norms, projection, small: Small::new(restart) })
    }

    /// Iterations between restarts.
    pub fn restart(&self) -> usize {
        self.small.y.len()
    }

    /// Solves A x = b from the start x, with the preconditioner `m`.
    ///
    /// # Errors
    /// As [`Cg::solve`](crate::solve::Cg::solve).
    pub fn solve(
        &mut self,
        a: &dyn Operator<T>,
        m: Option<&mut dyn Preconditioner<T>>,
        b: &Vector<T>,
        x: &mut Vector<T>,
        params: &Params,
    ) -> Result<Report> {
        self.solve_with(a, m, b, x, params, &mut |_, _| ())
    }

    /// As [`Gmres::solve`]; `progress` gets the number of each iteration, 0 for the start, and its
    /// relative residual.
    ///
    /// # Errors
    /// As [`Cg::solve`](crate::solve::Cg::solve).
    pub fn solve_with(
        &mut self,
        a: &dyn Operator<T>,
        mut m: Option<&mut dyn Preconditioner<T>>,
        b: &Vector<T>,
        x: &mut Vector<T>,
        params: &Params,
        progress: &mut dyn FnMut(usize, f64),
    ) -> Result<Report> {
        check_system(self.w.context(), self.w.len(), a, m.as_deref(), b, x)?;
        let (mut run, mut end) = Run::start(a, b, x, &mut self.w, &mut self.norms, params, progress)?;
        let mut last = f64::INFINITY;
        loop {
            if let Some(stop) = end {
                return Ok(run.report(stop));
            }
            // r is in w; the first basis vector is M^-1 r / |M^-1 r|.
            let unit = run.rescale(&mut self.w)?;
            match &mut m {
                Some(m) => m.apply(&self.w, &mut self.basis[0])?,
                None => ops::copy(&self.w, &mut self.basis[0])?,
            }
            let length = ops::norm2(&self.basis[0])?.wide();
            let seen = if !length.is_finite() {
                Stop::NotFinite
            } else if length == 0.0 {
                Stop::Breakdown
            } else if unit * length >= last * (1.0 - 10.0 * T::epsilon().wide()) {
                Stop::Stagnated
            } else {
                last = unit * length;
                match self.cycle(&mut run, a, m.as_deref_mut(), x, unit, length)? {
                    Some(seen) => seen,
                    None => {
                        end = run.check(x, &mut self.w, &mut self.norms)?;
                        continue;
                    }
                }
            };
            let (p, q) = self.basis.split_at_mut(1);
            end = run.confirm(seen, x, &mut self.w, &mut p[0], &mut q[0], &mut self.norms)?;
        }
    }

    /// One cycle from the preconditioned residual `unit * basis[0]` of the norm `unit * length`;
    /// `None` where only its length ended it.
    fn cycle<'m>(
        &mut self,
        run: &mut Run<'_, T>,
        a: &dyn Operator<T>,
        mut m: Option<&mut (dyn Preconditioner<T> + 'm)>,
        x: &mut Vector<T>,
        unit: f64,
        length: f64,
    ) -> Result<Option<Stop>> {
        let Gmres { basis, w, projection, small, .. } = self;
        let true_norm = run.norm();
        shrink(&mut basis[0], length)?;
        small.g[0] = length;
        let mut used = 0;
        let mut seen = None;
        while used < small.y.len() && seen.is_none() {
            let j = used;
            let (done, next) = basis.split_at_mut(j + 1);
            let next = &mut next[0];
            match &mut m {
                Some(m) => {
                    a.apply(T::one(), &done[j], T::zero(), w)?;
                    m.apply(w, next)?;
                }
                None => a.apply(T::one(), &done[j], T::zero(), next)?,
            }
            let column = &mut small.columns[j];
            column.fill(0.0);
            let (before, after) = projection.apply(done, next, column)?;
            if !(before.is_finite() && after.is_finite()) {
                seen = Some(Stop::NotFinite);
                break;
            }
            // The Krylov space is exhausted: it holds the solution unless A is singular.
            let exhausted = after <= T::epsilon().wide() * before;
            column[j + 1] = if exhausted { 0.0 } else { after };
            let rotated = small.rotate(j, T::epsilon().wide());
            used += usize::from(rotated.is_some());
            let estimate = rotated.unwrap_or(small.g[j].abs());
            seen = run.record(true_norm * (estimate / length), unit * estimate);
            if exhausted || rotated.is_none() {
                seen = seen.or(Some(Stop::Breakdown));
            } else if seen.is_none() {
                shrink(next, after)?;
            }
        }
        small.solve(used);
        projection.combine(&basis[..used], small.y[..used].iter().map(|y| unit * y), x)?;
        Ok(seen)
    }
}

/// v = v / length.
fn shrink<T: Real>(v: &mut Vector<T>, length: f64) -> Result<()> {
    scale_raw(T::of(1.0 / length), v.buffer(), v.buffer())
}
