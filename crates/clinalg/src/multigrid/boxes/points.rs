//! Between the points of a grid and the unknowns, on the device: the right-hand side of the integrated equations and u.

use super::axis::Factors;
use super::field::Finest;
use super::grid::{End, Grid};
use super::sides::SideValues;
use crate::multigrid::launch;
use crate::runtime::kernels::boxes_points;
use crate::runtime::{Out, Range};
use crate::{Buffer, Context, Error, Real, Result, Vector, ops};

/// Where the unknowns lie among the points of a grid, and each side among the values of all sides.
#[derive(Debug, Clone)]
pub(in crate::multigrid) struct Layout {
    /// Points of each direction; 1 of a third one that is not there.
    points: [usize; 3],
    /// The first point that is an unknown, and how many there are.
    first: [usize; 3],
    counts: [usize; 3],
    dim: usize,
    /// Whether u is given at the points of a side.
    held: [[bool; 2]; 3],
}

/// Part of a box at one index of a direction.
struct Face {
    /// The two other directions.
    across: [usize; 2],
    /// Their counts, the faster direction first.
    counts: [usize; 2],
    /// Place of the first point, and the distances to the next one along both directions.
    first: usize,
    strides: [usize; 2],
}

impl Layout {
    /// Of a checked grid.
    pub(in crate::multigrid) fn new(grid: &Grid) -> Layout {
        let dim = grid.dim();
        let is_held = |axis, end| axis < dim && grid.is_held(axis, end);
        let held = [0, 1, 2].map(|axis| [End::Low, End::High].map(|end| is_held(axis, end)));
        let points = [0, 1, 2].map(|axis| grid.points().get(axis).copied().unwrap_or(1));
        let first = held.map(|[low, _]| usize::from(low));
        let counts = [0, 1, 2].map(|axis| points[axis] - held[axis].iter().filter(|&&held| held).count());
        Layout { points, first, counts, dim, held }
    }

    /// Writes the values that sides have to the points where they hold.
    pub(in crate::multigrid) fn hold<T: Real>(&self, sides: &SideValues<T>, u: &mut [T]) {
        let set = [0, 1, 2].map(|axis| [0, 1].map(|end| axis < self.dim && sides.get(axis, end).is_some()));
        for (axis, end) in self.held() {
            let Some(values) = sides.get(axis, end) else { continue };
            let (Face { counts: [width, height], first, strides: [stride, pitch], .. }, from, step) =
                self.own_face(axis, end, set);
            for (i, q) in (0..height).flat_map(|q| (0..width).map(move |i| (i, q))) {
                u[first + q * pitch + i * stride] = values[from + q * step + i];
            }
        }
    }

    /// An error unless the values are those of sides of this grid.
    ///
    /// # Errors
    /// [`Error::Value`] that names `sides`.
    pub(in crate::multigrid) fn check<T: Real>(&self, sides: &SideValues<T>) -> Result<()> {
        let points = &self.points[..self.dim];
        if sides.points() == points {
            return Ok(());
        }
        let expected = format!("the values of the sides of a grid of {points:?} points");
        Err(Error::value("sides", expected, format!("those of {:?} points", sides.points())))
    }

    pub(super) fn points(&self) -> usize {
        self.points.iter().product()
    }

    pub(super) fn unknowns(&self) -> usize {
        self.counts.iter().product()
    }

    /// The place of the first unknown among the points.
    fn offset(&self) -> usize {
        let ([x, y, z], [nx, ny, _]) = (self.first, self.points);
        (z * ny + y) * nx + x
    }

    fn sides(&self) -> impl DoubleEndedIterator<Item = (usize, usize)> + use<> {
        (0..self.dim).flat_map(|axis| [(axis, 0), (axis, 1)])
    }

    /// The sides at whose points u is given; where they meet, the last one holds.
    fn held(&self) -> impl DoubleEndedIterator<Item = (usize, usize)> + use<> {
        let held = self.held;
        self.sides().filter(move |&(axis, end)| held[axis][end])
    }

    /// Number of values of a side.
    fn side(&self, axis: usize) -> usize {
        self.points() / self.points[axis]
    }

    /// The place of the first value of a side among those of all sides.
    fn start(&self, axis: usize, end: usize) -> usize {
        (0..axis).map(|before| 2 * self.side(before)).sum::<usize>() + end * self.side(axis)
    }

    fn values(&self) -> usize {
        (0..self.dim).map(|axis| 2 * self.side(axis)).sum()
    }

    /// The end of a box of `counts` across `axis`.
    fn face(axis: usize, end: usize, counts: [usize; 3]) -> Face {
        let strides = [1, counts[0], counts[0] * counts[1]];
        let across = [[1, 2], [0, 2], [0, 1]][axis];
        let at = [0, counts[axis] - 1][end];
        Face {
            across,
            counts: across.map(|d| counts[d]),
            first: at * strides[axis],
            strides: across.map(|d| strides[d]),
        }
    }

    /// The points of a side but for those that later sides without values hold: there u stays as it is. Then the place of
    /// the first value of these points among those of the side, and the distance between rows.
    fn own_face(&self, axis: usize, end: usize, set: [[bool; 2]; 3]) -> (Face, usize, usize) {
        let mut face = Layout::face(axis, end, self.points);
        let step = face.counts[0];
        let mut from = 0;
        for (k, d) in face.across.into_iter().enumerate().filter(|(_, d)| *d > axis) {
            let stays = [0, 1].map(|end| usize::from(self.held[d][end] && !set[d][end]));
            face.counts[k] -= stays[0] + stays[1];
            face.first += stays[0] * face.strides[k];
            from += stays[0] * [1, step][k];
        }
        (face, from, step)
    }

    pub(super) fn counts(&self) -> [usize; 3] {
        self.counts
    }

    /// The counts of the points.
    pub(super) fn all(&self) -> [usize; 3] {
        self.points
    }

    /// The places of the first values of all sides among those of all, as 32-bit numbers.
    pub(super) fn starts(&self) -> Result<Vec<u32>> {
        let starts = self.sides().map(|(axis, end)| u32::try_from(self.start(axis, end)));
        starts.collect::<std::result::Result<_, _>>().map_err(|_| {
            let got = format!("{:?}", &self.points[..self.dim]);
            Error::value("points", "a smaller grid: the values of its sides need indices of more than 32 bits", got)
        })
    }
}

/// The values of the sides on the device.
pub(in crate::multigrid) struct BoundaryData<T: Real> {
    /// Which sides have any.
    set: [[bool; 2]; 3],
    /// Those of all sides one after the other, 0 of sides without; None where no side has values.
    values: Option<Vector<T>>,
}

/// Values of all sides, and which of them may differ from 0.
pub(super) struct Boundary<'a, T: Real> {
    any: [[bool; 2]; 3],
    values: &'a Vector<T>,
}

impl<T: Real> BoundaryData<T> {
    pub(super) fn boundary(&self) -> Option<Boundary<'_, T>> {
        self.values.as_ref().map(|values| Boundary { any: self.set, values })
    }
}

/// The mapping between points and unknowns.
pub(in crate::multigrid) struct Points<T: Real> {
    context: Context,
    layout: Layout,
    /// Widths of the cells around the unknowns, by direction.
    masses: Buffer<T>,
    /// By what the values of each side are multiplied.
    factors: [[f64; 2]; 3],
    /// Of the box, where u is determined up to a constant only.
    volume: Option<f64>,
    /// Whether f is averaged for a discretisation of order 4.
    averaged: bool,
}

impl<T: Real> Points<T> {
    /// For a discretisation of this order; `singular` where u is determined up to a constant only.
    pub(super) fn new(
        context: &Context,
        layout: &Layout,
        factors: &[Factors],
        order: usize,
        singular: bool,
    ) -> Result<Points<T>> {
        let mut masses: Vec<T> = factors.iter().flat_map(|factors| &factors.mass).map(|&m| T::from_f64(m)).collect();
        masses.resize(layout.counts.iter().sum(), T::one());
        let volume = factors.iter().map(|factors| factors.mass.iter().sum::<f64>()).product();
        Ok(Points {
            context: context.clone(),
            layout: layout.clone(),
            masses: Buffer::from_slice(context, &masses)?,
            factors: [0, 1, 2].map(|axis| factors.get(axis).map_or([0.0; 2], |factors| factors.load)),
            volume: singular.then_some(volume),
            averaged: order == 4,
        })
    }

    fn range(&self, [width, height]: [usize; 2]) -> Range {
        launch::items(&self.context, [width, height], height)
    }

    fn all(&self) -> Range {
        let [mx, my, mz] = self.layout.counts;
        self.range([mx, my * mz])
    }

    /// The values of the sides on the device.
    ///
    /// # Errors
    /// [`Error::Value`] that names `sides` for those of a grid with other points; [`Error::Allocation`].
    pub(in crate::multigrid) fn given(&self, sides: &SideValues<T>) -> Result<BoundaryData<T>> {
        self.layout.check(sides)?;
        let (mut set, mut values) = ([[false; 2]; 3], None);
        for (axis, end) in self.layout.sides() {
            let Some(own) = sides.get(axis, end) else { continue };
            let values: &mut Vector<T> = match &mut values {
                Some(values) => values,
                None => values.insert(Vector::zeros(&self.context, self.layout.values())?),
            };
            values.buffer_mut().write_range(self.layout.start(axis, end), own)?;
            set[axis][end] = true;
        }
        Ok(BoundaryData { set, values })
    }

    /// The values of the sides, with those of u where u is held by a side without values; `work` is made when it is needed.
    pub(super) fn boundary<'a>(
        &self,
        given: &'a BoundaryData<T>,
        u: &Vector<T>,
        work: &'a mut Option<Vector<T>>,
    ) -> Result<Option<Boundary<'a, T>>> {
        let Points { context, layout, .. } = self;
        let mut any = given.set;
        let missing: Vec<_> = layout.held().filter(|&(axis, end)| !given.set[axis][end]).collect();
        if missing.is_empty() {
            return Ok(given.boundary());
        }
        let work = match work {
            Some(work) => work,
            None => work.insert(Vector::zeros(context, layout.values())?),
        };
        if let Some(values) = &given.values {
            ops::copy(values, work)?;
        }
        for (axis, end) in missing {
            let Face { counts, first, strides: [stride, pitch], .. } = Layout::face(axis, end, layout.points);
            let ([width, height], from, range) = (counts, layout.start(axis, end), self.range(counts));
            let (program, out) = (boxes_points::Program::new(), Out::shared(work.buffer()));
            program.take_side(context, range, width, height, first, stride, pitch, from, u.buffer(), out)?;
            any[axis][end] = true;
        }
        // Most often u is 0 there, and nothing is to be added.
        let zero = given.values.is_none() && ops::norm_inf(&*work)?.into_f64() == 0.0;
        Ok((!zero).then_some(Boundary { any, values: work }))
    }

    /// b of f, with a value per point, and the sides. Where u is determined up to a constant only, it is balanced: by how
    /// much it was out of balance.
    pub(super) fn right_side(
        &self,
        finest: Option<&Finest<T>>,
        f: &Vector<T>,
        boundary: Option<Boundary<'_, T>>,
        b: &mut Vector<T>,
    ) -> Result<Option<f64>> {
        let Points { context, layout, masses, .. } = self;
        let ([mx, my, mz], [nx, ny, nz], offset) = (layout.counts, layout.points, layout.offset());
        let (program, f, out) = (boxes_points::Program::<T>::new(), f.buffer(), Out::shared(b.buffer()));
        if self.averaged {
            let twelfth = T::from_f64(1.0 / 12.0);
            let range = self.all();
            program.integrate_averaged(context, range, mx, my, mz, nx, ny, nz, offset, twelfth, masses, f, out)?;
        } else {
            program.integrate(context, self.all(), mx, my, mz, nx, ny, offset, masses, f, out)?;
        }
        if let Some(boundary) = boundary {
            self.add_sides(&boundary, b)?;
            if let Some(finest) = finest {
                finest.add_sides(&boundary.any, boundary.values.buffer(), b)?;
            }
        }
        self.volume.map(|volume| self.balance(volume, b)).transpose()
    }

    /// Adds the values of the sides, integrated over the ends of the cells.
    fn add_sides(&self, boundary: &Boundary<'_, T>, b: &Vector<T>) -> Result<()> {
        let (Points { context, layout, masses, .. }, values) = (self, boundary.values.buffer());
        for (axis, end) in layout.sides() {
            let factor = self.factors[axis][end];
            if factor == 0.0 || !boundary.any[axis][end] {
                continue;
            }
            let Face { across, counts, first, strides } = Layout::face(axis, end, layout.counts);
            let [along_a, along_b] = across.map(|d| layout.counts[..d].iter().sum());
            let step = layout.points[across[0]];
            let from = layout.start(axis, end) + layout.first[across[1]] * step + layout.first[across[0]];
            let (program, range, factor) = (boxes_points::Program::new(), self.range(counts), T::from_f64(factor));
            let ([width, height], [stride, pitch], b) = (counts, strides, Out::shared(b.buffer()));
            program.add_side(
                context, range, width, height, first, stride, pitch, factor, from, step, along_a, along_b, masses,
                values, b,
            )?;
        }
        Ok(())
    }

    /// Takes the part of b that belongs to no source out of it, and gives it over the sum of the magnitudes.
    fn balance(&self, volume: f64, b: &Vector<T>) -> Result<f64> {
        let [mx, my, mz] = self.layout.counts;
        let (sum, size) = (ops::sum(b)?.into_f64(), ops::norm1(b)?.into_f64());
        let (share, out) = (T::from_f64(sum / volume), Out::shared(b.buffer()));
        let (program, context) = (boxes_points::Program::new(), &self.context);
        program.subtract_masses(context, self.all(), mx, my, mz, share, &self.masses, out)?;
        Ok(if size == 0.0 { 0.0 } else { (sum / size).abs() })
    }

    /// The mean of the unknowns where they are determined up to a constant only, otherwise 0; `work` is overwritten.
    pub(super) fn constant(&self, x: &Vector<T>, work: &mut Vector<T>) -> Result<T> {
        let Some(volume) = self.volume else { return Ok(T::zero()) };
        let ([mx, my, mz], out) = (self.layout.counts, Out::shared(work.buffer()));
        let (program, context, x) = (boxes_points::Program::new(), &self.context, x.buffer());
        program.integrate(context, self.all(), mx, my, mz, mx, my, 0, &self.masses, x, out)?;
        Ok(T::from_f64(ops::sum(work)?.into_f64() / volume))
    }

    /// x = u at the unknowns.
    pub(super) fn take(&self, u: &Vector<T>, x: &mut Vector<T>) -> Result<()> {
        let ([mx, my, mz], [nx, ny, _], offset) = (self.layout.counts, self.layout.points, self.layout.offset());
        let (program, u, x) = (boxes_points::Program::new(), u.buffer(), Out::shared(x.buffer()));
        program.take_unknowns(&self.context, self.all(), mx, my, mz, nx, ny, offset, u, x)
    }

    /// u = x less `constant` at the unknowns, and the values of sides that hold u at their points.
    pub(super) fn put(&self, x: &Vector<T>, constant: T, given: &BoundaryData<T>, u: &mut Vector<T>) -> Result<()> {
        let Points { context, layout, .. } = self;
        let ([mx, my, mz], [nx, ny, _], offset) = (layout.counts, layout.points, layout.offset());
        let (program, x, out) = (boxes_points::Program::new(), x.buffer(), Out::shared(u.buffer()));
        program.put_unknowns(context, self.all(), mx, my, mz, nx, ny, offset, constant, x, out)?;
        self.hold(given, u)
    }

    /// Writes the values that sides have to the points of u where they hold.
    pub(in crate::multigrid) fn hold(&self, given: &BoundaryData<T>, u: &mut Vector<T>) -> Result<()> {
        let Points { context, layout, .. } = self;
        let Some(values) = &given.values else { return Ok(()) };
        for (axis, end) in layout.held().filter(|&(axis, end)| given.set[axis][end]) {
            let (Face { counts, first, strides: [stride, pitch], .. }, at, step) =
                layout.own_face(axis, end, given.set);
            let ([width, height], from, range) = (counts, layout.start(axis, end) + at, self.range(counts));
            let (program, out) = (boxes_points::Program::new(), Out::shared(u.buffer()));
            program.hold_side(context, range, width, height, first, stride, pitch, from, step, values.buffer(), out)?;
        }
        Ok(())
    }
}
