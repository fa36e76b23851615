//! The right-hand side f of y' = f(t, y).

use clinalg::Real;

/// f of y' = f(t, y), in plain Rust.
pub trait Rhs<T: Real> {
    /// Number of components.
    fn len(&self) -> usize;

    /// Whether there is no component.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What messages call a component.
    fn component_name(&self, component: usize) -> String {
        format!("component {} (counted from 1)", component + 1)
    }

    /// Stores f(t, y) in `f`; both slices have [`Rhs::len`] entries.
    fn eval(&self, t: T, y: &[T], f: &mut [T]);
}
