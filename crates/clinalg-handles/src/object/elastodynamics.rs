//! Problems of elastodynamics.

use clinalg_bem::elastodynamics::{ComplexScalar, Problem};

use super::Content;
use crate::kind::{Info, Kind};

impl<S: ComplexScalar> Content for Problem<S> {
    /// It has the rows and columns of H and G, and the real type of its geometry.
    fn info(&self) -> Info {
        let (rows, cols) = (3 * self.rows().len(), 3 * self.mesh().boundary());
        Info::new(Kind::Elastodynamics, S::PRECISION.into(), rows, cols)
    }
}
