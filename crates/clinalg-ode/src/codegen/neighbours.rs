//! Neighbours and what stands for them outside the grid.

use std::cell::RefCell;
use std::fmt::Write;

use clinalg::Real;

use crate::codegen::all_pairs;
use crate::codegen::names::{row_name, signed};
use crate::codegen::writer::Writer;
use crate::method::graph::{Op, Value};
use crate::model::formula::Expr;
use crate::model::grid::{Bound, Side};

impl<T: Real> Writer<'_, T> {
    /// First points of the rows that neighbours stand in.
    pub(crate) fn row(&self) -> String {
        let mut rows: Vec<[i32; 2]> = self.offsets().iter().map(|o| [o[1], o[2]]).collect();
        rows.sort_unstable();
        rows.dedup();
        let mut text = String::new();
        for [dy, dz] in rows {
            let (y, z) = (self.neighbour(1, dy), self.neighbour(2, dz));
            writeln!(text, "        const idx {} = NX * ({y} + NY * {z});", row_name(dy, dz)).expect("text grows");
        }
        text
    }

    /// Offsets that the group's right-hand sides read.
    pub(crate) fn offsets(&self) -> Vec<[i32; 3]> {
        let any = self.group.nodes.iter().any(|v| matches!(self.plan.graph().node(*v).op, Op::Rhs { .. }));
        if any { self.system.offsets() } else { Vec::new() }
    }

    /// How far along x neighbours reach down and up.
    pub(crate) fn reach(&self) -> (i32, i32) {
        let all = self.offsets();
        (all.iter().map(|o| -o[0]).max().unwrap_or(0).max(0), all.iter().map(|o| o[0]).max().unwrap_or(0).max(0))
    }

    /// Index along an axis of the point that stands for the neighbour at a distance; inside the grid in any case.
    pub(crate) fn neighbour(&self, axis: usize, d: i32) -> String {
        let (i, n) = (["ix", "iy", "iz"][axis], ["NX", "NY", "NZ"][axis]);
        let low = d < 0;
        let other = match (&self.system.bounds[axis][usize::from(!low)], low) {
            (Bound::Mirror, true) => format!("-({i} + ({d}))"),
            (Bound::Mirror, false) => format!("2 * ({n} - 1) - ({i} + {d})"),
            (Bound::Copy | Bound::Value(_), true) => "0".into(),
            (Bound::Copy | Bound::Value(_), false) => format!("{n} - 1"),
            (Bound::Periodic, true) => format!("{i} + ({d}) + {n}"),
            (Bound::Periodic, false) => format!("{i} + {d} - {n}"),
        };
        match d {
            0 => i.into(),
            _ if low => format!("({i} + ({d}) < 0 ? {other} : {i} + ({d}))"),
            _ => format!("({i} + {d} >= {n} ? {other} : {i} + {d})"),
        }
    }

    /// The neighbour of a point at an offset, in a loop over a plane where all neighbours are in memory, though maybe in other
    /// rows: `at` reads field `field` of the point so many points further. What has to be known for it is added to
    /// `known`; it is read before it is chosen, because only then the loop becomes vector code.
    pub(crate) fn beside(
        &self,
        x: Value,
        field: usize,
        [dx, dy, _]: [i32; 3],
        known: &RefCell<Vec<String>>,
        at: &dyn Fn(i64) -> String,
    ) -> String {
        let n = self.system.grid.n[0] as i64;
        let row = i64::from(dy) * n;
        let d = i64::from(dx);
        let side = usize::from(dx > 0);
        let reach = d.abs();
        // Columns from which the neighbour is outside, and how far its replacement is from the point.
        let others: Vec<(i64, i64)> = match &self.system.bounds[0][side] {
            Bound::Value(_) => Vec::new(),
            bound => (0..reach)
                .map(|j| {
                    let other = match bound {
                        Bound::Mirror => reach - 2 * j,
                        Bound::Periodic => n - reach,
                        _ => -j,
                    };
                    if side == 0 { (j, other) } else { (n - 1 - j, -other) }
                })
                .collect(),
        };
        if reach == 0 {
            return at(row);
        }
        let name = format!("m{}_{field}_{}_{}", x.0, signed(dx), signed(dy));
        let mut known = known.borrow_mut();
        let declared = format!("const REAL {name} = ");
        if !known.iter().any(|line| line.starts_with(&declared)) {
            known.push(format!("const REAL {name}_in = {};", at(d + row)));
            let mut choice = String::new();
            for (j, (column, other)) in others.iter().enumerate() {
                known.push(format!("const REAL {name}_{j} = {};", at(other + row)));
                choice.push_str(&format!("ix == {column} ? {name}_{j} : "));
            }
            known.push(format!("{declared}{choice}{name}_in;"));
        }
        name
    }

    /// The formula of field `f` as the right-hand side `node`; `read` reads a neighbour, `inside` names the axes along which
    /// no neighbour is outside the grid.
    pub(crate) fn derivative(
        &self,
        f: usize,
        node: usize,
        inside: &dyn Fn(usize) -> bool,
        read: &dyn Fn(usize, [i32; 3]) -> String,
    ) -> String {
        self.derivative_with(f, node, inside, read, &|leaf| match leaf {
            Expr::Sum(sum) => {
                let m = self.system.sums().iter().position(|s| *s == &**sum).expect("the system's sums are all there");
                all_pairs::sum_name(Value(node), m, self.family)
            }
            _ => {
                let Op::Rhs { x, .. } = self.plan.graph().node(Value(node)).op else {
                    unreachable!("only right-hand sides have formulas")
                };
                match self.recomputed().contains(&x) {
                    true => format!("derivative{}(p, t{node}, par, par, {})", x.0, self.passed().1),
                    false => format!("derivative(p, t{node}, par, {})", self.buffer(x)),
                }
            }
        })
    }

    /// As [`Writer::derivative`], where `whole` stands for what reads by itself: a sum or a snippet.
    pub(crate) fn derivative_with(
        &self,
        f: usize,
        node: usize,
        inside: &dyn Fn(usize) -> bool,
        read: &dyn Fn(usize, [i32; 3]) -> String,
        whole: &dyn Fn(&Expr) -> String,
    ) -> String {
        self.system.formulas[f].opencl::<T>(&mut |leaf| match leaf {
            Expr::Field { field, offset } => self.access(*field, *offset, node, (inside, read), [None; 3]),
            Expr::Sum(_) | Expr::Snippet => whole(leaf),
            other => self.plain(other, [0; 3], node),
        })
    }

    /// Time, parameters and coordinates at an offset.
    fn plain(&self, leaf: &Expr, offset: [i32; 3], node: usize) -> String {
        match leaf {
            Expr::Time => format!("t{node}"),
            Expr::Parameter(p) => format!("par{p}"),
            other => all_pairs::leaf_at_point::<T>(self.system, other, offset),
        }
    }

    /// A neighbour's value, or its replacement outside the grid. `left` has for each axis the side next to the place that the
    /// formula of that side has led in from, so that it is not past the other.
    fn access(
        &self,
        field: usize,
        offset: [i32; 3],
        node: usize,
        (inside, read): (&dyn Fn(usize) -> bool, Read<'_>),
        left: [Option<Side>; 3],
    ) -> String {
        // The first axis that leaves the grid at a side with values decides.
        let mut text = String::new();
        for axis in (0..3).filter(|a| !inside(*a)) {
            let d = offset[axis];
            let side = if d > 0 { Side::High } else { Side::Low };
            let Bound::Value(formulas) = &self.system.bounds[axis][side as usize] else { continue };
            if left[axis].is_some_and(|known| known != side) {
                continue;
            }
            let (i, n) = (["ix", "iy", "iz"][axis], ["NX", "NY", "NZ"][axis]);
            let outside = match d {
                0 => continue,
                _ if d < 0 => format!("{i} + ({d}) < 0"),
                _ => format!("{i} + {d} >= {n}"),
            };
            let mut known = left;
            known[axis] = Some(side);
            let value = formulas[field].opencl::<T>(&mut |leaf| match leaf {
                Expr::Field { field, offset: inward } => {
                    let further = std::array::from_fn(|a| offset[a] + inward[a]);
                    self.access(*field, further, node, (inside, read), known)
                }
                other => self.plain(other, offset, node),
            });
            write!(text, "{outside} ? {value} : ").expect("text grows");
        }
        format!("({text}{})", read(field, offset))
    }
}

/// How a neighbour's value is read: field and offset.
type Read<'a> = &'a dyn Fn(usize, [i32; 3]) -> String;
