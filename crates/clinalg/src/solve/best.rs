//! The best iterate of a method whose residuals may rise.

use num_traits::Zero;
use serde::{Deserialize, Serialize};

use crate::Result;
use crate::ops::SpaceVector;

/// The initial guess. It takes no memory if it is zero.
#[derive(Debug)]
pub(crate) struct Start<V> {
    x: Option<V>,
    is_zero: bool,
}

impl<V: SpaceVector> Start<V> {
    pub(crate) fn new() -> Start<V> {
        Start { x: None, is_zero: true }
    }

    /// Keeps x.
    pub(crate) fn keep(&mut self, x: &V) -> Result<()> {
        self.is_zero = x.norm()? == 0.0;
        match &mut self.x {
            _ if self.is_zero => {}
            Some(own) => own.set_copy(x)?,
            None => self.x = Some(x.duplicate()?),
        }
        Ok(())
    }

    /// Resets x to the initial guess kept.
    pub(crate) fn give(&self, x: &mut V) -> Result<()> {
        match self.vector() {
            Some(own) => x.set_copy(own),
            None => x.set_all(V::Scalar::zero()),
        }
    }

    /// The initial guess kept, if it is not zero.
    pub(crate) fn vector(&self) -> Option<&V> {
        self.x.as_ref().filter(|_| !self.is_zero)
    }

    /// Continues with this initial guess, or with zero.
    pub(crate) fn restore(&mut self, x: Option<V>) {
        (self.is_zero, self.x) = (x.is_none(), x);
    }
}

/// The iterate with the smallest residual among those that the method shows. Methods with their scalars on the host show every
/// iterate before the next one replaces it, and copy it only where the residual then rises: a solve whose residuals fall copies nothing.
/// The others show what they have at the end of a block of iterations.
///
/// Residuals of recurrences drift from the true ones, so that what is kept may be worse than the initial guess, which is therefore kept too.
#[derive(Debug)]
pub struct Best<V> {
    x: V,
    /// Its |b - A x|, and its number.
    norm: f64,
    at: usize,
    /// |b - A x| of the iterate before the next one.
    last: f64,
    start: Start<V>,
    /// Whether the initial guess is kept.
    keeps_start: bool,
}

/// The iterate kept, but for its values.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct BestState {
    norm: f64,
    at: usize,
    last: f64,
    /// Whether an initial guess that is not zero is kept too.
    pub(super) has_start: bool,
}

impl<V: SpaceVector> Best<V> {
    /// `x` provides the memory for the best iterate. For a method that only shows iterates with their true residuals.
    pub(crate) fn of_true(x: V) -> Best<V> {
        Best { x, norm: f64::NAN, at: 0, last: f64::NAN, start: Start::new(), keeps_start: false }
    }

    /// The same for a method that shows iterates with residuals of recurrences.
    pub(crate) fn new(x: V) -> Best<V> {
        Best { keeps_start: true, ..Best::of_true(x) }
    }

    /// Keeps the initial guess x, whose residual has this norm.
    pub(crate) fn start(&mut self, x: &V, norm: f64) -> Result<()> {
        if self.keeps_start {
            self.start.keep(x)?;
        }
        self.keep(x, norm, 0)
    }

    fn keep(&mut self, x: &V, norm: f64, at: usize) -> Result<()> {
        (self.norm, self.at, self.last) = (norm, at, norm);
        self.x.set_copy(x)
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

    /// |b - A x| of the iterate kept.
    pub(crate) fn norm(&self) -> f64 {
        self.norm
    }

    /// The number of the iterate kept.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// What [`Best::restore`] takes besides the values.
    pub(super) fn state(&self) -> BestState {
        let has_start = self.start.vector().is_some();
        BestState { norm: self.norm, at: self.at, last: self.last, has_start }
    }

    /// Continues with the values of [`Best::vectors`].
    ///
    /// # Errors
    /// Those of an allocation and of an upload.
    pub(super) fn restore(
        &mut self,
        state: BestState,
        values: &[V::Scalar],
        start: Option<&[V::Scalar]>,
    ) -> Result<()> {
        (self.norm, self.at, self.last) = (state.norm, state.at, state.last);
        self.x.set_from_host(values)?;
        let start = start.map(|values| -> Result<V> {
            let mut start = self.x.duplicate()?;
            start.set_from_host(values)?;
            Ok(start)
        });
        self.start.restore(start.transpose()?);
        Ok(())
    }

    /// The iterate kept.
    pub(crate) fn vector(&self) -> &V {
        &self.x
    }

    /// The iterate kept, and the initial guess if it takes memory.
    pub(crate) fn vectors(&self) -> impl Iterator<Item = &V> {
        std::iter::once(&self.x).chain(self.start.vector())
    }

    /// After the true residual of x, iterate number `at`, was found to have the norm `norm`: keeps x unless the iterate kept has a smaller true residual.
    /// `residual` computes r = b - A x and returns its norm; afterwards r is that of x.
    pub(crate) fn look_at_true(
        &mut self,
        x: &V,
        (norm, at): (f64, usize),
        mut residual: impl FnMut(&V) -> Result<f64>,
    ) -> Result<()> {
        self.last = norm;
        if self.norm < norm {
            let own = residual(&self.x)?;
            residual(x)?;
            if own < norm {
                self.norm = own;
                return Ok(());
            }
        }
        self.keep(x, norm, at)
    }

    /// Resets x, iterate number `at`, whose true residual has the norm `norm`, to the best iterate if that has a smaller residual, and to the
    /// initial guess, whose residual has the norm `first`, if that is better still. If x was reset, returns the number of that iterate. `residual` computes
    /// r = b - A x and returns its norm; afterwards r is that of x.
    pub(crate) fn take(
        &mut self,
        x: &mut V,
        (norm, at): (f64, usize),
        first: f64,
        mut residual: impl FnMut(&V) -> Result<f64>,
    ) -> Result<Option<usize>> {
        let (mut now, mut number) = (norm, None);
        if self.norm < norm || !norm.is_finite() {
            let own = residual(&self.x)?;
            if own < norm || !norm.is_finite() {
                x.set_copy(&self.x)?;
                (self.norm, self.last) = (own, own);
                (now, number) = (own, Some(self.at));
            } else {
                residual(x)?;
                self.keep(x, norm, at)?;
            }
        }
        if self.keeps_start && (first < now || !now.is_finite()) {
            self.start.give(x)?;
            residual(x)?;
            self.keep(x, first, 0)?;
            number = Some(0);
        }
        Ok(number)
    }
}
