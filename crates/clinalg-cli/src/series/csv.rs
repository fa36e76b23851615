//! Tables: a row for each frame and point.

use std::fs::File;
use std::io::{BufRead, BufReader, Error, Result, Write};
use std::path::{Path, PathBuf};

use clinalg::io::AtomicFile;
use clinalg_ode::System;

use super::{Content, Sink};
use crate::data::{Values, write_names, write_rows};
use crate::exit::Failure;

pub(super) struct Csv {
    path: PathBuf,
    file: AtomicFile,
}

impl Csv {
    pub(super) fn new(path: &Path, axes: &[Vec<f64>], fields: &[&str]) -> Result<Csv> {
        let mut file = AtomicFile::create(path)?;
        write_names(&mut file, Some("t"), axes, fields)?;
        Ok(Csv { path: path.to_owned(), file })
    }

    /// An error where an earlier table has other columns.
    pub(super) fn check(path: &Path, axes: &[Vec<f64>], fields: &[&str]) -> Result<()> {
        let (mut expected, mut got) = (Vec::new(), String::new());
        write_names(&mut expected, Some("t"), axes, fields)?;
        BufReader::new(File::open(path)?).read_line(&mut got)?;
        let (expected, got) = (String::from_utf8_lossy(&expected), got.trim());
        if expected.trim() == got {
            return Ok(());
        }
        Err(Error::other(format!("it has the columns {got}, expected {}", expected.trim())))
    }
}

impl Sink for Csv {
    fn keep_earlier(&mut self, _: &Content, before: f64) -> Result<Vec<f64>> {
        let mut times = Vec::new();
        for (number, line) in (1..).zip(BufReader::new(File::open(&self.path)?).lines()).skip(1) {
            let line = line?;
            let cell = line.split(',').next().unwrap_or_default().trim();
            let t: f64 = cell.parse().map_err(|_| Error::other(format!("line {number}: `{cell}` is not a time")))?;
            if t >= before {
                break;
            }
            if times.last() != Some(&t) {
                times.push(t);
            }
            writeln!(self.file, "{line}")?;
        }
        Ok(times)
    }

    fn keep(&mut self, content: &Content, t: f64, values: &Values) -> Result<()> {
        write_rows(&mut self.file, Some(t), &content.axes, content.fields.len(), values)
    }

    fn close(self: Box<Self>, _: &Content) -> Result<()> {
        self.file.commit()
    }
}

/// The last rows of a table, one for each point in order, field by field. Columns are found by the names of the fields, the
/// last of a name: a field can hide a coordinate.
///
/// # Errors
/// [`Failure::File`] for a missing column, too few rows or a cell that is not a number.
pub(crate) fn last_frame(path: &Path, system: &System) -> std::result::Result<Vec<f64>, Failure> {
    let fail = |reason: String| Failure::file(path, reason);
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
