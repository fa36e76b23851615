//! Operators of the heat equation on handles.

use clinalg::Context;
use clinalg_bem::Mesh;
use clinalg_bem::heat::{Form, HeatParams, Kind, OperatorOptions};
use clinalg_handles::{Registry, forward_handle, operator_handle, operator_preconditioner_handle};

use crate::object::{ClinalgHandle, ClinalgPrecision, precision_of};
use crate::options::{Versioned, put_defaults, read};
use crate::status::{ClinalgStatus, Fault, guard};
use crate::{choice, put, slice, too_many};

/// A boundary integral operator of the heat equation.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClinalgHeatKind {
    /// Single layer, triangles x triangles.
    V = 0,
    /// Double layer, triangles x nodes.
    K = 1,
    /// Adjoint double layer, nodes x triangles.
    Ks = 2,
    /// Hypersingular, nodes x nodes.
    D = 3,
}

/// Whether the blocks of an operator are stored.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClinalgStorage {
    /// Stored where they take at most two thirds of the free memory of the device, half where it is the host's.
    Auto = 0,
    /// Stored: the fastest products.
    Assembled = 1,
    /// Computed in every product.
    OnTheFly = 2,
}

fn form(storage: u32) -> Result<Form, Fault> {
    let forms = [
        (ClinalgStorage::Auto, Form::Auto),
        (ClinalgStorage::Assembled, Form::Assembled),
        (ClinalgStorage::OnTheFly, Form::Otf),
    ];
    choice("storage", storage, &forms)
}

/// Options of operators of the heat equation. Fill them with `clinalg_heat_options_default(&options, sizeof options)`, then change what is to
/// differ. Later versions append members, which take their defaults in programs compiled before.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ClinalgHeatOptions {
    /// `sizeof(clinalg_heat_options)`, as the program was compiled.
    pub struct_size: usize,
    /// Diffusivity.
    pub alpha: f64,
    /// End of the time interval, which starts at 0.
    pub end_time: f64,
    /// Number of time steps.
    pub steps: usize,
    /// Order of the quadrature rule on disjoint triangles: 1, 2, 4 or 5.
    pub order: usize,
    /// Points in each direction of the rules for coincident triangles and those that share a vertex or an edge, 1 to 10.
    pub singular_order: usize,
    /// Whether blocks are stored, a `clinalg_storage`.
    pub storage: u32,
    /// The precision of the computation, a `clinalg_precision`.
    pub precision: u32,
}

// SAFETY: numbers in `repr(C)`, the size first.
unsafe impl Versioned for ClinalgHeatOptions {
    fn defaults() -> ClinalgHeatOptions {
        let HeatParams { alpha, end_time, steps, order, singular_order } = HeatParams::new(1.0, 1.0, 1);
        let (storage, precision) = (ClinalgStorage::Auto as u32, ClinalgPrecision::F64 as u32);
        let struct_size = size_of::<ClinalgHeatOptions>();
        ClinalgHeatOptions { struct_size, alpha, end_time, steps, order, singular_order, storage, precision }
    }
}

/// The defaults: alpha = 1, one time step to 1, the rules of order 4, blocks stored if they fit, double precision. `struct_size` is
/// `sizeof(clinalg_heat_options)`.
///
/// # Safety
/// `options` is null or has room for `struct_size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_heat_options_default(
    options: *mut ClinalgHeatOptions,
    struct_size: usize,
) -> ClinalgStatus {
    // SAFETY: by the contract above.
    guard(|| unsafe { put_defaults(options, struct_size) })
}

/// Creates a boundary integral operator of du/dt - alpha Laplace u = 0 on the current device, by space-time Galerkin boundary
/// elements: u linear on triangles and continuous, the flux alpha du/dn constant on them, both constant on each time step.
///
/// The surface has `node_count` nodes of three coordinates each and `triangle_count` triangles of three nodes each, from 0 on,
/// anticlockwise seen from outside; it is closed. `kind` is a `clinalg_heat_kind`. Vectors store one
/// time step after the other. `clinalg_matrix_mv` and `clinalg_system_solve` accept the handle as a matrix, without the Jacobi preconditioner;
/// `clinalg_object_release` releases it. Options of a larger size than this library knows are an error.
///
/// # Safety
/// `options` names as many bytes as its first member says; `nodes` and `triangles` are valid for reading three times as many values as they count,
/// `out` for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_heat_operator_create(
    options: *const ClinalgHeatOptions,
    kind: u32,
    nodes: *const f64,
    node_count: usize,
    triangles: *const u32,
    triangle_count: usize,
    out: *mut ClinalgHandle,
) -> ClinalgStatus {
    // SAFETY: by the contract above.
    guard(|| unsafe { make(&read(options)?, kind, (nodes, node_count), (triangles, triangle_count), out) })
}

/// # Safety
/// The pointers are valid as for `clinalg_heat_operator_create`.
unsafe fn make(
    wanted: &ClinalgHeatOptions,
    kind: u32,
    (nodes, node_count): (*const f64, usize),
    (triangles, triangle_count): (*const u32, usize),
    out: *mut ClinalgHandle,
) -> Result<(), Fault> {
    if out.is_null() {
        return Err(Fault::Null("out"));
    }
    let kinds = [
        (ClinalgHeatKind::V, Kind::V),
        (ClinalgHeatKind::K, Kind::K),
        (ClinalgHeatKind::Ks, Kind::Ks),
        (ClinalgHeatKind::D, Kind::D),
    ];
    let (kind, form) = (choice("kind", kind, &kinds)?, form(wanted.storage)?);
    let three = |argument, count: usize| count.checked_mul(3).ok_or_else(|| too_many(argument));
    // SAFETY: by the contract above.
    let (nodes, triangles) = unsafe {
        (
            slice("nodes", nodes, three("nodes", node_count)?)?,
            slice("triangles", triangles, three("triangles", triangle_count)?)?,
        )
    };
    let nodes = nodes.chunks_exact(3).map(|p| [p[0], p[1], p[2]]).collect();
    let triangles = triangles.chunks_exact(3).map(|t| [t[0], t[1], t[2]]).collect();
    let mesh = Mesh::new(nodes, triangles)?;
    let &ClinalgHeatOptions { alpha, end_time, steps, order, singular_order, .. } = wanted;
    let params = HeatParams { alpha, end_time, steps, order, singular_order };
    let options = OperatorOptions { form, ..OperatorOptions::default() };
    let (registry, context) = (Registry::global(), Context::global()?);
    let precision = precision_of(wanted.precision)?;
    let made = operator_handle(registry, &context, precision, &mesh, &params, kind, &options)?;
    // SAFETY: by the contract above.
    unsafe { put("out", out, made) }
}

/// Creates the inverse of `matrix`, an operator V or D, by block forward elimination: its diagonal block is inverted here, and each
/// product with the new handle, `clinalg_matrix_mv(1, inverse, b, 0, &x)`, solves A x = b up to rounding in one pass through time. The
/// handle can also be a preconditioner. It keeps the operator alive: `matrix` may be released before it.
///
/// # Safety
/// `out` is valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_heat_forward_create(matrix: ClinalgHandle, out: *mut ClinalgHandle) -> ClinalgStatus {
    guard(|| {
        if out.is_null() {
            return Err(Fault::Null("out"));
        }
        let made = forward_handle(Registry::global(), matrix)?;
        // SAFETY: by the contract above.
        unsafe { put("out", out, made) }
    })
}

/// Creates an approximate inverse of `matrix`, an operator V or D, by operator (Calderon-type) preconditioning on the same surface
/// and time steps: a preconditioner for `clinalg_solver_options.inverse`. `storage`, a `clinalg_storage`, applies to the
/// preconditioning operator. `matrix` may be released before the new handle.
///
/// # Safety
/// `out` is valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_heat_operator_preconditioner_create(
    matrix: ClinalgHandle,
    storage: u32,
    out: *mut ClinalgHandle,
) -> ClinalgStatus {
    guard(|| {
        if out.is_null() {
            return Err(Fault::Null("out"));
        }
        let made = operator_preconditioner_handle(Registry::global(), matrix, form(storage)?)?;
        // SAFETY: by the contract above.
        unsafe { put("out", out, made) }
    })
}
