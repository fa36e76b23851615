//! A cycle of GMRES on the host, in double precision.

use serde::{Deserialize, Serialize};

use super::memory::{Coefficient, coefficients};
use crate::Scalar;

/// A diagonal entry of R below this many times the machine precision, relative to the largest one,
/// counts as zero.
const DEPENDENT: f64 = 16.0;

/// The least-squares problem of one cycle.
#[derive(Debug)]
pub(super) struct Small<W> {
    /// Column j of R, `j + 1` entries (the current column has one more).
    columns: Vec<Vec<W>>,
    /// c and s of each rotation [conj(c) conj(s); -s c].
    rotations: Vec<(W, W)>,
    /// The rotated right-hand side.
    g: Vec<W>,
    y: Vec<W>,
}

/// The state of a cycle.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Cycle {
    /// Whether it has a first basis vector, and the number of those that the solution is a combination of.
    pub(super) has_basis: bool,
    pub(super) used: usize,
    /// The preconditioned residual at its beginning is `unit * length` times the first vector.
    pub(super) unit: f64,
    pub(super) length: f64,
    /// Whether the Krylov space is exhausted.
    pub(super) is_exhausted: bool,
    /// The residual of the recurrence.
    pub(super) norm: f64,
}

/// What a memory holds: the cycle, and the columns that are used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SavedState {
    cycle: Cycle,
    columns: Vec<Vec<Coefficient>>,
    rotations: Vec<[Coefficient; 2]>,
    g: Vec<Coefficient>,
}

impl Cycle {
    /// Rotates the next column, where the norms of the vector were `before` and `after` its orthogonalisation; returns
    /// the norm of the residual, or `None` where they are not finite.
    pub(super) fn advance<W: Scalar<Real = f64>>(
        &mut self,
        small: &mut Small<W>,
        (before, after): (f64, f64),
        eps: f64,
    ) -> Option<f64> {
        if !(before.is_finite() && after.is_finite()) {
            return None;
        }
        let j = self.used;
        // The Krylov space is exhausted: it holds the solution unless A is singular.
        let exhausted = after <= eps * before;
        small.columns[j][j + 1] = W::from_real(if exhausted { 0.0 } else { after });
        let rotated = small.rotate(j, eps);
        self.used += usize::from(rotated.is_some());
        self.is_exhausted = exhausted || rotated.is_none();
        Some(rotated.unwrap_or(small.g[j].modulus()))
    }
}

impl<W: Scalar<Real = f64>> Small<W> {
    pub(super) fn new(restart: usize) -> Small<W> {
        Small {
            columns: (0..restart).map(|j| vec![W::zero(); j + 2]).collect(),
            rotations: vec![(W::one(), W::zero()); restart],
            g: vec![W::zero(); restart + 1],
            y: vec![W::zero(); restart],
        }
    }

    /// Rotates column j into R, whose diagonal is real. Returns the norm of the new residual, or `None` where the
    /// column depends on the former ones to working precision `eps` and must be dropped.
    fn rotate(&mut self, j: usize, eps: f64) -> Option<f64> {
        let (former, rest) = self.columns.split_at_mut(j);
        let column = &mut rest[0];
        for (i, &(c, s)) in self.rotations[..j].iter().enumerate() {
            (column[i], column[i + 1]) =
                (c.conj() * column[i] + s.conj() * column[i + 1], c * column[i + 1] - s * column[i]);
        }
        let length = column[j].modulus().hypot(column[j + 1].modulus());
        let largest = former.iter().enumerate().map(|(i, c)| c[i].re()).fold(0.0, f64::max);
        if length <= DEPENDENT * eps * largest || length == 0.0 {
            return None;
        }
        let (c, s) = (column[j] / W::from_real(length), column[j + 1] / W::from_real(length));
        self.rotations[j] = (c, s);
        column[j] = W::from_real(length);
        (self.g[j], self.g[j + 1]) = (c.conj() * self.g[j], -s * self.g[j]);
        Some(self.g[j + 1].modulus())
    }

    /// The number of columns.
    pub(super) fn restart(&self) -> usize {
        self.y.len()
    }

    /// Begins with a residual of this norm.
    pub(super) fn begin(&mut self, length: f64) {
        self.g[0] = W::from_real(length);
    }

    /// The entries of column j, but for the last one.
    pub(super) fn set_column(&mut self, j: usize, entries: &[W]) {
        self.columns[j].fill(W::zero());
        self.columns[j][..entries.len()].copy_from_slice(entries);
    }

    /// Solves R y = g for the first `count` unknowns.
    pub(super) fn solve(&mut self, count: usize) -> &[W] {
        for i in (0..count).rev() {
            let rest: W = (i + 1..count).map(|j| self.columns[j][i] * self.y[j]).sum();
            self.y[i] = (self.g[i] - rest) / self.columns[i][i];
        }
        &self.y[..count]
    }

    /// For a memory.
    pub(super) fn saved(&self, cycle: Cycle) -> SavedState {
        let used = cycle.used;
        SavedState {
            cycle,
            columns: self.columns[..used].iter().enumerate().map(|(j, column)| coefficients(&column[..=j])).collect(),
            rotations: self.rotations[..used].iter().map(|&(c, s)| [c, s].map(Coefficient::of)).collect(),
            g: coefficients(&self.g[..=used]),
        }
    }

    /// Puts the columns of a memory back; returns its cycle, if there is room for it.
    pub(super) fn restore(&mut self, saved: &SavedState) -> Option<Cycle> {
        let SavedState { cycle, columns, rotations, g } = saved;
        let lengths = [columns.len(), rotations.len(), g.len().wrapping_sub(1)];
        let is_triangular = columns.iter().enumerate().all(|(j, column)| column.len() == j + 1);
        if cycle.used > self.restart() || lengths != [cycle.used; 3] || !is_triangular {
            return None;
        }
        for (own, column) in self.columns.iter_mut().zip(columns) {
            own.iter_mut().zip(column).for_each(|(own, entry)| *own = entry.value());
        }
        self.rotations.iter_mut().zip(rotations).for_each(|(own, [c, s])| *own = (c.value(), s.value()));
        self.g.iter_mut().zip(g).for_each(|(own, entry)| *own = entry.value());
        Some(*cycle)
    }
}
