//! How the blocks are summed.

use std::f64::consts::{LN_2, LOG2_E};

use clinalg::runtime::Buffer;
use clinalg::{Error, Real, Result};

use super::super::Kind;
use super::super::times::{BlockRule, DEGREE_STEP, DISTANCES, MOST_DEGREE, TimeRules};
use super::{HeatOperator, Later, Part, Pointwise, START_BLOCKS, terms};
use crate::surface::{norm, sub};

impl<T: Real> HeatOperator<T> {
    /// Decides how the blocks are summed.
    ///
    /// # Errors
    /// [`Error::Allocation`] for tables of more than `most` bytes, before they are made.
    pub(super) fn plan(&self, accuracy: f64, most: u64) -> Result<Later<T>> {
        let shared = &*self.shared;
        let context = &shared.context;
        let reach = shared.rows(self.kind).reach + shared.cols(self.kind).reach;
        let reaches = [reach, 2.0 * shared.of_triangles.reach];
        let rules = TimeRules::new(self.kind, &shared.params, reaches, accuracy, 0.5 * T::epsilon().into_f64());
        // Of a Gaussian on a plane, the part behind exponent c is exp(-c) of the whole: what is left out of a row is at most a
        // quarter of the accuracy of its sum.
        let cut = -accuracy.log2() + 2.0;
        let (points, pairs, degree) = self.choose(&rules, reaches, cut);
        let mut factors = vec![1.0];
        for k in 1..=MOST_DEGREE {
            factors.push(-factors[k - 1] * LN_2 / k as f64);
        }
        factors.push(0.0);
        for k in 1..=MOST_DEGREE {
            factors.push((k as f64 + 0.5) * factors[k - 1]);
        }
        let factors: Vec<T> = factors.into_iter().map(T::from_f64).collect();
        let total = self.steps - START_BLOCKS;
        let spread =
            shared.rows(self.kind).apart(shared.cols(self.kind)).max(shared.of_triangles.apart(&shared.of_triangles));
        let width = spread / (DISTANCES - 1) as f64;
        let part = |first: usize, blocks: usize, reach: f64| -> Result<Part<T>> {
            let scale = rules.scale(if blocks == 0 { START_BLOCKS } else { first });
            let nodes: Vec<T> = rules.tables(scale).1.into_iter().map(T::from_f64).collect();
            let degrees =
                Buffer::from_slice(context, &rules.degrees(first, self.kind, reach, accuracy, width, degree))?;
            let alpha = shared.params.alpha;
            let behind = cut / (rules.least(first, blocks) * LOG2_E / scale);
            let mut limits =
                [scale, alpha, 4.0 * alpha * LN_2 * scale, reach, cut, width, behind].map(T::from_f64).to_vec();
            limits.extend_from_slice(&factors);
            let limits = Buffer::from_slice(context, &limits)?;
            Ok(Part { nodes: Buffer::from_slice(context, &nodes)?, degrees, width, limits, scale, first, blocks })
        };
        let bytes = rules.table_entries(self.kind, START_BLOCKS, points, terms::<T>(), cut) * size_of::<T>() as f64;
        if bytes > most as f64 {
            let limit = format!(
                "the tables of algorithm 5 for {} time steps take that much, {most} bytes are allowed; algorithm 2 has none",
                self.steps
            );
            return Err(Error::Allocation { bytes: bytes as u64, device: context.device().name.clone(), limit });
        }
        let cells = rules.in_cells(self.kind, shared.params.alpha, START_BLOCKS, points, terms::<T>(), cut);
        let upload =
            |values: &[f64]| Buffer::from_slice(context, &values.iter().map(|&v| T::from_f64(v)).collect::<Vec<T>>());
        let pointwise = Pointwise {
            tables: upload(&cells.tables)?,
            cuts: upload(cells.cuts.as_flattened())?,
            cells: cells.cells,
            scale: rules.scale(START_BLOCKS),
            blocks: points,
        };
        Ok(Later {
            factors: Buffer::from_slice(context, &factors)?,
            ranges: Buffer::from_slice(context, &rules.tables(1.0).0)?,
            pointwise,
            paired: part(START_BLOCKS + points, pairs, reaches[1])?,
            whole: part(START_BLOCKS + points + pairs, total - points - pairs, reaches[0])?,
            degree: degree as u64,
            reach,
        })
    }

    /// The numbers of blocks to sum point by point and by moments of pairs, and the degree, by counting instructions.
    fn choose(&self, rules: &TimeRules, reaches: [f64; 2], cut: f64) -> (usize, usize, usize) {
        let shared = &*self.shared;
        let (rows, cols) = (shared.rows(self.kind), shared.cols(self.kind));
        let triangles = shared.mesh.triangles().len() as f64;
        // Pairs of triangles that an entry has, and pairs of points.
        let contributions =
            self.kind.slots() as f64 * triangles * triangles / (rows.places.len() * cols.places.len()) as f64;
        let points = (shared.rule.len() * shared.rule.len()) as f64;
        // Distances of some rows from all columns.
        let sample = rows.places.len().div_ceil(16);
        let distances: Vec<f64> = rows
            .places
            .iter()
            .step_by(sample)
            .flat_map(|x| cols.places.iter().map(|y| norm(sub(*x, *y))))
            .map(|r| (r - reaches[0]).max(0.0))
            .collect();
        let near = |rule: &BlockRule| {
            let least = rule.points.last().map_or(0.0, |p| p.0) * LOG2_E;
            distances.iter().filter(|&&r| r * r * least <= cut).count() as f64 / distances.len() as f64
        };
        let nears: Vec<f64> = rules.blocks.iter().map(near).collect();
        let total = rules.blocks.len();
        // The first block from which on all manage with a degree.
        let from =
            |fits: &dyn Fn(&BlockRule) -> bool| rules.blocks.iter().rposition(|rule| !fits(rule)).map_or(0, |k| k + 1);
        // A term is an addition and a load, and the tables of D are two.
        let by_table = 15.0 + if self.kind == Kind::D { 6.0 } else { 3.0 } * terms::<T>() as f64;
        let mut best = (total, 0, DEGREE_STEP, f64::INFINITY);
        for degree in (DEGREE_STEP..=MOST_DEGREE).step_by(DEGREE_STEP) {
            let pairs_from = from(&|rule| rule.paired.is_some_and(|p| p <= degree));
            let whole_from = from(&|rule| rule.whole.is_some_and(|p| p <= degree)).max(pairs_from);
            let per_power = if self.kind == Kind::D { 3.0 } else { 2.0 };
            let moments = points * (per_power * degree as f64 + 15.0);
            let mut cost = 0.0;
            for (k, rule) in rules.blocks.iter().enumerate() {
                let nodes = rule.points.len() as f64;
                cost += if k < pairs_from {
                    nears[k] * contributions * points * by_table
                } else if k < whole_from {
                    nears[k] * contributions * nodes * (20.0 + degree as f64)
                } else {
                    nodes * (18.0 + rule.whole.unwrap_or(degree) as f64)
                };
            }
            if whole_from > pairs_from {
                cost += contributions * moments * nears[whole_from - 1];
            }
            if total > whole_from {
                cost += contributions * moments;
            }
            if cost < best.3 {
                best = (pairs_from, whole_from - pairs_from, degree, cost);
            }
        }
        (best.0, best.1, best.2)
    }
}
