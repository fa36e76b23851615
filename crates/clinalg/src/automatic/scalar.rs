//! What real systems have and complex ones have not.

use std::sync::Arc;

use super::Method;
use super::Observer;
use super::decision::Event;
use super::preconditioner::{Boxed, Source, in_a_line, or_by_unknowns};
use crate::amg::{Amg, Coarsening};
use crate::precond::{Saddle, SaddleParams, SaddleShape, Split};
use crate::solve::BlockScalar;
use crate::{Complex, Error, Real, Result, Scalar};

/// The scalars of a system: `f32`, `f64` and complex numbers of both.
pub trait SystemScalar: BlockScalar {
    /// A block preconditioner of a saddle point, in the shape that the method takes, with its description.
    #[doc(hidden)]
    fn saddle(source: &Source<'_, Self>) -> Result<(Boxed<Self>, String)>;
}

/// An error about a matrix that has to be real.
pub(super) fn not_real(what: &str, instead: &str) -> Error {
    Error::value("a", format!("a real matrix for {what}; {instead} complex ones"), "complex")
}

/// Near-null vectors in the precision of the matrix.
pub(super) fn narrowed<T: Scalar>(vectors: &Arc<Vec<f64>>) -> Vec<T> {
    vectors.iter().map(|&value| T::from_f64(value)).collect()
}

/// Algebraic multigrid with its description.
pub(super) fn hierarchy<T: SystemScalar>(
    source: &Source<'_, T>,
    coarsening: Coarsening,
    observe: Observer<'_>,
) -> Result<(Boxed<T>, String)> {
    let Source { a, params, unknowns_per_node, .. } = *source;
    let amg = params.hierarchy(coarsening, unknowns_per_node);
    let (device, memory) = (a.context().device(), a.context().memory());
    let vectors = params.near_null.as_ref().map_or(amg.block, |vectors| vectors.len().div_ceil(a.rows().max(1)));
    let needed = Amg::estimated_bytes(a, vectors, &amg);
    let _ = observe(Event::Multigrid { needed, free: device.global_mem.saturating_sub(memory.live_bytes) });
    let near_null = params.near_null.as_ref().map(narrowed::<T>);
    let (mut m, remark) = or_by_unknowns(amg, unknowns_per_node.is_some(), observe, |amg| match &near_null {
        Some(near) => Amg::with_near_null(a, near, vectors, amg),
        None => Amg::new(a, amg),
    })?;
    let description = match params.reports_levels {
        true => {
            m.convergence_factor(a)?;
            format!("{}\n{}", remark.trim_start_matches(", "), m.report())
        }
        false => in_a_line(m.report()) + &remark,
    };
    Ok((Box::new(m), description))
}

fn saddle<T: Real>(source: &Source<'_, T>) -> Result<(Boxed<T>, String)> {
    let split = Split::find((source.parts)()?).ok_or_else(|| {
        let reason = "this is not a saddle point [A B'; B -C], whose second block has no positive entries on its diagonal; use incomplete factors";
        Error::unsuitable("a", reason)
    })?;
    let shape = if source.method == Method::Minres { SaddleShape::Diagonal } else { SaddleShape::Triangular };
    let m = Saddle::new(source.a, &split, &SaddleParams::default().shape(shape))?;
    let description = m.report().to_string();
    Ok((Box::new(m), description))
}

macro_rules! scalars {
    ($($real:ident)*) => {$(
        impl SystemScalar for $real {
            fn saddle(source: &Source<'_, Self>) -> Result<(Boxed<Self>, String)> {
                saddle(source)
            }
        }

        impl SystemScalar for Complex<$real> {
            fn saddle(_: &Source<'_, Self>) -> Result<(Boxed<Self>, String)> {
                Err(not_real("blocks of a saddle point", "incomplete factors take"))
            }
        }
    )*};
}

scalars!(f32 f64);
