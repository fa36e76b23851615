//! The algorithms of products on the fly, and the four published ones.
//!
//! Source of the four: the on-the-fly matrices of the library besthea for GPUs, which compute W(d h) for each pair of triangles and
//! each d by closed forms, take second differences and multiply at once. Theirs leave what is singular to the CPU; here blocks
//! 0 and 1 are stored for all algorithms alike, and the four compute W(h), W(2 h), ... all the same.

use std::fmt;
use std::str::FromStr;

use clinalg::runtime::{Arg, Buffer, Kernel, Range};
use clinalg::{Context, Error, Precision, Real, Result, Vector};
use serde::{Deserialize, Serialize};

use super::Kind;
use super::operator::{START_BLOCKS, kind_code, launch};
use super::space::Shared;
use super::times::TimeRules;
use crate::kernels::bem_heat_algorithms::FILE;

/// How a product on the fly is computed.
///
/// The first four give a work-group some test triangles and an item one pair of triangles at a time. They differ in how the
/// entries of a block meet x. In double precision they take second differences of closed forms, as published, whose errors grow
/// with the square of the number of steps; in single precision those would leave no digit, and entries come from the time rules of
/// the fifth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(into = "u8", try_from = "u8")]
pub enum Algorithm {
    /// 1: one test triangle a work-group; each item multiplies its own entry, sums by a tree for each step.
    TriangleReduction,
    /// 2: one test triangle a work-group; entries in local memory, an item has a time step and loops over them.
    TriangleLoop,
    /// 3: as 1 with several test triangles per work-group, which share the trial triangles' points.
    TileReduction,
    /// 4: as 2 with several test triangles per work-group.
    TileLoop,
    /// 5: blocks of some rows at a time from time rules and moments, then their product. The fastest.
    #[default]
    Moments,
}

impl Algorithm {
    /// All five.
    pub const ALL: [Algorithm; 5] = [
        Algorithm::TriangleReduction,
        Algorithm::TriangleLoop,
        Algorithm::TileReduction,
        Algorithm::TileLoop,
        Algorithm::Moments,
    ];

    /// Its number, 1 to 5.
    pub fn number(self) -> u8 {
        self as u8 + 1
    }

    fn loops(self) -> bool {
        matches!(self, Algorithm::TriangleLoop | Algorithm::TileLoop)
    }

    /// Test and trial triangles of a work-group where nothing else is asked for: the sizes of the source, with 256 items at most.
    fn default_group(self, kind: Kind) -> [usize; 2] {
        let number = usize::from(self.number()) - 1;
        match kind {
            Kind::V => [[1, 256], [1, 128], [8, 16], [8, 16]][number],
            Kind::K | Kind::Ks => [[1, 128], [1, 128], [8, 16], [4, 16]][number],
            Kind::D => [[1, 64], [1, 64], [8, 8], [2, 16]][number],
        }
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.number().fmt(f)
    }
}

impl From<Algorithm> for u8 {
    fn from(algorithm: Algorithm) -> u8 {
        algorithm.number()
    }
}

impl TryFrom<u8> for Algorithm {
    type Error = Error;

    fn try_from(number: u8) -> Result<Algorithm> {
        let found = Algorithm::ALL.into_iter().find(|a| a.number() == number);
        found.ok_or_else(|| wrong_algorithm(number))
    }
}

impl FromStr for Algorithm {
    type Err = Error;

    fn from_str(word: &str) -> Result<Algorithm> {
        let found = Algorithm::ALL.into_iter().find(|a| a.to_string() == word);
        found.ok_or_else(|| wrong_algorithm(word))
    }
}

fn wrong_algorithm(got: impl ToString) -> Error {
    Error::Value { argument: "algorithm", expected: "1 to 5".into(), got: got.to_string() }
}

/// What products by algorithms 1 to 4 are computed with.
#[derive(Debug)]
pub(super) struct Published<T: Real> {
    algorithm: Algorithm,
    /// Test and trial triangles of a work-group.
    group: [usize; 2],
    /// Sums of each test triangle's slots, by time step.
    sums: Buffer<T>,
    /// In single precision.
    rules: Option<Rules<T>>,
}

/// Time rules as the kernels take them.
#[derive(Debug)]
struct Rules<T: Real> {
    ranges: Buffer<u32>,
    nodes: Buffer<T>,
    scale: f64,
}

/// Where a product reads and adds.
pub(super) struct Product<'a, T: Real> {
    pub(super) steps: usize,
    pub(super) x: &'a Vector<T>,
    pub(super) spread: &'a Buffer<T>,
    pub(super) spread_stride: usize,
    pub(super) partial: &'a Buffer<T>,
    pub(super) partial_stride: usize,
}

impl<T: Real> Published<T> {
    /// Room for products of `kind`; `None` for algorithm 5.
    pub(super) fn new(
        shared: &Shared<T>,
        kind: Kind,
        algorithm: Algorithm,
        group: Option<[usize; 2]>,
        accuracy: f64,
    ) -> Result<Option<Published<T>>> {
        if algorithm == Algorithm::Moments {
            return Ok(None);
        }
        let most = shared.context.device().max_work_group;
        let group = group.unwrap_or_else(|| {
            let [tests, trials] = algorithm.default_group(kind);
            // Half as many where a device takes no more.
            [tests, (0..).map(|k| trials >> k).find(|t| tests * t <= most.max(tests)).unwrap_or(1)]
        });
        let [tests, trials] = group;
        let single = matches!(algorithm, Algorithm::TriangleReduction | Algorithm::TriangleLoop);
        if !trials.is_power_of_two() || tests == 0 || tests * trials > most || single != (tests == 1) {
            let tests = if single { "1 test triangle" } else { "2 or more test triangles" };
            let expected = format!("{tests} and a power of two of trial triangles, at most {most} pairs");
            return Err(Error::Value { argument: "group", expected, got: format!("{group:?}") });
        }
        let rows = shared.mesh.triangles().len().next_multiple_of(tests);
        // SAFETY: each product writes all sums before it reads them.
        let sums = unsafe { Buffer::uninit_unchecked(&shared.context, rows * test_slots(kind) * shared.params.steps) }?;
        let rules = if T::PRECISION == Precision::F32 && shared.params.steps > START_BLOCKS {
            // Points are summed as they are: no moments, so no distance from centres.
            let rules = TimeRules::new(kind, &shared.params, [0.0; 2], accuracy, 0.5 * T::epsilon().into_f64());
            let scale = rules.scale(START_BLOCKS);
            let (ranges, nodes) = rules.tables(scale);
            let nodes: Vec<T> = nodes.into_iter().map(T::from_f64).collect();
            let ranges = Buffer::from_slice(&shared.context, &ranges)?;
            Some(Rules { ranges, nodes: Buffer::from_slice(&shared.context, &nodes)?, scale })
        } else {
            None
        };
        Ok(Some(Published { algorithm, group, sums, rules }))
    }

    pub(super) fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Points of all time rules, where entries come from them.
    pub(super) fn nodes(&self) -> Option<usize> {
        self.rules.as_ref().map(|rules| rules.nodes.len() / 2)
    }

    /// Adds the product of the blocks from 2 on to the partial sums.
    pub(super) fn apply(&self, shared: &Shared<T>, kind: Kind, product: &Product<'_, T>) -> Result<()> {
        let context: &Context = &shared.context;
        let (triangles, steps) = (shared.mesh.triangles().len(), product.steps);
        if steps <= START_BLOCKS {
            return Ok(());
        }
        let [tests, trials] = self.group;
        let kernel = |name: &'static str| {
            Kernel::new(&FILE, name, T::PRECISION).with(&[
                ("KIND", kind_code(kind)),
                ("POINTS", shared.rule.len() as u64),
                ("TESTS", tests as u64),
                ("TRIALS", trials as u64),
            ])
        };
        let mut args = shared.triangles();
        args.extend([shared.nodes.arg(), Arg::real::<T>(shared.params.alpha), Arg::real::<T>(shared.params.step())]);
        if let Some(rules) = &self.rules {
            args.extend([rules.ranges.arg(), rules.nodes.arg(), Arg::real::<T>(rules.scale)]);
        }
        args.push(Arg::U32(steps as u32));
        let items = triangles.div_ceil(tests) * tests * trials;
        if self.algorithm.loops() {
            args.extend([Arg::size(product.spread_stride), product.spread.arg(), self.sums.arg()]);
            launch(context, kernel("apply_by_loop"), Range::d1(items, tests * trials), &args)?;
        } else {
            args.extend([Arg::size(kind.cols(&shared.mesh)), product.x.buffer().arg(), self.sums.arg()]);
            launch(context, kernel("apply_by_reduction"), Range::d1(items, tests * trials), &args)?;
        }
        let rows = kind.rows(&shared.mesh);
        let mut args = shared.rows(kind).lists();
        args.extend([Arg::size(rows), Arg::U32(steps as u32), self.sums.arg()]);
        args.extend([Arg::size(product.partial_stride), product.partial.arg()]);
        launch(context, kernel("gather_sums"), Range::d2([steps, rows], [32.min(trials), 1]), &args)
    }
}

/// Numbers of a test triangle: its own, or its corners'.
fn test_slots(kind: Kind) -> usize {
    if kind.tests_nodes() { 3 } else { 1 }
}
