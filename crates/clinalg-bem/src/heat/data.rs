//! Boundary values: a known solution, projections onto the discrete spaces, errors, mass matrices.

use clinalg::{Error, Result};

use super::HeatParams;
use super::functions::fundamental;
use crate::assembly::parallel;
use crate::quadrature::{TriangleRule, gauss_legendre};
use crate::surface::{dot, sub};
use crate::{Mesh, Point};

/// Order of the triangle rule of projections and errors.
const ORDER: usize = 5;
/// Gauss points a time step of projections and errors.
const TIME_POINTS: usize = 4;
/// Relative residual to which mass matrices are solved: rounding.
const MASS_TOLERANCE: f64 = 1e-15;

/// A function on the surface and in time: of a point, the outward normal there and the time.
pub trait BoundaryFunction: Sync {
    /// Its value.
    fn at(&self, point: Point, normal: Point, time: f64) -> f64;

    /// Its value at a place and a time of [`SamplePoints`], counted from 0.
    fn at_sample(&self, _place: usize, _moment: usize, point: Point, normal: Point, time: f64) -> f64 {
        self.at(point, normal, time)
    }
}

impl<F: Fn(Point, Point, f64) -> f64 + Sync> BoundaryFunction for F {
    fn at(&self, point: Point, normal: Point, time: f64) -> f64 {
        self(point, normal, time)
    }
}

/// Where and when projections take the values of a function: at the points of a rule on each triangle, at Gauss points in each time step.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct SamplePoints {
    /// The points, triangle by triangle.
    pub points: Vec<Point>,
    /// The outward normal at each.
    pub normals: Vec<Point>,
    /// The times, step by step.
    pub times: Vec<f64>,
}

/// The [`SamplePoints`] of a surface.
///
/// # Errors
/// [`Error::Value`] for parameters outside their ranges.
pub fn samples_of(mesh: &Mesh, params: &HeatParams) -> Result<SamplePoints> {
    params.check()?;
    let rule = TriangleRule::of_order(ORDER)?;
    let times = gauss_legendre(TIME_POINTS);
    let mut found = SamplePoints::default();
    for (k, normal) in mesh.normals().iter().enumerate() {
        found.points.extend(rule.points.iter().map(|at| mesh.point(k, *at)));
        found.normals.extend(rule.points.iter().map(|_| *normal));
    }
    found.times = (0..params.steps)
        .flat_map(|step| times.iter().map(move |&(t, _)| (step, t)))
        .map(|(step, t)| (step as f64 + t) * params.step())
        .collect();
    Ok(found)
}

/// A function that is known at [`SamplePoints`] only.
#[derive(Debug, Clone, Copy)]
pub struct Sampled<'a> {
    /// Its values at all points, time by time.
    pub values: &'a [f64],
    /// Number of points.
    pub points: usize,
}

impl BoundaryFunction for Sampled<'_> {
    fn at(&self, _: Point, _: Point, _: f64) -> f64 {
        // Only samples are known.
        f64::NAN
    }

    fn at_sample(&self, place: usize, moment: usize, _: Point, _: Point, _: f64) -> f64 {
        self.values.get(moment * self.points + place).copied().unwrap_or(f64::NAN)
    }
}

/// The solution u = G(|x - source|, t) of the heat equation outside `source`, 0 for t = 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PointSource {
    /// Where the heat starts, outside the domain.
    pub source: Point,
    /// Diffusivity.
    pub alpha: f64,
}

impl PointSource {
    /// u.
    pub fn value(&self, point: Point, time: f64) -> f64 {
        let r = sub(point, self.source);
        fundamental(self.alpha, dot(r, r), time)
    }

    /// w = alpha du/dn = -(x - source) . n / (2 t) u.
    pub fn flux(&self, point: Point, normal: Point, time: f64) -> f64 {
        if time <= 0.0 {
            return 0.0;
        }
        -0.5 * dot(sub(point, self.source), normal) / time * self.value(point, time)
    }
}

/// Integrates over each triangle and time step: `add(triangle, step, rule point, weight, value)` gets weight times area times step
/// length.
fn samples<R: Send>(
    mesh: &Mesh,
    params: &HeatParams,
    f: &dyn BoundaryFunction,
    gather: impl Fn(&dyn Fn(usize, &mut dyn FnMut([f64; 3], f64, f64)), usize) -> R + Sync,
) -> Result<Vec<R>> {
    let rule = TriangleRule::of_order(ORDER)?;
    let times = gauss_legendre(TIME_POINTS);
    let h = params.step();
    let triangles: Vec<usize> = (0..mesh.triangles().len()).collect();
    Ok(parallel(&triangles, |&k| {
        let visit = |step: usize, add: &mut dyn FnMut([f64; 3], f64, f64)| {
            for (number, (at, weight)) in rule.points.iter().zip(&rule.weights).enumerate() {
                let (point, place) = (mesh.point(k, *at), k * rule.points.len() + number);
                for (moment, &(t, w)) in times.iter().enumerate() {
                    let moment = step * TIME_POINTS + moment;
                    let value = f.at_sample(place, moment, point, mesh.normals()[k], (step as f64 + t) * h);
                    add(*at, weight * w * mesh.areas()[k] * h, value);
                }
            }
        };
        gather(&visit, k)
    }))
}

fn finite(values: Vec<f64>) -> Result<Vec<f64>> {
    match values.iter().find(|v| !v.is_finite()) {
        None => Ok(values),
        Some(v) => {
            let (expected, got) = ("finite on the surface at all times".into(), v.to_string());
            Err(Error::Value { argument: "boundary", expected, got })
        }
    }
}

/// The L2 projection of `f` onto constants on each triangle and time step: `triangles * steps` means.
///
/// # Errors
/// [`Error::Value`] where `f` is not finite.
pub fn project_triangles(mesh: &Mesh, params: &HeatParams, f: &dyn BoundaryFunction) -> Result<Vec<f64>> {
    let count = mesh.triangles().len();
    let means = samples(mesh, params, f, |visit, k| {
        let step = |step: usize| {
            let mut sum = 0.0;
            visit(step, &mut |_, weight, value| sum += weight * value);
            sum / (mesh.areas()[k] * params.step())
        };
        (0..params.steps).map(step).collect::<Vec<f64>>()
    })?;
    let mut values = vec![0.0; count * params.steps];
    for (k, means) in means.iter().enumerate() {
        means.iter().enumerate().for_each(|(step, mean)| values[step * count + k] = *mean);
    }
    finite(values)
}

/// The L2 projection of `f` onto hats times constants on each time step: `nodes * steps` coefficients.
///
/// # Errors
/// [`Error::Value`] where `f` is not finite.
pub fn project_nodes(mesh: &Mesh, params: &HeatParams, f: &dyn BoundaryFunction) -> Result<Vec<f64>> {
    let count = mesh.nodes().len();
    let loads = samples(mesh, params, f, |visit, _| {
        let step = |step: usize| {
            let mut sums = [0.0; 3];
            visit(step, &mut |at, weight, value| (0..3).for_each(|c| sums[c] += weight * at[c] * value));
            sums.map(|s| s / params.step())
        };
        (0..params.steps).map(step).collect::<Vec<[f64; 3]>>()
    })?;
    let mut values = vec![0.0; count * params.steps];
    for (triangle, loads) in mesh.triangles().iter().zip(&loads) {
        for (step, load) in loads.iter().enumerate() {
            triangle.iter().zip(load).for_each(|(&v, l)| values[step * count + v as usize] += l);
        }
    }
    let values = finite(values)?;
    let steps: Vec<&[f64]> = values.chunks(count).collect();
    Ok(parallel(&steps, |load| solve_mass(mesh, load)).concat())
}

/// M x over one time step, M_ij the integral of hat i times hat j.
pub(crate) fn apply_mass(mesh: &Mesh, x: &[f64]) -> Vec<f64> {
    let mut y = vec![0.0; x.len()];
    for (triangle, area) in mesh.triangles().iter().zip(mesh.areas()) {
        let sum: f64 = triangle.iter().map(|&v| x[v as usize]).sum();
        // Area / 12 times (1 + delta_ij).
        triangle.iter().for_each(|&v| y[v as usize] += area / 12.0 * (sum + x[v as usize]));
    }
    y
}

/// M^-1 b over one time step, by CG: M is well conditioned after scaling by its diagonal.
pub(crate) fn solve_mass(mesh: &Mesh, b: &[f64]) -> Vec<f64> {
    let mut diagonal = vec![0.0; b.len()];
    for (triangle, area) in mesh.triangles().iter().zip(mesh.areas()) {
        triangle.iter().for_each(|&v| diagonal[v as usize] += area / 6.0);
    }
    // So that squares neither vanish nor overflow.
    let largest = b.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    if largest == 0.0 {
        return vec![0.0; b.len()];
    }
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let mut x = vec![0.0; b.len()];
    let mut r: Vec<f64> = b.iter().map(|v| v / largest).collect();
    let precondition = |r: &[f64]| r.iter().zip(&diagonal).map(|(r, d)| r / d).collect::<Vec<f64>>();
    let mut p = precondition(&r);
    let mut rho = product(&r, &p);
    let start = rho;
    while rho > MASS_TOLERANCE * MASS_TOLERANCE * start {
        let q = apply_mass(mesh, &p);
        let step = rho / product(&p, &q);
        for k in 0..x.len() {
            x[k] += step * p[k];
            r[k] -= step * q[k];
        }
        let z = precondition(&r);
        let next = product(&r, &z);
        // Rounding: no further.
        if next >= rho && next <= 1e-28 * start {
            break;
        }
        p.iter_mut().zip(&z).for_each(|(p, z)| *p = z + next / rho * *p);
        rho = next;
    }
    x.iter_mut().for_each(|x| *x *= largest);
    x
}

/// Relative error |f_h - f| / |f| in L2 over surface and time of values on triangles.
///
/// # Errors
/// [`Error::Length`].
pub fn error_triangles(mesh: &Mesh, params: &HeatParams, values: &[f64], f: &dyn BoundaryFunction) -> Result<f64> {
    let count = mesh.triangles().len();
    check_length(count * params.steps, values.len())?;
    error(mesh, params, f, |k, step, _| values[step * count + k])
}

/// As [`error_triangles`] for values at nodes.
///
/// # Errors
/// [`Error::Length`].
pub fn error_nodes(mesh: &Mesh, params: &HeatParams, values: &[f64], f: &dyn BoundaryFunction) -> Result<f64> {
    let count = mesh.nodes().len();
    check_length(count * params.steps, values.len())?;
    error(mesh, params, f, |k, step, at| {
        mesh.triangles()[k].iter().zip(at).map(|(&v, b)| b * values[step * count + v as usize]).sum()
    })
}

fn check_length(expected: usize, got: usize) -> Result<()> {
    if got == expected { Ok(()) } else { Err(Error::Length { argument: "values", expected, got }) }
}

fn error(
    mesh: &Mesh,
    params: &HeatParams,
    f: &dyn BoundaryFunction,
    discrete: impl Fn(usize, usize, [f64; 3]) -> f64 + Sync,
) -> Result<f64> {
    let sums = samples(mesh, params, f, |visit, k| {
        let (mut difference, mut whole) = (0.0, 0.0);
        for step in 0..params.steps {
            visit(step, &mut |at, weight, value| {
                difference += weight * (discrete(k, step, at) - value).powi(2);
                whole += weight * value * value;
            });
        }
        (difference, whole)
    })?;
    let (difference, whole) = sums.iter().fold((0.0, 0.0), |(a, b), (c, d)| (a + c, b + d));
    Ok((difference / whole).sqrt())
}

/// M u: the integral of u over each triangle and time step from values at nodes.
pub(crate) fn nodes_to_triangles(mesh: &Mesh, params: &HeatParams, u: &[f64]) -> Vec<f64> {
    let h = params.step();
    let step = |u: &[f64]| {
        let mean = |(t, area): (&[u32; 3], &f64)| h * area / 3.0 * t.iter().map(|&v| u[v as usize]).sum::<f64>();
        mesh.triangles().iter().zip(mesh.areas()).map(mean).collect::<Vec<f64>>()
    };
    u.chunks(mesh.nodes().len()).flat_map(step).collect()
}

/// M' w: the integral of w times each hat and time step from values on triangles.
pub(crate) fn triangles_to_nodes(mesh: &Mesh, params: &HeatParams, w: &[f64]) -> Vec<f64> {
    let h = params.step();
    let step = |w: &[f64]| {
        let mut y = vec![0.0; mesh.nodes().len()];
        for ((triangle, area), w) in mesh.triangles().iter().zip(mesh.areas()).zip(w) {
            triangle.iter().for_each(|&v| y[v as usize] += h * area / 3.0 * w);
        }
        y
    };
    w.chunks(mesh.triangles().len()).flat_map(step).collect()
}
