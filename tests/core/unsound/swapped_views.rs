//! A view lives no longer than what it was borrowed from, and is alone while it can be written.

use clinalg::{Buffer, Context, Result, View};

fn outlives(context: &Context) -> Result<View<'static, f64>> {
    let buffer = Buffer::from_slice(context, &[1.0])?;
    buffer.slice(0..1)
}

fn shared(buffer: &mut Buffer<f64>) -> Result<()> {
    let mut all = buffer.slice_mut(0..2)?;
    let part = buffer.slice(0..1)?;
    all.copy_range(1, part, 0..1)
}

fn main() {}
