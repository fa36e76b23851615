//! The linear system that files and options describe.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use clinalg::precond::{check_finite, check_zeros};
use clinalg::{CsrParts, Error, Scalar};

use super::method::{Method, Reorder};
use super::null::with_lsmr;
use super::renumbered::Renumbered;
use super::{Args, SEED};
use crate::data::random_numbers;
use crate::exit::Failure;
use crate::files::{Loaded, Role};
use crate::output::Output;
use crate::progress::Progress;

/// A driver takes up to half a second to start, and does so while a file of more bytes is read.
const WORTH_A_THREAD: u64 = 16 << 20;

/// A matrix, and where there are files of them, right-hand sides and initial guesses.
pub(super) struct InputFiles {
    matrix: Loaded,
    rhs: Option<Loaded>,
    x0: Option<Loaded>,
    /// Time of reading.
    time: Duration,
}

impl InputFiles {
    pub(super) fn read(args: &Args, out: &Output) -> Result<InputFiles, Failure> {
        let progress = Progress::new(out, "iteration", 1.0);
        progress.stage(format!("reading {}", args.matrix.display()));
        let start = Instant::now();
        let is_large = args.matrix.metadata().is_ok_and(|about| about.len() > WORTH_A_THREAD);
        thread::scope(|scope| {
            let start_driver = || drop(clinalg::runtime::devices());
            let _driver = is_large.then(|| thread::Builder::new().spawn_scoped(scope, start_driver));
            let matrix = Loaded::read(&args.matrix, Role::Matrix)?;
            let rhs = match args.rhs.as_str() {
                "ones" | "random" => None,
                file => Some(Loaded::read(Path::new(file), Role::RightSide)?),
            };
            let x0 = args.x0.as_deref().map(|path| Loaded::read(path, Role::Start)).transpose()?;
            Ok(InputFiles { matrix, rhs, x0, time: start.elapsed() })
        })
    }

    pub(super) fn are_complex(&self) -> bool {
        [Some(&self.matrix), self.rhs.as_ref(), self.x0.as_ref()].into_iter().flatten().any(Loaded::is_complex)
    }
}

/// The matrix, the right-hand sides and the initial guesses, in the numbering of the solve.
pub(super) struct LinearSystem<T> {
    pub(super) parts: CsrParts<T>,
    /// Column by column.
    pub(super) b: Vec<T>,
    /// Column by column; `None` for 0.
    pub(super) starts: Option<Vec<T>>,
    /// Whether the right-hand sides come from a file.
    pub(super) from_file: bool,
    pub(super) renumbered: Option<Renumbered>,
    /// Time of reading.
    pub(super) time: Duration,
}

impl<T: Scalar> LinearSystem<T> {
    pub(super) fn new(args: &Args, files: InputFiles) -> Result<LinearSystem<T>, Failure> {
        let InputFiles { matrix, rhs, x0, time } = files;
        let start = Instant::now();
        let mut parts = matrix.matrix::<T>()?;
        let from_file = rhs.is_some();
        let mut b = args.right_sides::<T>(rhs, parts.rows)?;
        let mut starts = args.starts::<T>(x0, parts.cols, b.len() / parts.rows.max(1))?;
        if args.reorder != Reorder::None {
            args.check_numbered(&parts, &b)?;
        }
        let renumbered = Renumbered::new(args, &mut parts, &mut b, starts.as_mut())?;
        Ok(LinearSystem { parts, b, starts, from_file, renumbered, time: time + start.elapsed() })
    }
}

impl Args {
    /// An error for entries that are not finite and for rows and columns of zeros, by the numbering of the file.
    fn check_numbered<T: Scalar>(&self, parts: &CsrParts<T>, b: &[T]) -> Result<(), Failure> {
        check_finite(parts, b)?;
        if parts.rows == parts.cols && !self.method.is_some_and(Method::is_least_squares) {
            let sentence = check_zeros(parts, b).map_err(with_lsmr)?;
            sentence.iter().for_each(|sentence| log::warn!("{sentence}"));
        }
        Ok(())
    }

    /// The right-hand sides, column by column.
    fn right_sides<T: Scalar>(&self, file: Option<Loaded>, rows: usize) -> Result<Vec<T>, Failure> {
        let Some(file) = file else {
            if self.rhs == "ones" {
                return Ok(vec![T::one(); rows]);
            }
            let mut values = vec![T::zero(); rows];
            random_numbers(self.seed.unwrap_or(SEED)).fill_host(&mut values);
            return Ok(values);
        };
        let b = file.columns()?;
        let is_empty = b.cols == 0 && rows > 0;
        if is_empty || (b.rows != rows && (b.rows, b.cols) != (1, rows)) {
            let got = format!("{} x {} ({})", b.rows, b.cols, self.rhs);
            let expected = format!("{rows} x 1 as A has {rows} rows, or more columns");
            return Err(Error::Shape { argument: "b", expected, got }.into());
        }
        Ok(b.values)
    }

    /// Where the solves start, for each right-hand side.
    fn starts<T: Scalar>(&self, file: Option<Loaded>, cols: usize, count: usize) -> Result<Option<Vec<T>>, Failure> {
        let Some(file) = file else { return Ok(None) };
        let x0 = file.columns::<T>()?;
        if (x0.rows, x0.cols) != (cols, count) && (x0.rows, x0.cols, count) != (1, cols, 1) {
            let name = self.x0.as_deref().unwrap_or(Path::new("")).display();
            let got = format!("{} x {} ({name})", x0.rows, x0.cols);
            let expected = format!("{cols} x {count}, for the columns of A and of b");
            return Err(Error::Shape { argument: "x0", expected, got }.into());
        }
        if let Some(k) = x0.values.iter().position(|value| !value.has_finite_parts()) {
            let reason = format!(
                "the value in row {} of column {} (counted from 1) is {}, expected a finite number",
                k % cols + 1,
                k / cols + 1,
                x0.values[k]
            );
            return Err(Error::unsuitable("x0", reason).into());
        }
        Ok(Some(x0.values))
    }
}
