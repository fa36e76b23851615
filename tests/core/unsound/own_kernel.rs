//! What a kernel of the caller's does to memory is for the caller to vouch for.

use clinalg::runtime::{Kernel, Range};
use clinalg::{Buffer, Context, Result};

fn launch(context: &Context, kernel: &Kernel, out: &Buffer<f64>) -> Result<()> {
    context.launch_kernel(kernel, Range::d1(1000, 1), &[out.arg()])
}

fn main() {}
