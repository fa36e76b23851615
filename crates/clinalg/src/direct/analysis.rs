//! Fronts, their places in memory, and the order in which they are computed.

use super::kind::Kind;
use super::ordering::{Adjacency, NONE, order};
use super::pairs::Pairs;
use super::products::Products;
use super::tree::Tree;
use crate::matrix::host::inverse_of;
use crate::{Buffer, Context, Result};

/// Numbers of a front in the table of the kernels.
pub(super) const FIELDS: usize = 8;
/// Entries of a front that a task of the assembly has, about.
const TASK_ENTRIES: usize = 4096;

/// A dense matrix in which the pivots of a supernode are eliminated.
#[derive(Debug, Clone, Copy)]
pub(super) struct Front {
    /// The first pivot, and their number.
    pub(super) first: usize,
    pub(super) pivots: usize,
    /// The other rows: the order of the contribution to the parent.
    pub(super) rest: usize,
    /// Where the pivots' columns begin, of `pivots + rest` rows. Those of LU are followed by the pivots' rows of the other columns.
    pub(super) factors: usize,
    /// Where the contribution begins, in the memory of its depth.
    pub(super) contribution: usize,
    /// Where the list of the other rows begins.
    pub(super) rows: usize,
    /// The first child, and their number.
    children: usize,
    count: usize,
}

impl Front {
    pub(super) fn order(&self) -> usize {
        self.pivots + self.rest
    }

    /// Multiplications and additions of LU factors; those of symmetric factors are half as many.
    fn operations(&self) -> f64 {
        (0..self.pivots).map(|k| ((self.order() - k - 1) as f64).powi(2) + (self.order() - k - 1) as f64).sum()
    }
}

/// Fronts of the same distance from the root, which do not depend on each other.
#[derive(Debug)]
pub(super) struct Level {
    /// Their positions.
    pub(super) fronts: std::ops::Range<usize>,
    /// Where the lists of their other rows begin and end.
    pub(super) rows: std::ops::Range<usize>,
    /// Tasks of the assembly.
    pub(super) tasks: std::ops::Range<usize>,
    /// Where the fronts that a work-group eliminates each stand in the list; the others follow.
    pub(super) small: std::ops::Range<usize>,
    /// The positions of the others, those with the most pivots first.
    pub(super) large: Vec<usize>,
}

/// What is known of the factors of all matrices with a pattern.
#[derive(Debug)]
pub(super) struct Analysis {
    pub(super) n: usize,
    pub(super) fronts: Vec<Front>,
    /// From the leaves to the roots.
    pub(super) levels: Vec<Level>,
    /// The step that eliminates each column of the matrix.
    pub(super) column_place: Vec<usize>,
    /// Numbers of the factors, and of the contributions of each second level.
    pub(super) factors: usize,
    pub(super) contributions: [usize; 2],
    /// The most other rows of a level.
    pub(super) widest: usize,
    /// Multiplications and additions.
    pub(super) operations: f64,
    pub(super) device: Tables,
}

/// The same on the device.
#[derive(Debug)]
pub(super) struct Tables {
    pub(super) fronts: Buffer<u64>,
    /// The other rows of the fronts, and their places in the parents.
    pub(super) rows: Buffer<u32>,
    pub(super) map: Buffer<u32>,
    /// Pairs of a front and its first column.
    pub(super) tasks: Buffer<u32>,
    /// Fronts level by level: those that a work-group eliminates each, then the others.
    pub(super) list: Buffer<u32>,
    /// Where each entry of the matrix goes; `u64::MAX` for none.
    pub(super) target: Buffer<u64>,
    pub(super) row_place: Buffer<u32>,
    pub(super) column_place: Buffer<u32>,
    /// What solves on GPUs need.
    pub(super) products: Option<Products>,
}

/// The pattern of a matrix: entries of its rows, and the column that each row is matched with.
pub(super) struct Pattern<'a> {
    pub(super) offsets: &'a [u32],
    pub(super) columns: &'a [u32],
    pub(super) matched: Option<&'a [usize]>,
    /// Of symmetric kinds only the entries on and below the diagonal are used.
    pub(super) kind: Kind,
    /// The row that stays beside each in the order of elimination, itself for none; of rows that are not matched.
    pub(super) partner: Option<&'a [usize]>,
}

impl Pattern<'_> {
    fn row(&self, i: usize) -> impl Iterator<Item = usize> + '_ {
        self.columns[self.offsets[i] as usize..self.offsets[i + 1] as usize].iter().map(|&j| j as usize)
    }
}

impl Analysis {
    /// `small` says which fronts a work-group factorises.
    pub(super) fn new(context: &Context, pattern: &Pattern<'_>, small: impl Fn(&Front) -> bool) -> Result<Analysis> {
        let n = pattern.offsets.len() - 1;
        let natural: Vec<usize> = (0..n).collect();
        let matched = pattern.matched.unwrap_or(&natural);
        // Row j of the permuted matrix is the one that is matched with column j.
        let row_of = inverse_of(matched);
        let tree = match pattern.partner {
            None => {
                let graph = Adjacency::of(n, |j| pattern.row(row_of[j]));
                Tree::new(&graph, &order(&graph)?)
            }
            Some(partner) => {
                let pairs = Pairs::new(partner);
                let compressed = pairs.compressed(|i| pattern.row(i));
                Tree::new(&pairs.expanded(&compressed), &pairs.members(&order(&compressed)?))
            }
        };
        let column_place = inverse_of(&tree.order);
        let row_place: Vec<usize> = matched.iter().map(|&j| column_place[j]).collect();
        let (structures, parent) = structures(&tree);
        let (positions, depths) = by_depth(&parent);
        let place = inverse_of(&positions);
        let symmetric = pattern.kind != Kind::Lu;
        let mut analysis = Layout::new(&tree, &structures, &parent, &positions, &depths, symmetric);
        let front_of = |column: usize| place[tree.first.partition_point(|&first| first <= column) - 1];
        let target = (0..n).flat_map(|i| {
            let (row_place, column_place, fronts, rows) = (&row_place, &column_place, &analysis.fronts, &analysis.rows);
            pattern.row(i).map(move |j| {
                let (row, column) = (row_place[i], column_place[j]);
                if symmetric && column > row {
                    return u64::MAX;
                }
                let front = &fronts[front_of(row.min(column))];
                let local = |k: usize| match k - front.first < front.pivots {
                    true => k - front.first,
                    false => {
                        let others = &rows[front.rows..front.rows + front.rest];
                        front.pivots + others.partition_point(|&other| (other as usize) < k)
                    }
                };
                let (row, column) = (local(row), local(column));
                let place = match column < front.pivots {
                    true => column * front.order() + row,
                    false => front.order() * front.pivots + (column - front.pivots) * front.pivots + row,
                };
                (front.factors + place) as u64
            })
        });
        let target: Vec<u64> = target.collect();
        let (tasks, list) = analysis.schedule(small);
        let narrow = |list: &[usize]| list.iter().map(|&k| k as u32).collect::<Vec<_>>();
        let table: Vec<u64> = analysis.fronts.iter().flat_map(Front::fields).collect();
        let device = Tables {
            fronts: Buffer::from_slice(context, &table)?,
            rows: Buffer::from_slice(context, &analysis.rows)?,
            map: Buffer::from_slice(context, &analysis.map)?,
            tasks: Buffer::from_slice(context, &tasks)?,
            list: Buffer::from_slice(context, &list)?,
            target: Buffer::from_slice(context, &target)?,
            row_place: Buffer::from_slice(context, &narrow(&row_place))?,
            column_place: Buffer::from_slice(context, &narrow(&column_place))?,
            products: Products::new(context, &analysis.fronts, &analysis.levels, pattern.kind)?,
        };
        let operations: f64 = analysis.fronts.iter().map(Front::operations).sum();
        let operations = if symmetric { operations / 2.0 } else { operations };
        let Layout { fronts, levels, factors, contributions, .. } = analysis;
        let widest = levels.iter().map(|level| level.rows.len()).max().unwrap_or(0);
        Ok(Analysis { n, fronts, levels, column_place, factors, contributions, widest, operations, device })
    }
}

impl Tables {
    pub(super) fn bytes(&self) -> u64 {
        let long = self.fronts.len() + self.target.len();
        let short = self.rows.len() + self.map.len() + self.tasks.len() + self.list.len();
        let of_products = self.products.as_ref().map_or(0, Products::bytes);
        (8 * long + 4 * (short + self.row_place.len() + self.column_place.len())) as u64 + of_products
    }
}

impl Front {
    fn fields(&self) -> [u64; FIELDS] {
        let Front { first, pivots, rest, factors, contribution, rows, children, count } = *self;
        [first, pivots, rest, factors, contribution, rows, children, count].map(|value| value as u64)
    }
}

/// The other rows of the front of each supernode, and its parent.
fn structures(tree: &Tree) -> (Vec<Vec<u32>>, Vec<usize>) {
    let count = tree.first.len() - 1;
    let mut structures: Vec<Vec<u32>> = Vec::with_capacity(count);
    let mut parent = vec![NONE; count];
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut seen = vec![NONE; tree.graph.len()];
    for s in 0..count {
        let (begin, end) = (tree.first[s], tree.first[s + 1]);
        let mut rows: Vec<u32> = Vec::new();
        let mut add = |row: usize| {
            if row >= end && seen[row] != s {
                seen[row] = s;
                rows.push(row as u32);
            }
        };
        (begin..end).for_each(|j| tree.graph.of_row(j).for_each(&mut add));
        for &child in &children[s] {
            structures[child].iter().for_each(|&row| add(row as usize));
        }
        rows.sort_unstable();
        if let Some(&row) = rows.first() {
            parent[s] = tree.first.partition_point(|&first| first <= row as usize) - 1;
            children[parent[s]].push(s);
        }
        structures.push(rows);
    }
    (structures, parent)
}

/// The supernodes, those farthest from their roots first and children of the same parent beside each other, and the first of each depth.
fn by_depth(parent: &[usize]) -> (Vec<usize>, Vec<std::ops::Range<usize>>) {
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); parent.len()];
    let mut level: Vec<usize> = Vec::new();
    for (s, &parent) in parent.iter().enumerate() {
        if parent == NONE { level.push(s) } else { children[parent].push(s) }
    }
    let mut depths = Vec::new();
    while !level.is_empty() {
        let next = level.iter().flat_map(|&s| children[s].iter().copied()).collect();
        depths.push(std::mem::replace(&mut level, next));
    }
    let mut positions = Vec::with_capacity(parent.len());
    let mut ranges = Vec::with_capacity(depths.len());
    for depth in depths.into_iter().rev() {
        let begin = positions.len();
        positions.extend(depth);
        ranges.push(begin..positions.len());
    }
    (positions, ranges)
}

/// The fronts by position.
struct Layout {
    fronts: Vec<Front>,
    rows: Vec<u32>,
    map: Vec<u32>,
    levels: Vec<Level>,
    factors: usize,
    contributions: [usize; 2],
}

impl Layout {
    fn new(
        tree: &Tree,
        structures: &[Vec<u32>],
        parent: &[usize],
        positions: &[usize],
        depths: &[std::ops::Range<usize>],
        symmetric: bool,
    ) -> Layout {
        let place = inverse_of(positions);
        let total = structures.iter().map(Vec::len).sum();
        let (mut rows, mut map) = (Vec::with_capacity(total), Vec::with_capacity(total));
        let mut fronts: Vec<Front> = Vec::with_capacity(positions.len());
        let mut levels = Vec::with_capacity(depths.len());
        let (mut factors, mut contributions) = (0, [0, 0]);
        for (number, depth) in depths.iter().enumerate() {
            let begin = rows.len();
            let mut contribution = 0;
            for &s in &positions[depth.clone()] {
                let (first, pivots, rest) = (tree.first[s], tree.first[s + 1] - tree.first[s], structures[s].len());
                let front =
                    Front { first, pivots, rest, factors, contribution, rows: rows.len(), children: 0, count: 0 };
                rows.extend(&structures[s]);
                if parent[s] != NONE {
                    let (above, until) = (&structures[parent[s]], tree.first[parent[s] + 1]);
                    let mut at = 0;
                    for &row in &structures[s] {
                        let row = row as usize;
                        if row < until {
                            map.push((row - tree.first[parent[s]]) as u32);
                            continue;
                        }
                        while (above[at] as usize) < row {
                            at += 1;
                        }
                        map.push((until - tree.first[parent[s]] + at) as u32);
                    }
                }
                factors += front.order() * pivots + if symmetric { 0 } else { pivots * rest };
                contribution += rest * rest;
                fronts.push(front);
            }
            let of_level = &mut contributions[number % 2];
            *of_level = contribution.max(*of_level);
            let (tasks, small) = (0..0, 0..0);
            levels.push(Level { fronts: depth.clone(), rows: begin..rows.len(), tasks, small, large: Vec::new() });
        }
        for (position, &s) in positions.iter().enumerate().filter(|(_, s)| parent[**s] != NONE) {
            let above = &mut fronts[place[parent[s]]];
            if above.count == 0 {
                above.children = position;
            }
            above.count += 1;
        }
        Layout { fronts, rows, map, levels, factors, contributions }
    }

    /// Tasks of the assembly, and the list of fronts.
    fn schedule(&mut self, small: impl Fn(&Front) -> bool) -> (Vec<u32>, Vec<u32>) {
        let (mut tasks, mut list) = (Vec::new(), Vec::new());
        for level in &mut self.levels {
            let (first_task, first_small) = (tasks.len() / 2, list.len());
            for position in level.fronts.clone() {
                let front = &self.fronts[position];
                let columns = columns_of_task(front.order());
                let firsts = (0..front.order()).step_by(columns);
                tasks.extend(firsts.flat_map(|column| [position as u32, column as u32]));
                if small(front) { list.push(position as u32) } else { level.large.push(position) }
            }
            level.tasks = first_task..tasks.len() / 2;
            level.small = first_small..list.len();
            level.large.sort_by_key(|&position| std::cmp::Reverse(self.fronts[position].pivots));
            list.extend(level.large.iter().map(|&position| position as u32));
        }
        (tasks, list)
    }
}

/// Columns of a front that a task of the assembly has.
fn columns_of_task(order: usize) -> usize {
    (TASK_ENTRIES / order.max(1)).max(1)
}
