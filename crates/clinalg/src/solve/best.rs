//! The best iterate of a method whose residuals may rise.

use crate::{Result, Scalar, Vector, ops};

/// A vector of one device or of a team.
pub(crate) trait Iterate: Sized {
    /// Copies `other`, which has the same length.
    fn set(&mut self, other: &Self) -> Result<()>;
}

impl<T: Scalar> Iterate for Vector<T> {
    fn set(&mut self, other: &Vector<T>) -> Result<()> {
        ops::copy(other, self)
    }
}

/// A residual this many times the smallest one has risen: falling again is worth a copy.
const RISEN: f64 = 10.0;
/// A residual this many times smaller than that of the iterate kept is worth a copy without having risen.
const MUCH_BETTER: f64 = 1e-2;

/// The iterate with the smallest residual among those that were worth a copy: those that improved after the residual had
/// risen, and one for each factor [`MUCH_BETTER`]. A solve that converges without peaks copies x five or six times.
#[derive(Debug)]
pub(crate) struct Best<V> {
    x: V,
    /// Its |b - A x|.
    norm: f64,
    smallest: f64,
    risen: bool,
}

impl<V: Iterate> Best<V> {
    /// `x` provides the memory for the best iterate.
    pub(crate) fn new(x: V) -> Best<V> {
        Best { x, norm: f64::NAN, smallest: f64::NAN, risen: false }
    }

    /// Keeps the start x, whose residual has this norm.
    pub(crate) fn start(&mut self, x: &V, norm: f64) -> Result<()> {
        self.keep(x, norm)
    }

    fn keep(&mut self, x: &V, norm: f64) -> Result<()> {
        (self.norm, self.smallest, self.risen) = (norm, norm, false);
        self.x.set(x)
    }

    /// Enters the norm of an iteration's residual.
    pub(crate) fn enter(&mut self, norm: f64) {
        self.smallest = self.smallest.min(norm);
        self.risen |= norm > RISEN * self.smallest;
    }

    /// Keeps x, whose residual was entered last, where it is better and worth a copy.
    pub(crate) fn look(&mut self, x: &V, norm: f64) -> Result<()> {
        if norm <= MUCH_BETTER * self.norm || self.risen && norm < self.norm {
            self.keep(x, norm)?;
        }
        Ok(())
    }

    /// Keeps x, whose residual has this norm, where it is better: for iterates that are few.
    pub(crate) fn keep_better(&mut self, x: &V, norm: f64) -> Result<()> {
        if norm < self.norm { self.keep(x, norm) } else { Ok(()) }
    }

    /// What [`Best::restore`] takes besides the iterate.
    pub(crate) fn numbers(&self) -> [f64; 3] {
        [self.norm, self.smallest, f64::from(u8::from(self.risen))]
    }

    /// Goes on with these numbers; [`Best::vector_mut`] takes the iterate.
    pub(crate) fn restore(&mut self, [norm, smallest, risen]: [f64; 3]) {
        (self.norm, self.smallest, self.risen) = (norm, smallest, risen != 0.0);
    }

    /// The memory of the iterate kept.
    pub(crate) fn vector_mut(&mut self) -> &mut V {
        &mut self.x
    }

    /// The iterate kept.
    pub(crate) fn vector(&self) -> &V {
        &self.x
    }

    /// Resets x, whose true residual has the norm `norm`, to the best iterate if that has a smaller residual. `residual` computes r = b - A x and
    /// returns its norm.
    pub(crate) fn take(&self, x: &mut V, norm: f64, mut residual: impl FnMut(&V) -> Result<f64>) -> Result<()> {
        if self.norm < norm || !norm.is_finite() {
            if residual(&self.x)? < norm || !norm.is_finite() {
                return x.set(&self.x);
            }
            residual(x)?;
        }
        Ok(())
    }
}
