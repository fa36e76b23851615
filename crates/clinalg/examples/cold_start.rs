//! Times what compiles kernels at its first call: `cold_start poisson|product`.
//!
//! `benches/cold_start.py` runs it with empty kernel caches.

use std::time::Instant;

use clinalg::multigrid::{Grid, Poisson, PoissonParams};
use clinalg::{Context, Csr, Error, Vector, ops};

fn main() -> Result<(), Error> {
    let what = std::env::args().nth(1).unwrap_or_default();
    let context = Context::global()?;
    let seconds = match what.as_str() {
        "poisson" => {
            let start = Instant::now();
            let mut solver = Poisson::<f64>::new(&context, &Grid::square(1025), &PoissonParams::default())?;
            let n = 1025 * 1025;
            solver.solve(&vec![1.0; n], &mut vec![0.0; n])?;
            start.elapsed()
        }
        "product" => {
            // -1, 2, -1 along the diagonal.
            let n = 100_000;
            let entries: Vec<_> = (0..n)
                .flat_map(|i| (i.max(1) - 1..(i + 2).min(n)).map(move |j| (i, j, if i == j { 2.0 } else { -1.0 })))
                .collect();
            let x = vec![1.0; n];
            let start = Instant::now();
            let a = Csr::<f64>::from_triplets(&context, n, n, &entries)?;
            let x = Vector::from_slice(&context, &x)?;
            let mut y = Vector::zeros(&context, n)?;
            ops::mv(1.0, &a, &x, 0.0, &mut y)?;
            let y = y.to_vec()?;
            assert_eq!((y[0], y[1], y[n - 1]), (1.0, 0.0, 1.0));
            start.elapsed()
        }
        other => return Err(Error::value("argument", "`poisson` or `product`", other)),
    };
    println!("{}", seconds.as_secs_f64());
    Ok(())
}
