//! Saddle points for `clinalg solve`.

use clinalg::precond::{Saddle, SaddleParams, SaddleShape, Split};
use clinalg::{Csr, CsrParts, Error, Real, Scalar};

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

/// Units of rounding that a sum may have of its terms and count as zero.
const ROUNDING: f64 = 64.0;

/// Where the symmetric A takes the vector of zeros and ones, ones in the second block, to zero, as for an enclosed flow, there are solutions only
/// for right-hand sides without a part along it. Removes that part, or refuses it where b comes from a file; whether one was removed.
pub(super) fn remove_null_part<T: Scalar>(
    parts: &CsrParts<T>,
    b: &mut [T],
    tolerance: f64,
    from_file: bool,
) -> Result<bool, Failure> {
    let n = parts.rows;
    let Some(split) = Split::find(parts) else { return Ok(false) };
    let [_, second] = split.rows(n)?;
    let mut is_second = vec![false; n];
    second.iter().for_each(|&i| is_second[i] = true);
    let eps = ROUNDING * <T::Real as num_traits::Float>::epsilon().into_f64();
    let is_null = (0..n).all(|i| {
        let values = parts.row(i).filter(|&(j, _)| is_second[j]).map(|(_, value)| value.widen());
        let (sum, size) = values.fold((T::Wide::from_f64(0.0), 0.0), |(sum, size), v| (sum + v, size + v.modulus()));
        sum.modulus() <= eps * size
    });
    if !is_null {
        return Ok(false);
    }
    let mut removed = false;
    for (column, b) in b.chunks_mut(n).enumerate() {
        let norm = b.iter().map(|v| v.widen().norm_sqr()).sum::<f64>().sqrt();
        let mean = second.iter().map(|&i| b[i].widen()).sum::<T::Wide>() / T::Wide::from_f64(second.len() as f64);
        let part = mean.modulus() * (second.len() as f64).sqrt() / norm;
        // Of b = 0 it is NaN.
        if part.is_nan() || part <= 0.1 * tolerance {
            continue;
        }
        if from_file {
            let expected = "values that add up to 0 in the second block, as A takes constants there to 0 (an enclosed flow); subtract their mean";
            let got = format!("column {} with the part {part:.1e} of its norm along them", column + 1);
            return Err(Error::value("b", expected, got).into());
        }
        second.iter().for_each(|&i| b[i] = T::narrow(b[i].widen() - mean));
        removed = true;
    }
    Ok(removed)
}
