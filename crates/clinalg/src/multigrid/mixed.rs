//! Defect correction: cycles in single precision for a solution in double precision.

use super::cycle::{Components, CycleFromZero, Cycles, Multigrid, Norms};
use super::launch;
use crate::runtime::kernels::mixed;
use crate::runtime::{KernelFamily, Out, Range};
use crate::{Context, Real, Result, Vector, ops};

/// Multigrid in single precision, and what carries its corrections over.
///
/// A cycle from 0 solves A e = s r for the defect r = f - A u of the solution in the precision `T`, scaled by a power of two s
/// to the middle of single precision's range; then u += e / s. The defect is always that of the solution as it is, so that
/// the rounding of the cycles slows them down, but leaves no floor.
pub(crate) struct Mixed<T: Real, C: Components> {
    context: Context,
    n: usize,
    dim: u32,
    shift: T,
    multigrid: Multigrid<C>,
    /// s r, and e.
    defect: Vector<f32>,
    correction: Vector<f32>,
    scale: f64,
}

/// Powers of two up to this one, and one over them, are numbers of double precision.
const MOST_EXPONENT: f64 = 1000.0;

impl<T: Real, C: Components<Grid = Vector<f32>>> Mixed<T, C> {
    pub(crate) fn new(
        context: &Context,
        n: usize,
        dim: u32,
        shift: f64,
        multigrid: Multigrid<C>,
    ) -> Result<Mixed<T, C>> {
        context.require::<T>()?;
        let zeros = || Vector::zeros(context, n.pow(dim));
        let (defect, correction) = (zeros()?, zeros()?);
        let made = Mixed {
            context: context.clone(),
            n,
            dim,
            shift: T::from_f64(shift),
            multigrid,
            defect,
            correction,
            scale: 1.0,
        };
        let program = made.program();
        context.prepare_all(&[mixed::NARROW_DEFECT, mixed::ADD_CORRECTION].map(|id| program.kernel(id)))?;
        Ok(made)
    }

    fn program(&self) -> mixed::Program<T> {
        mixed::Program::new().dimensions(self.dim.into())
    }

    /// Rows of the grid.
    fn rows(&self) -> usize {
        self.n.pow(self.dim - 1)
    }

    /// The defect of `u`, scaled, and the norms of u, of the defect and, at the `start`, of the source.
    fn measure(&mut self, u: &Vector<T>, f: &Vector<T>, scale: f64, start: bool) -> Result<[f64; 3]> {
        self.scale = scale;
        let (count, range) = launch::shares(&self.context, self.rows(), 3);
        let (n, inverse_h2, factor) = (self.n, launch::inverse_h2(self.n), T::from_f64(scale));
        let (program, u, f, r) = (self.program(), u.buffer(), f.buffer(), Out::shared(self.defect.buffer()));
        let partials = self.context.partials(3 * count, |sums| {
            let context = &self.context;
            program.narrow_defect(context, range, n, inverse_h2, self.shift, factor, start.into(), u, f, r, sums)
        })?;
        let [size, defect, source] = launch::triple::<T>(&partials);
        Ok([size.sqrt(), defect.sqrt() / scale, source.sqrt() / scale])
    }

    /// The power of two that brings the values of a defect of this norm to about 1.
    fn scale_of(&self, norm: f64) -> f64 {
        let values = (self.n as f64).powi(self.dim as i32);
        let exponent = (values.sqrt() / norm).log2().round();
        // Of 0, and of what is no number, nothing can be brought anywhere.
        if exponent.is_finite() { exponent.clamp(-MOST_EXPONENT, MOST_EXPONENT).exp2() } else { 1.0 }
    }

    /// u += e / s, and the new defect and norms.
    fn correct(&mut self, u: &mut Vector<T>, f: &Vector<T>, norm: f64) -> Result<Norms> {
        let (parts, local) = match self.context.family() {
            KernelFamily::Gpu => (self.rows(), self.context.local()),
            KernelFamily::Cpu => (self.context.chunks().min(self.rows()), 1),
        };
        let factor = T::from_f64(1.0 / self.scale);
        let (range, e) = (Range::d1(parts * local, local), self.correction.buffer());
        self.program().add_correction(&self.context, range, self.n, factor, e, Out::shared(u.buffer()))?;
        let [size, defect, _] = self.measure(u, f, self.scale_of(norm), false)?;
        Ok(Norms { defect, size: Some(size).filter(|size| launch::in_range::<T>(size * size)) })
    }

    /// The norm that the defect at hand was scaled for.
    fn norm_at_hand(&self) -> f64 {
        (self.n as f64).powi(self.dim as i32).sqrt() / self.scale
    }
}

impl<T: Real, C: Components<Grid = Vector<f32>> + Send> Cycles for Mixed<T, C> {
    type Grid = Vector<T>;

    fn start_norms(&mut self, u: &Vector<T>, f: &Vector<T>) -> Result<[f64; 3]> {
        let mut norms = self.measure(u, f, 1.0, true)?;
        // Squares out of range, or lost in it: two thirds of it lift or lower all that was.
        let largest = norms[1].max(norms[2]);
        if !launch::in_range::<T>(largest * largest) {
            let factor = (T::max_value().into_f64().log2() * 2.0 / 3.0).floor().exp2();
            let scale = if largest < 1.0 { factor } else { 1.0 / factor };
            let [_, defect, source] = self.measure(u, f, scale, true)?;
            norms = [ops::norm2(u)?.into_f64(), defect, source];
        }
        // The cycles want the defect itself in the range.
        self.measure(u, f, self.scale_of(norms[1]), false)?;
        Ok(norms)
    }

    fn norm(&self, u: &Vector<T>) -> Result<f64> {
        Ok(ops::norm2(u)?.into_f64())
    }

    fn levels(&self) -> usize {
        self.multigrid.levels()
    }

    fn cycles(
        &mut self,
        u: &mut Vector<T>,
        f: &Vector<T>,
        count: usize,
        _last: bool,
        _size: f64,
    ) -> Result<Vec<Norms>> {
        let mut norm = self.norm_at_hand();
        let cycle = |_| {
            self.multigrid.cycle_from_zero(&mut self.correction, &self.defect)?;
            let norms = self.correct(u, f, norm)?;
            norm = norms.defect;
            Ok(norms)
        };
        (0..count).map(cycle).collect()
    }

    fn full(&mut self, u: &mut Vector<T>, f: &Vector<T>) -> Result<Norms> {
        self.correction.fill(0.0)?;
        self.multigrid.full(&mut self.correction, &self.defect)?;
        self.correct(u, f, self.norm_at_hand())
    }
}
