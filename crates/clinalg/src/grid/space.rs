//! The components of three-dimensional grids as kernels.

use super::components::{Components, Norms, StartNorms, Sweeps};
use super::launch::{self, PROCESSOR, Term};
use super::params::Smoother;
use crate::reference::grid2::Order;
use crate::runtime::{Arg, Kernel, Range, Shape, files};
use crate::{Buffer, Context, Real, Result, Vector, ops};

/// What both families of kernels share: the sizes and the launches that differ by name only.
struct Levels<T: Real> {
    context: Context,
    sides: Vec<usize>,
    shift: T,
    /// Of Jacobi; 0 for red-black.
    omega: T,
    /// What a smoother that cannot work in place writes, on each level.
    spare: Vec<Vector<T>>,
}

impl<T: Real> Levels<T> {
    fn new(
        context: &Context,
        sides: &[usize],
        shift: f64,
        smoother: Smoother,
        omega: f64,
        in_place: bool,
    ) -> Result<Levels<T>> {
        let spare = match smoother {
            Smoother::RedBlack if in_place => Vec::new(),
            _ => sides.iter().map(|n| Vector::zeros(context, n.pow(3))).collect::<Result<_>>()?,
        };
        let omega = if smoother == Smoother::Jacobi { omega } else { 0.0 };
        Ok(Levels { context: context.clone(), sides: sides.to_vec(), shift: T::of(shift), omega: T::of(omega), spare })
    }

    fn zeros(&self, level: usize) -> Result<Vector<T>> {
        Vector::zeros(&self.context, self.sides[level].pow(3))
    }

    fn h2(&self, level: usize) -> Arg {
        launch::h2::<T>(self.sides[level]).arg().0
    }

    fn inverse_h2(&self, level: usize) -> Arg {
        launch::inverse_h2::<T>(self.sides[level]).arg().0
    }

    /// 1 / (6 + shift h^2).
    fn weight(&self, level: usize) -> Arg {
        (T::one() / (T::of(6.0) + self.shift * launch::h2(self.sides[level]))).arg().0
    }

    fn enqueue(
        &self,
        name: &'static str,
        defines: &'static [(&'static str, u64)],
        range: Range,
        args: &[Arg],
    ) -> Result<()> {
        self.context.run(&Kernel::new(&files::GRID3, name, T::PRECISION).with(defines), range, args)
    }

    /// Runs the variant for the device: an item per column of `width` by `rows`, or one per part of `parts`.
    fn run(&self, names: [&'static str; 2], [width, rows]: [usize; 2], parts: usize, args: &[Arg]) -> Result<()> {
        match self.context.shape() {
            Shape::Gpu => self.enqueue(names[0], &[], launch::points(&self.context, width, rows), args),
            Shape::Cpu => {
                let parts = self.context.chunks().min(parts);
                self.enqueue(names[1], PROCESSOR, Range::d1(parts, 1), args)
            }
        }
    }

    /// Kernels that are the same for both families, with at most `width` by `rows` items.
    fn run_shared(&self, name: &'static str, [width, rows]: [usize; 2], args: &[Arg]) -> Result<()> {
        match self.context.shape() {
            Shape::Gpu => self.enqueue(name, &[], launch::points(&self.context, width, rows), args),
            Shape::Cpu => self.enqueue(name, PROCESSOR, Range::d1(1, 1), args),
        }
    }

    /// A sweep of Jacobi; u and the spare grid change places.
    fn jacobi(&mut self, level: usize, u: &mut Vector<T>, f: &Vector<T>) -> Result<()> {
        let n = self.sides[level];
        let args = [
            Arg::size(n),
            self.weight(level),
            self.h2(level),
            self.omega.arg().0,
            u.buffer().arg(),
            f.buffer().arg(),
            self.spare[level].buffer().arg(),
        ];
        self.run(["jacobi_gpu", "jacobi_cpu"], [n, n * n], n * n, &args)?;
        std::mem::swap(u, &mut self.spare[level]);
        Ok(())
    }

    fn interpolate_add(&self, level: usize, coarse: &Vector<T>, u: &mut Vector<T>) -> Result<()> {
        let inside = self.sides[level] - 2;
        let args = [Arg::size(self.sides[level]), coarse.buffer().arg(), u.buffer().arg()];
        let rows = inside * inside;
        self.run(["interpolate_add_gpu", "interpolate_add_cpu"], [inside, rows], rows, &args)
    }

    fn solve_coarsest(&self, u: &mut Vector<T>, f: &Vector<T>, zero: bool) -> Result<()> {
        let last = self.sides.len() - 1;
        let args = [Arg::U32(u32::from(zero)), self.weight(last), self.h2(last), f.buffer().arg(), u.buffer().arg()];
        self.run_shared("solve_coarsest", [1, 1], &args)
    }

    fn inject_boundary(&self, level: usize, u: &Vector<T>, coarse: &mut Vector<T>) -> Result<()> {
        let m = self.sides[level + 1];
        self.run_shared("inject_boundary", [m, m], &[Arg::size(m), u.buffer().arg(), coarse.buffer().arg()])
    }

    /// The Euclidean norm of a term over the interior.
    fn residual(&self, term: Term, level: usize, u: &Vector<T>, f: &Vector<T>) -> Result<f64> {
        let context = &self.context;
        let n = self.sides[level];
        let rows = (n - 2) * (n - 2);
        let names = match term {
            Term::Defect => ["sum_square_defect_gpu", "sum_square_defect_cpu"],
            Term::Source => ["sum_square_source_gpu", "sum_square_source_cpu"],
        };
        let (count, range) = launch::shares(context, rows, 1);
        let name = launch::of_shape(context, names);
        let defines = match context.shape() {
            Shape::Gpu => [].as_slice(),
            Shape::Cpu => PROCESSOR,
        };
        launch::root_of_squares(|scale: T| {
            let partials: Vec<T> = context.partials(count, |partial| {
                let args = [
                    Arg::size(n),
                    self.inverse_h2(level),
                    self.shift.arg().0,
                    scale.arg().0,
                    u.buffer().arg(),
                    f.buffer().arg(),
                    partial,
                ];
                self.enqueue(name, defines, range, &args)
            })?;
            Ok(launch::total(&partials))
        })
    }
}

/// Points of a tile along a row and across, as in the kernel: 32 by `tile_height` columns less the rim.
const TILE_WIDTH: usize = 28;
/// Width of the rim of a tile.
const RIM: usize = 2;
/// Work-groups per compute unit that keep a GPU busy; fewer tiles walk up parts of the cube.
const GROUPS_PER_UNIT: usize = 4;
/// Most and fewest planes of a part (NVIDIA H200 at 513^3: 64 to 258 planes make no difference beyond 3 %).
const PLANES: [usize; 2] = [4, 128];

/// What a sweep starts from, with the build of the kernel.
#[derive(Debug, Clone, Copy)]
enum Start {
    Given,
    FromZero,
    Corrected,
}

impl Start {
    fn defines(self) -> &'static [(&'static str, u64)] {
        match self {
            Start::Given => &[("START", 0)],
            Start::FromZero => &[("START", 1)],
            Start::Corrected => &[("START", 2)],
        }
    }
}

/// Kernels for GPUs: tiles of columns that walk up the planes, or an item per column or point.
pub(super) struct Planes<T: Real> {
    levels: Levels<T>,
}

impl<T: Real> Planes<T> {
    pub(super) fn new(
        context: &Context,
        sides: &[usize],
        shift: f64,
        smoother: Smoother,
        omega: f64,
    ) -> Result<Planes<T>> {
        Ok(Planes { levels: Levels::new(context, sides, shift, smoother, omega, false)? })
    }

    /// Tiles across, planes of a part, and the range of a walk over `n` planes.
    fn walk(&self, n: usize) -> (usize, usize, Range) {
        let context = &self.levels.context;
        let local = context.local();
        let (width, height) = (TILE_WIDTH + 2 * RIM, local / (TILE_WIDTH + 2 * RIM));
        let rows = if local >= 256 { 2 } else { 512 / local };
        let tiles = [n.div_ceil(TILE_WIDTH), n.div_ceil(height * rows - 2 * RIM)];
        let wanted = context.device().compute_units as usize * GROUPS_PER_UNIT;
        let parts = wanted.div_ceil(tiles[0] * tiles[1]);
        // Even, so that the three planes of a coarse one meet in one part.
        let planes = n.div_ceil(parts).next_multiple_of(2).clamp(PLANES[0], PLANES[1]);
        let range = Range::d2([tiles[0] * width, tiles[1] * n.div_ceil(planes) * height], [width, height]);
        (tiles[1], planes, range)
    }

    /// The norms of u, of the defect and of the source, in one pass.
    fn norms_on(&self, level: usize, u: &Vector<T>, f: &Vector<T>) -> Result<StartNorms> {
        let levels = &self.levels;
        let n = levels.sides[level];
        let (count, range) = launch::shares(&levels.context, n * n, 3);
        let partials: Vec<T> = levels.context.partials(3 * count, |partial| {
            let args = [
                Arg::size(n),
                levels.inverse_h2(level),
                levels.shift.arg().0,
                u.buffer().arg(),
                f.buffer().arg(),
                partial,
            ];
            levels.enqueue("sum_squares_gpu", &[], range, &args)
        })?;
        Ok(launch::start_norms(&partials))
    }

    /// A sweep of red-black; u and the spare grid change places.
    fn sweep(
        &mut self,
        level: usize,
        start: Start,
        order: Order,
        u: &mut Vector<T>,
        f: &Vector<T>,
        coarse: &Vector<T>,
    ) -> Result<()> {
        let levels = &mut self.levels;
        let (weight, h2) = (levels.weight(level), levels.h2(level));
        let n = levels.sides[level];
        let (tiles, planes, range) = self.walk(n);
        let levels = &mut self.levels;
        let out = &mut levels.spare[level];
        let args = [
            Arg::size(n),
            Arg::U32(tiles as u32),
            Arg::U32(planes as u32),
            Arg::U32(order.colours()[0]),
            weight,
            h2,
            f.buffer().arg(),
            u.buffer().arg(),
            coarse.buffer().arg(),
            out.buffer().arg(),
        ];
        let kernel = Kernel::new(&files::GRID3, "sweep_gpu", T::PRECISION).with(start.defines());
        levels.context.run(&kernel, range, &args)?;
        std::mem::swap(u, out);
        Ok(())
    }

    /// Relaxations from `start`.
    fn smooth(
        &mut self,
        level: usize,
        start: Start,
        sweeps: Sweeps,
        u: &mut Vector<T>,
        f: &Vector<T>,
        coarse: &Vector<T>,
    ) -> Result<()> {
        let red_black = self.levels.omega == T::zero();
        if !red_black || sweeps.count == 0 {
            match start {
                Start::Given => {}
                Start::FromZero => u.fill(T::zero())?,
                Start::Corrected => self.levels.interpolate_add(level, coarse, u)?,
            }
        }
        for sweep in 0..sweeps.count {
            match red_black {
                true => {
                    let start = if sweep == 0 { start } else { Start::Given };
                    self.sweep(level, start, sweeps.order, u, f, coarse)?;
                }
                false => self.levels.jacobi(level, u, f)?,
            }
        }
        Ok(())
    }
}

impl<T: Real> Components for Planes<T> {
    type Grid = Vector<T>;

    fn zeros(&self, level: usize) -> Result<Vector<T>> {
        self.levels.zeros(level)
    }

    fn descend(
        &mut self,
        level: usize,
        u: &mut Vector<T>,
        f: &Vector<T>,
        zero: bool,
        sweeps: Sweeps,
        coarse: &mut Vector<T>,
    ) -> Result<()> {
        let start = if zero { Start::FromZero } else { Start::Given };
        self.smooth(level, start, sweeps, u, f, coarse)?;
        let levels = &self.levels;
        let n = levels.sides[level];
        let (tiles, planes, range) = self.walk(n);
        let args = [
            Arg::size(n),
            Arg::U32(tiles as u32),
            Arg::U32(planes as u32),
            levels.inverse_h2(level),
            levels.shift.arg().0,
            f.buffer().arg(),
            u.buffer().arg(),
            coarse.buffer().arg(),
        ];
        levels.enqueue("restrict_defect_gpu", &[], range, &args)
    }

    fn ascend(
        &mut self,
        level: usize,
        coarse: &Vector<T>,
        u: &mut Vector<T>,
        f: &Vector<T>,
        sweeps: Sweeps,
    ) -> Result<()> {
        self.smooth(level, Start::Corrected, sweeps, u, f, coarse)
    }

    fn ascend_norm(
        &mut self,
        level: usize,
        coarse: &Vector<T>,
        u: &mut Vector<T>,
        f: &Vector<T>,
        sweeps: Sweeps,
    ) -> Result<Norms> {
        self.ascend(level, coarse, u, f, sweeps)?;
        let [size, defect, _] = self.norms_on(level, u, f)?;
        let size = size.filter(|size| launch::in_range::<T>(size * size));
        Ok(Norms { defect: defect.map_or_else(|| self.defect_norm(level, u, f), Ok)?, size })
    }

    fn solve_coarsest(&mut self, u: &mut Vector<T>, f: &Vector<T>, zero: bool) -> Result<()> {
        self.levels.solve_coarsest(u, f, zero)
    }

    fn defect_norm(&mut self, level: usize, u: &Vector<T>, f: &Vector<T>) -> Result<f64> {
        self.levels.residual(Term::Defect, level, u, f)
    }

    fn source_norm(&mut self, level: usize, u: &Vector<T>, f: &Vector<T>) -> Result<f64> {
        self.levels.residual(Term::Source, level, u, f)
    }

    fn norm(&self, u: &Vector<T>) -> Result<f64> {
        Ok(ops::norm2(u)?.wide())
    }

    fn norms_of_start(&mut self, u: &Vector<T>, f: &Vector<T>) -> Result<StartNorms> {
        self.norms_on(0, u, f)
    }

    fn coarsen(
        &mut self,
        level: usize,
        u: &Vector<T>,
        f: &Vector<T>,
        coarse_u: &mut Vector<T>,
        coarse_f: &mut Vector<T>,
    ) -> Result<()> {
        let levels = &self.levels;
        levels.inject_boundary(level, u, coarse_u)?;
        let m = levels.sides[level + 1];
        let args = [Arg::size(m), Arg::U32(COLUMN as u32), f.buffer().arg(), coarse_f.buffer().arg()];
        let rows = (m - 2) * (m - 2).div_ceil(COLUMN);
        levels.enqueue("restrict_gpu", &[], launch::points(&levels.context, m - 2, rows), &args)
    }

    fn refine(&mut self, level: usize, coarse: &Vector<T>, u: &mut Vector<T>) -> Result<()> {
        let levels = &self.levels;
        let n = levels.sides[level];
        let column = if n > LARGE { LONG_COLUMN } else { COLUMN };
        let args = [Arg::size(n), Arg::U32(column as u32), coarse.buffer().arg(), u.buffer().arg()];
        let rows = (n - 2) * (n / 2).div_ceil(column);
        levels.enqueue("interpolate_cubic_gpu", &[], launch::points(&levels.context, n - 2, rows), &args)
    }
}

/// Coarse planes that an item of a transfer walks up (NVIDIA H200: best of 4 to 65 at 65^3 to 513^3).
const COLUMN: usize = 4;
/// The same of the cubic interpolation above [`LARGE`] points a side, where it reads four planes per item less often.
const LONG_COLUMN: usize = 32;
const LARGE: usize = 200;

/// Kernels for processors: a slab of planes or a run of rows per item.
pub(super) struct Slabs<T: Real> {
    levels: Levels<T>,
    /// Defects that wait for their restriction, `stride` values a slab.
    work: Buffer<T>,
}

/// Slabs per compute unit: their outer planes cost a pass of their own.
const SLABS_PER_UNIT: usize = 2;

impl<T: Real> Slabs<T> {
    pub(super) fn new(
        context: &Context,
        sides: &[usize],
        shift: f64,
        smoother: Smoother,
        omega: f64,
    ) -> Result<Slabs<T>> {
        let levels = Levels::new(context, sides, shift, smoother, omega, true)?;
        let most = sides.get(1).map_or(0, |&m| slabs(context, m - 2) * stride(m));
        Ok(Slabs { levels, work: Buffer::zeroed(context, most)? })
    }

    fn smooth(&mut self, level: usize, sweeps: Sweeps, u: &mut Vector<T>, f: &Vector<T>) -> Result<()> {
        for _ in 0..sweeps.count {
            if self.levels.omega != T::zero() {
                self.levels.jacobi(level, u, f)?;
                continue;
            }
            let n = self.levels.sides[level];
            for edges in [0, 1] {
                let args = [
                    Arg::size(n),
                    Arg::U32(edges),
                    Arg::U32(sweeps.order.colours()[0]),
                    self.levels.weight(level),
                    self.levels.h2(level),
                    f.buffer().arg(),
                    u.buffer().arg(),
                ];
                let range = Range::d1(slabs(&self.levels.context, n - 2), 1);
                self.levels.enqueue("sweep_cpu", PROCESSOR, range, &args)?;
            }
        }
        Ok(())
    }
}

/// Into how many slabs `planes` are cut.
fn slabs(context: &Context, planes: usize) -> usize {
    planes.min((context.device().compute_units as usize).max(1) * SLABS_PER_UNIT)
}

/// Values that a slab of a coarse grid of `m` points a side keeps: 3 rows of the fine grid, 3 planes of its own.
fn stride(m: usize) -> usize {
    3 * (2 * m - 1) + 3 * m * m
}

impl<T: Real> Components for Slabs<T> {
    type Grid = Vector<T>;

    fn zeros(&self, level: usize) -> Result<Vector<T>> {
        self.levels.zeros(level)
    }

    fn descend(
        &mut self,
        level: usize,
        u: &mut Vector<T>,
        f: &Vector<T>,
        zero: bool,
        sweeps: Sweeps,
        coarse: &mut Vector<T>,
    ) -> Result<()> {
        if zero {
            u.fill(T::zero())?;
        }
        self.smooth(level, sweeps, u, f)?;
        let m = self.levels.sides[level + 1];
        let args = [
            Arg::size(m),
            Arg::size(stride(m)),
            self.levels.inverse_h2(level),
            self.levels.shift.arg().0,
            u.buffer().arg(),
            f.buffer().arg(),
            coarse.buffer().arg(),
            self.work.arg(),
        ];
        let range = Range::d1(slabs(&self.levels.context, m - 2), 1);
        self.levels.enqueue("restrict_defect_cpu", PROCESSOR, range, &args)
    }

    fn ascend(
        &mut self,
        level: usize,
        coarse: &Vector<T>,
        u: &mut Vector<T>,
        f: &Vector<T>,
        sweeps: Sweeps,
    ) -> Result<()> {
        self.levels.interpolate_add(level, coarse, u)?;
        self.smooth(level, sweeps, u, f)
    }

    fn solve_coarsest(&mut self, u: &mut Vector<T>, f: &Vector<T>, zero: bool) -> Result<()> {
        self.levels.solve_coarsest(u, f, zero)
    }

    fn defect_norm(&mut self, level: usize, u: &Vector<T>, f: &Vector<T>) -> Result<f64> {
        self.levels.residual(Term::Defect, level, u, f)
    }

    fn source_norm(&mut self, level: usize, u: &Vector<T>, f: &Vector<T>) -> Result<f64> {
        self.levels.residual(Term::Source, level, u, f)
    }

    fn norm(&self, u: &Vector<T>) -> Result<f64> {
        Ok(ops::norm2(u)?.wide())
    }

    fn coarsen(
        &mut self,
        level: usize,
        u: &Vector<T>,
        f: &Vector<T>,
        coarse_u: &mut Vector<T>,
        coarse_f: &mut Vector<T>,
    ) -> Result<()> {
        self.levels.inject_boundary(level, u, coarse_u)?;
        let m = self.levels.sides[level + 1];
        let parts = self.levels.context.chunks().min((m - 2) * (m - 2));
        let args = [Arg::size(m), f.buffer().arg(), coarse_f.buffer().arg()];
        self.levels.enqueue("restrict_cpu", PROCESSOR, Range::d1(parts, 1), &args)
    }

    fn refine(&mut self, level: usize, coarse: &Vector<T>, u: &mut Vector<T>) -> Result<()> {
        let n = self.levels.sides[level];
        let parts = self.levels.context.chunks().min((n - 2) * (n - 2));
        let args = [Arg::size(n), coarse.buffer().arg(), u.buffer().arg()];
        self.levels.enqueue("interpolate_cubic_cpu", PROCESSOR, Range::d1(parts, 1), &args)
    }
}
