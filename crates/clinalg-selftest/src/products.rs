//! Matrix-vector products of every storage.

use std::collections::BTreeSet;

use rand::Rng;
use rand::rngs::StdRng;

use super::{Data, Suite, Worst, seeded};
use clinalg::{Band, Context, Csr, Dense, Real, Result, Vector, ops};
use clinalg::{BandParts, CsrParts};

/// alpha, beta; with `beta = 0` y holds NaN, which must not be read.
const FACTORS: [(f64, f64); 2] = [(1.0, 0.0), (-2.0, 3.0)];

/// y = alpha A x + beta y on the device.
type OnDevice<'a, T> = &'a dyn Fn(T, &Vector<T>, T, &mut Vector<T>) -> Result<()>;
/// The same on slices.
type OnHost<'a, T> = &'a dyn Fn(T, &[T], T, &mut [T]);

/// One product.
struct Case<'a, T: Real> {
    size: usize,
    /// Terms of the longest row.
    longest: usize,
    data: Data,
    device: OnDevice<'a, T>,
    host: OnHost<'a, T>,
    /// |A| x.
    magnitude: &'a dyn Fn(&[T], &mut [T]),
    rows: usize,
    cols: usize,
}

impl<T: Real> Case<'_, T> {
    fn run(&self, context: &Context, worst: &mut Worst) -> Result<()> {
        let mut rng = seeded(self.size as u64 + 17);
        let x: Vec<T> = self.data.values(&mut rng, self.cols);
        let magnitudes: Vec<T> = x.iter().map(|x| x.abs()).collect();
        let mut scale = vec![T::zero(); self.rows];
        (self.magnitude)(&magnitudes, &mut scale);
        for (alpha, beta) in FACTORS {
            let start: Vec<T> = match beta {
                0.0 => vec![T::nan(); self.rows],
                _ => self.data.values(&mut rng, self.rows),
            };
            let mut want = start.clone();
            (self.host)(T::from_f64(alpha), &x, T::from_f64(beta), &mut want);
            let mut y = Vector::from_slice(context, &start)?;
            (self.device)(T::from_f64(alpha), &Vector::from_slice(context, &x)?, T::from_f64(beta), &mut y)?;
            let added = |i: usize| if beta == 0.0 { 0.0 } else { (beta * start[i].into_f64()).abs() };
            // Both sides round each product and each sum once, and combine.
            let tolerance = self.data.tolerance::<T>(2 * (self.longest + 3));
            worst.compare(self.size, tolerance, &y.to_vec()?, &want, |i| alpha.abs() * scale[i].into_f64() + added(i));
        }
        Ok(())
    }
}

pub(super) fn run<T: Real>(suite: &mut Suite<'_>) {
    sparse::<T>(suite);
    band::<T>(suite);
    dense::<T>(suite);
}

/// A matrix with `entries(i)` entries in row `i`.
pub(super) fn random_csr<T: Real>(
    rng: &mut StdRng,
    (rows, cols): (usize, usize),
    data: Data,
    entries: impl Fn(usize) -> usize,
) -> CsrParts<T> {
    let mut parts = CsrParts { rows, cols, offsets: vec![0], indices: Vec::new(), values: Vec::new() };
    for i in 0..rows {
        let wanted = entries(i).min(cols);
        let mut columns = BTreeSet::new();
        if wanted * 2 > cols {
            columns.extend(0..wanted);
        }
        while columns.len() < wanted {
            columns.insert(rng.random_range(0..cols));
        }
        parts.indices.extend(columns);
        parts.offsets.push(parts.indices.len());
    }
    parts.values = data.values(rng, parts.indices.len());
    parts
}

fn magnitude<T: Real>(a: &CsrParts<T>) -> CsrParts<T> {
    CsrParts { values: a.values.iter().map(|v| v.abs()).collect(), ..a.clone() }
}

fn sparse<T: Real>(suite: &mut Suite<'_>) {
    type Entries = fn(usize) -> usize;
    // The mean and the longest row choose the algorithm: an item, 8 items or 32 items per row.
    let kinds: [(&str, Entries); 4] = [
        ("mv_csr_short_rows", |i| i % 9),
        ("mv_csr_middle_rows", |i| 16 + i % 9),
        ("mv_csr_long_rows", |i| 90 + i % 21),
        ("mv_csr_one_long_row", |i| if i == 5 { usize::MAX } else { i % 4 }),
    ];
    let (context, sizes) = (suite.context, suite.sizes(20_011));
    for (name, entries) in kinds {
        suite.check(name, Some(T::PRECISION), |worst| {
            for &rows in &sizes {
                for (data, cols) in [(Data::Whole, rows), (Data::Random, rows + rows / 3)] {
                    let a = random_csr::<T>(&mut seeded(rows as u64), (rows, cols), data, entries);
                    let on_device = Csr::from_parts(context, &a)?;
                    let positive = magnitude(&a);
                    Case {
                        size: rows,
                        longest: a.offsets.windows(2).map(|w| w[1] - w[0]).max().unwrap_or(0),
                        data,
                        device: &|alpha, x, beta, y| ops::mv(alpha, &on_device, x, beta, y),
                        host: &|alpha, x, beta, y| oracle(&a).mv(alpha, x, beta, y),
                        magnitude: &|x, y| oracle(&positive).mv(T::one(), x, T::zero(), y),
                        rows,
                        cols,
                    }
                    .run(context, worst)?;
                }
            }
            Ok(())
        });
    }
    suite.check("mv_csr_transposed", Some(T::PRECISION), |worst| {
        for &rows in &sizes {
            for (data, cols) in [(Data::Whole, rows), (Data::Random, rows + rows / 3)] {
                let a = random_csr::<T>(&mut seeded(rows as u64), (rows, cols), data, |i| i % 9);
                let on_device = Csr::from_parts(context, &a)?;
                let positive = magnitude(&a);
                let mut count = vec![0_usize; cols];
                a.indices.iter().for_each(|&j| count[j] += 1);
                Case {
                    size: rows,
                    longest: count.into_iter().max().unwrap_or(0),
                    data,
                    device: &|alpha, x, beta, y| ops::mv_transposed(alpha, &on_device, x, beta, y),
                    host: &|alpha, x, beta, y| oracle(&a).mv_transposed(alpha, x, beta, y),
                    magnitude: &|x, y| oracle(&positive).mv_transposed(T::one(), x, T::zero(), y),
                    rows: cols,
                    cols: rows,
                }
                .run(context, worst)?;
            }
        }
        Ok(())
    });
}

/// A random band matrix.
pub(super) fn random_band<T: Real>(
    rng: &mut StdRng,
    (rows, cols): (usize, usize),
    (kl, ku): (usize, usize),
    data: Data,
) -> Result<BandParts<T>> {
    let entries: Vec<_> = (0..rows)
        .flat_map(|i| (i.saturating_sub(kl)..(i + ku + 1).min(cols)).map(move |j| (i, j)))
        .map(|(i, j)| (i, j, data.value(rng)))
        .collect();
    BandParts::from_csr(&CsrParts::from_triplets(rows, cols, &entries)?, kl, ku)
}

fn band<T: Real>(suite: &mut Suite<'_>) {
    let (context, sizes) = (suite.context, suite.sizes(20_011));
    suite.check("mv_band", Some(T::PRECISION), |worst| {
        for &rows in &sizes {
            let shapes =
                [(Data::Whole, rows, (0, 2)), (Data::Random, rows + 3, (2, 5)), (Data::Random, rows / 2, (1, 1))];
            for (data, cols, (kl, ku)) in shapes {
                let a = random_band::<T>(&mut seeded(rows as u64), (rows, cols), (kl, ku), data)?;
                let on_device = Band::from_parts(context, &a)?;
                let positive = BandParts { data: a.data.iter().map(|v| v.abs()).collect(), ..a.clone() };
                Case {
                    size: rows,
                    longest: kl + 1 + ku,
                    data,
                    device: &|alpha, x, beta, y| ops::mv(alpha, &on_device, x, beta, y),
                    host: &|alpha, x, beta, y| band_oracle(&a).mv(alpha, x, beta, y),
                    magnitude: &|x, y| band_oracle(&positive).mv(T::one(), x, T::zero(), y),
                    rows,
                    cols,
                }
                .run(context, worst)?;
            }
        }
        Ok(())
    });
}

fn dense<T: Real>(suite: &mut Suite<'_>) {
    use clinalg_reference::dense::{mv, mv_transposed};
    let context = suite.context;
    let large = if suite.quick { (33, 65) } else { (517, 1031) };
    let shapes = [(0, 0), (0, 3), (3, 0), (1, 1), (1, 65), (31, 2), (32, 32), (33, 31), (64, 7), (65, 64), large];
    for (name, transposed) in [("mv_dense", false), ("mv_dense_transposed", true)] {
        suite.check(name, Some(T::PRECISION), |worst| {
            for (m, n) in shapes {
                for data in Data::ALL {
                    let a: Vec<T> = data.values(&mut seeded((m * n) as u64), m * n);
                    let positive: Vec<T> = a.iter().map(|v| v.abs()).collect();
                    let on_device = Dense::from_column_major(context, m, n, &a)?;
                    let host = if transposed { mv_transposed::<T> } else { mv::<T> };
                    let (rows, cols) = if transposed { (n, m) } else { (m, n) };
                    Case {
                        size: m * n,
                        longest: cols,
                        data,
                        device: &|alpha, x, beta, y| match transposed {
                            false => ops::mv(alpha, &on_device, x, beta, y),
                            true => ops::mv_transposed(alpha, &on_device, x, beta, y),
                        },
                        host: &|alpha, x, beta, y| host(alpha, &a, m, n, x, beta, y),
                        magnitude: &|x, y| host(T::one(), &positive, m, n, x, T::zero(), y),
                        rows,
                        cols,
                    }
                    .run(context, worst)?;
                }
            }
            Ok(())
        });
    }
}

/// The sequential products with `a`.
pub(crate) fn oracle<T>(a: &CsrParts<T>) -> clinalg_reference::csr::Csr<'_, T> {
    let CsrParts { rows, cols, offsets, indices, values } = a;
    clinalg_reference::csr::Csr { rows: *rows, cols: *cols, offsets, indices, values }
}

fn band_oracle<T>(a: &BandParts<T>) -> clinalg_reference::band::Band<'_, T> {
    let BandParts { rows, cols, kl, ku, data } = a;
    clinalg_reference::band::Band { rows: *rows, cols: *cols, kl: *kl, ku: *ku, data }
}
