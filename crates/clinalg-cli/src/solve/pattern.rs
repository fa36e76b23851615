//! The picture of a matrix.

use std::path::Path;

use clinalg::{CsrParts, Scalar};

use super::Args;
use super::renumbered::Renumbered;
use crate::exit::Failure;
use crate::plot::{Pattern, Picture};

/// Draws the entries of the matrix in the numbering of the solve; returns the name of the file.
pub(super) fn draw<T: Scalar>(
    picture: &Picture,
    args: &Args,
    a: &CsrParts<T>,
    renumbered: Option<&Renumbered>,
) -> Result<String, Failure> {
    let name = Path::new(&args.matrix).file_name().unwrap_or_default().to_string_lossy();
    let title = format!("{name}: {} × {}, {} entries", a.rows, a.cols, a.nnz());
    let subtitle =
        renumbered.map_or("in the order of the file".to_owned(), |renumbered| renumbered.description.clone());
    let entries = a.triplets().map(|(i, j, _)| (i, j));
    picture.draw(&Pattern::new(title, subtitle, [a.rows, a.cols], entries))
}
