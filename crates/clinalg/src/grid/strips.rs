//! How the passes of [`fused`](super::fused) cut a grid up, with their launch parameters.

use super::components::Sweeps;
use super::fused::{self, Grids, JACOBI_TOGETHER, Pass, Start, TOGETHER, TURN};
use crate::reference::grid2::{self, Order};
use crate::runtime::Shape;
use crate::tune::{self, Choice, Needs, Op, Operation, Trial, both_precisions};
use crate::{Buffer, Context, DeviceInfo, Precision, Real, Result, Vector};

/// How a grid is cut up.
#[derive(Debug, Clone, Copy)]
pub(super) struct Strip {
    /// Items of a work-group, of two columns each.
    pub(super) items: usize,
    /// Rows of a band, even.
    pub(super) rows: usize,
    /// Rows between a load and its use.
    pub(super) ahead: usize,
    /// Strips and bands.
    pub(super) groups: [usize; 2],
}

/// Least rows of a band, below which halos cost more than the shorter band saves (NVIDIA H200).
const LEAST_ROWS: usize = 4;
impl Strip {
    /// For a pass over `n` by `n` points with `halo` columns on either side of a strip.
    pub(super) fn new<T: Real>(context: &Context, op: Op, n: usize, halo: usize) -> Strip {
        let [items, most_rows, groups, ahead, ..] = context.choice(op, T::PRECISION, n * n).map(|value| value as usize);
        let strips = n.div_ceil(2 * items - 2 * halo);
        let slots = context.units() * groups;
        // All groups at once, or several times as many: a few more than that would run alone.
        let rounds = (n * strips).div_ceil(slots * most_rows);
        let bands = (rounds * slots / strips).max(1);
        let rows = n.div_ceil(bands).max(LEAST_ROWS).next_multiple_of(2);
        Strip { items, rows, ahead, groups: [strips, n.div_ceil(rows)] }
    }
}

/// The operation whose launch parameters a pass of red-black takes that needs `halo` columns on either side of a strip.
pub(super) fn operation(halo: usize) -> Op {
    match halo {
        0..=3 => Op::RedBlackSweep,
        4..=7 => Op::RedBlackRestricted,
        _ => Op::RedBlackTurn,
    }
}

const PARAMETERS: &[(&str, &str)] = &[
    ("local", "items of a work-group, two columns each; a power of two"),
    ("rows", "most rows of a band"),
    ("groups", "work-groups that a compute unit runs at a time; bands are cut for as many, or several times as many"),
    ("ahead", "rows between a load and its use"),
];

/// Launch parameters of a sweep of red-black.
pub(crate) static SWEEP: Operation = Operation {
    name: "red_black_sweep",
    about: "a sweep of red-black Gauss-Seidel on a grid",
    needs: |choice, precision| needs(choice, precision, TOGETHER + 1),
    default: |device, precision, _| default(device, precision, TOGETHER + 1, [128, 1024, 4]),
    check: both_precisions!(check_sweep),
    trial: both_precisions!(trial_sweep),
    ..TEMPLATE
};

/// Launch parameters of two sweeps and the restriction of the defect.
pub(crate) static RESTRICTED: Operation = Operation {
    name: "red_black_restricted",
    about: "two sweeps of red-black Gauss-Seidel and the restricted defect, in one pass",
    needs: |choice, precision| needs(choice, precision, 2 * TOGETHER + 2),
    default: |device, precision, _| default(device, precision, 2 * TOGETHER + 2, [64, 1024, 8]),
    check: both_precisions!(check_restricted),
    trial: both_precisions!(trial_restricted),
    ..TEMPLATE
};

/// Launch parameters of the end of one V(2,1) cycle and the beginning of the next.
pub(crate) static TURNED: Operation = Operation {
    name: "red_black_turn",
    about: "correction, three sweeps of red-black Gauss-Seidel, norms and the restricted defect, in one pass",
    needs: |choice, precision| needs(choice, precision, 2 * TURN + 2),
    default: |device, precision, _| default(device, precision, 2 * TURN + 2, [64, 1024, 6]),
    check: both_precisions!(check_turn),
    trial: both_precisions!(trial_turn),
    ..TEMPLATE
};

/// Launch parameters of several sweeps of Jacobi.
pub(crate) static JACOBI: Operation = Operation {
    name: "jacobi_sweeps",
    about: "five sweeps of weighted Jacobi on a grid, in one pass",
    needs: |choice, precision| needs(choice, precision, 2 * JACOBI_TOGETHER),
    default: |device, precision, _| default(device, precision, 2 * JACOBI_TOGETHER, [64, 1024, 8]),
    check: both_precisions!(check_jacobi),
    trial: both_precisions!(trial_jacobi),
    ..TEMPLATE
};

/// What the four operations share.
const TEMPLATE: Operation = Operation {
    name: "",
    about: "",
    shape: Shape::Gpu,
    parameters: PARAMETERS,
    per_item: |&[_, rows, ..]| rows,
    needs: |_, _| None,
    default: |_, _, _| [0; tune::PARAMETERS],
    candidates,
    largest: 27,
    check: |_, _, _| Ok(None),
    trial: |_, _, _| unreachable!("each operation has its own"),
};

/// Items of a group must be more than the columns of a halo.
const LEAST_ITEMS: u32 = 16;

/// With so many values that an item shows the others in each of two rows.
fn needs(&[local, rows, groups, ahead, ..]: &Choice, precision: Precision, shown: usize) -> Option<Needs> {
    let sound = local >= LEAST_ITEMS
        && local.is_power_of_two()
        && (2..=1 << 16).contains(&rows)
        && (1..=1024).contains(&groups)
        && (1..=8).contains(&ahead);
    sound.then_some(Needs {
        group: local as usize,
        local_bytes: 2 * shown * (local as usize + 2) * precision.bytes(),
        tensor: false,
    })
}

/// Numbers from an NVIDIA H200, where the registers of the kernels leave room for so many groups.
fn default(device: &DeviceInfo, precision: Precision, shown: usize, [local, rows, groups]: [u32; 3]) -> Choice {
    // A third row for the two items at the rim.
    let local = tune::local_size(device, local as usize, 3 * shown * precision.bytes()).max(LEAST_ITEMS);
    [local, rows, groups, 2, 0, 0]
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

fn turn_pass() -> Pass {
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
        let m = grid2::coarser(n);
        let [u, f] = [1, 2].map(|seed| tune::whole_numbers(n * n, seed));
        let mut correction = tune::whole_numbers(m * m, 3);
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
        let sums = turn_pass().sums::<T>(context, *n);
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
        pass.run(*n, T::zero(), &Grids { f, u, out, correction, coarse, sums })
    }

    fn jacobi(&self) -> Result<()> {
        fused::jacobi(self.n, JACOBI_TOGETHER, T::zero(), T::of(0.8), &self.u, &self.f, &self.out)
    }
}

fn check_sweep<T: Real>(context: &Context, n: usize) -> Result<Option<String>> {
    check::<T>(context, n, sweep_pass())
}

fn check_restricted<T: Real>(context: &Context, n: usize) -> Result<Option<String>> {
    check::<T>(context, n, restricted_pass())
}

fn check_turn<T: Real>(context: &Context, n: usize) -> Result<Option<String>> {
    check::<T>(context, n, turn_pass())
}

/// The bits of a pass do not depend on how the grid is cut; of the sums only the order does.
fn check<T: Real>(context: &Context, points: usize, pass: Pass) -> Result<Option<String>> {
    let mut problem = Problem::<T>::new(points);
    let device = problem.on_device(context)?;
    device.run(pass)?;
    let Problem { n, u, f, correction } = &mut problem;
    let n = *n;
    if pass.start == Start::Corrected {
        grid2::interpolate_add(n, correction, u);
    }
    let mut d = vec![T::zero(); n * n];
    let mut squares = None;
    for sweep in 0..pass.sweeps.count {
        grid2::red_black(n, u, f, pass.sweeps.order);
        if pass.summed == Some(sweep + 1) {
            grid2::defect(n, u, f, &mut d);
            squares = Some(d.iter().map(|d| d.wide() * d.wide()).sum::<f64>());
        }
    }
    if let Some(wrong) = tune::first_difference(&device.out.to_vec()?, u) {
        return Ok(Some(wrong));
    }
    if let Some(want) = squares {
        let got: f64 = device.sums.to_vec()?.iter().step_by(2).map(|sum| sum.wide()).sum();
        if (got - want).abs() > 64.0 * T::epsilon().wide() * (n as f64) * want {
            return Ok(Some(format!("the sum of squares is {got:e}, expected {want:e}")));
        }
    }
    if pass.restricted {
        let mut coarse = vec![T::zero(); correction.len()];
        grid2::defect(n, u, f, &mut d);
        grid2::restrict(n, &d, &mut coarse);
        return Ok(tune::first_difference(&device.coarse.to_vec()?, &coarse));
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
        grid2::jacobi(n, T::of(0.8), &u, &f, &mut out);
        std::mem::swap(&mut u, &mut out);
    }
    Ok(tune::first_difference(&device.out.to_vec()?, &u))
}

/// Values a point that a pass must read or write: `fine` whole grids and `coarse` grids of a quarter.
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

fn trial_turn<T: Real>(context: &Context, points: usize) -> Result<Trial> {
    trial::<T>(context, points, [3, 2], |device| device.run(turn_pass()))
}

fn trial_jacobi<T: Real>(context: &Context, points: usize) -> Result<Trial> {
    trial::<T>(context, points, [3, 0], OnDevice::jacobi)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canary::on_every_device;
    use crate::tune::CLASSES;

    /// Groups of other shapes than the default, bands of one round and of several.
    #[test]
    fn passes_agree_with_the_reference_however_the_grid_is_cut() {
        on_every_device(|context| {
            if context.shape() == Shape::Cpu || context.require::<f64>().is_err() {
                return;
            }
            for op in [Op::RedBlackSweep, Op::RedBlackRestricted, Op::RedBlackTurn, Op::JacobiSweeps] {
                let operation = op.describe();
                for choice in [[16, 1024, 1, 2, 0, 0], [32, 6, 2, 1, 0, 0], [64, 2, 7, 3, 0, 0]] {
                    assert!(operation.fits(context.device(), Precision::F64, &choice));
                    context.choices().set(op, Precision::F64, 0..CLASSES, &choice);
                    for points in [1, 255, 4099] {
                        let wrong = (operation.check)(context, Precision::F64, points).unwrap();
                        assert_eq!(wrong, None, "{} {choice:?}, {points} points", operation.name);
                    }
                }
            }
        });
    }
}
