//! Names in generated kernels.

use std::cell::RefCell;

use crate::method::graph::Value;
use crate::model::system::System;

/// Keeps a loop over few points from becoming vector code, which would take long to compile.
pub(crate) const SCALAR: &str = "#pragma clang loop vectorize(disable)\n";

/// Points of a row from which on loops go along rows.
const LONG_ROW: usize = 256;

/// Whether loops of CPUs go over planes, because rows are too short for them.
pub(crate) fn flat(system: &System) -> bool {
    system.grid.dims == 2 && system.grid.n[0] < LONG_ROW && system.snippet.is_none() && !system.is_dense()
}

pub(crate) fn plain_name(v: Value, f: usize) -> String {
    format!("n{}_{f}", v.0)
}

pub(crate) fn signed(d: i32) -> String {
    if d < 0 { format!("m{}", d.unsigned_abs()) } else { d.to_string() }
}

pub(crate) fn row_name(dy: i32, dz: i32) -> String {
    format!("row_{}_{}", signed(dy), signed(dz))
}

pub(crate) fn column_name(d: i32) -> String {
    format!("x_{}", signed(d))
}

/// The lines of `known` from number `said` on, and marks them as written. Later lines may use the names in them.
pub(crate) fn new_lines(known: &RefCell<Vec<String>>, said: &mut usize) -> Vec<String> {
    let lines = known.borrow()[*said..].to_vec();
    *said += lines.len();
    lines
}
