//! Uploads, downloads and changes of storage.

use super::products::{random_band, random_csr};
use super::{Data, Suite, Worst, seeded};
use clinalg::CsrParts;
use clinalg::matrix::Values;
use clinalg::{Band, Csr, Dense, Real, ops};

pub(super) fn same<T: Real>(worst: &mut Worst, size: usize, got: &CsrParts<T>, want: &CsrParts<T>) {
    let shape = |a: &CsrParts<T>| (a.rows, a.cols);
    if shape(got) != shape(want) || got.offsets != want.offsets || got.indices != want.indices {
        return worst.fail(format!("size {size}: the positions of the entries differ from the reference"));
    }
    worst.exact(size, &got.values, &want.values);
}

pub(super) fn run<T: Real>(suite: &mut Suite<'_>) {
    let (context, sizes) = (suite.context, suite.sizes(20_011));
    let matrices = || {
        sizes.iter().map(|&n| (n, random_csr::<T>(&mut seeded(n as u64 + 3), (n, n + n / 2), Data::Random, |i| i % 7)))
    };
    suite.check("csr_round_trip", Some(T::PRECISION), |worst| {
        for (n, a) in matrices() {
            same(worst, n, &Csr::from_parts(context, &a)?.to_parts()?, &a);
            // Rows backwards and one entry twice: sorted and summed at upload.
            let mut entries: Vec<_> = a.triplets().collect();
            entries.reverse();
            entries.extend(entries.first().copied());
            let want = CsrParts::from_triplets(a.rows, a.cols, &entries)?;
            same(worst, n, &Csr::from_triplets(context, a.rows, a.cols, &entries)?.to_parts()?, &want);
        }
        Ok(())
    });
    suite.check("csr_from_csc", Some(T::PRECISION), |worst| {
        for (n, a) in matrices() {
            let by_column = a.transpose()?;
            let (offsets, indices, values) = (&by_column.offsets, &by_column.indices, &by_column.values);
            same(worst, n, &Csr::from_csc(context, a.rows, a.cols, offsets, indices, values)?.to_parts()?, &a);
        }
        Ok(())
    });
    suite.check("csr_transpose", Some(T::PRECISION), |worst| {
        for (n, a) in matrices() {
            same(worst, n, &Csr::from_parts(context, &a)?.transpose()?.to_parts()?, &a.transpose()?);
        }
        Ok(())
    });
    suite.check("csr_diagonal", Some(T::PRECISION), |worst| {
        for (n, a) in matrices() {
            worst.exact(n, &Csr::from_parts(context, &a)?.diagonal()?.to_vec()?, &a.diagonal());
        }
        Ok(())
    });
    suite.check("matrix_values", Some(T::PRECISION), |worst| {
        for (n, a) in matrices() {
            let a = Csr::from_parts(context, &a)?;
            let mut twice = a.like()?;
            ops::add(&a, &a, &mut twice)?;
            let want: Vec<T> = a.to_parts()?.values.iter().map(|&v| v + v).collect();
            worst.exact(n, &twice.to_parts()?.values, &want);
        }
        Ok(())
    });
    suite.check("band_round_trip", Some(T::PRECISION), |worst| {
        for &n in &sizes {
            let a = random_band::<T>(&mut seeded(n as u64), (n, n + 2), (1, 3), Data::Random)?;
            worst.exact(n, &Band::from_parts(context, &a)?.to_parts()?.data, &a.data);
        }
        Ok(())
    });
    suite.check("dense_round_trip", Some(T::PRECISION), |worst| {
        for (rows, cols) in [(0, 0), (0, 5), (1, 1), (63, 3), (65, 64)] {
            let a: Vec<T> = Data::Random.values(&mut seeded(rows as u64), rows * cols);
            worst.exact(rows * cols, &Dense::from_column_major(context, rows, cols, &a)?.to_column_major()?, &a);
        }
        Ok(())
    });
}
