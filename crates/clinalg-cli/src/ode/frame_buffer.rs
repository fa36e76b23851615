//! The frames of an integration.

use clinalg::Real;
use clinalg_ode::Error;
use clinalg_ode::integrate::Stored;
use clinalg_ode::problems::Problem;

use super::document::Document;
use crate::exit::Failure;
use crate::plot::{Field, Frames, Paths, Profile};
use crate::text::{number, precision};

/// What the pictures show, kept until all of it is known: they share their colours.
pub(super) struct FrameBuffer {
    /// The field drawn over a square.
    field: usize,
    /// Points along the side of a square that are kept.
    side: usize,
    /// The components of a frame: the field over a square, every field over a line, with not more points than can be seen.
    components: Vec<usize>,
    /// How many of them are of one field.
    points: usize,
    /// Frames that the run before drew, where this one continues it.
    before: usize,
    frames: Vec<(f64, Vec<Vec<f64>>)>,
}

/// The fields of the positions in the plane, where points are bodies and not those of a grid.
fn positions(problem: &Problem) -> Option<[usize; 2]> {
    let field = |name: &str| problem.system.fields().iter().position(|field| field == name);
    problem.name.starts_with("nbody").then_some(())?;
    Some([field("px")?, field("py")?])
}

/// Whether one picture shows all frames: paths of bodies, or curves over time where there is no grid.
pub(super) fn is_one_picture(problem: &Problem) -> bool {
    problem.system.grid().points() == 1 || positions(problem).is_some()
}

/// Most points along an axis that a picture needs.
const MOST: usize = 1024;

impl FrameBuffer {
    pub(super) fn new(problem: &Problem, field: usize, before: usize) -> FrameBuffer {
        let system = &problem.system;
        let shape = system.grid().shape();
        let n = *shape.iter().max().unwrap_or(&1);
        let side = n.div_ceil(n.div_ceil(MOST)).max(2);
        // The nearest of the `n` points of an axis.
        let nearest = |k: usize, n: usize| (2 * k * (n - 1) + side - 1) / (2 * (side - 1));
        let along = |n: usize| (0..side).map(move |k| nearest(k, n));
        let points = if shape.len() == 1 { side } else { side * side };
        let components = match shape.len() {
            1 => {
                let fields = 0..system.fields().len();
                fields.flat_map(|field| along(shape[0]).map(move |i| system.component(field, i))).collect()
            }
            dims => {
                // The plane in the middle of a cube.
                let plane = if dims == 3 { shape[0] * shape[1] * (shape[2] / 2) } else { 0 };
                let place = |i: usize, j: usize| system.component(field, plane + j * shape[0] + i);
                along(shape[1]).flat_map(|j| along(shape[0]).map(move |i| place(i, j))).collect()
            }
        };
        FrameBuffer { field, side, components, points, before, frames: Vec::new() }
    }

    /// Keeps a frame.
    pub(super) fn keep<T: Real>(&mut self, t: f64, y: Stored<'_, T>) -> Result<(), Error> {
        let values: Vec<f64> = y.pick(&self.components)?.into_iter().map(|v| v.into_f64()).collect();
        self.frames.push((t, values.chunks(self.points).map(<[f64]>::to_vec).collect()));
        Ok(())
    }

    pub(super) fn draw(&self, document: &mut Document, problem: &Problem, frames: &Frames) -> Result<(), Failure> {
        let all = || self.frames.iter().flat_map(|(_, values)| values.iter().flatten()).filter(|v| v.is_finite());
        let (low, high) = all().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(*v), b.max(*v)));
        let time = |frame: Option<&(f64, _)>| frame.map_or(document.t, |(t, _)| *t);
        let (begin, end) = (time(self.frames.first()), time(self.frames.last()));
        let range = if low <= high { (low, high) } else { (0.0, 0.0) };
        let grid = problem.system.grid();
        let names = problem.system.fields();
        let (first, last) = (grid.position(0), grid.position(grid.points() - 1));
        let subtitle = format!("{} · {}", document.method, precision(document.precision));
        if let Some([x, y]) = positions(problem) {
            let picture = frames.picture(0)?;
            let shown = self.side.min(grid.points());
            let place = |body: usize| move |values: &[Vec<f64>]| (values[x][body], values[y][body]);
            let path = |body: usize| self.frames.iter().map(|(_, values)| place(body)(values)).collect();
            let [from, to] = [begin, end].map(|t| number(t, 5));
            let title = format!("{}, {shown} bodies, t from {from} to {to}", problem.name);
            let paths = (0..shown).map(path).collect();
            document.pictures.push(picture.draw(&Paths { title, subtitle, names: ["x", "y"], paths })?);
            return Ok(());
        }
        if grid.points() == 1 {
            // Without a grid the curves are over time.
            let picture = frames.picture(0)?;
            let curve = |f: usize| self.frames.iter().map(|(_, values)| values[f][0]).collect();
            let curves: Vec<_> = names.iter().enumerate().map(|(f, name)| (name.clone(), curve(f))).collect();
            let title = problem.name.clone();
            let x = ("t", begin, end);
            document.pictures.push(picture.draw(&Profile { title, subtitle, x, curves: &curves, range })?);
            return Ok(());
        }
        for (k, (t, values)) in self.frames.iter().enumerate() {
            let picture = frames.picture(self.before + k)?;
            let size = grid.shape().iter().map(ToString::to_string).collect::<Vec<_>>().join(" × ");
            let title = format!("{}, {size} points, t = {}", problem.name, number(*t, 5));
            let subtitle = subtitle.clone();
            let name = if grid.shape().len() == 1 {
                let curves: Vec<_> = names.iter().cloned().zip(values.iter().cloned()).collect();
                let x = ("x", first[0], last[0]);
                picture.draw(&Profile { title, subtitle, x, curves: &curves, range })?
            } else {
                let label = &names[self.field];
                let values = &values[0];
                picture.draw(&Field {
                    title,
                    subtitle,
                    label,
                    columns: self.side,
                    bounds: [0, 1].map(|axis| [first[axis], last[axis]]),
                    values,
                    range: Some(range),
                })?
            };
            document.pictures.push(name);
        }
        Ok(())
    }
}
