//! Products with several vectors at once.

use crate::ops::SpaceVector;
use crate::runtime::kernels::{gram_schmidt, gram_schmidt_complex};
use crate::runtime::{In, KernelFamily, Out, Range};
use crate::{Buffer, Context, Result, Scalar, Vector};

/// Basis vectors per launch; `VECTORS` in `gram_schmidt.clh`.
const VECTORS: usize = 8;
/// Work-groups per compute unit of the launches on a basis.
const GROUPS: usize = 4;

/// Maximum number of orthogonalisations whose coefficients are read back together.
pub(super) const MAX_BATCH: usize = 32;

/// Orthogonalises a vector against a basis, with the coefficients in device memory.
#[derive(Debug)]
pub struct Projection<T: Scalar> {
    /// Partial sums of dot products, grouped by vector.
    partial: Buffer<T>,
    /// For each orthogonalisation not yet read, the dot products of the first and the second pass, with the squared norm of the vector before and
    /// after.
    number: Buffer<T>,
    /// The number of basis vectors in each of them.
    counts: Vec<usize>,
    parts: usize,
}

impl<T: Scalar> Projection<T> {
    /// For vectors of `n` values, at most `most` of them in a basis, and at most `together` orthogonalisations before their coefficients are read.
    pub(crate) fn new(context: &Context, n: usize, most: usize, together: usize) -> Result<Projection<T>> {
        let parts = match context.family() {
            KernelFamily::Gpu => n.div_ceil(context.local()).min(context.units() * GROUPS).max(1),
            KernelFamily::Cpu => context.chunks().min(n).max(1),
        };
        let partial = Buffer::uninit(context, parts * (most + 1))?;
        let number = Buffer::uninit(context, 2 * (most + 1) * together)?;
        Ok(Projection { partial, number, counts: Vec::with_capacity(together), parts })
    }

    /// w -= V V'w twice for orthonormal columns `v` of V; returns the norm of the new w.
    pub(super) fn orthogonalise(&mut self, v: &[&Vector<T>], w: &mut Vector<T>) -> Result<f64> {
        self.begin();
        self.enqueue(v, w)?;
        let mut norm = f64::NAN;
        self.read(|_, _, _, after| norm = after)?;
        Ok(norm)
    }

    /// Discards coefficients that were never read, such as those of a solve that ended with an error.
    pub(super) fn begin(&mut self) {
        self.counts.clear();
    }

    /// As [`Projection::orthogonalise`], without reading the coefficients; returns the position of |w|^2 among the
    /// numbers.
    fn enqueue(&mut self, v: &[&Vector<T>], w: &mut Vector<T>) -> Result<usize> {
        let (at, count) = (self.counts.iter().map(|count| 2 * count + 2).sum::<usize>(), v.len());
        self.counts.push(count);
        self.dots(v, true, w)?;
        self.join(count + 1, at)?;
        self.subtract(v, w, at)?;
        self.dots(v, false, w)?;
        self.join(count, at + count + 1)?;
        self.subtract(v, w, at + count + 1)?;
        let last = at + 2 * count + 1;
        self.join(1, last)?;
        Ok(last)
    }

    /// As [`Projection::orthogonalise`], and divides w by its norm, without reading anything: the coefficients are
    /// those of [`Projection::read`].
    pub(super) fn extend(&mut self, v: &[&Vector<T>], w: &mut Vector<T>) -> Result<()> {
        let at = self.enqueue(v, w)?;
        let context = w.context();
        let (range, n, at) = (Self::range(context, self.parts), w.len() * T::COMPONENTS, at * T::COMPONENTS);
        let (number, w) = (In::parts(&self.number), Out::parts(w.buffer()));
        Self::program(context).normalise_vector(context, range, n, number, at as u32, w)
    }

    /// Gives the orthogonalisations since the last read, in order, to `each`: the number of each, the sums of its coefficients, and |w| before and
    /// after.
    pub(super) fn read(&mut self, mut each: impl FnMut(usize, &[T::Wide], f64, f64)) -> Result<()> {
        let mut numbers = vec![T::zero(); self.counts.iter().map(|count| 2 * count + 2).sum()];
        self.number.read_range(0, &mut numbers)?;
        let mut rest = &numbers[..];
        for (k, count) in self.counts.drain(..).enumerate() {
            let (own, others) = rest.split_at(2 * count + 2);
            let number = |k: usize| own[k].widen();
            let column: Vec<T::Wide> = (0..count).map(|i| number(i) + number(count + 1 + i)).collect();
            each(k, &column, number(count).re().sqrt(), number(2 * count + 1).re().sqrt());
            rest = others;
        }
        Ok(())
    }

    /// The dot products of the vectors `v` (conjugated) with w.
    pub(super) fn dot(&mut self, v: &[&Vector<T>], w: &Vector<T>, products: &mut [T::Wide]) -> Result<()> {
        self.enqueue_dots(v, false, w)?;
        self.read_dots(products)
    }

    /// Enqueues the dot products of [`Projection::read_dots`]: of w with the vectors `v` and, if `itself`, last with
    /// itself.
    pub(crate) fn enqueue_dots(&mut self, v: &[&Vector<T>], itself: bool, w: &Vector<T>) -> Result<()> {
        self.dots(v, itself, w)?;
        self.join(v.len() + usize::from(itself), 0)
    }

    /// Reads the first of these dot products.
    pub(crate) fn read_dots(&self, products: &mut [T::Wide]) -> Result<()> {
        let mut numbers = vec![T::zero(); products.len()];
        self.number.read_range(0, &mut numbers)?;
        products.iter_mut().zip(numbers).for_each(|(product, number)| *product = number.widen());
        Ok(())
    }

    /// x += sum of y times the vectors of the basis.
    pub(crate) fn combine(&mut self, v: &[&Vector<T>], y: &[T::Wide], x: &mut Vector<T>) -> Result<()> {
        self.number.write_range(0, &y.iter().map(|&y| T::narrow(-y)).collect::<Vec<_>>())?;
        self.subtract(v, x, 0)
    }

    /// The compilation for reals.
    fn program(context: &Context) -> gram_schmidt::Program<T::Real> {
        match context.family() {
            KernelFamily::Gpu => gram_schmidt::Program::new().width(16 / size_of::<T::Real>() as u64),
            KernelFamily::Cpu => gram_schmidt::Program::new(),
        }
    }

    /// One launch item or group for each of `parts`.
    fn range(context: &Context, parts: usize) -> Range {
        match context.family() {
            KernelFamily::Gpu => Range::d1(parts * context.local(), context.local()),
            KernelFamily::Cpu => Range::d1(parts, 1),
        }
    }

    /// The dot products of w with the vectors and, last, with itself.
    fn dots(&self, v: &[&Vector<T>], itself: bool, w: &Vector<T>) -> Result<()> {
        let context = w.context();
        let (range, n, partial) = (Self::range(context, self.parts), w.len(), &self.partial);
        let count = v.len() + usize::from(itself);
        for first in (0..count).step_by(VECTORS) {
            let some = VECTORS.min(count - first) as u32;
            // w is the placeholder for missing vectors, too.
            let vector = |k: usize| v.get(first + k).copied().unwrap_or(w).buffer();
            let w = w.buffer();
            if T::IS_COMPLEX {
                let (program, basis) =
                    (gram_schmidt_complex::Program::new(), std::array::from_fn(|k| vector(k).into()));
                program.dot_basis_scalars(context, range, n, first as u32, some, basis, w, Out::shared(partial))?;
            } else {
                let (program, basis) = (Self::program(context), std::array::from_fn(|k| In::parts(vector(k))));
                program.dot_basis(context, range, n, first as u32, some, basis, In::parts(w), Out::parts(partial))?;
            }
        }
        Ok(())
    }

    /// Adds up the partial sums of `count` dot products, which are stored from position `to` on.
    fn join(&self, count: usize, to: usize) -> Result<()> {
        let context = self.partial.context();
        let (range, parts, to) = (Self::range(context, count), self.parts as u32, to as u32);
        let (partial, number) = (&self.partial, &self.number);
        if T::IS_COMPLEX {
            let program = gram_schmidt_complex::Program::new();
            return program.join_dots_scalars(context, range, parts, partial, to, Out::shared(number));
        }
        Self::program(context).join_dots(context, range, parts, In::parts(partial), to, Out::parts(number))
    }

    /// w -= V c, where c begins at position `from`; leaves partial sums of |w|^2.
    fn subtract(&self, v: &[&Vector<T>], w: &mut Vector<T>, from: usize) -> Result<()> {
        let context = w.context();
        let (range, n, w) = (Self::range(context, self.parts), w.len(), w.buffer());
        let (number, partial) = (&self.number, &self.partial);
        for (k, some) in v.chunks(VECTORS).enumerate() {
            let (first, count) = ((from + k * VECTORS) as u32, some.len() as u32);
            // The first vector is the placeholder for missing ones.
            let vector = |k: usize| some.get(k).unwrap_or(&some[0]).buffer();
            if T::IS_COMPLEX {
                let (program, basis) =
                    (gram_schmidt_complex::Program::new(), std::array::from_fn(|k| vector(k).into()));
                let (w, partial) = (Out::shared(w), Out::shared(partial));
                program.subtract_basis_scalars(context, range, n, first, count, basis, number, w, partial)?;
            } else {
                let (program, basis) = (Self::program(context), std::array::from_fn(|k| In::parts(vector(k))));
                let (w, partial) = (Out::parts(w), Out::parts(partial));
                program.subtract_basis(context, range, n, first, count, basis, In::parts(number), w, partial)?;
            }
        }
        Ok(())
    }
}

/// v = v / length.
pub(super) fn shrink<V: SpaceVector>(v: &mut V, length: f64) -> Result<()> {
    v.scale_by(V::Scalar::from_f64(1.0 / length))
}
