//! The operators in plain Rust on the threads of the CPU: the oracle of the device's.
//!
//! Closed forms in time, the tensor rule on disjoint triangles, Sauter-Schwab rules for the parts at
//! s = 0 where triangles touch; block d is -W_(d-1) + 2 W_d - W_(d+1) with W_d the integral of the second
//! antiderivative at s = d h, and block 0 is h Z + W_0 - W_1.

use std::f64::consts::PI;

use clinalg::{Error, Result};

use super::functions::{first, second, second_normal};
use super::{HeatParams, Kind};
use crate::assembly::parallel;
use crate::quadrature::{Contact, PairPoint, TriangleRule, sauter_schwab};
use crate::surface::{dot, norm, sub};
use crate::{Mesh, Point};

/// Most numbers that a pair of triangles contributes to a block.
const SLOTS: usize = 9;

/// Test triangles whose contributions are computed before they are added up.
const BATCH: usize = 32;

/// The operators of one mesh and one time grid.
#[derive(Debug)]
pub struct Reference<'m> {
    mesh: &'m Mesh,
    params: HeatParams,
    rule: TriangleRule,
    contacts: [Vec<PairPoint>; 3],
}

/// All blocks of an operator.
#[derive(Debug, Clone, PartialEq)]
pub struct Blocks {
    /// Rows of a block.
    pub rows: usize,
    /// Columns of a block.
    pub cols: usize,
    /// Number of blocks.
    pub steps: usize,
    /// Block after block, each row by row.
    pub values: Vec<f64>,
}

impl Blocks {
    /// Block `d`, row by row.
    pub fn block(&self, d: usize) -> &[f64] {
        &self.values[d * self.rows * self.cols..(d + 1) * self.rows * self.cols]
    }

    /// A x for x of `cols * steps` values.
    ///
    /// # Errors
    /// [`Error::Length`].
    pub fn apply(&self, x: &[f64]) -> Result<Vec<f64>> {
        check_length("x", self.cols * self.steps, x.len())?;
        let mut y = vec![0.0; self.rows * self.steps];
        for d in 0..self.steps {
            for (from, to) in x.chunks(self.cols).zip(y.chunks_mut(self.rows).skip(d)) {
                for (row, y) in self.block(d).chunks(self.cols).zip(to) {
                    *y += row.iter().zip(from).map(|(a, x)| a * x).sum::<f64>();
                }
            }
        }
        Ok(y)
    }
}

fn check_length(argument: &'static str, expected: usize, got: usize) -> Result<()> {
    if got == expected { Ok(()) } else { Err(Error::Length { argument, expected, got }) }
}

/// Two points and what the kernels need there.
struct At {
    x: Point,
    y: Point,
    /// Values of the hats.
    phi_x: [f64; 3],
    phi_y: [f64; 3],
    weight: f64,
}

/// A pair of triangles.
struct Pair {
    normal_x: Point,
    normal_y: Point,
    /// alpha^2 times the products of the surface curls, D only.
    curls: [f64; SLOTS],
}

impl<'m> Reference<'m> {
    /// The operators on `mesh`.
    ///
    /// # Errors
    /// Those of [`HeatParams::check`].
    pub fn new(mesh: &'m Mesh, params: &HeatParams) -> Result<Reference<'m>> {
        params.check()?;
        let contacts = [Contact::Vertex, Contact::Edge, Contact::Coincident];
        Ok(Reference {
            mesh,
            params: *params,
            rule: TriangleRule::of_order(params.order)?,
            contacts: contacts.map(|c| sauter_schwab(c, params.singular_order)),
        })
    }

    /// All blocks of an operator.
    pub fn blocks(&self, kind: Kind) -> Blocks {
        let (rows, cols, steps) = (kind.rows(self.mesh), kind.cols(self.mesh), self.params.steps);
        let mut blocks = Blocks { rows, cols, steps, values: vec![0.0; rows * cols * steps] };
        let elements = self.mesh.triangles().len();
        for start in (0..elements).step_by(BATCH) {
            let tests: Vec<usize> = (start..elements.min(start + BATCH)).collect();
            let slots = kind.slots();
            let results = parallel(&tests, |&i| {
                let mut values = vec![0.0; elements * steps * slots];
                for (j, part) in values.chunks_mut(steps * slots).enumerate() {
                    self.pair(kind, i, j, part);
                }
                values
            });
            for (&i, values) in tests.iter().zip(&results) {
                for (j, part) in values.chunks(steps * slots).enumerate() {
                    for (d, entries) in part.chunks(slots).enumerate() {
                        for (slot, value) in entries.iter().enumerate() {
                            let (row, col) = kind.place(self.mesh, i, j, slot);
                            blocks.values[(d * rows + row) * cols + col] += value;
                        }
                    }
                }
            }
        }
        blocks
    }

    /// A x without keeping blocks: for each pair of triangles its contribution to every block, then
    /// its part of the product.
    ///
    /// # Errors
    /// [`Error::Length`].
    pub fn apply(&self, kind: Kind, x: &[f64]) -> Result<Vec<f64>> {
        let (rows, cols, steps) = (kind.rows(self.mesh), kind.cols(self.mesh), self.params.steps);
        check_length("x", cols * steps, x.len())?;
        let elements = self.mesh.triangles().len();
        let slots = kind.slots();
        let tests: Vec<usize> = (0..elements).collect();
        let results = parallel(&tests, |&i| {
            let mut part = vec![0.0; steps * slots];
            // The rows that this triangle adds to: itself or its nodes.
            let mut sums = vec![0.0; 3 * steps];
            for j in 0..elements {
                part.fill(0.0);
                self.pair(kind, i, j, &mut part);
                for slot in 0..slots {
                    let (_, col) = kind.place(self.mesh, i, j, slot);
                    let to = if kind.tries_nodes() { slot / 3 } else { slot };
                    for k in 0..steps {
                        let product = |d: usize| part[d * slots + slot] * x[(k - d) * cols + col];
                        sums[to * steps + k] += (0..=k).map(product).sum::<f64>();
                    }
                }
            }
            sums
        });
        let mut y = vec![0.0; rows * steps];
        for (i, sums) in results.iter().enumerate() {
            let count = if kind.tests_nodes() { 3 } else { 1 };
            for (a, sums) in sums.chunks(steps).take(count).enumerate() {
                let row = if kind.tests_nodes() { self.mesh.triangles()[i][a] as usize } else { i };
                for (k, sum) in sums.iter().enumerate() {
                    y[k * rows + row] += sum;
                }
            }
        }
        Ok(y)
    }

    /// Adds the contributions of test triangle i and trial triangle j to all blocks.
    fn pair(&self, kind: Kind, i: usize, j: usize, out: &mut [f64]) {
        let HeatParams { alpha, steps, .. } = self.params;
        let slots = kind.slots();
        let h = self.params.step();
        let mesh = self.mesh;
        let mut pair = Pair { normal_x: mesh.normals()[i], normal_y: mesh.normals()[j], curls: [0.0; SLOTS] };
        if kind == Kind::D {
            let (a, b) = (mesh.curls(i), mesh.curls(j));
            for (slot, value) in pair.curls.iter_mut().enumerate() {
                *value = alpha * alpha * dot(a[slot / 3], b[slot % 3]);
            }
        }
        let area = mesh.areas()[i] * mesh.areas()[j];
        // Adds W at s = d h, d > 0, to the up to three blocks that hold it.
        let mut add = |d: usize, values: &[f64; SLOTS]| {
            // Block 0 has it once, with the sign of the others: -W_1 against h Z + W_0.
            for (block, factor) in [(d - 1, -1.0), (d, 2.0), (d + 1, -1.0)] {
                if block < steps {
                    (0..slots).for_each(|slot| out[block * slots + slot] += factor * values[slot]);
                }
            }
        };
        let regular = |s: f64| {
            let mut values = [0.0; SLOTS];
            for (p, phi_x) in self.rule.points.iter().enumerate() {
                for (q, phi_y) in self.rule.points.iter().enumerate() {
                    let weight = area * self.rule.weights[p] * self.rule.weights[q];
                    let (x, y) = (mesh.point(i, *phi_x), mesh.point(j, *phi_y));
                    self.point(kind, &pair, &At { x, y, phi_x: *phi_x, phi_y: *phi_y, weight }, s, &mut values);
                }
            }
            values
        };
        for d in 1..=steps {
            add(d, &regular(d as f64 * h));
        }
        let mut start = [[0.0; SLOTS]; 2];
        let rules = kind.singular_pairs(mesh, i, j);
        if rules.is_empty() {
            for (p, phi_x) in self.rule.points.iter().enumerate() {
                for (q, phi_y) in self.rule.points.iter().enumerate() {
                    let weight = area * self.rule.weights[p] * self.rule.weights[q];
                    let (x, y) = (mesh.point(i, *phi_x), mesh.point(j, *phi_y));
                    self.start(kind, &pair, &At { x, y, phi_x: *phi_x, phi_y: *phi_y, weight }, &mut start);
                }
            }
        }
        for singular in rules {
            let area = if singular.halved { 0.5 * area } else { area };
            for point in &self.contacts[singular.contact as usize] {
                let (phi_x, phi_y) = singular.coordinates(point);
                let (x, y) = (mesh.point(i, phi_x), mesh.point(j, phi_y));
                let at = At { x, y, phi_x, phi_y, weight: area * point.weight };
                self.start(kind, &pair, &at, &mut start);
            }
        }
        let [z, w] = start;
        for slot in 0..slots {
            out[slot] += h * z[slot] + w[slot];
            if steps > 1 {
                out[slots + slot] -= w[slot];
            }
        }
    }

    /// Adds the second antiderivative at s > 0 in one point.
    fn point(&self, kind: Kind, pair: &Pair, at: &At, s: f64, out: &mut [f64; SLOTS]) {
        let alpha = self.params.alpha;
        let difference = sub(at.x, at.y);
        let r = norm(difference);
        match kind {
            Kind::V => out[0] += at.weight * second(alpha, r, s),
            Kind::K => {
                let value = at.weight * dot(difference, pair.normal_y) * second_normal(alpha, r, s);
                (0..3).for_each(|b| out[b] += value * at.phi_y[b]);
            }
            Kind::Ks => {
                let value = -at.weight * dot(difference, pair.normal_x) * second_normal(alpha, r, s);
                (0..3).for_each(|a| out[a] += value * at.phi_x[a]);
            }
            Kind::D => {
                let curl = at.weight * second(alpha, r, s);
                let plain = at.weight * alpha * dot(pair.normal_x, pair.normal_y) * first(alpha, r, s);
                for (slot, out) in out.iter_mut().enumerate() {
                    *out += pair.curls[slot] * curl + plain * at.phi_x[slot / 3] * at.phi_y[slot % 3];
                }
            }
        }
    }

    /// Adds Z, the first antiderivative at s = 0, and W_0, the second, in one point.
    fn start(&self, kind: Kind, pair: &Pair, at: &At, [z, w]: &mut [[f64; SLOTS]; 2]) {
        let alpha = self.params.alpha;
        let difference = sub(at.x, at.y);
        let r = norm(difference);
        match kind {
            Kind::V => {
                z[0] += at.weight / (4.0 * PI * alpha * r);
                w[0] += at.weight * r / (8.0 * PI * alpha * alpha);
            }
            Kind::K | Kind::Ks => {
                let (d, phi) = match kind {
                    Kind::K => (dot(difference, pair.normal_y), &at.phi_y),
                    _ => (-dot(difference, pair.normal_x), &at.phi_x),
                };
                for slot in 0..3 {
                    z[slot] += at.weight * phi[slot] * d / (4.0 * PI * r * r * r);
                    w[slot] -= at.weight * phi[slot] * d / (8.0 * PI * alpha * r);
                }
            }
            Kind::D => {
                let normals = dot(pair.normal_x, pair.normal_y);
                for slot in 0..SLOTS {
                    let phi = at.phi_x[slot / 3] * at.phi_y[slot % 3];
                    z[slot] += at.weight * pair.curls[slot] / (4.0 * PI * alpha * r);
                    w[slot] += at.weight
                        * (pair.curls[slot] * r / (8.0 * PI * alpha * alpha) + normals * phi / (4.0 * PI * r));
                }
            }
        }
    }
}
