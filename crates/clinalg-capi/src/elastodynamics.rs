//! Elastodynamics on handles.

use std::ffi::c_void;
use std::ptr::null_mut;

use clinalg::Context;
use clinalg_bem::elastodynamics::{C64, Domain, Known, Material, Options, Rule, Solution};
use clinalg_bem::{ElementMesh, Point};
use clinalg_handles::{ElastodynamicsMethod, Registry, complex_numbers};

use crate::callback::{self, ClinalgProgress};
use crate::object::{ClinalgHandle, ClinalgPrecision, precision_of};
use crate::options::{Versioned, put_defaults, read};
use crate::status::{ClinalgStatus, Fault, guard};
use crate::{choice, put, slice, slice_mut, too_many};

/// Which side of a surface the material is on.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClinalgDomain {
    /// Inside; also a half-space whose patch is closed by enclosing elements.
    Interior = 0,
    /// Outside the surface, unbounded.
    Exterior = 1,
}

/// Which of displacement and traction is known.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClinalgKnown {
    /// The displacement.
    Displacement = 0,
    /// The traction.
    Traction = 1,
}

/// How a system of elastodynamics is solved.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClinalgElastodynamicsMethod {
    /// LU factors of the stored matrix.
    Lu = 0,
    /// GMRES without stored matrices, to 1e-8, in single precision 1e-5.
    OnTheFly = 1,
}

/// Material, quadrature and precision. Fill them with `clinalg_elastodynamics_options_default(&options, sizeof options)`, then change what is to
/// differ. Later versions append members, which take their defaults in programs compiled before.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ClinalgElastodynamicsOptions {
    /// `sizeof(clinalg_elastodynamics_options)`, as the program was compiled.
    pub struct_size: usize,
    /// Shear modulus.
    pub shear: f64,
    /// Poisson's ratio, above -1 and below 0.5.
    pub poisson: f64,
    /// Density.
    pub density: f64,
    /// Hysteretic damping ratio D: the shear modulus times 1 + 2 i D.
    pub damping: f64,
    /// The side of the surface on which the material lies, a `clinalg_domain`.
    pub domain: u32,
    /// The precision of the computation, a `clinalg_precision` of real numbers.
    pub precision: u32,
    /// Gauss points per direction, an even number from 2 to 16; 0 for adaptive rules.
    pub rule: usize,
}

// SAFETY: numbers in `repr(C)`, the size first.
unsafe impl Versioned for ClinalgElastodynamicsOptions {
    fn defaults() -> ClinalgElastodynamicsOptions {
        ClinalgElastodynamicsOptions {
            struct_size: size_of::<ClinalgElastodynamicsOptions>(),
            shear: 1.0,
            poisson: 0.3,
            density: 1.0,
            damping: 0.0,
            domain: ClinalgDomain::Interior as u32,
            precision: ClinalgPrecision::F64 as u32,
            rule: 8,
        }
    }
}

/// The defaults: shear modulus 1, Poisson's ratio 0.3, density 1, no damping, the material inside, 8 x 8 Gauss points, double precision.
/// `struct_size` is `sizeof(clinalg_elastodynamics_options)`.
///
/// # Safety
/// `options` is null or has room for `struct_size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_elastodynamics_options_default(
    options: *mut ClinalgElastodynamicsOptions,
    struct_size: usize,
) -> ClinalgStatus {
    // SAFETY: by the contract above.
    guard(|| unsafe { put_defaults(options, struct_size) })
}

/// Creates a problem of elastodynamics on the current device: (lambda + mu) grad div u + mu Laplace u + rho w^2 u = 0, time factor
/// exp(i w t), by collocated boundary elements, u and tractions t constant on each.
///
/// The surface has `node_count` nodes of three coordinates each and `element_count` quadrilaterals of four nodes each, from 0 on, anticlockwise seen
/// from outside; a triangle names its last node twice. The first `boundary` elements carry unknowns, the others enclose an open patch; the
/// whole is closed. `clinalg_object_release` releases the problem. Options of a larger size than this library knows are an error.
///
/// # Safety
/// `options` names as many bytes as its first member says, `nodes` is valid for reading 3 `node_count` and `elements` 4 `element_count` values, `out`
/// for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_elastodynamics_create(
    options: *const ClinalgElastodynamicsOptions,
    nodes: *const f64,
    node_count: usize,
    elements: *const u32,
    element_count: usize,
    boundary: usize,
    out: *mut ClinalgHandle,
) -> ClinalgStatus {
    // SAFETY: by the contract above.
    guard(|| unsafe { make(&read(options)?, (nodes, node_count), (elements, element_count), boundary, out) })
}

/// # Safety
/// The pointers are valid as for `clinalg_elastodynamics_create`.
unsafe fn make(
    wanted: &ClinalgElastodynamicsOptions,
    (nodes, node_count): (*const f64, usize),
    (elements, element_count): (*const u32, usize),
    boundary: usize,
    out: *mut ClinalgHandle,
) -> Result<(), Fault> {
    if out.is_null() {
        return Err(Fault::Null("out"));
    }
    let domains = [(ClinalgDomain::Interior, Domain::Interior), (ClinalgDomain::Exterior, Domain::Exterior)];
    let domain = choice("domain", wanted.domain, &domains)?;
    // SAFETY: by the contract above.
    let (nodes, elements) = unsafe {
        (
            slice("nodes", nodes, times(3, "nodes", node_count)?)?,
            slice("elements", elements, times(4, "elements", element_count)?)?,
        )
    };
    let elements = elements.chunks_exact(4).map(|e| [e[0], e[1], e[2], e[3]]).collect();
    let mesh = ElementMesh::new(points(nodes), elements, boundary)?;
    let material = Material::new(wanted.shear, wanted.poisson, wanted.density)?.with_damping(wanted.damping)?;
    let rule = if wanted.rule == 0 { Rule::Adaptive } else { Rule::Fixed(wanted.rule) };
    let (context, options) = (Context::global()?, Options::default().rule(rule));
    let precision = precision_of(wanted.precision)?;
    let made = Registry::global().elastodynamics(&context, precision, &mesh, material, domain, &options)?;
    // SAFETY: by the contract above.
    unsafe { put("out", out, made) }
}

/// Centres of the boundary elements and the unit normals there, out of the material: three numbers for each element.
///
/// # Safety
/// `centres` and `normals` have room for three numbers for each boundary element.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_elastodynamics_surface(
    problem: ClinalgHandle,
    centres: *mut f64,
    normals: *mut f64,
) -> ClinalgStatus {
    guard(|| {
        let surface = Registry::global().elastodynamics_surface(problem)?;
        let size = 3 * surface.centres.len();
        // SAFETY: by the contract above.
        let (centres, normals) =
            unsafe { (slice_mut("centres", centres, size)?, slice_mut("normals", normals, size)?) };
        centres.copy_from_slice(surface.centres.as_flattened());
        normals.copy_from_slice(surface.normals.as_flattened());
        Ok(())
    })
}

/// H and G at the angular frequency `frequency` as new complex dense matrices: H u = G t, with 3 numbers for each boundary element in u and t.
///
/// # Safety
/// `h` and `g` are valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_elastodynamics_assemble(
    problem: ClinalgHandle,
    frequency: f64,
    h: *mut ClinalgHandle,
    g: *mut ClinalgHandle,
) -> ClinalgStatus {
    guard(|| {
        for (argument, pointer) in [("h", h), ("g", g)] {
            if pointer.is_null() {
                return Err(Fault::Null(argument));
            }
        }
        let [made_h, made_g] = Registry::global().elastodynamics_assemble(problem, frequency)?;
        // SAFETY: by the contract above.
        unsafe {
            put("h", h, made_h)?;
            put("g", g, made_g)
        }
    })
}

/// Displacements and tractions on m boundary elements at the angular frequency `frequency` for `count` sets of given values. `known` has a
/// `clinalg_known` for each of 3 m directions; a set of `given` has 3 m displacements or tractions accordingly, real and imaginary parts one after
/// the other, and so have the results. `method` is a `clinalg_elastodynamics_method`.
///
/// # Safety
/// `known` has 3 m values, `given` 6 m `count`; `displacements` and `tractions` have room for as many.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_elastodynamics_solve(
    problem: ClinalgHandle,
    frequency: f64,
    method: u32,
    known: *const u32,
    given: *const f64,
    count: usize,
    displacements: *mut f64,
    tractions: *mut f64,
) -> ClinalgStatus {
    let goes_on = (None, null_mut());
    // SAFETY: by the contract above.
    guard(|| unsafe { solve(problem, frequency, method, known, (given, count), goes_on, displacements, tractions) })
}

/// As `clinalg_elastodynamics_solve`, with a progress callback. With GMRES it is called after every iteration, with the number of iterations and
/// the relative residual; with LU it is called after the assembly and after the factorisation, with 0 iterations and residual 1. If it returns a number other
/// than 0, the call fails with `CLINALG_STATUS_CANCELLED` and a message that says how far it got.
///
/// # Safety
/// As for `clinalg_elastodynamics_solve`; `progress` is null or a function that takes `progress_data`.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "C has no named arguments and no slices")]
pub unsafe extern "C" fn clinalg_elastodynamics_solve_with(
    problem: ClinalgHandle,
    frequency: f64,
    method: u32,
    known: *const u32,
    given: *const f64,
    count: usize,
    progress: ClinalgProgress,
    progress_data: *mut c_void,
    displacements: *mut f64,
    tractions: *mut f64,
) -> ClinalgStatus {
    let tell = (progress, progress_data);
    // SAFETY: by the contract above.
    guard(|| unsafe { solve(problem, frequency, method, known, (given, count), tell, displacements, tractions) })
}

/// # Safety
/// As for `clinalg_elastodynamics_solve_with`.
#[allow(clippy::too_many_arguments, reason = "those of the functions of C")]
unsafe fn solve(
    problem: ClinalgHandle,
    frequency: f64,
    method: u32,
    known: *const u32,
    (given, count): (*const f64, usize),
    (tell, data): (ClinalgProgress, *mut c_void),
    displacements: *mut f64,
    tractions: *mut f64,
) -> Result<(), Fault> {
    let methods = [
        (ClinalgElastodynamicsMethod::Lu, ElastodynamicsMethod::Lu),
        (ClinalgElastodynamicsMethod::OnTheFly, ElastodynamicsMethod::OnTheFly),
    ];
    let method = choice("method", method, &methods)?;
    let unknowns = 3 * Registry::global().elastodynamics_surface(problem)?.centres.len();
    let total = times(2 * unknowns, "given", count)?;
    // SAFETY: by the contract above.
    let (known, given, displacements, tractions) = unsafe {
        (
            slice("known", known, unknowns)?,
            slice("given", given, total)?,
            slice_mut("displacements", displacements, total)?,
            slice_mut("tractions", tractions, total)?,
        )
    };
    let kinds = [(ClinalgKnown::Displacement, Known::Displacement), (ClinalgKnown::Traction, Known::Traction)];
    let known = known.iter().map(|&code| choice("known", code, &kinds)).collect::<Result<Vec<_>, _>>()?;
    let known = known.chunks_exact(3).map(|k| [k[0], k[1], k[2]]).collect();
    let given = complex_numbers(given);
    let sets: Vec<&[C64]> = given.chunks_exact(unknowns).collect();
    let registry = Registry::global();
    let mut tell = callback::progress(tell, data);
    let solutions = registry.elastodynamics_solve(problem, frequency, method, known, &sets, &mut tell)?;
    for (k, solution) in solutions.iter().enumerate() {
        let range = 2 * unknowns * k..2 * unknowns * (k + 1);
        write(&mut displacements[range.clone()], solution.displacements());
        write(&mut tractions[range], solution.tractions());
    }
    Ok(())
}

/// Fields at `point_count` points in the material, of three coordinates each, from the displacements and tractions on the boundary elements at the angular
/// frequency `frequency`. `fields` gets three complex displacements for each point, `stresses` nine complex stresses by rows; `stresses` may be
/// null.
///
/// # Safety
/// `displacements` and `tractions` have 6 numbers for each boundary element, `points` 3 `point_count`; `fields` has room for 6 `point_count`,
/// `stresses` for 18 `point_count` or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_elastodynamics_evaluate(
    problem: ClinalgHandle,
    frequency: f64,
    displacements: *const f64,
    tractions: *const f64,
    points: *const f64,
    point_count: usize,
    fields: *mut f64,
    stresses: *mut f64,
) -> ClinalgStatus {
    guard(|| {
        let size = 6 * Registry::global().elastodynamics_surface(problem)?.centres.len();
        let wanted = !stresses.is_null();
        let room = if wanted { times(18, "stresses", point_count)? } else { 0 };
        // SAFETY: by the contract above.
        let (displacements, tractions, places, fields, stresses) = unsafe {
            (
                slice("displacements", displacements, size)?,
                slice("tractions", tractions, size)?,
                slice("points", points, times(3, "points", point_count)?)?,
                slice_mut("fields", fields, times(6, "fields", point_count)?)?,
                slice_mut("stresses", stresses, room)?,
            )
        };
        let solution = Solution::new(complex_numbers(displacements), complex_numbers(tractions), frequency)?;
        let places = self::points(places);
        let (u, sigma) = Registry::global().elastodynamics_evaluate(problem, &solution, &places, wanted)?;
        write(fields, u.as_flattened());
        write(stresses, sigma.as_flattened().as_flattened());
        Ok(())
    })
}

fn times(factor: usize, argument: &'static str, count: usize) -> Result<usize, Fault> {
    count.checked_mul(factor).ok_or_else(|| too_many(argument))
}

fn points(values: &[f64]) -> Vec<Point> {
    values.chunks_exact(3).map(|p| [p[0], p[1], p[2]]).collect()
}

fn write(target: &mut [f64], values: &[C64]) {
    for (pair, value) in target.chunks_exact_mut(2).zip(values) {
        pair.copy_from_slice(&[value.re, value.im]);
    }
}
