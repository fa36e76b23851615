//! Which components a device gets.

use super::algebra::Algebra;
use super::coefficient::Varying;
use super::cycle::Components;
use super::equation::Equation;
use super::params::{Backend, Smoother};
use super::poisson2::{Poisson2Cpu, Poisson2Gpu};
use super::poisson3::{Poisson3Cpu, Poisson3Gpu};
use crate::runtime::KernelFamily;
use crate::{Context, Real, Result, Vector};

/// The relaxation of a multigrid method.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Relaxation {
    pub(crate) smoother: Smoother,
    pub(crate) omega: f64,
    /// Most sweeps in a row.
    pub(crate) sweeps: usize,
}

/// What is made of components, whatever their type.
pub(crate) trait Build<T: Real> {
    /// What that is.
    type Output;

    /// Makes it.
    fn build<C: Components<Grid = Vector<T>> + Send + 'static>(self, components: C) -> Result<Self::Output>;
}

/// Builds on the components for `equation` by kernels for the device, or by sparse products where `backend` says so; `full`
/// includes what full multigrid needs.
pub(crate) fn on_device<T: Real, B: Build<T>>(
    context: &Context,
    backend: Backend,
    equation: Equation<T>,
    relaxation: Relaxation,
    full: bool,
    build: B,
) -> Result<B::Output> {
    let Relaxation { smoother, omega, sweeps } = relaxation;
    if backend != Backend::Kernels {
        return build.build(Algebra::new(context, &equation, smoother, omega, full)?);
    }
    if !equation.faces.is_empty() {
        return build.build(Varying::new(context, equation, smoother, omega)?);
    }
    let (sides, shift) = (&equation.sides, equation.shift);
    match (context.family(), equation.dim) {
        (KernelFamily::Gpu, 3) => build.build(Poisson3Gpu::<T>::new(context, sides, shift, smoother, omega)?),
        (KernelFamily::Cpu, 3) => build.build(Poisson3Cpu::<T>::new(context, sides, shift, smoother, omega)?),
        (KernelFamily::Gpu, _) => build.build(Poisson2Gpu::<T>::new(context, sides, shift, smoother, omega)?),
        (KernelFamily::Cpu, _) => build.build(Poisson2Cpu::<T>::new(context, sides, shift, smoother, omega, sweeps)?),
    }
}
