//! Conjugate gradients with the scalars on the device.

use super::best::Best;
use super::cg_steps::{CgSteps, Row};
use super::monitor::Threshold;
use super::scalars::{self, Limits, MOST_AT_ONCE, Ring};
use crate::ops::DotParts;
use crate::runtime::kernels::cg;
use crate::runtime::{In, KernelFamily, Out, Range};
use crate::tune::{self, Needs, Operation, Parameters};
use crate::{Context, Real, Result, Scalar, Vector};

/// Number of values per row; they are listed in `cg.cl`.
const NUMBERS: usize = 8;

fn row_of(n: [f64; NUMBERS]) -> Row {
    let [rho, squares, square, largest, steepest, stop, curvature, made] = n;
    Row { rho, squares, square, largest, steepest, stop, curvature, made }
}

fn numbers(row: Row) -> [f64; NUMBERS] {
    let Row { rho, squares, square, largest, steepest, stop, curvature, made } = row;
    [rho, squares, square, largest, steepest, stop, curvature, made]
}

/// The scalars of conjugate gradients on the device. They are real for Hermitian matrices, so that the launches on
/// complex vectors are those on their real and imaginary parts.
#[derive(Debug)]
pub(super) struct DeviceCg<T: Scalar> {
    ring: Ring<T::Real, NUMBERS>,
    /// Partial sums of p'Ap, r'r and r'z.
    dots: DotParts<T>,
    squares: DotParts<T>,
    rhos: DotParts<T>,
}

impl<T: Scalar> DeviceCg<T> {
    pub(super) fn new(context: &Context) -> Result<DeviceCg<T>> {
        let parts = || DotParts::new(context);
        Ok(DeviceCg { ring: Ring::new(context)?, dots: parts()?, squares: parts()?, rhos: parts()? })
    }
}

impl<T: Scalar> CgSteps<T, Vector<T>> for DeviceCg<T> {
    fn at_once(&self) -> usize {
        MOST_AT_ONCE
    }

    fn rho(&mut self, r: &Vector<T>, z: &Vector<T>) -> Result<f64> {
        self.rhos.set(r, z)?;
        Ok(self.rhos.value()?.re())
    }

    fn start(&mut self, first: Row) -> Result<()> {
        self.ring.start(numbers(first))
    }

    fn curvature(&mut self) -> &mut DotParts<T> {
        &mut self.dots
    }

    fn residual(&mut self, limits: &Limits<T::Real>, q: &Vector<T>, r: &mut Vector<T>) -> Result<()> {
        let (context, n) = (q.context(), q.len() * T::COMPONENTS);
        let ([local, width], parts, range) = scalars::update::<T::Real>(context, n);
        let (count, dots) = self.dots.joined();
        let (rows, at) = (self.ring.rows(), self.ring.at());
        let (q, r) = (In::parts(q.buffer()), Out::parts(r.buffer()));
        let partial = self.squares.parts(parts);
        let program = cg::Program::new().local(local).width_unless(width, 1);
        program.cg_residual(context, range, n, count, dots, rows, at, limits.unsound, q, r, partial)
    }

    fn direction(
        &mut self,
        limits: &Limits<T::Real>,
        (r, z): (&Vector<T>, Option<&Vector<T>>),
        (x, _): (&mut Vector<T>, usize),
        p: &mut Vector<T>,
        _: &mut Best<Vector<T>>,
    ) -> Result<()> {
        if let Some(z) = z {
            self.rhos.set(r, z)?;
        }
        let preconditioned = z.is_some();
        let z = z.unwrap_or(r);
        let (context, n) = (z.context(), z.len() * T::COMPONENTS);
        let (program, range) = match context.family() {
            KernelFamily::Gpu => {
                let [local, width, _, groups, ..] = context.choice(&CG, T::PRECISION, n);
                let most = context.units() * groups as usize;
                let groups = n.div_ceil((CG_ITEMS * local * width) as usize).min(most.max(1));
                (
                    cg::Program::new().local(local.into()).width(width.into()),
                    Range::d1(groups * local as usize, local as usize),
                )
            }
            KernelFamily::Cpu => (cg::Program::<T::Real>::new(), Range::d1(context.chunks().min(n), 1)),
        };
        let (count, squares) = self.squares.joined();
        let (rho_count, rhos) = if preconditioned { self.rhos.joined() } else { (count, squares) };
        let (at, next) = (self.ring.at(), self.ring.advance());
        let rows = self.ring.rows();
        let Limits { unsound, low, high, unit, .. } = *limits;
        let (z, x, p) = (In::parts(z.buffer()), Out::parts(x.buffer()), Out::parts(p.buffer()));
        program.cg_direction(
            context, range, n, count, squares, rho_count, rhos, rows, at, next, unsound, low, high, unit, z, x, p,
        )
    }

    fn read(&self, count: usize) -> Result<Vec<(Row, Row)>> {
        Ok(self.ring.read(count)?.map(|(row, next)| (row_of(row), row_of(next))).collect())
    }
}

/// Reads that an item of `cg_direction` on a GPU has in flight; `ITEMS` in `cg.cl`.
pub(crate) const CG_ITEMS: u32 = 4;

/// The largest number of sums that a launch forms at once, each with one value per item in local memory.
const SUMS: usize = 3;

/// The parameters of the launches on vectors of conjugate gradients and BiCGStab, on a GPU.
pub(crate) static CG: Operation = Operation::new(
    "cg",
    "the vector updates of conjugate gradients and BiCGStab",
    Parameters {
        family: KernelFamily::Gpu,
        names: &[
            ("local", "items of a work-group, a power of two"),
            ("width", "elements that an item reads at once: 1, 2 or 4"),
            ("groups", "work-groups per compute unit of the update of r"),
            ("spread", "work-groups per compute unit of the update of x and p"),
        ],
        needs: |&[local, width, groups, spread, ..], precision| {
            let sound = local.is_power_of_two() && [1, 2, 4].contains(&width) && groups > 0 && spread > 0;
            let local_bytes = SUMS * local as usize * precision.bytes();
            sound.then_some(Needs { group: local as usize, local_bytes, tensor: false })
        },
        // NVIDIA H200: 99 and 97 % of the copy bandwidth.
        default: |device, precision, _| {
            let local = tune::local_size(device, 256, SUMS * precision.bytes());
            [local, 16 / precision.bytes() as u32, 4, 64, 0, 0]
        },
    },
);

/// One iteration on vectors of its own, as its parameters are tried.
pub(crate) struct Iteration<T: Real> {
    scalars: DeviceCg<T>,
    limits: Limits<T>,
    best: Best<Vector<T>>,
    pub(crate) x: Vector<T>,
    pub(crate) r: Vector<T>,
    pub(crate) p: Vector<T>,
    q: Vector<T>,
}

impl<T: Real> Iteration<T> {
    /// With rho = 2, p'Ap = 1 and the unit 1 the step is 2.
    pub(crate) fn new(context: &Context, [x, r, p, q]: [Vector<T>; 4]) -> Result<Iteration<T>> {
        let mut scalars = DeviceCg::new(context)?;
        let one = Vector::filled(context, 1, T::one())?;
        scalars.dots.set(&one, &one)?;
        let limits = Limits::<T>::new(1.0, -1.0, T::max_value().into_f64() / 2.0, Threshold::never());
        let best = Best::new(Vector::uninit(context, 0)?);
        Ok(Iteration { scalars, limits, best, x, r, p, q })
    }

    pub(crate) fn make(&mut self) -> Result<()> {
        self.scalars.residual(&self.limits, &self.q, &mut self.r)?;
        let Iteration { scalars, limits, best, x, r, p, .. } = self;
        scalars.direction(limits, (r, None), (x, 0), p, best)
    }

    pub(crate) fn start(&mut self) -> Result<()> {
        self.scalars.start(Row { rho: 2.0, squares: 2.0, square: 2.0, ..Row::default() })
    }

    /// The same iteration once more.
    pub(crate) fn again(&mut self) -> Result<()> {
        self.scalars.ring.repeat();
        self.make()
    }

    /// p'Ap, whether it was made, and the next r'r and rho.
    pub(crate) fn outcome(&self) -> Result<[f64; 4]> {
        let (row, next) = self.scalars.read(1)?[0];
        Ok([row.curvature, row.made, next.squares, next.rho])
    }
}
