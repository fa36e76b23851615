//! Tables: a row for each frame and point.

use std::io::{Result, Write};
use std::path::{Path, PathBuf};

use clinalg::io::AtomicFile;
use clinalg_ode::System;
use clinalg_ode::problems::Problem;

use super::{Sink, Values};
use crate::exit::Failure;

pub(super) struct Csv {
    path: PathBuf,
    file: AtomicFile,
}

/// Names of the coordinates in a table: none for a single point.
fn coordinates(system: &System) -> &'static [&'static str] {
    let grid = system.grid();
    if grid.points() == 1 { &[] } else { &["x", "y", "z"][..grid.shape().len()] }
}

impl Csv {
    pub(super) fn new(path: &Path, problem: &Problem) -> Result<Csv> {
        let mut file = AtomicFile::create(path)?;
        let system = &problem.system;
        let fields = system.fields().iter().map(String::as_str);
        let names: Vec<&str> = ["t"].into_iter().chain(coordinates(system).iter().copied()).chain(fields).collect();
        writeln!(file, "{}", names.join(","))?;
        Ok(Csv { path: path.to_owned(), file })
    }
}

impl Sink for Csv {
    fn keep(&mut self, problem: &Problem, t: f64, values: &Values<'_>) -> Result<()> {
        let grid = problem.system.grid();
        let (points, fields) = (grid.points(), problem.system.fields().len());
        for p in 0..points {
            write!(self.file, "{t:e}")?;
            for x in &grid.position(p)[..coordinates(&problem.system).len()] {
                write!(self.file, ",{x:e}")?;
            }
            for field in 0..fields {
                // The shortest digits that give the same number again.
                match values {
                    Values::Single(values) => write!(self.file, ",{:e}", values[field * points + p])?,
                    Values::Double(values) => write!(self.file, ",{:e}", values[field * points + p])?,
                }
            }
            writeln!(self.file)?;
        }
        Ok(())
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.file.commit()
    }

    fn path(&self) -> &Path {
        &self.path
    }
}

/// The last rows of a table, one for each point in order, field by field. Columns are found by the names of the fields, the
/// last of a name: a field can hide a coordinate.
///
/// # Errors
/// [`Failure::File`] for a missing column, too few rows or a cell that is not a number.
pub(crate) fn last_frame(path: &Path, system: &System) -> std::result::Result<Vec<f64>, Failure> {
    let fail = |reason: String| Failure::File { path: path.to_owned(), reason };
    let text = clinalg::io::read_text(path).map_err(|error| fail(error.to_string()))?;
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let names: Vec<&str> = lines.next().unwrap_or_default().split(',').map(str::trim).collect();
    let rows: Vec<(usize, &str)> = (2..).zip(lines).collect();
    let points = system.grid().points();
    let Some(first) = rows.len().checked_sub(points) else {
        return Err(fail(format!("{} rows, expected one for each of {points} points", rows.len())));
    };
    let mut all = Vec::with_capacity(system.components());
    for field in system.fields() {
        let column = names.iter().rposition(|name| name == field);
        let column = column.ok_or_else(|| fail(format!("no column {field} among {}", names.join(", "))))?;
        for (number, row) in &rows[first..] {
            let cell = row.split(',').nth(column).unwrap_or_default().trim();
            let value =
                cell.parse().map_err(|_| fail(format!("line {number}: `{cell}` in column {field} is not a number")))?;
            all.push(value);
        }
    }
    Ok(all)
}
