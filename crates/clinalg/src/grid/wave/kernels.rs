//! The steps as kernels for this very stencil.

use super::params::{MOST_STEPS, Scheme, WaveParams};
use super::parts::{Parts, Source, Target};
use crate::grid::launch::{self, PROCESSOR};
use crate::grid::{Poisson, PoissonReport};
use crate::runtime::{Arg, Kernel, Range, Shape, files};
use crate::{Buffer, Context, Real, Result, Vector, ops};

/// Values between the starts of rows are a multiple of this.
const ROW_MULTIPLE: usize = 16;
/// Rows of a column that an item of a GPU takes a step on, as in the kernel.
const LEAP_ROWS: usize = 4;
/// Bands per compute unit of a processor: a few, so that a slow unit holds up no one.
const BANDS_PER_UNIT: usize = 4;
/// Least rows of a band in multiples of the rows that its neighbours work on again.
const BAND_TO_HALO: usize = 4;

/// Passes of more than one step on a GPU, the longest first. Fastest of groups of 64 to 512 items with one, two or four
/// columns each, and of 2 to 16 steps, on an NVIDIA H200; local memory stays below 17 KiB.
const PASSES: [Pass; 3] = [
    Pass { steps: 8, group: 128, defines: &[("STEPS", 8), ("GROUP", 128)] },
    Pass { steps: 4, group: 256, defines: &[("STEPS", 4), ("GROUP", 256)] },
    Pass { steps: 2, group: 256, defines: &[("STEPS", 2), ("GROUP", 256)] },
];

struct Pass {
    steps: usize,
    /// Items of a work-group, a column each.
    group: usize,
    defines: &'static [(&'static str, u64)],
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

    fn band_rows(&self, n: usize, compute_units: usize) -> usize {
        let [mut rows, most] = BAND_ROWS;
        while rows < most && self.strips(n) * n.div_ceil(2 * rows) * self.group >= BUSY_ITEMS * compute_units {
            rows *= 2;
        }
        rows
    }
}

/// Launches on grids whose rows begin `pitch` values apart.
pub(super) struct Kernels<T: Real> {
    context: Context,
    params: WaveParams,
    pitch: usize,
    a: T,
    r2: T,
    /// Rows of neighbouring bands, of a processor only.
    copies: Buffer<T>,
    /// The values of a host on their way.
    staging: Option<Vector<T>>,
    poisson: Option<Poisson<T>>,
}

impl<T: Real> Kernels<T> {
    pub(super) fn new(context: &Context, params: &WaveParams, poisson: Option<Poisson<T>>) -> Result<Kernels<T>> {
        context.require::<T>()?;
        let n = params.n;
        let explicit = params.scheme == Scheme::Explicit;
        let pitch = if explicit { n.next_multiple_of(ROW_MULTIPLE) } else { n };
        let (a, r2) = params.coefficients();
        let copies = match context.shape() {
            Shape::Cpu if explicit => {
                let rows = (2..=params.steps_per_pass).map(|steps| 4 * steps * bands(context, n, steps)).max();
                Buffer::zeroed(context, rows.unwrap_or(0) * pitch)?
            }
            _ => Buffer::uninit(context, 0)?,
        };
        Ok(Kernels { context: context.clone(), params: *params, pitch, a, r2, copies, staging: None, poisson })
    }

    fn enqueue(
        &self,
        name: &'static str,
        defines: &'static [(&'static str, u64)],
        range: Range,
        args: &[Arg],
    ) -> Result<()> {
        let kernel = Kernel::new(&files::WAVE2, name, T::PRECISION);
        let kernel = match self.context.shape() {
            Shape::Gpu => kernel.with(defines),
            Shape::Cpu => kernel.with(PROCESSOR),
        };
        self.context.run(&kernel, range, args)
    }

    /// A kernel that deals rows to groups.
    fn by_rows(&self, name: &'static str, args: &[Arg]) -> Result<()> {
        let n = self.params.n;
        let range = match self.context.shape() {
            Shape::Gpu => Range::d1(n * self.context.local(), self.context.local()),
            Shape::Cpu => Range::d1(self.context.chunks().min(n), 1),
        };
        self.enqueue(name, &[], range, args)
    }

    /// One step on a GPU: u and then p are the steps before, p the new one.
    fn leap_once(&self, u: &Vector<T>, p: &mut Vector<T>) -> Result<()> {
        let n = self.params.n;
        let args =
            [Arg::size(n), Arg::size(self.pitch), self.a.arg().0, self.r2.arg().0, u.buffer().arg(), p.buffer().arg()];
        let range = Range::d2([n, (n - 2).div_ceil(LEAP_ROWS)], [self.context.local(), 1]);
        self.enqueue("leap_gpu", &[], range, &args)
    }

    /// One pass on a GPU: `next` = the last two steps after (u, p).
    fn leap_pass(&self, pass: &Pass, u: &Vector<T>, p: &Vector<T>, next: &mut [Vector<T>; 2]) -> Result<()> {
        let n = self.params.n;
        let band = pass.band_rows(n, self.context.device().compute_units as usize);
        let args = [
            Arg::U32(n as u32),
            Arg::size(self.pitch),
            Arg::U32(band as u32),
            self.a.arg().0,
            self.r2.arg().0,
            u.buffer().arg(),
            p.buffer().arg(),
            next[0].buffer().arg(),
            next[1].buffer().arg(),
        ];
        let range = Range::d2([pass.strips(n) * pass.group, n.div_ceil(band)], [pass.group, 1]);
        self.enqueue("leap_fused_gpu", pass.defines, range, &args)
    }

    /// One pass on a processor, in place: p is the last step where their number is odd.
    fn leap_bands(&self, steps: usize, u: &mut Vector<T>, p: &mut Vector<T>) -> Result<()> {
        let n = self.params.n;
        let [size, pitch] = [Arg::size(n), Arg::size(self.pitch)];
        let [u, p, copies] = [u.buffer().arg(), p.buffer().arg(), self.copies.arg()];
        let count = Arg::U32(steps as u32);
        let range = Range::d1(bands(&self.context, n, steps), 1);
        if steps > 1 {
            self.enqueue("save_rows_cpu", &[], range, &[size, pitch, count, u, p, copies])?;
        }
        let args = [size, pitch, count, self.a.arg().0, self.r2.arg().0, u, p, copies];
        self.enqueue("leap_cpu", &[], range, &args)
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
        let args = [
            Arg::size(self.params.n),
            Arg::U32(edges.into()),
            Arg::size(from_pitch),
            from.buffer().arg(),
            Arg::size(to_pitch),
            to.buffer().arg(),
        ];
        self.by_rows("copy_grid", &args)
    }

    /// A vector of n by n values for those of a host.
    fn staging(&mut self) -> Result<Vector<T>> {
        match self.staging.take() {
            Some(staging) => Ok(staging),
            None => Vector::uninit(&self.context, self.params.n * self.params.n),
        }
    }
}

/// Bands of a pass on a processor.
fn bands(context: &Context, n: usize, steps: usize) -> usize {
    let most = (context.device().compute_units as usize).max(1) * BANDS_PER_UNIT;
    (n / (BAND_TO_HALO * 2 * steps)).clamp(1, most)
}

impl<T: Real> Parts<T> for Kernels<T> {
    type Grid = Vector<T>;

    fn zeros(&self) -> Result<Vector<T>> {
        Vector::zeros(&self.context, self.pitch * self.params.n)
    }

    fn load(&mut self, from: Source<'_, T>, edges: bool, to: &mut Vector<T>) -> Result<()> {
        let n = self.params.n;
        match from {
            Source::Device(vector) => self.copy(edges, n, vector, self.pitch, to),
            Source::Host(values) => {
                let mut staging = self.staging()?;
                staging.write(values)?;
                self.copy(edges, n, &staging, self.pitch, to)?;
                self.staging = Some(staging);
                Ok(())
            }
        }
    }

    fn store(&mut self, from: &Vector<T>, to: Target<'_, T>) -> Result<()> {
        let n = self.params.n;
        match to {
            Target::Device(vector) => self.copy(true, self.pitch, from, n, vector),
            Target::Host(values) => {
                let mut staging = self.staging()?;
                self.copy(true, self.pitch, from, n, &mut staging)?;
                staging.read(values)?;
                self.staging = Some(staging);
                Ok(())
            }
        }
    }

    fn trial(&self) -> usize {
        2 * MOST_STEPS - 1
    }

    fn leap(&mut self, steps: usize, u: &mut Vector<T>, p: &mut Vector<T>, spare: &mut [Vector<T>; 2]) -> Result<()> {
        let most = self.params.steps_per_pass;
        let most_items = self.context.device().max_work_group;
        let mut left = steps;
        while left > 0 {
            let at_once = left.min(most);
            left -= match self.context.shape() {
                Shape::Cpu => {
                    self.leap_bands(at_once, u, p)?;
                    if !at_once.is_multiple_of(2) {
                        std::mem::swap(u, p);
                    }
                    at_once
                }
                Shape::Gpu => match PASSES.iter().find(|pass| pass.steps <= at_once && pass.group <= most_items) {
                    Some(pass) => {
                        self.leap_pass(pass, u, p, spare)?;
                        std::mem::swap(u, &mut spare[0]);
                        std::mem::swap(p, &mut spare[1]);
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

    fn laplacian(&mut self, u: &Vector<T>, out: &mut Vector<T>) -> Result<()> {
        let n = self.params.n;
        let inverse_h2 = T::of(((n - 1) * (n - 1)) as f64);
        let args = [Arg::size(n), Arg::size(self.pitch), inverse_h2.arg().0, u.buffer().arg(), out.buffer().arg()];
        self.by_rows("laplacian_grid", &args)
    }

    fn clear(&mut self, g: &mut Vector<T>) -> Result<()> {
        ops::fill(T::zero(), g)
    }

    fn update(&mut self, alpha: T, x: &Vector<T>, beta: T, y: &mut Vector<T>) -> Result<()> {
        ops::update(alpha, x, beta, y)
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
        let n = self.params.n;
        let (count, range) = launch::shares(&self.context, n, 2);
        let name = launch::of_shape(&self.context, ["energy_wave_gpu", "energy_wave_cpu"]);
        let partials: Vec<T> = self.context.partials(2 * count, |partial| {
            let args = [
                Arg::size(n),
                Arg::size(self.pitch),
                Arg::U32(mean.into()),
                u.buffer().arg(),
                p.buffer().arg(),
                partial,
            ];
            self.enqueue(name, &[], range, &args)
        })?;
        let sum = |offset: usize| partials.iter().skip(offset).step_by(2).map(|v| v.wide()).sum();
        Ok([sum(0), sum(1)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ContextOptions;
    use crate::runtime::devices;

    /// Guard values on either side of a grid: a multiple of every device's alignment of sub-buffers.
    const GUARDS: usize = 4096;
    const GUARD: f64 = -12345.0;

    /// Steps on grids between guards; what lies past the end of a row is a guard, too.
    fn steps_stay_inside<T: Real>(context: &Context) {
        for n in [3, 8, 9, 16, 17, 100, 241, 300] {
            for steps_per_pass in [1, 2, 4, 8] {
                let params = WaveParams { n, steps_per_pass, ..WaveParams::default() };
                let mut kernels =
                    Kernels::<T>::new(context, &WaveParams { dt: params.dt_of(0.6), ..params }, None).unwrap();
                let (pitch, len) = (kernels.pitch, n * kernels.pitch);
                let values: Vec<T> =
                    (0..len).map(|k| if k % pitch < n { T::of((k % 7) as f64) } else { T::of(GUARD) }).collect();
                let all = [0; 4].map(|_| {
                    let mut all = Buffer::from_slice(context, &vec![T::of(GUARD); 2 * GUARDS + len]).unwrap();
                    all.write_range(GUARDS, &values).unwrap();
                    all
                });
                let [mut u, mut p, x, y] =
                    [0, 1, 2, 3].map(|k: usize| Vector::from_buffer(all[k].part(GUARDS, len).unwrap()));
                kernels.leap(17, &mut u, &mut p, &mut [x, y]).unwrap();
                let grids = all.map(|all| all.to_vec().unwrap());
                for grid in &grids {
                    let is_guard = |k: usize| !(GUARDS..GUARDS + len).contains(&k) || (k - GUARDS) % pitch >= n;
                    let spoilt = (0..grid.len()).find(|&k| is_guard(k) && grid[k] != T::of(GUARD));
                    assert_eq!(spoilt, None, "n {n}, {steps_per_pass} steps a pass, {:?}", context.shape());
                    assert!((0..grid.len()).all(|k| is_guard(k) || grid[k] != T::of(GUARD)), "read past a row");
                }
            }
        }
    }

    #[test]
    fn passes_write_nothing_but_their_points() {
        let Ok(devices) = devices() else {
            eprintln!("skipped: no OpenCL device");
            return;
        };
        for device in &devices {
            for shape in [Shape::Cpu, Shape::Gpu] {
                let options = ContextOptions { shape: Some(shape), ..ContextOptions::default() };
                let context = Context::new(device, &options).unwrap();
                steps_stay_inside::<f32>(&context);
                if context.device().fp64 {
                    steps_stay_inside::<f64>(&context);
                }
            }
        }
    }
}
