//! Operators behind handles, for doors to other languages.

use clinalg::registry::{Registry, Scalar};
use clinalg::{Context, Precision, Result};

use super::{HeatParams, HeatSpace, Kind, OperatorOptions};
use crate::Mesh;

/// Makes an operator on `mesh` and names it in `registry`: its handle stands for a matrix in products and Krylov methods, and
/// [`Registry::release`] takes it with [`Kind::OPERATOR`](clinalg::registry::Kind::OPERATOR).
///
/// # Errors
/// Those of [`HeatSpace::new`] and [`HeatSpace::operator`].
pub fn operator_handle(
    registry: &Registry,
    context: &Context,
    precision: Precision,
    mesh: &Mesh,
    params: &HeatParams,
    kind: Kind,
    options: &OperatorOptions,
) -> Result<u64> {
    fn of<T: Scalar>(
        registry: &Registry,
        context: &Context,
        (mesh, params): (&Mesh, &HeatParams),
        (kind, options): (Kind, &OperatorOptions),
    ) -> Result<u64> {
        Ok(registry.operator(HeatSpace::<T>::new(context, mesh, params)?.operator(kind, options)?))
    }
    match precision {
        Precision::F32 => of::<f32>(registry, context, (mesh, params), (kind, options)),
        Precision::F64 => of::<f64>(registry, context, (mesh, params), (kind, options)),
    }
}
