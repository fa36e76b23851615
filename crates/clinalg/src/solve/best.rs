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

/// The iterate with the smallest residual among those that the method shows. Methods with their scalars on the host show every
/// iterate before the next one replaces it, and copy it only where the residual then rises: a solve whose residuals fall copies nothing.
/// The others show what they have at the end of a block of iterations.
#[derive(Debug)]
pub(crate) struct Best<V> {
    x: V,
    /// Its |b - A x|, and its number.
    norm: f64,
    at: usize,
    /// |b - A x| of the iterate before the next one.
    last: f64,
}

impl<V: Iterate> Best<V> {
    /// `x` provides the memory for the best iterate.
    pub(crate) fn new(x: V) -> Best<V> {
        Best { x, norm: f64::NAN, at: 0, last: f64::NAN }
    }

    /// Keeps the initial guess x, whose residual has this norm.
    pub(crate) fn start(&mut self, x: &V, norm: f64) -> Result<()> {
        self.keep(x, norm, 0)
    }

    fn keep(&mut self, x: &V, norm: f64, at: usize) -> Result<()> {
        (self.norm, self.at, self.last) = (norm, at, norm);
        self.x.set(x)
    }

    /// Before x, iterate number `at`, is replaced by one whose residual has the norm `next`: keeps it if it is the best one so far and the
    /// residual rises.
    pub(crate) fn before(&mut self, x: &V, at: usize, next: f64) -> Result<()> {
        let rises = next.is_nan() || next > self.last;
        if rises && self.last < self.norm {
            self.keep(x, self.last, at)?;
        }
        self.last = next;
        Ok(())
    }

    /// Enters the norm of the true residual of the iterate shown last.
    pub(crate) fn correct(&mut self, norm: f64) {
        self.last = norm;
    }

    /// Keeps x, iterate number `at`, whose residual has this norm, if it is better.
    pub(crate) fn look(&mut self, x: &V, norm: f64, at: usize) -> Result<()> {
        if norm < self.norm { self.keep(x, norm, at) } else { Ok(()) }
    }

    /// What [`Best::restore`] takes besides the iterate.
    pub(crate) fn numbers(&self) -> [f64; 3] {
        [self.norm, self.at as f64, self.last]
    }

    /// Continues with these numbers; the iterate is written to [`Best::vector_mut`].
    pub(crate) fn restore(&mut self, [norm, at, last]: [f64; 3]) {
        (self.norm, self.at, self.last) = (norm, at as usize, last);
    }

    /// The memory of the iterate kept.
    pub(crate) fn vector_mut(&mut self) -> &mut V {
        &mut self.x
    }

    /// The iterate kept.
    pub(crate) fn vector(&self) -> &V {
        &self.x
    }

    /// Resets x, whose true residual has the norm `norm`, to the best iterate if that has a smaller residual, and returns its number then.
    /// `residual` computes r = b - A x and returns its norm.
    pub(crate) fn take(
        &self,
        x: &mut V,
        norm: f64,
        mut residual: impl FnMut(&V) -> Result<f64>,
    ) -> Result<Option<usize>> {
        if self.norm < norm || !norm.is_finite() {
            if residual(&self.x)? < norm || !norm.is_finite() {
                return x.set(&self.x).map(|()| Some(self.at));
            }
            residual(x)?;
        }
        Ok(None)
    }
}
