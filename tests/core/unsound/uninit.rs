//! Memory that nobody has written takes a promise to write it.

use clinalg::matrix::Values;
use clinalg::{Buffer, Context, Result, Vector};

fn vector(context: &Context) -> Result<Vec<f64>> {
    Vector::uninit(context, 1000)?.to_vec()
}

fn unchecked(context: &Context) -> Result<Vec<f64>> {
    Vector::uninit_unchecked(context, 1000)?.to_vec()
}

fn buffer(context: &Context) -> Result<Vec<f64>> {
    Buffer::uninit_unchecked(context, 1000)?.to_vec()
}

fn like(x: &Vector<f64>) -> Result<Vec<f64>> {
    x.like_uninit()?.to_vec()
}

fn main() {}
