//! The order in which a device computes rows that depend on each other.

use crate::matrix::host;
use crate::runtime::{KernelFamily, Range};
use crate::{Buffer, Context, Result};

/// The off-diagonal entries of the rows of a triangular matrix in the order of elimination: their columns, which come before (lower) or
/// after (upper) the row, and the positions of their values in another array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pattern {
    pub(super) offsets: Vec<usize>,
    pub(super) columns: Vec<u32>,
    pub(super) at: Vec<u32>,
}

/// On which side of the diagonal a triangle lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Lower,
    Upper,
}

impl Pattern {
    /// The entries of a matrix on one side of its diagonal.
    pub(super) fn part(part: Part, offsets: &[usize], indices: &[usize]) -> Result<Pattern> {
        let n = offsets.len() - 1;
        let mut kept = Pattern {
            offsets: host::filled("a", Some(n + 1), 0)?,
            columns: Vec::with_capacity(indices.len() / 2 + 1),
            at: Vec::with_capacity(indices.len() / 2 + 1),
        };
        for i in 0..n {
            for (e, &j) in (offsets[i]..offsets[i + 1]).zip(&indices[offsets[i]..offsets[i + 1]]) {
                if if part == Part::Lower { j < i } else { j > i } {
                    kept.columns.push(j as u32);
                    kept.at.push(e as u32);
                }
            }
            kept.offsets[i + 1] = kept.columns.len();
        }
        Ok(kept)
    }

    /// The transpose, with the entries of each row sorted.
    pub(super) fn transposed(&self) -> Result<Pattern> {
        let n = self.offsets.len() - 1;
        let mut offsets = host::filled("a", Some(n + 1), 0)?;
        self.columns.iter().for_each(|&j| offsets[j as usize + 1] += 1);
        (0..n).for_each(|i| offsets[i + 1] += offsets[i]);
        let mut next = offsets.clone();
        let (mut columns, mut at) = (vec![0; self.columns.len()], vec![0; self.columns.len()]);
        for i in 0..n {
            for e in self.offsets[i]..self.offsets[i + 1] {
                let to = &mut next[self.columns[e] as usize];
                (columns[*to], at[*to]) = (i as u32, self.at[e]);
                *to += 1;
            }
        }
        Ok(Pattern { offsets, columns, at })
    }
}

/// Some launches over rows in the order of their levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// The rows at a range of positions, with one row or one part of the rows per item.
    Rows(usize, usize),
    /// The levels from the first to the last, by one work-group.
    Levels(u32, u32),
}

/// The rows of a triangle by levels: those of a level depend on rows of earlier levels only.
#[derive(Debug)]
pub(super) struct Schedule {
    /// The row at each position.
    pub(super) rows: Vec<u32>,
    /// Where each level starts, for steps of several levels.
    pub(super) level: Buffer<u32>,
    pub(super) steps: Vec<Step>,
    /// Number of levels.
    pub(super) levels: usize,
}

/// On a GPU, levels of at most this many rows for each item of a work-group share a launch: one group takes less time for them than a
/// launch of their own. Not measured.
const ROWS_PER_ITEM: usize = 4;
/// On a CPU, levels with fewer entries and rows than this are computed by one item: a launch costs about as much as this many of them.
const WORTH_A_LAUNCH: usize = 1 << 14;

/// Rows in the order of their levels, and where each level starts.
pub(super) struct Leveled {
    rows: Vec<u32>,
    starts: Vec<usize>,
}

impl Leveled {
    /// For a triangle of `n` rows; `needs` gives the rows on which a row depends.
    pub(super) fn new<'p>(part: Part, n: usize, needs: impl Fn(usize) -> &'p [u32]) -> Result<Leveled> {
        let mut level: Vec<u32> = host::filled("a", Some(n), 0)?;
        let in_turn = |k: usize| if part == Part::Lower { k } else { n - 1 - k };
        let mut starts = vec![0];
        for i in (0..n).map(in_turn) {
            let own = needs(i).iter().map(|&j| level[j as usize] + 1).max().unwrap_or(0);
            level[i] = own;
            let at = own as usize + 1;
            if at == starts.len() {
                starts.push(0);
            }
            starts[at] += 1;
        }
        (1..starts.len()).for_each(|l| starts[l] += starts[l - 1]);
        let mut next = starts.clone();
        let mut rows = host::filled("a", Some(n), 0)?;
        for i in (0..n).map(in_turn) {
            let to = &mut next[level[i] as usize];
            rows[*to] = i as u32;
            *to += 1;
        }
        Ok(Leveled { rows, starts })
    }
}

impl Schedule {
    pub(super) fn new(context: &Context, part: Part, pattern: &Pattern) -> Result<Schedule> {
        let needs = |i: usize| &pattern.columns[pattern.offsets[i]..pattern.offsets[i + 1]];
        let leveled = Leveled::new(part, pattern.offsets.len() - 1, needs)?;
        Schedule::of(context, part, leveled, |i| needs(i).len())
    }

    /// `entries` gives the number of off-diagonal entries of a row.
    pub(super) fn of(
        context: &Context,
        part: Part,
        leveled: Leveled,
        entries: impl Fn(usize) -> usize,
    ) -> Result<Schedule> {
        let Leveled { mut rows, starts } = leveled;
        let levels = starts.len() - 1;
        let work =
            |l: usize| -> usize { rows[starts[l]..starts[l + 1]].iter().map(|&i| 1 + entries(i as usize)).sum() };
        let is_large = |l: usize| match context.family() {
            KernelFamily::Gpu => starts[l + 1] - starts[l] > ROWS_PER_ITEM * context.local(),
            KernelFamily::Cpu => context.units() > 1 && work(l) >= WORTH_A_LAUNCH,
        };
        let mut steps = Vec::new();
        let mut from = 0;
        for l in 0..=levels {
            if l < levels && !is_large(l) {
                continue;
            }
            if from < l {
                steps.push(match context.family() {
                    KernelFamily::Gpu => Step::Levels(from as u32, l as u32),
                    KernelFamily::Cpu => Step::Levels(starts[from] as u32, starts[l] as u32),
                });
            }
            if l < levels {
                steps.push(Step::Rows(starts[l], starts[l + 1]));
            }
            from = l + 1;
        }
        if context.family() == KernelFamily::Cpu && steps.len() == 1 && levels > 1 {
            // One item takes all rows: their own order reads memory in sequence.
            rows = (0..rows.len() as u32).collect();
            if part == Part::Upper {
                rows.reverse();
            }
        }
        let narrow: Vec<u32> = starts.iter().map(|&start| start as u32).collect();
        Ok(Schedule { rows, level: Buffer::from_slice(context, &narrow)?, steps, levels })
    }

    /// The range of a launch over the rows from `first` to `end`, which do not depend on each other.
    pub(super) fn range(context: &Context, first: usize, end: usize) -> Range {
        match context.family() {
            KernelFamily::Gpu => Range::d1(end - first, context.local()),
            KernelFamily::Cpu => Range::d1(context.chunks().min(end - first), 1),
        }
    }

    /// The range of a launch over several levels: a work-group, on a CPU of one item.
    pub(super) fn one_group(context: &Context) -> Range {
        match context.family() {
            KernelFamily::Gpu => Range::d1(context.local(), context.local()),
            KernelFamily::Cpu => Range::d1(1, 1),
        }
    }
}
