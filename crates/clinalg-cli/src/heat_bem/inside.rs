//! Temperatures inside, and the norms of the blocks.

use std::fmt::Write as _;
use std::path::Path;

use clinalg::{Real, ops};
use clinalg_bem::heat::{HeatOperator, HeatParams, interior};
use clinalg_bem::{Mesh, Point};
use schemars::JsonSchema;
use serde::Serialize;

use super::boundary::BoundaryValues;
use crate::data::read_points;
use crate::exit::{Failure, usage};
use crate::output::Output;
use crate::paths::write_file;
use crate::text::{number, table};

/// Lines of a table of the report.
const LINES: usize = 12;

/// u in a point inside at the middle of each time step.
#[derive(Serialize, JsonSchema)]
pub(super) struct Inside {
    point: Point,
    u: Vec<f64>,
}

/// The points of a file, which must lie inside.
pub(super) fn points(path: &Path, mesh: &Mesh) -> Result<Vec<Point>, Failure> {
    let points = read_points(path)?;
    if let Some((k, point)) = points.iter().enumerate().find(|(_, x)| !mesh.contains(**x) || mesh.touches(**x)) {
        return usage!("--points {}: point {} at {point:?} is not inside the surface", path.display(), k + 1);
    }
    let distance = |a: Point, b: Point| (0..3).map(|axis| (a[axis] - b[axis]).powi(2)).sum::<f64>().sqrt();
    let near = |x: &Point| {
        (0..mesh.triangles().len()).any(|k| {
            let corners = mesh.corners(k);
            let edge = (0..3).map(|c| distance(corners[c], corners[(c + 1) % 3])).fold(0.0, f64::max);
            let places = corners.into_iter().chain([mesh.point(k, [1.0 / 3.0; 3])]);
            places.into_iter().any(|place| distance(*x, place) < 0.5 * edge)
        })
    };
    let count = points.iter().filter(|x| near(x)).count();
    if count > 0 {
        log::warn!(
            target: "clinalg",
            "{count} of --points lie nearer to the surface than half the size of its triangles there, where u is not accurate: refine the mesh"
        );
    }
    Ok(points)
}

/// u in the points from both boundary values without the part of the initial temperature, which is added.
pub(super) fn evaluate(
    points: &[Point],
    mesh: &Mesh,
    params: &HeatParams,
    (w, u): (&[f64], &[f64]),
    boundary: &BoundaryValues,
) -> Result<Vec<Inside>, Failure> {
    let values = interior(mesh, params, w, u, points)?;
    let one = |(k, point): (usize, &Point)| {
        let of = |step: usize| values[step * points.len() + k] + boundary.of_start_at(*point, middle(params, step));
        Inside { point: *point, u: (0..params.steps).map(of).collect() }
    };
    Ok(points.iter().enumerate().map(one).collect())
}

/// The middle of a time step.
fn middle(params: &HeatParams, step: usize) -> f64 {
    (step as f64 + 0.5) * params.step()
}

/// The middles of all time steps.
pub(super) fn middles(params: &HeatParams) -> Vec<f64> {
    (0..params.steps).map(|step| middle(params, step)).collect()
}

/// Writes a line for each time and point.
pub(super) fn write(path: &Path, times: &[f64], inside: &[Inside]) -> Result<(), Failure> {
    let mut text = String::from("t,x,y,z,u\n");
    for (step, time) in times.iter().enumerate() {
        for Inside { point: [x, y, z], u } in inside {
            let _ = writeln!(text, "{time:e},{x:e},{y:e},{z:e},{:e}", u[step]);
        }
    }
    write_file(path, text.as_bytes())
}

/// The temperatures at the last middle of a time step.
pub(super) fn print(times: &[f64], inside: &[Inside], out: &mut Output) -> Result<(), Failure> {
    let Some(time) = times.last() else { return Ok(()) };
    for (k, Inside { point: [x, y, z], u }) in inside.iter().enumerate().take(LINES) {
        let name = if k == 0 { "inside" } else { "" };
        out.field(name, format!("u({x}, {y}, {z}) = {} at t = {time}", number(u[u.len() - 1], 7)))?;
    }
    match inside.len() {
        count if count > LINES => out.field("", format!("and in {} more points", count - LINES)),
        _ => Ok(()),
    }
}

/// The Frobenius norms of all blocks of the matrix.
pub(super) fn block_norms<T: Real>(matrix: &HeatOperator<T>) -> Result<Vec<f64>, Failure> {
    let (_, _, blocks) = matrix.block_shape();
    let norm = |d| Ok(ops::norm2(matrix.block(d)?.as_vector())?.into_f64());
    (0..blocks).map(norm).collect()
}

/// A table of some of them.
pub(super) fn print_norms(norms: &[f64], time_step: f64, out: &mut Output) -> Result<(), Failure> {
    let rows: Vec<Vec<String>> = chosen(norms.len())
        .into_iter()
        .map(|d| {
            vec![d.to_string(), number(d as f64 * time_step, 4), number(norms[d], 4), number(norms[d] / norms[0], 2)]
        })
        .collect();
    let columns = [">block", ">time back", ">Frobenius norm", ">of the first"];
    for (k, line) in table(&columns, &rows).iter().enumerate() {
        out.field(if k == 0 { "blocks" } else { "" }, line)?;
    }
    Ok(())
}

/// The first blocks, and then ever fewer up to the last.
fn chosen(count: usize) -> Vec<usize> {
    if count <= LINES {
        return (0..count).collect();
    }
    let last = (count - 1) as f64;
    let mut all: Vec<usize> = (0..LINES).map(|k| last.powf(k as f64 / (LINES - 1) as f64).round() as usize).collect();
    all.insert(0, 0);
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_blocks_are_chosen() {
        assert_eq!(chosen(5), [0, 1, 2, 3, 4]);
        let many = chosen(1000);
        assert!(many[0] == 0 && many[many.len() - 1] == 999 && many.len() <= LINES + 1, "{many:?}");
        assert!(many.windows(2).all(|pair| pair[0] < pair[1]), "{many:?}");
    }
}
