//! How the passes over grids are tried.

use super::{Trial, Tunable, both_precisions, first_difference, whole_numbers};
use crate::multigrid::cycle::{Order, Start, Sweeps};
use crate::multigrid::launch::Rows;
use crate::multigrid::passes::{Grids, Pass};
use crate::multigrid::poisson2::fused::{self, JACOBI_TOGETHER};
use crate::multigrid::poisson2::tuning::{FUSED, JACOBI, LEAST_ROWS, RESTRICTED, SWEEP};
use crate::multigrid::sequential::stencil::Stencil;
use crate::tune::{Choice, Operation};
use crate::{Buffer, Context, DeviceInfo, Precision, Real, Result, Vector, shown};

pub(super) static TUNABLES: &[Tunable] = &[
    pass(&SWEEP, both_precisions!(check_sweep), both_precisions!(trial_sweep)),
    pass(&RESTRICTED, both_precisions!(check_restricted), both_precisions!(trial_restricted)),
    pass(&FUSED, both_precisions!(check_fused), both_precisions!(trial_fused)),
    pass(&JACOBI, both_precisions!(check_jacobi), both_precisions!(trial_jacobi)),
];

const fn pass(
    operation: &'static Operation,
    check: fn(&Context, Precision, usize) -> Result<Option<String>>,
    trial: fn(&Context, Precision, usize) -> Result<Trial>,
) -> Tunable {
    Tunable { operation, per_item: |&[_, rows, ..]| rows, candidates, largest: 27, check, trial }
}

fn candidates(_: &DeviceInfo, _: Precision) -> Vec<Choice> {
    let mut all = Vec::new();
    let at_a_time: [(u32, &[u32]); 5] =
        [(16, &[16]), (32, &[8, 12, 16]), (64, &[4, 5, 6, 7, 8, 10, 12]), (128, &[2, 3, 4, 5, 6]), (256, &[1, 2, 3])];
    for (local, groups) in at_a_time {
        for &groups in groups {
            all.extend([128, 256, 1024].map(|rows| [local, rows, groups, 2, 0, 0]));
        }
    }
    all.extend([1, 3].map(|ahead| [64, 1024, 7, ahead, 0, 0]));
    all
}

/// Two sweeps and one, as in the cycle by default.
const PRE: Sweeps = Sweeps { count: 2, order: Order::RedFirst };
const POST: Sweeps = Sweeps { count: 1, order: Order::RedFirst };

fn sweep_pass() -> Pass {
    Pass::smoothing(POST)
}

fn restricted_pass() -> Pass {
    Pass { restricted: true, ..Pass::smoothing(PRE) }
}

fn fused_pass() -> Pass {
    let sweeps = Sweeps { count: PRE.count + POST.count, ..PRE };
    Pass { start: Start::Corrected, sweeps, summed: Some(POST.count), restricted: true }
}

/// The side 2^k + 1 of at most about `n` points, at least 5.
fn side(n: usize) -> usize {
    (1 << (n.max(16).ilog2() / 2)) + 1
}

/// Grids of random values for a trial.
struct Problem<T: Real> {
    n: usize,
    u: Vec<T>,
    f: Vec<T>,
    correction: Vec<T>,
}

impl<T: Real> Problem<T> {
    fn new(points: usize) -> Problem<T> {
        let n = side(points);
        let m = n.div_ceil(2);
        let [u, f] = [1, 2].map(|seed| whole_numbers(n * n, seed));
        let mut correction = whole_numbers(m * m, 3);
        // The coarse solution is 0 on the boundary.
        for k in 0..m {
            for p in [k, (m - 1) * m + k, k * m, k * m + m - 1] {
                correction[p] = T::zero();
            }
        }
        Problem { n, u, f, correction }
    }

    fn on_device(&self, context: &Context) -> Result<OnDevice<T>> {
        let Problem { n, u, f, correction } = self;
        let sums = fused_pass().sums::<T>(context, (*n, Rows::all(*n)));
        Ok(OnDevice {
            n: *n,
            f: Vector::from_slice(context, f)?,
            u: Vector::from_slice(context, u)?,
            out: Vector::zeros(context, u.len())?,
            coarse: Vector::zeros(context, correction.len())?,
            correction: Vector::from_slice(context, correction)?,
            sums: Buffer::zeroed(context, sums)?,
        })
    }
}

struct OnDevice<T: Real> {
    n: usize,
    f: Vector<T>,
    u: Vector<T>,
    out: Vector<T>,
    correction: Vector<T>,
    coarse: Vector<T>,
    sums: Buffer<T>,
}

impl<T: Real> OnDevice<T> {
    fn run(&self, pass: Pass) -> Result<()> {
        let OnDevice { n, f, u, out, correction, coarse, sums } = self;
        let sums = pass.summed.map(|_| (sums, 0));
        pass.run((*n, Rows::all(*n)), T::zero(), &Grids { f, u, out, correction, coarse, sums })
    }

    fn jacobi(&self) -> Result<()> {
        fused::jacobi(
            (self.n, Rows::all(self.n)),
            JACOBI_TOGETHER,
            T::zero(),
            T::from_f64(0.8),
            &self.u,
            &self.f,
            &self.out,
        )
    }
}

fn check_sweep<T: Real>(context: &Context, n: usize) -> Result<Option<String>> {
    check::<T>(context, n, sweep_pass())
}

fn check_restricted<T: Real>(context: &Context, n: usize) -> Result<Option<String>> {
    check::<T>(context, n, restricted_pass())
}

fn check_fused<T: Real>(context: &Context, n: usize) -> Result<Option<String>> {
    check::<T>(context, n, fused_pass())
}

/// The bits of a pass do not depend on how the grid is cut; of the sums only the order does.
fn check<T: Real>(context: &Context, points: usize, pass: Pass) -> Result<Option<String>> {
    let mut problem = Problem::<T>::new(points);
    let device = problem.on_device(context)?;
    device.run(pass)?;
    let Problem { n, u, f, correction } = &mut problem;
    let n = *n;
    let host = Stencil { n, dim: 2, shift: 0.0 };
    if pass.start == Start::Corrected {
        host.interpolate_add(correction, u);
    }
    let mut d = vec![T::zero(); n * n];
    let mut squares = None;
    for sweep in 0..pass.sweeps.count {
        host.red_black(u, f, pass.sweeps.order);
        if pass.summed == Some(sweep + 1) {
            host.defect(u, f, &mut d);
            squares = Some(d.iter().map(|d| d.into_f64() * d.into_f64()).sum::<f64>());
        }
    }
    if let Some(wrong) = first_difference(&device.out.to_vec()?, u) {
        return Ok(Some(wrong));
    }
    if let Some(want) = squares {
        let got: f64 = device.sums.to_vec()?.iter().step_by(2).map(|sum| sum.into_f64()).sum();
        if (got - want).abs() > 64.0 * T::epsilon().into_f64() * (n as f64) * want {
            return Ok(Some(format!("the sum of squares is {}, expected {}", shown(got), shown(want))));
        }
    }
    if pass.restricted {
        let mut coarse = vec![T::zero(); correction.len()];
        host.defect(u, f, &mut d);
        host.restrict(&d, &mut coarse);
        return Ok(first_difference(&device.coarse.to_vec()?, &coarse));
    }
    Ok(None)
}

fn check_jacobi<T: Real>(context: &Context, points: usize) -> Result<Option<String>> {
    let problem = Problem::<T>::new(points);
    let device = problem.on_device(context)?;
    device.jacobi()?;
    let Problem { n, mut u, f, .. } = problem;
    let mut out = u.clone();
    for _ in 0..JACOBI_TOGETHER {
        Stencil { n, dim: 2, shift: 0.0 }.jacobi(T::from_f64(0.8), &u, &f, &mut out);
        std::mem::swap(&mut u, &mut out);
    }
    Ok(first_difference(&device.out.to_vec()?, &u))
}

/// Values per point that a pass must read or write: `fine` whole grids and `coarse` grids of a quarter.
fn trial<T: Real>(
    context: &Context,
    points: usize,
    [fine, coarse]: [usize; 2],
    call: impl Fn(&OnDevice<T>) -> Result<()> + 'static,
) -> Result<Trial> {
    let problem = Problem::<T>::new(points);
    let values = fine * problem.u.len() + coarse * problem.correction.len();
    let mut device = problem.on_device(context)?;
    // Enough for every candidate: bands have at least four rows, strips at least four columns.
    device.sums = Buffer::zeroed(context, 2 * (problem.n.div_ceil(LEAST_ROWS)).pow(2))?;
    Ok(Trial { bytes: (values * T::PRECISION.bytes()) as u64, run: Box::new(move || call(&device)) })
}

fn trial_sweep<T: Real>(context: &Context, points: usize) -> Result<Trial> {
    trial::<T>(context, points, [3, 0], |device| device.run(sweep_pass()))
}

fn trial_restricted<T: Real>(context: &Context, points: usize) -> Result<Trial> {
    trial::<T>(context, points, [3, 1], |device| device.run(restricted_pass()))
}

fn trial_fused<T: Real>(context: &Context, points: usize) -> Result<Trial> {
    trial::<T>(context, points, [3, 2], |device| device.run(fused_pass()))
}

fn trial_jacobi<T: Real>(context: &Context, points: usize) -> Result<Trial> {
    trial::<T>(context, points, [3, 0], OnDevice::jacobi)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canary::on_every_device;
    use crate::runtime::KernelFamily;
    use crate::tune::CLASSES;
    use crate::tuner::named;

    /// Groups of other shapes than the default, bands of one round and of several.
    #[test]
    fn passes_agree_with_the_reference_however_the_grid_is_cut() {
        on_every_device(|context| {
            if context.family() == KernelFamily::Cpu || context.require::<f64>().is_err() {
                return;
            }
            for name in ["red_black_sweep", "red_black_restricted", "red_black_turn", "jacobi_sweeps"] {
                let tunable = named(name).unwrap();
                let operation = tunable.operation;
                for choice in [[16, 1024, 1, 2, 0, 0], [32, 6, 2, 1, 0, 0], [64, 2, 7, 3, 0, 0]] {
                    assert!(operation.fits(context.device(), Precision::F64, &choice));
                    context.choices().set(operation, Precision::F64, 0..CLASSES, &choice);
                    for points in [1, 255, 4099] {
                        let wrong = (tunable.check)(context, Precision::F64, points).unwrap();
                        assert_eq!(wrong, None, "{} {choice:?}, {points} points", operation.name);
                    }
                }
            }
        });
    }
}
