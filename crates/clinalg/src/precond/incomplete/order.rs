//! Orders of elimination.

use serde::{Deserialize, Serialize};

use crate::matrix::host::cuthill_mckee;
use crate::solve::colour;
use crate::{CsrParts, Result, Scalar};

/// The order in which the unknowns are eliminated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Ordering {
    /// That of the matrix: the best factors of matrices from grids, with as many levels as the longest chain of dependent rows.
    #[default]
    Natural,
    /// By colours, so that rows of one colour do not depend on each other: as many levels as colours, at the price of more
    /// iterations (Saad 2003, section 12.4).
    Multicolour,
    /// Reverse Cuthill-McKee (Cuthill and McKee 1969; George 1971): a small bandwidth, better factors of matrices in a random order.
    CuthillMcKee,
}

impl Ordering {
    /// For each k, the row that is eliminated in step k.
    pub(super) fn of<T: Scalar>(self, a: &CsrParts<T>) -> Result<Vec<usize>> {
        let mut order: Vec<usize> = (0..a.rows).collect();
        match self {
            Ordering::Natural => {}
            Ordering::Multicolour => {
                let colours = colour(a)?;
                order.sort_by_key(|&i| colours[i]);
            }
            Ordering::CuthillMcKee => order = cuthill_mckee(a)?,
        }
        Ok(order)
    }
}
