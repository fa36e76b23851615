//! Values inside the domain from both boundary values.

use std::f64::consts::PI;

use clinalg::{Error, Result};

use super::HeatParams;
use super::functions::first;
use crate::assembly::parallel;
use crate::quadrature::TriangleRule;
use crate::surface::{dot, norm, sub};
use crate::{Mesh, Point};

/// Order of the triangle rule.
const ORDER: usize = 5;

/// u in `points` inside the domain at the middle of each time step, by the representation formula u = V w - K u from
/// w on triangles and u at nodes: `points * steps` values, one time step after the other.
///
/// The integrals over time are exact, those over triangles by the rule of order 5: points keep a distance of about the
/// size of a triangle from the surface.
///
/// # Errors
/// [`Error::Length`] for other numbers of values; [`Error::Value`] for a point on the surface's quadrature points.
pub fn interior(mesh: &Mesh, params: &HeatParams, w: &[f64], u: &[f64], points: &[Point]) -> Result<Vec<f64>> {
    params.check()?;
    let steps = params.steps;
    for (argument, expected, got) in
        [("w", mesh.triangles().len() * steps, w.len()), ("u", mesh.nodes().len() * steps, u.len())]
    {
        if expected != got {
            return Err(Error::Length { argument, expected, got });
        }
    }
    let rule = TriangleRule::of_order(ORDER)?;
    let (alpha, h) = (params.alpha, params.step());
    let (triangles, nodes) = (mesh.triangles().len(), mesh.nodes().len());
    let columns = parallel(points, |point| {
        let mut sums = vec![0.0; steps];
        let mut single = vec![0.0; steps + 1];
        let mut double = vec![0.0; steps + 1];
        for k in 0..triangles {
            for (at, weight) in rule.points.iter().zip(&rule.weights) {
                let weight = weight * mesh.areas()[k];
                let difference = sub(*point, mesh.point(k, *at));
                let r = norm(difference);
                let d = dot(difference, mesh.normals()[k]);
                // Antiderivatives at s = 0, h / 2, 3 h / 2, ...
                single[0] = 1.0 / (4.0 * PI * alpha * r);
                double[0] = d / (4.0 * PI * r * r * r);
                for k in 1..=steps {
                    let s = (k as f64 - 0.5) * h;
                    single[k] = first(alpha, r, s);
                    double[k] = first_normal(alpha, r, d, s);
                }
                let values = mesh.triangles()[k].map(|v| v as usize);
                for (t, sum) in sums.iter_mut().enumerate() {
                    for l in 0..=t {
                        let delta = t - l;
                        let hats: f64 = values.iter().zip(at).map(|(v, b)| b * u[l * nodes + v]).sum();
                        *sum += weight
                            * ((single[delta] - single[delta + 1]) * w[l * triangles + k]
                                - (double[delta] - double[delta + 1]) * hats);
                    }
                }
            }
        }
        sums
    });
    if let Some(k) = columns.iter().position(|column| column.iter().any(|v| !v.is_finite())) {
        let (expected, got) =
            ("points off the surface, finite boundary values".into(), format!("point {} (counted from 1)", k + 1));
        return Err(Error::Value { argument: "points", expected, got });
    }
    Ok((0..steps).flat_map(|t| columns.iter().map(move |column| column[t])).collect())
}

/// alpha dA/dn_y = d / (4 pi r^2) [ erf(z) / r - exp(-z^2) / sqrt(pi alpha s) ], z = r / (2 sqrt(alpha s)).
fn first_normal(alpha: f64, r: f64, d: f64, s: f64) -> f64 {
    let z = 0.5 * r / (alpha * s).sqrt();
    d / (4.0 * PI * r * r) * (libm::erf(z) / r - libm::exp(-z * z) / (PI * alpha * s).sqrt())
}
