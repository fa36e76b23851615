//! The steps as kernels for this very stencil.

use std::ops::Range;

use super::params::{MOST_STEPS, Scheme, Square};
use super::parts::{Parts, Source, Target};
use crate::multigrid::launch;
use crate::multigrid::{Poisson, PoissonReport, Separable};
use crate::runtime::kernels::{wave2, wave2_leap};
use crate::runtime::{KernelFamily, Out, Range as Items};
use crate::{Buffer, Context, Real, Result, Vector, ops};

/// Values between the starts of rows are a multiple of this.
const ROW_MULTIPLE: usize = 16;
/// Rows of a column that an item of a GPU takes a step on, as in the kernel.
const LEAP_ROWS: usize = 4;
/// Bands per compute unit of a CPU: a few, so that a slow unit delays no other.
const BANDS_PER_UNIT: usize = 4;
/// Least rows of a band in multiples of the rows that its neighbours work on again.
const BAND_TO_HALO: usize = 4;

/// Passes of more than one step on a GPU, the longest first. Fastest of groups of 64 to 512 items with one, two or four
/// columns each, and of 2 to 16 steps, on an NVIDIA H200; local memory stays below 17 KiB.
const PASSES: [Pass; 3] = [Pass { steps: 8, group: 128 }, Pass { steps: 4, group: 256 }, Pass { steps: 2, group: 256 }];

struct Pass {
    steps: usize,
    /// Items of a work-group, a column each.
    group: usize,
}

/// Rows that a work-group walks up in a pass: as many as there can be, up to the larger number, while the device has
/// `BUSY_ITEMS` items per compute unit. Every work-group works on twice its steps in rows more.
const BAND_ROWS: [usize; 2] = [32, 256];
const BUSY_ITEMS: usize = 2048;

impl Pass {
    /// Work-groups along a row.
    fn strips(&self, n: usize) -> usize {
        n.div_ceil(self.group - 2 * self.steps)
    }

    fn band_rows(&self, n: usize, height: usize, compute_units: usize) -> usize {
        let [mut rows, most] = BAND_ROWS;
        while rows < most && self.strips(n) * height.div_ceil(2 * rows) * self.group >= BUSY_ITEMS * compute_units {
            rows *= 2;
        }
        rows
    }
}

/// Launches on grids whose rows begin `pitch` values apart.
pub(crate) struct Kernels<T: Real> {
    context: Context,
    square: Square,
    pitch: usize,
    /// Rows of a grid: all n, or those of a strip.
    height: usize,
    /// Of these, those whose energy is summed.
    own: Range<usize>,
    a: T,
    r2: T,
    /// Rows of neighbouring bands, on a CPU only.
    copies: Buffer<T>,
    /// The values of a host on their way.
    staging: Option<Vector<T>>,
    poisson: Option<Poisson<T>>,
}

impl<T: Real> Kernels<T> {
    pub(crate) fn new(context: &Context, square: &Square, poisson: Option<Poisson<T>>) -> Result<Kernels<T>> {
        Kernels::strip(context, square, poisson, square.n, 0..square.n)
    }

    /// For `height` rows of the square, of which the first and the last one keep their values; the energy is that of the rows `own`.
    pub(crate) fn strip(
        context: &Context,
        square: &Square,
        poisson: Option<Poisson<T>>,
        height: usize,
        own: Range<usize>,
    ) -> Result<Kernels<T>> {
        context.require::<T>()?;
        let n = square.n;
        let explicit = square.scheme == Scheme::Explicit;
        let pitch = if explicit { n.next_multiple_of(ROW_MULTIPLE) } else { n };
        let (a, r2) = square.coefficients();
        let copies = match context.family() {
            KernelFamily::Cpu if explicit => {
                let rows = (2..=square.steps_per_pass).map(|steps| 4 * steps * bands(context, height, steps)).max();
                Buffer::zeroed(context, rows.unwrap_or(0) * pitch)?
            }
            _ => Buffer::uninit(context, 0)?,
        };
        let (context, square) = (context.clone(), *square);
        Ok(Kernels { context, square, pitch, height, own, a, r2, copies, staging: None, poisson })
    }

    /// The items of a kernel that deals rows to groups.
    fn by_rows(&self) -> Items {
        let (context, height) = (&self.context, self.height);
        match context.family() {
            KernelFamily::Gpu => Items::d1(height * context.local(), context.local()),
            KernelFamily::Cpu => Items::d1(context.chunks().min(height), 1),
        }
    }

    /// One step on a GPU: u and then p are the steps before, p the new one.
    fn leap_once(&self, u: &Vector<T>, p: &mut Vector<T>) -> Result<()> {
        let (context, n) = (&self.context, self.square.n);
        let range = Items::d2([n, (self.height - 2).div_ceil(LEAP_ROWS)], [context.local(), 1]);
        let program = wave2_leap::Program::new();
        let (u, p) = (u.buffer(), Out::shared(p.buffer()));
        program.leap(context, range, n, self.height, self.pitch, self.a, self.r2, u, p)
    }

    /// One pass on a GPU: `next` = the last two steps after (u, p).
    fn leap_pass(&self, pass: &Pass, [u, p]: [&Vector<T>; 2], next: [&Vector<T>; 2]) -> Result<()> {
        let (context, n, height, pitch) = (&self.context, self.square.n, self.height, self.pitch);
        let band = pass.band_rows(n, height, context.device().compute_units as usize);
        let range = Items::d2([pass.strips(n) * pass.group, height.div_ceil(band)], [pass.group, 1]);
        let [out_u, out_p] = next.map(|grid| Out::shared(grid.buffer()));
        let program = wave2_leap::Program::new().steps(pass.steps as u64).group(pass.group as u64);
        let program = if height == n { program } else { program.part(1) };
        let ([u, p], band) = ([u, p].map(Vector::buffer), band as u32);
        program.leap_fused(context, range, n as u32, height as u32, pitch, band, self.a, self.r2, u, p, out_u, out_p)
    }

    /// One pass on a CPU, in place: p is the last step where their number is odd.
    fn leap_bands(&self, steps: usize, u: &mut Vector<T>, p: &mut Vector<T>) -> Result<()> {
        let (context, n, height, pitch) = (&self.context, self.square.n, self.height, self.pitch);
        let range = Items::d1(bands(context, height, steps), 1);
        let (program, steps) = (wave2_leap::Bands::new(), steps as u32);
        let copies = Out::shared(&self.copies);
        if steps > 1 {
            program.save_rows(context, range, n, height, pitch, steps, u.buffer(), p.buffer(), copies)?;
        }
        let [u, p] = [u, p].map(|grid| Out::shared(grid.buffer()));
        program.leap(context, range, n, height, pitch, steps, self.a, self.r2, u, p, copies)
    }

    /// Copies between rows `from_pitch` and `to_pitch` apart.
    fn copy(
        &self,
        edges: bool,
        from_pitch: usize,
        from: &Vector<T>,
        to_pitch: usize,
        to: &mut Vector<T>,
    ) -> Result<()> {
        let (n, height, range) = (self.square.n, self.height, self.by_rows());
        let (program, from, to) = (wave2::Program::<T>::new(), from.buffer(), Out::shared(to.buffer()));
        program.copy_grid(&self.context, range, n, height, edges.into(), from_pitch, from, to_pitch, to)
    }

    /// [`Parts::leap`] on grids that lie apart.
    pub(crate) fn leap_with(
        &mut self,
        steps: usize,
        [u, p]: [&mut Vector<T>; 2],
        spare: [&mut Vector<T>; 2],
    ) -> Result<()> {
        let [next_u, next_p] = spare;
        let most = self.square.steps_per_pass;
        let most_items = self.context.device().max_work_group;
        let mut left = steps;
        while left > 0 {
            let at_once = left.min(most);
            left -= match self.context.family() {
                KernelFamily::Cpu => {
                    self.leap_bands(at_once, u, p)?;
                    if !at_once.is_multiple_of(2) {
                        std::mem::swap(u, p);
                    }
                    at_once
                }
                KernelFamily::Gpu => match PASSES.iter().find(|pass| pass.steps <= at_once && pass.group <= most_items)
                {
                    Some(pass) => {
                        self.leap_pass(pass, [u, p], [next_u, next_p])?;
                        std::mem::swap(u, next_u);
                        std::mem::swap(p, next_p);
                        pass.steps
                    }
                    None => {
                        self.leap_once(u, p)?;
                        std::mem::swap(u, p);
                        1
                    }
                },
            };
        }
        Ok(())
    }

    /// [`Parts::energy_sums`] of the own rows.
    pub(crate) fn energy_of(&self, mean: bool, u: &Vector<T>, p: &Vector<T>) -> Result<[f64; 2]> {
        let (n, height, pitch) = (self.square.n, self.height, self.pitch);
        let (low, high) = (self.own.start, self.own.end.min(height - 1));
        let (count, range) = launch::shares(&self.context, height, 2);
        let (program, u, p) = (wave2::Program::<T>::new(), u.buffer(), p.buffer());
        let partials = self.context.partials(2 * count, |partial| {
            program.energy_wave(&self.context, range, n, height, low, high, pitch, mean.into(), u, p, partial)
        })?;
        let sum = |offset: usize| partials.iter().skip(offset).step_by(2).map(|v: &T| v.into_f64()).sum();
        Ok([sum(0), sum(1)])
    }

    /// Values between the starts of two rows.
    pub(crate) fn pitch(&self) -> usize {
        self.pitch
    }

    /// Calls `work` with a vector for the values of a grid without padding, which is kept for the next call.
    fn with_staging<R>(&mut self, work: impl FnOnce(&Self, &mut Vector<T>) -> Result<R>) -> Result<R> {
        let mut staging = match self.staging.take() {
            Some(staging) => staging,
            None => Vector::uninit(&self.context, self.square.n * self.height)?,
        };
        let result = work(self, &mut staging)?;
        self.staging = Some(staging);
        Ok(result)
    }
}

/// Bands of a pass on a CPU.
fn bands(context: &Context, height: usize, steps: usize) -> usize {
    let most = (context.device().compute_units as usize).max(1) * BANDS_PER_UNIT;
    (height / (BAND_TO_HALO * 2 * steps)).clamp(1, most)
}

impl<T: Real> Parts<T> for Kernels<T> {
    type Grid = Vector<T>;

    fn zeros(&self) -> Result<Vector<T>> {
        Vector::zeros(&self.context, self.pitch * self.height)
    }

    fn load(&mut self, from: Source<'_, T>, edges: bool, to: &mut Vector<T>) -> Result<()> {
        let n = self.square.n;
        match from {
            Source::Device(vector) => self.copy(edges, n, vector, self.pitch, to),
            Source::Host(values) => self.with_staging(|own, staging| {
                staging.write(values)?;
                own.copy(edges, n, staging, own.pitch, to)
            }),
            Source::Separable(function) => self.with_staging(|own, staging| {
                function.fill(staging)?;
                own.copy(edges, n, staging, own.pitch, to)
            }),
        }
    }

    fn error_max(&mut self, grid: &Vector<T>, exact: &Separable) -> Result<f64> {
        let n = self.square.n;
        let rows = self.own.clone();
        self.with_staging(|own, staging| {
            own.copy(true, own.pitch, grid, n, staging)?;
            exact.error_max(staging.slice(rows.start * n..rows.end * n)?)
        })
    }

    fn store(&mut self, from: &Vector<T>, to: Target<'_, T>) -> Result<()> {
        let n = self.square.n;
        match to {
            Target::Device(vector) => self.copy(true, self.pitch, from, n, vector),
            Target::Host(values) => self.with_staging(|own, staging| {
                own.copy(true, own.pitch, from, n, staging)?;
                staging.read(values)
            }),
        }
    }

    fn trial(&self) -> usize {
        2 * MOST_STEPS - 1
    }

    fn leap(&mut self, steps: usize, u: &mut Vector<T>, p: &mut Vector<T>, spare: &mut [Vector<T>; 2]) -> Result<()> {
        self.leap_with(steps, [u, p], spare.each_mut())
    }

    fn laplacian(&mut self, u: &Vector<T>, out: &mut Vector<T>) -> Result<()> {
        let (n, range, out) = (self.square.n, self.by_rows(), Out::shared(out.buffer()));
        let program = wave2::Program::<T>::new();
        program.laplacian_grid(&self.context, range, n, self.height, self.pitch, launch::inverse_h2(n), u.buffer(), out)
    }

    fn clear(&mut self, g: &mut Vector<T>) -> Result<()> {
        ops::fill(T::zero(), g)
    }

    fn update(&mut self, alpha: T, x: &Vector<T>, beta: T, y: &mut Vector<T>) -> Result<()> {
        ops::update(alpha, x, beta, y)
    }

    fn multiply(&mut self, a: &Vector<T>, b: &Vector<T>, out: &mut Vector<T>) -> Result<()> {
        ops::multiply(a, b, out)
    }

    fn solve(&mut self, f: &Vector<T>, e: &mut Vector<T>) -> Result<PoissonReport> {
        self.poisson.as_mut().expect("the implicit scheme has a solver").solve_device(f, e)
    }

    fn energy_sums(
        &mut self,
        mean: bool,
        u: &Vector<T>,
        p: &Vector<T>,
        _spare: &mut [Vector<T>; 2],
    ) -> Result<[f64; 2]> {
        self.energy_of(mean, u, p)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ContextOptions;
    use crate::runtime::devices;
    use crate::wave::WaveParams;

    /// Guard values on either side of a grid: a multiple of every device's alignment of sub-buffers.
    const GUARDS: usize = 4096;
    const GUARD: f64 = -12345.0;

    /// Steps on grids between guards; what lies past the end of a row is a guard, too.
    fn steps_stay_inside<T: Real>(context: &Context) {
        for n in [3, 8, 9, 16, 17, 100, 241, 300] {
            for steps_per_pass in [1, 2, 4, 8] {
                let square = WaveParams { steps_per_pass, ..WaveParams::square(n) }.as_square().unwrap();
                let mut kernels = Kernels::<T>::new(context, &square, None).unwrap();
                let (pitch, len) = (kernels.pitch, n * kernels.pitch);
                let values: Vec<T> = (0..len)
                    .map(|k| if k % pitch < n { T::from_f64((k % 7) as f64) } else { T::from_f64(GUARD) })
                    .collect();
                let all = [0; 4].map(|_| {
                    let mut all = Buffer::from_slice(context, &vec![T::from_f64(GUARD); 2 * GUARDS + len]).unwrap();
                    all.write_range(GUARDS, &values).unwrap();
                    all
                });
                let [mut u, mut p, x, y] =
                    [0, 1, 2, 3].map(|k: usize| Vector::from_buffer(all[k].part(GUARDS, len).unwrap()));
                kernels.leap(17, &mut u, &mut p, &mut [x, y]).unwrap();
                let grids = all.map(|all| all.to_vec().unwrap());
                for grid in &grids {
                    let is_guard = |k: usize| !(GUARDS..GUARDS + len).contains(&k) || (k - GUARDS) % pitch >= n;
                    let spoilt = (0..grid.len()).find(|&k| is_guard(k) && grid[k] != T::from_f64(GUARD));
                    assert_eq!(spoilt, None, "n {n}, {steps_per_pass} steps per pass, {:?}", context.family());
                    assert!((0..grid.len()).all(|k| is_guard(k) || grid[k] != T::from_f64(GUARD)), "read past a row");
                }
            }
        }
    }

    #[test]
    fn passes_write_nothing_but_their_points() {
        let Some(devices) = clinalg_testing::found(devices()) else { return };
        for device in &devices {
            for family in clinalg_testing::families([KernelFamily::Cpu, KernelFamily::Gpu]) {
                let options = ContextOptions { family, ..ContextOptions::default() };
                let context = Context::new(device, &options).unwrap();
                steps_stay_inside::<f32>(&context);
                if context.device().fp64 {
                    steps_stay_inside::<f64>(&context);
                }
            }
        }
    }
}
