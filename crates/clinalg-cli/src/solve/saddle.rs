//! Saddle points for `clinalg solve`.

use clinalg::precond::{Saddle, SaddleParams, SaddleShape, Split};
use clinalg::{Csr, CsrParts, Real};

use super::method::{Made, Method};
use crate::exit::Failure;

/// The block preconditioner, in the shape that the method takes.
pub(super) fn saddle<T: Real>(a: &Csr<T>, parts: &CsrParts<T>, method: Method) -> Result<Made<T>, Failure> {
    let Some(split) = Split::find(parts) else {
        return Err(Failure::usage(
            "--precond saddle needs a saddle point [A B'; B -C]: some rows, but not all, have a diagonal entry that is zero or negative, and C is \
             diagonally dominant; use --precond ilut",
        ));
    };
    let shape = if method == Method::Minres { SaddleShape::Diagonal } else { SaddleShape::Triangular };
    let m = Saddle::new(a, &split, &SaddleParams::default().shape(shape))?;
    let words = m.report().to_string();
    Ok(Some((Box::new(m), words)))
}
