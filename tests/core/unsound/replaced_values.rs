//! The values of a matrix are written, not replaced.

use clinalg::matrix::Values;
use clinalg::{Band, Buffer, Context, Csr, Dense, Result, Vector};

fn sparse(context: &Context, a: &mut Csr<f64>) -> Result<()> {
    *a.values_mut() = Buffer::zeroed(context, 1)?;
    Ok(())
}

fn band(context: &Context, a: &mut Band<f64>) -> Result<()> {
    *a.values_mut() = Buffer::zeroed(context, 1)?;
    Ok(())
}

fn dense(context: &Context, a: &mut Dense<f64>) -> Result<()> {
    *a.values_mut() = Buffer::zeroed(context, 1)?;
    Ok(())
}

fn vector(context: &Context, x: &mut Vector<f64>) -> Result<()> {
    *x.buffer_mut() = Buffer::zeroed(context, 1)?;
    Ok(())
}

fn part(context: &Context, x: &mut Vector<f64>) -> Result<()> {
    let mut other = Buffer::zeroed(context, 1)?;
    std::mem::swap(&mut x.slice_mut(0..1)?, &mut other);
    Ok(())
}

fn main() {}
