//! Times products and factorisations of dense matrices, for `benches/compare_dense.py`.
//!
//! `dense OPERATION N PRECISION [SAMPLES] [--kernels]` with `gemm`, `update` (C - A B of n x 64 and 64 x n), `project` (A' B of n x 64 and
//! n x n), `lu`, `cholesky`, `qr` or `trsm`, and `f32`, `f64`, `c32` or `c64` (complex), prints a line of JSON:
//! the seconds of each sample, the operations, the error (the residual of a product or of a system beside the sizes of its terms), and with
//! `--kernels` the device time of each kernel in one more run.

use std::time::Instant;

use clinalg::matrix::Values;
use clinalg::ops::factor::{Diagonal, Side, Triangle};
use clinalg::ops::{self, Cholesky, Lu, Qr, Transpose};
use clinalg::{Complex, Context, ContextOptions, Dense, Device, Real, Scalar, Vector};

type Outcome<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [operation, n, precision, rest @ ..] = words.as_slice() else {
        return Err("usage: dense OPERATION N PRECISION [SAMPLES] [--kernels]".into());
    };
    let kernels = rest.iter().any(|word| word == "--kernels");
    let samples = rest.first().and_then(|word| word.parse().ok()).unwrap_or(5);
    let run = match precision.as_str() {
        "f32" => measure::<f32>,
        "f64" => measure::<f64>,
        "c32" => measure::<Complex<f32>>,
        "c64" => measure::<Complex<f64>>,
        other => return Err(format!("no precision `{other}`").into()),
    };
    run(operation, n.parse()?, precision, samples, kernels)
}

/// Columns or rows of the narrow matrices of `update` and `project`.
const FEW: usize = 64;

/// Numbers in [-1, 1), by splitmix64.
fn noise<T: Scalar>(count: usize, seed: u64) -> Vec<T> {
    let part = |k: u64| {
        let mut z = (seed + k).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        T::Real::from_f64(((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 52) as f64 - 1.0)
    };
    (0..count as u64).map(|k| T::from_parts(part(2 * k), part(2 * k + 1))).collect()
}

fn measure<T: Scalar>(operation: &str, n: usize, precision: &str, samples: usize, kernels: bool) -> Outcome<()> {
    let device = Device::default_device()?;
    let context = Context::new(&device, &ContextOptions::default())?;
    let mut case = Case::<T>::new(&context, operation, n)?;
    let mut seconds = Vec::new();
    for sample in 0..=samples {
        case.prepare()?;
        context.finish()?;
        let start = Instant::now();
        case.run()?;
        context.finish()?;
        // The first builds kernels.
        if sample > 0 {
            seconds.push(start.elapsed().as_secs_f64());
        }
    }
    let error = case.error()?;
    let mut timings = Vec::new();
    if kernels {
        let context = Context::new(&device, &ContextOptions { profiling: true, ..ContextOptions::default() })?;
        let mut case = Case::<T>::new(&context, operation, n)?;
        for _ in 0..2 {
            case.prepare()?;
            context.reset_timings();
            case.run()?;
        }
        timings = context.timings()?;
    }
    let line = serde_json::json!({
        "operation": operation, "n": n, "precision": precision, "device": context.device().name,
        "seconds": seconds, "flops": case.flops(), "error": error, "kernels": timings,
    });
    println!("{line}");
    Ok(())
}

/// One operation on matrices of its own.
struct Case<T: Scalar> {
    operation: String,
    n: usize,
    a: Dense<T>,
    /// A factor or several right-hand sides.
    b: Dense<T>,
    /// What the operation writes.
    result: Dense<T>,
    lu: Option<Lu<T>>,
    cholesky: Option<Cholesky<T>>,
    qr: Option<Qr<T>>,
}

impl<T: Scalar> Case<T> {
    fn new(context: &Context, operation: &str, n: usize) -> Outcome<Case<T>> {
        let mut values = noise::<T>(n * n, 1);
        match operation {
            "gemm" | "update" | "project" | "lu" | "qr" => {}
            // A dominant diagonal makes it positive definite, and triangular solutions bounded.
            "cholesky" | "trsm" => {
                for i in 0..n {
                    for j in 0..i {
                        values[i * n + j] = if operation == "trsm" { T::zero() } else { values[j * n + i].conj() };
                    }
                    values[i * n + i] = T::from_f64(2.0 * n as f64);
                }
            }
            other => return Err(format!("no operation `{other}`").into()),
        }
        let few = if matches!(operation, "update" | "project") { FEW } else { n };
        let a = Dense::from_column_major(context, n, few, &values[..n * few])?;
        let depth = if operation == "update" { FEW } else { n };
        let b = Dense::from_column_major(context, depth, n, &noise::<T>(depth * n, 1 << 40))?;
        let result = Dense::zeros(context, 0, 0)?;
        Ok(Case { operation: operation.into(), n, a, b, result, lu: None, cholesky: None, qr: None })
    }

    fn flops(&self) -> f64 {
        let n = self.n as f64;
        // A complex multiplication with an addition is four real ones.
        let scale = if T::IS_COMPLEX { 4.0 } else { 1.0 };
        scale
            * match self.operation.as_str() {
                "gemm" => 2.0 * n * n * n,
                "update" | "project" => 2.0 * n * n * FEW as f64,
                "lu" => 2.0 / 3.0 * n * n * n,
                "cholesky" => n * n * n / 3.0,
                "qr" => 4.0 / 3.0 * n * n * n,
                _ => n * n * n,
            }
    }

    /// What is not timed.
    fn prepare(&mut self) -> Outcome<()> {
        (self.lu, self.cholesky, self.qr) = (None, None, None);
        let context = self.a.context();
        self.result = match self.operation.as_str() {
            "gemm" | "update" => Dense::zeros(context, self.n, self.n)?,
            "project" => Dense::zeros(context, FEW, self.n)?,
            "trsm" => self.b.try_clone()?,
            _ => self.a.try_clone()?,
        };
        Ok(())
    }

    fn run(&mut self) -> Outcome<()> {
        let context = self.a.context().clone();
        let taken = |result: &mut Dense<T>| Dense::zeros(&context, 0, 0).map(|empty| std::mem::replace(result, empty));
        match self.operation.as_str() {
            "gemm" => {
                let (a, b) = (&self.a, &self.b);
                ops::gemm(T::one(), Transpose::No, a, Transpose::No, b, T::zero(), &mut self.result)?;
            }
            "update" => {
                let (a, b) = (&self.a, &self.b);
                ops::gemm(-T::one(), Transpose::No, a, Transpose::No, b, T::one(), &mut self.result)?;
            }
            "project" => {
                let (a, b) = (&self.a, &self.b);
                ops::gemm(T::one(), Transpose::Conjugate, a, Transpose::No, b, T::zero(), &mut self.result)?;
            }
            "lu" => self.lu = Some(Lu::new(taken(&mut self.result)?)?),
            "qr" => self.qr = Some(Qr::new(taken(&mut self.result)?)?),
            "cholesky" => self.cholesky = Some(Cholesky::new(taken(&mut self.result)?)?),
            _ => {
                let (side, triangle) = (Side::Left, Triangle::Lower);
                ops::solve_triangular(side, triangle, Transpose::No, Diagonal::Stored, &self.a, &mut self.result)?;
            }
        }
        Ok(())
    }

    /// The residual beside the sizes of its terms, in the 2-norm.
    fn error(&self) -> Outcome<f64> {
        let (n, context) = (self.n, self.a.context());
        let x = noise::<T>(n, 77);
        if matches!(self.operation.as_str(), "gemm" | "update" | "project") {
            let (adjoint, sign) = (self.operation == "project", if self.operation == "update" { -1.0 } else { 1.0 });
            let x = Vector::from_slice(context, &x)?;
            let mut bx = Vector::zeros(context, self.b.rows())?;
            let mut abx = Vector::zeros(context, self.result.rows())?;
            ops::mv(T::from_f64(sign), &self.b, &x, T::zero(), &mut bx)?;
            match adjoint {
                true => ops::mv_conj_transposed(T::one(), &self.a, &bx, T::zero(), &mut abx)?,
                false => ops::mv(T::one(), &self.a, &bx, T::zero(), &mut abx)?,
            }
            let size = ops::norm2(&abx)?;
            ops::mv(-T::one(), &self.result, &x, T::one(), &mut abx)?;
            return Ok(ops::norm2(&abx)?.into_f64() / size.into_f64());
        }
        let b = Dense::from_column_major(context, n, 1, &x)?;
        let solution = match (&self.lu, &self.cholesky, &self.qr) {
            (Some(lu), ..) => lu.solve(&b)?,
            (_, Some(cholesky), _) => cholesky.solve(&b)?,
            (.., Some(qr)) => qr.solve(&b)?,
            _ => return self.triangular_error(&x),
        };
        let mut residual = Vector::from_slice(context, &x)?;
        let solution = Vector::from_slice(context, &solution.to_column_major()?)?;
        ops::mv(-T::one(), &self.a, &solution, T::one(), &mut residual)?;
        let size = ops::norm2(self.a.as_vector())?.into_f64() * ops::norm2(&solution)?.into_f64();
        Ok(ops::norm2(&residual)?.into_f64() / size)
    }

    /// B v - A (X v) beside |A| |X v|.
    fn triangular_error(&self, v: &[T]) -> Outcome<f64> {
        let (n, context) = (self.n, self.a.context());
        let v = Vector::from_slice(context, v)?;
        let (mut xv, mut residual) = (Vector::zeros(context, n)?, Vector::zeros(context, n)?);
        ops::mv(T::one(), &self.result, &v, T::zero(), &mut xv)?;
        ops::mv(T::one(), &self.b, &v, T::zero(), &mut residual)?;
        ops::mv(-T::one(), &self.a, &xv, T::one(), &mut residual)?;
        let size = ops::norm2(self.a.as_vector())?.into_f64() * ops::norm2(&xv)?.into_f64();
        Ok(ops::norm2(&residual)?.into_f64() / size)
    }
}
