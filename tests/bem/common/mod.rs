//! The published problem, for several tests.

// Each test program uses its part of this module.
#![allow(dead_code)]

use clinalg::Context;
use clinalg_bem::heat::data::{PointSource, project_nodes, project_triangles};
use clinalg_bem::heat::{HeatParams, Problem};
use clinalg_bem::{Mesh, Point};

pub(crate) const ALPHA: f64 = 0.5;

/// The known solution.
pub(crate) fn source() -> PointSource {
    PointSource { source: [0.0, 0.0, 1.5], alpha: ALPHA }
}

/// Mesh and time steps of a level of the published ladder.
pub(crate) fn rung(level: usize) -> (Mesh, HeatParams) {
    let mesh = if level.is_multiple_of(2) { Mesh::cube24() } else { Mesh::cube12() };
    (mesh.refined_times(level.div_ceil(2)).unwrap(), HeatParams::new(ALPHA, 1.0, 1 << level))
}

/// The known solution's given boundary values.
pub(crate) fn given(mesh: &Mesh, params: &HeatParams, problem: Problem) -> Vec<f64> {
    let exact = source();
    match problem {
        Problem::Dirichlet => project_nodes(mesh, params, &|x: Point, _: Point, t: f64| exact.value(x, t)),
        Problem::Neumann => project_triangles(mesh, params, &|x: Point, n: Point, t: f64| exact.flux(x, n, t)),
    }
    .unwrap()
}

pub(crate) fn context() -> Option<Context> {
    clinalg_testing::found(Context::global())
}
