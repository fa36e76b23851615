//! Boundary value problems of the heat equation: surfaces from files, boundary values, right-hand sides, values inside.

use std::ffi::{c_char, c_void};
use std::sync::Mutex;
use std::sync::atomic::{AtomicI32, Ordering};

use clinalg::Error;
use clinalg_bem::{Mesh, Point};
use clinalg_handles::{Registry, interior_values, project_handle, right_side_handle};

use crate::object::{ClinalgHandle, upload};
use crate::status::{ClinalgStatus, Fault, guard};
use crate::{path, put, slice, slice_mut, too_many};

/// A function on a surface and in time: writes its value at a point (three coordinates) with the outward normal there, at a time. 0 continues,
/// another number makes the call fail. It is called by several threads, one at a time; it must return: no exception may leave it.
pub type ClinalgBoundaryFunction = Option<
    unsafe extern "C" fn(point: *const f64, normal: *const f64, time: f64, value: *mut f64, data: *mut c_void) -> i32,
>;

/// The caller's pointer.
struct Data(*mut c_void);

// SAFETY: the contract of `clinalg_heat_project` lets several threads use the pointer, one at a time, which the lock sees to.
unsafe impl Send for Data {}

/// Reads a closed surface of triangles from a file; the extension tells the format: `.obj`, `.off`, `.stl` or `.msh` (Gmsh 2 or 4, ASCII). Polygons are cut
/// into triangles. `nodes` gets the three coordinates of each of the first `node_capacity` nodes, `triangles` the three nodes of each of the first
/// `triangle_capacity` triangles, from 0 on; `node_count` and `triangle_count` get the numbers of all. With capacities of 0 the arrays may be
/// null: call once for the numbers, then again.
///
/// # Safety
/// `file` is null or a text that ends in zero; `nodes` and `triangles` have room for three values for each node and triangle of their capacities;
/// the counts are null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_heat_mesh_read(
    file: *const c_char,
    nodes: *mut f64,
    node_capacity: usize,
    node_count: *mut usize,
    triangles: *mut u32,
    triangle_capacity: usize,
    triangle_count: *mut usize,
) -> ClinalgStatus {
    guard(|| {
        let three = |argument, count: usize| count.checked_mul(3).ok_or_else(|| too_many(argument));
        // SAFETY: by the contract above.
        let (nodes, triangles) = unsafe {
            (
                slice_mut("nodes", nodes, three("nodes", node_capacity)?)?,
                slice_mut("triangles", triangles, three("triangles", triangle_capacity)?)?,
            )
        };
        // SAFETY: by the contract above.
        let mesh = Mesh::read(unsafe { path("file", file)? })?;
        nodes.iter_mut().zip(mesh.nodes().as_flattened()).for_each(|(to, from)| *to = *from);
        triangles.iter_mut().zip(mesh.triangles().as_flattened()).for_each(|(to, from)| *to = *from);
        // SAFETY: by the contract above.
        unsafe {
            put("node_count", node_count, mesh.nodes().len())?;
            put("triangle_count", triangle_count, mesh.triangles().len())
        }
    })
}

/// The L2 projection of a function onto the vectors that an operator of the heat equation multiplies: for V and Ks constants on triangles, for K and D
/// hats at nodes, all constant in each time step; one time step after the other. `*out` gets a new vector in the operator's precision.
///
/// # Safety
/// `function` may be called with `data` by several threads, one at a time, until this call returns; `out` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_heat_project(
    matrix: ClinalgHandle,
    function: ClinalgBoundaryFunction,
    data: *mut c_void,
    out: *mut ClinalgHandle,
) -> ClinalgStatus {
    upload(out, |_| {
        let Some(function) = function else { return Err(Fault::Null("function")) };
        let (data, failed) = (Mutex::new(Data(data)), AtomicI32::new(0));
        let call = |point: Point, normal: Point, time: f64| {
            let data = data.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            // After a failure the others do no harm, and need not be computed.
            if failed.load(Ordering::Relaxed) != 0 {
                return f64::NAN;
            }
            let mut value = f64::NAN;
            // SAFETY: by the contract above; the lock is held.
            match unsafe { function(point.as_ptr(), normal.as_ptr(), time, &raw mut value, data.0) } {
                0 => value,
                code => {
                    failed.store(code, Ordering::Relaxed);
                    f64::NAN
                }
            }
        };
        let made = project_handle(Registry::global(), matrix, &call);
        match failed.load(Ordering::Relaxed) {
            0 => Ok(made?),
            code => Err(Error::value("function", "0 from the function of boundary values", code).into()),
        }
    })
}

/// The right-hand side of a boundary value problem from the boundary values that are given, by the operator `other`: for V w = (M / 2 + K) u
/// (Dirichlet) K and the values u at nodes, for D u = (M' / 2 - Ks) w (Neumann) Ks and the values w on triangles. M is the mass matrix. `*out` gets a new
/// vector; solve with it by `clinalg_system_solve` or by the product with `clinalg_heat_forward_create`.
///
/// # Safety
/// `out` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_heat_right_side(
    other: ClinalgHandle,
    given: ClinalgHandle,
    out: *mut ClinalgHandle,
) -> ClinalgStatus {
    upload(out, |_| Ok(right_side_handle(Registry::global(), other, given)?))
}

/// u at points inside the domain, in the middle of each time step, from w on triangles and u at nodes, vectors for the surface and the time steps of the
/// operator `matrix`: the representation formula. `points` has three coordinates for each of `point_count` points, which keep a distance
/// of about the size of a triangle from the surface. `values` gets `count` numbers, `point_count` for each time step, one time step after the other.
///
/// # Safety
/// `points` names three values for each point; `values` has room for `count`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_heat_interior(
    matrix: ClinalgHandle,
    w: ClinalgHandle,
    u: ClinalgHandle,
    points: *const f64,
    point_count: usize,
    values: *mut f64,
    count: usize,
) -> ClinalgStatus {
    guard(|| {
        let length = point_count.checked_mul(3).ok_or_else(|| too_many("points"))?;
        // SAFETY: by the contract above.
        let (points, target) = unsafe { (slice("points", points, length)?, slice_mut("values", values, count)?) };
        let points: Vec<Point> = points.chunks_exact(3).map(|p| [p[0], p[1], p[2]]).collect();
        let found = interior_values(Registry::global(), matrix, w, u, &points)?;
        if found.len() != count {
            return Err(Error::Length { argument: "values", expected: found.len(), got: count }.into());
        }
        target.copy_from_slice(&found);
        Ok(())
    })
}
