//! Test problems of the literature, with their initial values.

use std::f64::consts::PI;

use crate::model::Rhs;
use crate::model::formula::Expr;
use crate::model::grid::{Boundary, Grid, Layout, MOST_COMPONENTS, Side};
use crate::model::initial::Initial;
use crate::model::memory::check_host;
use crate::model::system::System;
use crate::{Error, Result};
use clinalg::{Real, shown};

/// An initial value problem whose right-hand side is a [`System`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Problem {
    /// One of [`PROBLEMS`]; another where it was made by [`Description::problem`](crate::Description::problem).
    pub name: String,
    /// A short description.
    pub title: String,
    /// The right-hand side.
    pub system: System,
    pub(crate) initial: Initial,
    /// Where it begins.
    pub t0: f64,
    /// Where it usually ends.
    pub t_end: f64,
    /// Times at which the right-hand side jumps.
    pub stops: Vec<f64>,
}

impl Problem {
    /// The solution at the beginning, in the system's order in memory.
    ///
    /// # Errors
    /// [`Error::Value`] for values that are not finite, and where there are none; [`Error::Memory`] where they do not fit the host.
    pub fn y0(&self) -> Result<Vec<f64>> {
        match &self.initial {
            Initial::Missing => Err(Error::value("initial", "a formula for each field, or values", "none")),
            Initial::Values(values) => Ok(values.clone()),
            Initial::Formulas(formulas) => {
                check_host(self.system.components())?;
                let y0 = self.system.initial_values(formulas, self.t0);
                self.system.check_initial(&y0)?;
                Ok(y0)
            }
        }
    }

    /// Whether there are initial values.
    pub fn has_y0(&self) -> bool {
        self.initial != Initial::Missing
    }

    /// Sets all initial values, in the system's order in memory; as with [`Problem::set_initial`], afterwards it no longer counts as a test problem.
    ///
    /// # Errors
    /// [`Error::Value`] for another number of components.
    pub fn set_y0(&mut self, values: Vec<f64>) -> Result<()> {
        if values.len() != self.system.components() {
            return Err(Error::value("y0", format!("{} components", self.system.components()), values.len()));
        }
        self.initial = Initial::Values(values);
        self.changed();
        Ok(())
    }

    /// Quantities that the exact solution of the system keeps, with their names; rounding and the method's error change them.
    /// Heat and waves have their sums, pairs of prey and predator the mean of their invariants, bodies energy, momentum and
    /// angular momentum; the other problems have none. [`Problem::invariants_of`] takes a vector on a device.
    ///
    /// # Panics
    /// For another number of components.
    pub fn invariants(&self, y: &[f64]) -> Vec<(&'static str, f64)> {
        let named = |(name, formula): (_, Expr)| (name, self.system.total(&formula, y));
        self.invariant_formulas().into_iter().map(named).collect()
    }

    /// What invariants add up at all points, with their names.
    pub(crate) fn invariant_formulas(&self) -> Vec<(&'static str, Expr)> {
        let (grid, points) = (self.system.grid(), self.system.grid().points());
        let texts: Vec<(&str, String)> = match self.name.as_str() {
            "heat2d" | "heat3d" => {
                // Points on the boundary stand for half a cell along each axis whose end they are.
                let weight = |(i, n): (&str, &usize)| {
                    format!(
                        "*if({i} == 0 || {i} == {last}, {}, {})",
                        0.5 / (n - 1) as f64,
                        1.0 / (n - 1) as f64,
                        last = n - 1
                    )
                };
                let weights: String = ["i", "j", "k"].into_iter().zip(grid.shape()).map(weight).collect();
                vec![("heat", format!("u{weights}"))]
            }
            "wave1d" => vec![("sum", "u".into()), ("sum of squares", "u*u".into())],
            "lotka-volterra" => {
                let of = "prey - 3*log(prey) + predator - 1.5*log(predator)";
                vec![("mean invariant", format!("({of})/{points}"))]
            }
            "nbody" => {
                let pull = "sum(mass*mass'*rsqrt(softening + (px' - px)^2 + (py' - py)^2 + (pz' - pz)^2))";
                // A body does not attract itself.
                let energy = format!("0.5*(mass*(vx^2 + vy^2 + vz^2) - ({pull} - mass^2*rsqrt(softening)))");
                vec![
                    ("energy", energy),
                    ("momentum x", "mass*vx".into()),
                    ("momentum y", "mass*vy".into()),
                    ("momentum z", "mass*vz".into()),
                    ("angular momentum x", "mass*(py*vz - pz*vy)".into()),
                    ("angular momentum y", "mass*(pz*vx - px*vz)".into()),
                    ("angular momentum z", "mass*(px*vy - py*vx)".into()),
                ]
            }
            _ => Vec::new(),
        };
        let data = ["mass".to_owned()];
        let data = if self.system.data.is_empty() { &[][..] } else { &data };
        let parse = |(name, text): (&'static str, String)| {
            (name, self.system.parse(&text, data).expect("the formulas of test problems are in order"))
        };
        texts.into_iter().map(parse).collect()
    }

    /// Sets the initial values of a field to those of a formula of coordinates, indices and parameters. The problem is another
    /// then, and its name says so: it has no known solution or invariants.
    ///
    /// # Errors
    /// [`Error::Value`] for an unknown field; [`Error::Formula`]. That values are finite is checked by [`Problem::y0`].
    pub fn set_initial(&mut self, field: &str, formula: &str) -> Result<()> {
        let fields = self.system.fields();
        let Some(number) = fields.iter().position(|name| name == field) else {
            return Err(Error::value("initial", format!("one of {}", fields.join(", ")), field));
        };
        let formula = self.system.parse_initial(formula, &[])?;
        match &mut self.initial {
            Initial::Formulas(formulas) => formulas[self.system.place(number)] = formula,
            Initial::Values(values) => {
                let sampled = self.system.sample_formula(&formula, self.t0, self.system.grid().points());
                for (p, value) in sampled.into_iter().enumerate() {
                    values[self.system.component(number, p)] = value;
                }
            }
            Initial::Missing => return Err(Error::value("initial", "initial values of all fields", field)),
        }
        self.changed();
        Ok(())
    }

    /// Changes a parameter; as with [`Problem::set_initial`], afterwards it no longer counts as a test problem.
    ///
    /// # Errors
    /// Those of [`System::set_parameter`].
    pub fn set_parameter(&mut self, name: &str, value: f64) -> Result<()> {
        self.system.set_parameter(name, value)?;
        self.title = with_value(&self.title, name, value);
        self.changed();
        Ok(())
    }

    /// Gives a problem of the literature another name, once.
    fn changed(&mut self) {
        if PROBLEMS.contains(&self.name.as_str()) {
            self.name.push_str(" (changed)");
        }
    }

    /// The exact solution of the system at time t, where it is known: for heat and waves, from the eigenvectors of their
    /// differences. It takes n^2 operations for n points along an axis. [`Problem::error`] compares a vector on a device with it.
    pub fn exact(&self, t: f64) -> Option<Vec<f64>> {
        let line = self.exact_line(t)?;
        Some((0..self.system.components()).map(|p| line[p % line.len()]).collect())
    }

    /// The exact solution along x, which repeats itself along the other axes.
    pub(crate) fn exact_line(&self, t: f64) -> Option<Vec<f64>> {
        if !["heat2d", "heat3d", "wave1d"].contains(&self.name.as_str()) {
            return None;
        }
        let Initial::Formulas(formulas) = &self.initial else { return None };
        let (grid, t) = (self.system.grid(), t - self.t0);
        // Of heat the initial values depend on x only.
        let line = self.system.sample_formula(&formulas[0], self.t0, grid.shape()[0]);
        Some(if self.name == "wave1d" { wave_exact(&line, grid.spacing[0], t) } else { heat_exact(&line, t) })
    }
}

/// The title with the value of `name = number` replaced.
pub(crate) fn with_value(title: &str, name: &str, value: f64) -> String {
    let mark = format!("{name} = ");
    let begins_word = |at: &usize| !title[..*at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
    let Some(at) = title.match_indices(&mark).map(|(at, _)| at).find(begins_word) else {
        return title.to_owned();
    };
    let (before, rest) = title.split_at(at + mark.len());
    let end = rest.find(|c: char| !(c.is_ascii_digit() || "+-.eE".contains(c))).unwrap_or(rest.len());
    format!("{before}{}{}", shown(value), &rest[end..])
}

/// Entries 0, k, 2 k, ... of a table that repeats itself, k below its length.
fn every<V: Copy>(table: &[V], k: usize) -> impl Iterator<Item = V> {
    let mut at = 0;
    std::iter::repeat_with(move || {
        let value = table[at];
        at += k;
        if at >= table.len() {
            at -= table.len();
        }
        value
    })
}

/// A factor of an eigenvector below which it changes no bit of a sum of many.
const NEGLIGIBLE: f64 = 1e-24;

/// Heat on a line of points from 0 to 1 with mirrored ends: the eigenvectors are cos(pi k j / m).
fn heat_exact(u: &[f64], t: f64) -> Vec<f64> {
    let m = u.len() - 1;
    let half = |k: usize| if k == 0 || k == m { 0.5 } else { 1.0 };
    let cos: Vec<f64> = (0..2 * m).map(|q| (PI * q as f64 / m as f64).cos()).collect();
    let factors = (0..=m).map(|k| ((m * m) as f64 * (2.0 * cos[k] - 2.0) * t).exp());
    let weighted: Vec<f64> = u.iter().enumerate().map(|(j, u)| half(j) * u).collect();
    let amplitude = |(k, factor): (usize, f64)| {
        let sum: f64 = weighted.iter().zip(every(&cos, k)).map(|(u, cos)| u * cos).sum();
        half(k) * (2.0 / m as f64) * sum * factor
    };
    let all: Vec<f64> = factors.take_while(|factor| *factor > NEGLIGIBLE).enumerate().map(amplitude).collect();
    (0..=m).map(|j| all.iter().zip(every(&cos, j)).map(|(a, cos)| a * cos).sum()).collect()
}

/// Weights of the central difference of order 8 for the neighbours 1 to 4 away.
const CENTRAL: [f64; 4] = [4.0 / 5.0, -1.0 / 5.0, 4.0 / 105.0, -1.0 / 280.0];

/// Advection on a ring: each wave e^(i w j) moves at the speed of its modified wave number.
fn wave_exact(u: &[f64], h: f64, t: f64) -> Vec<f64> {
    let n = u.len();
    let turns: Vec<(f64, f64)> = (0..n).map(|q| (2.0 * PI * q as f64 / n as f64).sin_cos()).collect();
    let mut exact = vec![0.0; n];
    for k in 0..n {
        let (mut re, mut im) = (0.0, 0.0);
        for (u, (sin, cos)) in u.iter().zip(every(&turns, k)) {
            re += u * cos;
            im -= u * sin;
        }
        let speed: f64 = 2.0 / h * CENTRAL.iter().enumerate().map(|(m, c)| c * turns[k * (m + 1) % n].0).sum::<f64>();
        let (sin, cos) = (-speed * t).sin_cos();
        let (re, im) = ((re * cos - im * sin) / n as f64, (re * sin + im * cos) / n as f64);
        for (e, (sin, cos)) in exact.iter_mut().zip(every(&turns, k)) {
            *e += re * cos - im * sin;
        }
    }
    exact
}

/// Names that [`problem`] knows.
pub const PROBLEMS: [&str; 11] = [
    "bruss2d-mix",
    "bruss2d-hairer",
    "bruss2d-sciml",
    "heat2d",
    "heat3d",
    "wave1d",
    "cusp",
    "medakzo",
    "inverter-chain",
    "lotka-volterra",
    "nbody",
];

/// The problem of this name, or `bruss2d` for `bruss2d-mix`, with `n` grid points along each axis (pairs, inverters or bodies where there is no grid).
///
/// # Errors
/// [`Error::Value`] for a name that is not among [`PROBLEMS`], fewer points than the formulas reach over, or more than 2^48
/// components; [`Error::Memory`] where the bodies do not fit the host.
pub fn problem(name: &str, n: usize) -> Result<Problem> {
    let least = match name {
        "lotka-volterra" | "inverter-chain" | "nbody" => 1,
        "wave1d" => CENTRAL.len(),
        _ => 3,
    };
    if n < least {
        return Err(Error::value("n", format!("at least {least}"), n));
    }
    // Axes and fields; a name that is not known is refused below.
    let (axes, fields) = match name {
        "bruss2d-mix" | "bruss2d-hairer" | "bruss2d-sciml" => (2, 2),
        "heat2d" => (2, 1),
        "heat3d" => (3, 1),
        "cusp" => (1, 3),
        "nbody" => (1, 6),
        "medakzo" | "lotka-volterra" => (1, 2),
        _ => (1, 1),
    };
    let components = n.checked_pow(axes).and_then(|points| points.checked_mul(fields));
    if components.is_none_or(|components| components > MOST_COMPONENTS) {
        return Err(Error::value("n", format!("one for which there are at most {MOST_COMPONENTS} components"), n));
    }
    match name {
        "bruss2d-mix" => brusselator_mix(n),
        "bruss2d-hairer" => brusselator_hairer(n),
        "bruss2d-sciml" => brusselator_sciml(n),
        "heat2d" => heat("heat2d", "heat equation on a square, no flow through the boundary", n, 2),
        "heat3d" => heat("heat3d", "heat equation on a cube, no flow through the boundary", n, 3),
        "wave1d" => wave(n),
        "cusp" => cusp(n),
        "medakzo" => medakzo(n),
        "inverter-chain" => inverter_chain(n),
        "lotka-volterra" => lotka_volterra(n),
        "nbody" => n_body(n),
        _ => Err(Error::value("problem", format!("one of {}", PROBLEMS.join(", ")), name)),
    }
}

/// Initial values by a formula for each field, in the order in which they were added.
fn initial(system: &System, formulas: &[&str]) -> Result<Initial> {
    let mut by_places = vec![Expr::Number(0.0); formulas.len()];
    for (field, formula) in formulas.iter().enumerate() {
        by_places[system.place(field)] = system.parse_initial(formula, &[])?;
    }
    Ok(Initial::Formulas(by_places))
}

const LAPLACE_U: &str = "u[-1,0] + u[1,0] + u[0,-1] + u[0,1] - 4*u";
const LAPLACE_V: &str = "v[-1,0] + v[1,0] + v[0,-1] + v[0,1] - 4*v";

/// The Brusselator in two dimensions with A = 3.4, B = 1, no flow through the boundary.
fn brusselator_mix(n: usize) -> Result<Problem> {
    let system = System::builder(Grid::unit(&[n, n]))
        .parameter("alpha", 2e-3)
        .parameter("scale", ((n - 1) * (n - 1)) as f64)
        .field("u", format!("1 + u*u*v - 4.4*u + alpha*scale*({LAPLACE_U})"))
        .field("v", format!("3.4*u - u*u*v + alpha*scale*({LAPLACE_V})"))
        .layout(Layout::Interleaved)
        .build()?;
    let initial = initial(&system, &["0.5 + x", "1 + 5*y"])?;
    Ok(Problem {
        name: "bruss2d-mix".into(),
        title: "Brusselator, alpha = 0.002, mirrored boundary, fields interleaved".into(),
        system,
        initial,
        t0: 0.0,
        t_end: 1.0,
        stops: Vec::new(),
    })
}

/// What the periodic Brusselators add to u in a disc from t = 1.1 on.
const SOURCE: &str = "if(t >= 1.1 && (x - 0.3)^2 + (y - 0.6)^2 <= 0.01, 5, 0)";

fn periodic_brusselator(grid: Grid, alpha: f64, scale: f64) -> Result<System> {
    System::builder(grid)
        .parameter("alpha", alpha)
        .parameter("scale", scale)
        .field("u", format!("1 + u*u*v - 4.4*u + alpha*scale*({LAPLACE_U}) + {SOURCE}"))
        .field("v", format!("3.4*u - u*u*v + alpha*scale*({LAPLACE_V})"))
        .boundary(Boundary::Periodic)
        .layout(Layout::Interleaved)
        .build()
}

/// Hairer and Wanner, Solving ODEs II, IV.10.
fn brusselator_hairer(n: usize) -> Result<Problem> {
    let h = 1.0 / n as f64;
    let system = periodic_brusselator(Grid::new(&[n, n], &[0.0; 2], &[h; 2]), 0.1, (n * n) as f64)?;
    let initial = initial(&system, &["22*(y*max(1 - y, 0)^1.5)", "27*(x*max(1 - x, 0)^1.5)"])?;
    Ok(Problem {
        name: "bruss2d-hairer".into(),
        title: "Brusselator of Hairer and Wanner, alpha = 0.1, periodic, a source from t = 1.1 on".into(),
        system,
        initial,
        t0: 0.0,
        t_end: 11.5,
        stops: vec![1.1],
    })
}

/// The form of the Julia benchmarks: other initial values, a stronger diffusion, points on both ends.
fn brusselator_sciml(n: usize) -> Result<Problem> {
    let system = periodic_brusselator(Grid::unit(&[n, n]), 10.0, ((n - 1) * (n - 1)) as f64)?;
    let initial = initial(&system, &["22*max(y*(1 - y), 0)^1.5", "27*max(x*(1 - x), 0)^1.5"])?;
    Ok(Problem {
        name: "bruss2d-sciml".into(),
        title: "Brusselator of the Julia benchmarks, alpha = 10, periodic, a source from t = 1.1 on".into(),
        system,
        initial,
        t0: 0.0,
        t_end: 11.5,
        stops: vec![1.1],
    })
}

fn heat(name: &str, title: &str, n: usize, dims: usize) -> Result<Problem> {
    let neighbours = match dims {
        2 => LAPLACE_U,
        _ => "u[-1,0,0] + u[1,0,0] + u[0,-1,0] + u[0,1,0] + u[0,0,-1] + u[0,0,1] - 6*u",
    };
    let system = System::builder(Grid::unit(&vec![n; dims]))
        .parameter("scale", ((n - 1) * (n - 1)) as f64)
        .field("u", format!("scale*({neighbours})"))
        .build()?;
    let initial = initial(&system, &["0.5 + x"])?;
    Ok(Problem { name: name.into(), title: title.into(), system, initial, t0: 0.0, t_end: 0.1, stops: Vec::new() })
}

/// A bump carried along at speed 1, central differences of order 8.
fn wave(n: usize) -> Result<Problem> {
    let h = 500.0 / n as f64;
    let terms: Vec<String> = (1..).zip(CENTRAL).map(|(k, c)| format!("{c}*(u[{k}] - u[-{k}])")).collect();
    let system = System::builder(Grid::new(&[n], &[-50.0], &[h]))
        .parameter("speed", 1.0)
        .parameter("scale", 1.0 / h)
        .field("u", format!("-speed*scale*({})", terms.join(" + ")))
        .boundary(Boundary::Periodic)
        .build()?;
    let initial = initial(&system, &["0.5*exp(-x*x/9)"])?;
    let title = "advection of a bump, central differences of order 8";
    Ok(Problem {
        name: "wave1d".into(),
        title: title.into(),
        system,
        initial,
        t0: 0.0,
        t_end: 300.0,
        stops: Vec::new(),
    })
}

/// Threshold-nerve-impulse, cusp catastrophe and van der Pol, with the diffusion of Hairer and Wanner.
fn cusp(n: usize) -> Result<Problem> {
    let h = 1.0 / n as f64;
    let system = System::builder(Grid::new(&[n], &[0.0], &[h]))
        .parameter("d", n as f64 * n as f64 / 144.0)
        .define("w", "(p - 0.7)*(p - 1.3)")
        .define("v", "w/(w + 0.1)")
        .field("p", "-1e4*(b + p*(a + p*p)) + d*(p[-1] - 2*p + p[1])")
        .field("a", "b + 0.07*v + d*(a[-1] - 2*a + a[1])")
        .field("b", "(1 - a*a)*b - a - 0.4*p + 0.035*v + d*(b[-1] - 2*b + b[1])")
        .boundary(Boundary::Periodic)
        .layout(Layout::Interleaved)
        .build()?;
    let initial = initial(&system, &["0", "-2*cos(2*pi*x)", "2*sin(2*pi*x)"])?;
    let title = "nerve impulse, cusp catastrophe and van der Pol on a ring";
    Ok(Problem { name: "cusp".into(), title: title.into(), system, initial, t0: 0.0, t_end: 1.1, stops: Vec::new() })
}

/// Medical Akzo Nobel: a substance moves into a tissue and reacts.
fn medakzo(n: usize) -> Result<Problem> {
    let h = 1.0 / n as f64;
    let system = System::builder(Grid::new(&[n], &[h], &[h]))
        .parameter("rate", 100.0)
        .parameter("step", h)
        .define("alpha", "2*(x - 1)^3/16")
        .define("beta", "(x - 1)^4/16")
        .field("u", "alpha*(u[1] - u[-1])/(2*step) + beta*(u[-1] - 2*u + u[1])/step^2 - rate*u*v")
        .field("v", "-rate*u*v")
        .side(0, Side::Low, Boundary::Value(vec!["if(t <= 5, 2, 0)".into(), "0".into()]))
        .side(0, Side::High, Boundary::Copy)
        .build()?;
    let initial = initial(&system, &["0", "1"])?;
    let title = "medical Akzo Nobel: inflow until t = 5, reaction with what is there";
    Ok(Problem { name: "medakzo".into(), title: title.into(), system, initial, t0: 0.0, t_end: 20.0, stops: vec![5.0] })
}

/// A chain of inverters, each driven by the one before, the first by a sine.
fn inverter_chain(n: usize) -> Result<Problem> {
    let system = System::builder(Grid::new(&[n], &[0.0], &[1.0]))
        .define("drive", "max(u[-1] - 1, 0)^2 - max(u[-1] - u - 1, 0)^2")
        .field("u", "((5 - u)/5e3 - 2e-4*drive)/1e-3")
        .side(0, Side::Low, Boundary::Value(vec!["2.5 + 2.5*sin(2*pi*0.0125*t)".into()]))
        .build()?;
    let initial = initial(&system, &["if(mod(i, 2) == 0, 5, 0)"])?;
    let title = "chain of inverters driven by a sine of 0.0125 Hz";
    Ok(Problem {
        name: "inverter-chain".into(),
        title: title.into(),
        system,
        initial,
        t0: 0.0,
        t_end: 80.0,
        stops: Vec::new(),
    })
}

/// Independent pairs of prey and predator.
fn lotka_volterra(n: usize) -> Result<Problem> {
    let system = System::builder(Grid::unit(&[n]))
        .field("prey", "1.5*prey - prey*predator")
        .field("predator", "prey*predator - 3*predator")
        .build()?;
    let initial = initial(&system, &["1 + 2*x", "1 + x"])?;
    let title = "independent pairs of prey and predator";
    Ok(Problem {
        name: "lotka-volterra".into(),
        title: title.into(),
        system,
        initial,
        t0: 0.0,
        t_end: 10.0,
        stops: Vec::new(),
    })
}

/// `n` bodies on a wavy ring, total mass about one third.
fn n_body(n: usize) -> Result<Problem> {
    check_host(6 * n)?;
    let (bodies, y0) = NBody::ring(n);
    let system = System::builder(Grid::new(&[n], &[0.0], &[1.0]))
        .parameter("softening", SOFTENING)
        .data("mass", bodies.masses)
        .define("dx", "px' - px")
        .define("dy", "py' - py")
        .define("dz", "pz' - pz")
        .define("pull", "mass' * rsqrt(softening + dx^2 + dy^2 + dz^2)^3")
        .field("px", "vx")
        .field("py", "vy")
        .field("pz", "vz")
        .field("vx", "sum(pull*dx)")
        .field("vy", "sum(pull*dy)")
        .field("vz", "sum(pull*dz)")
        .layout(Layout::Interleaved)
        .build()?;
    let title = "N-body problem: gravitating bodies on a perturbed ring";
    let initial = Initial::Values(y0);
    Ok(Problem { name: "nbody".into(), title: title.into(), system, initial, t0: 0.0, t_end: 10.0, stops: Vec::new() })
}

/// The N-body problem in plain Rust: six components per body, position then velocity.
#[derive(Debug, Clone)]
pub struct NBody {
    masses: Vec<f64>,
}

/// Added to squared distances, so that close bodies do not need tiny steps.
const SOFTENING: f64 = 1e-4;

impl NBody {
    /// `n` bodies on a wavy ring, total mass about one third, with their positions and velocities.
    pub fn ring(n: usize) -> (NBody, Vec<f64>) {
        let masses = (0..n).map(|i| (0.3 + 0.1 * ((i as f64 * PI / 2.0).cos() + 1.0)) / n as f64);
        let mut y = Vec::with_capacity(6 * n);
        for i in 0..n {
            let r = 1.7 + (0.75 * i as f64).cos();
            let phase = 2.0 * PI * i as f64 / n as f64;
            let (sin, cos) = phase.sin_cos();
            let v = 0.22 * r.sqrt();
            y.extend([r * cos, r * sin, 0.4 * sin, -v * sin, v * cos, 0.0]);
        }
        (NBody { masses: masses.collect() }, y)
    }

    /// Kinetic and potential energy, which does not change.
    pub fn energy(&self, y: &[f64]) -> f64 {
        let n = self.masses.len();
        let mut energy = 0.0;
        for i in 0..n {
            let speed: f64 = y[6 * i + 3..6 * i + 6].iter().map(|v| v * v).sum();
            energy += 0.5 * self.masses[i] * speed;
            for j in 0..i {
                let square: f64 = (0..3).map(|k| (y[6 * i + k] - y[6 * j + k]).powi(2)).sum();
                energy -= self.masses[i] * self.masses[j] / (square + SOFTENING).sqrt();
            }
        }
        energy
    }

    /// Angular momentum about the origin, which does not change.
    pub fn angular_momentum(&self, y: &[f64]) -> [f64; 3] {
        std::array::from_fn(|k| {
            let (a, b) = ((k + 1) % 3, (k + 2) % 3);
            let of = |c: &[f64]| c[a] * c[3 + b] - c[b] * c[3 + a];
            self.masses.iter().zip(y.chunks_exact(6)).map(|(m, c)| m * of(c)).sum()
        })
    }

    /// Momentum, which does not change.
    pub fn momentum(&self, y: &[f64]) -> [f64; 3] {
        std::array::from_fn(|k| self.masses.iter().enumerate().map(|(i, m)| m * y[6 * i + 3 + k]).sum())
    }
}

impl<T: Real> Rhs<T> for NBody {
    fn len(&self) -> usize {
        6 * self.masses.len()
    }

    fn eval(&self, _: T, y: &[T], f: &mut [T]) {
        for (i, out) in f.chunks_exact_mut(6).enumerate() {
            let mut a = [T::zero(); 3];
            for (j, mass) in self.masses.iter().enumerate().filter(|(j, _)| *j != i) {
                let d: [T; 3] = std::array::from_fn(|k| y[6 * j + k] - y[6 * i + k]);
                let square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + T::from_f64(SOFTENING);
                let factor = T::from_f64(*mass) / (square * square.sqrt());
                for (a, d) in a.iter_mut().zip(d) {
                    *a += factor * d;
                }
            }
            out[..3].copy_from_slice(&y[6 * i + 3..6 * i + 6]);
            out[3..].copy_from_slice(&a);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_has_the_value_of_a_parameter_that_was_changed() {
        let mut changed = problem("bruss2d-mix", 3).unwrap();
        changed.set_parameter("alpha", 0.01).unwrap();
        assert_eq!(changed.title, "Brusselator, alpha = 0.01, mirrored boundary, fields interleaved");
        assert_eq!(with_value("alpha = 1, a = 2 and b", "a", 0.5), "alpha = 1, a = 0.5 and b");
        assert_eq!(with_value("alpha = 1", "pha", 3.0), "alpha = 1");
        assert_eq!(with_value("decay (a = 1e-3)", "a", 1e-20), "decay (a = 1e-20)");
    }
}
