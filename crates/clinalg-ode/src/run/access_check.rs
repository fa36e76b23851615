//! Whether a right-hand side in OpenCL C keeps to the access distance that it declares.

use clinalg::runtime::{Arg, Buffer, GeneratedKernel, Range};
use clinalg::{Context, Real};

use crate::codegen::snippet::{GLOBAL, function};
use crate::model::system::System;
use crate::{Error, Result};

/// Evaluates the snippet of `system` at time `t` for all components of `y` with NaN in place of everything that is further
/// away than declared, and reports whether any of that was read. A branch that this `y` does not take is not checked.
/// Systems of formulas always pass: their distance comes from the formulas.
///
/// ```
/// use clinalg::Context;
/// use clinalg_ode::System;
/// use clinalg_ode::check_access;
///
/// // SAFETY: the text reads by `Y` only, which stays inside the vector.
/// let wrong = unsafe { System::snippet(50, "return Y((I + 3) % N) - Y(I);", 2) }.build()?;
/// let error = check_access::<f64>(&Context::global()?, &wrong, 0.0, &[1.0; 50]).unwrap_err();
/// assert_eq!(error.id(), "clinalg:ode:access");
/// # Ok::<(), clinalg_ode::Error>(())
/// ```
///
/// # Errors
/// [`Error::Access`] with the component that reads furthest; [`Error::Value`] for a `y` of another length; those of the device,
/// among them that the snippet does not compile.
pub fn check_access<T: Real>(context: &Context, system: &System, t: f64, y: &[T]) -> Result<()> {
    if y.len() != system.components() {
        return Err(Error::value("y", format!("{} components", system.components()), y.len()));
    }
    let Some(snippet) = &system.snippet else { return Ok(()) };
    context.require::<T>()?;
    let n = system.components();
    let source = format!(
        "typedef long idx;\n#define POINTS ((idx){n})\n\
         REAL poisoned(const idx j, const idx i, __global const REAL *y, idx *furthest)\n{{\n    \
         const idx away = j < 0 || j >= POINTS ? LONG_MAX : (j > i ? j - i : i - j);\n    \
         *furthest = max(*furthest, away);\n    \
         return away > (idx){} ? (REAL)NAN : y[j];\n}}\n{}\n{}\
         __kernel void check_access(const REAL t, __global const REAL *par, __global const REAL *y, __global REAL *f, \
         __global ulong *far)\n{{\n    const idx i = (idx)get_global_id(0);\n    if (i < POINTS) {{\n        idx furthest = 0;\n        \
         f[i] = derivative(i, t, par, y, &furthest);\n        far[i] = (ulong)furthest;\n    }}\n}}\n",
        snippet.distance,
        snippet.functions,
        function(system, snippet, "derivative", (GLOBAL, ", idx *FURTHEST"), "poisoned((j), I, STATE, FURTHEST)"),
    );
    let kernel = GeneratedKernel::new("check_access", source, T::PRECISION);
    let mut constants = system.constants::<T>();
    constants.resize(constants.len().max(1), T::zero());
    let (par, y) = (Buffer::from_slice(context, &constants)?, Buffer::from_slice(context, y)?);
    let (f, far) = (Buffer::<T>::zeroed(context, n)?, Buffer::<u64>::zeroed(context, n)?);
    let args = [Arg::real::<T>(t), par.arg(), y.arg(), f.arg(), far.arg()];
    // SAFETY: the arguments are those of the kernel above, in its order; all buffers are of this context, `y`, `f` and `far`
    // with a value for each component, `par` with one for each parameter.
    unsafe { context.launch_generated(&kernel, Range::d1(n, context.local()), &args)? };
    let far = far.to_vec()?;
    let (component, furthest) = far.iter().enumerate().max_by_key(|(_, far)| **far).expect("a component at least");
    if *furthest <= snippet.distance as u64 {
        return Ok(());
    }
    Err(Error::Access {
        component,
        read: (*furthest < n as u64).then_some(*furthest as usize),
        distance: snippet.distance,
    })
}
