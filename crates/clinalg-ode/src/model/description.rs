//! Systems from text, for the program and the language bindings.

use crate::model::formula::Expr;
use crate::model::function::Function;
use crate::model::grid::{Boundary, Grid, Layout, Side};
use crate::model::initial::Initial;
use crate::model::parse::Powers;
use crate::model::problems::{PROBLEMS, Problem, with_value};
use crate::model::system::System;
use crate::{Error, Result};

/// A system in text, with its initial values and times where it has them: a statement a line, `#` begins a comment.
///
/// ```text
/// title waves on a ring            # what the system is
/// grid 64 32                       # points along each axis; one point where there is no such line
/// origin 0 0                       # of the first point, 0 where it is not given
/// spacing 0.5 0.5                  # 1 / (points - 1) where it is not given
/// parameter a = 0.25
/// data w                           # numbers for each point, which are given separately
/// define lap = u[-1,0] + u[1,0] + u[0,-1] + u[0,1] - 4*u
/// u' = a*w*lap/dx^2 - v            # dx, dy, dz: the spacing
/// v' = u
/// boundary periodic                # mirror, copy, periodic, or value with a formula for each field
/// boundary x low value sin(t); 0   # on one side, or without low or high on both sides of an axis
/// layout interleaved               # or field-wise; the better one where it is not given
/// event falling terminal at 3 0 = u - 0.5   # rising, falling, terminal and the point where needed
/// initial u = exp(-(x - 0.5)^2)    # of coordinates, indices, parameters and data; for every field or none
/// time 0 10                        # beginning and end, from 0 to 1 where they are not given
/// stop 1.1                         # a time at which the right-hand side jumps
/// ```
///
/// ```
/// use clinalg_ode::Description;
///
/// let mut text = Description::read("parameter a = 1\nx' = -a*x\ninitial x = a\ntime 0 2")?;
/// text.set_parameter("a", 3.0)?;
/// let problem = text.problem("decay", &[])?;
/// assert_eq!((problem.y0()?, problem.t_end), (vec![3.0], 2.0));
/// # Ok::<(), clinalg_ode::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Description {
    title: String,
    points: Vec<usize>,
    origin: Option<Vec<f64>>,
    spacing: Option<Vec<f64>>,
    parameters: Vec<(String, f64)>,
    data: Vec<String>,
    definitions: Vec<(String, String)>,
    fields: Vec<(String, String)>,
    boundaries: Vec<(Sides, Boundary)>,
    layout: Option<Layout>,
    /// Numbers of their lines, and what follows the word.
    events: Vec<(usize, String)>,
    initial: Vec<(String, String)>,
    time: Option<[f64; 2]>,
    stops: Vec<f64>,
    powers: Powers,
}

impl Description {
    /// Reads the statements; formulas are read by [`Description::system`].
    ///
    /// # Errors
    /// [`Error::Value`] for a line that is no statement.
    pub fn read(text: &str) -> Result<Description> {
        let mut all = Description { points: vec![1], ..Description::default() };
        for (number, whole) in text.lines().enumerate() {
            let line = whole.split('#').next().unwrap_or_default().trim();
            all.statement(number + 1, line)?;
        }
        Ok(all)
    }

    fn statement(&mut self, number: usize, line: &str) -> Result<()> {
        let fail = |expected: &str| Error::value(format!("line {number}"), expected, format!("`{line}`"));
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        match word {
            "" => {}
            // A field of such a name has its formula after a prime.
            "title" => self.title = rest.to_owned(),
            "grid" => {
                self.points = numbers(rest).ok_or_else(|| fail("grid and the number of points along each axis"))?
            }
            "origin" => self.origin = Some(reals(rest).ok_or_else(|| fail("origin and a coordinate for each axis"))?),
            "spacing" => self.spacing = Some(reals(rest).ok_or_else(|| fail("spacing and a number for each axis"))?),
            "parameter" => {
                let expected = "parameter name = a number or a constant expression such as 8/3";
                let (name, value) = named(rest).ok_or_else(|| fail(expected))?;
                let value = Function::constant(value).map_err(|_| fail(expected))?;
                self.parameters.push((name.into(), value));
            }
            "define" => {
                let (name, formula) = named(rest).ok_or_else(|| fail("define name = formula"))?;
                self.definitions.push((name.into(), formula.into()));
            }
            "initial" => {
                let (name, formula) = named(rest).ok_or_else(|| fail("initial field = formula"))?;
                self.initial.push((name.into(), formula.into()));
            }
            "time" => {
                let expected = "time and two numbers, the beginning and a later end";
                let times = reals(rest).ok_or_else(|| fail(expected))?;
                match times[..] {
                    [begin, end] if begin < end => {
                        self.time = Some([begin, end]);
                    }
                    _ => return Err(fail(expected)),
                }
            }
            "stop" => {
                let expected = "stop and finite times";
                self.stops.extend(reals(rest).ok_or_else(|| fail(expected))?);
            }
            "data" => self.data.push(rest.into()),
            "event" => self.events.push((number, rest.into())),
            "layout" => {
                self.layout = Some(match rest {
                    "interleaved" => Layout::Interleaved,
                    "field-wise" => Layout::FieldWise,
                    _ => return Err(fail("layout interleaved or layout field-wise")),
                });
            }
            "boundary" => {
                let expected = "boundary [x|y|z [low|high]] mirror, copy, periodic or value and formulas";
                self.boundaries.push(boundary(rest).ok_or_else(|| fail(expected))?);
            }
            _ => {
                let known = "a statement such as grid, parameter, define, boundary, or name' = formula";
                let (name, formula) = named(line).ok_or_else(|| fail(known))?;
                let name = name.strip_suffix('\'').ok_or_else(|| fail(known))?.trim();
                self.fields.push((name.into(), formula.into()));
            }
        }
        Ok(())
    }

    /// Names of the `data` lines, in their order.
    pub fn data(&self) -> &[String] {
        &self.data
    }

    /// Gives every axis `n` points in place of those of the `grid` line.
    pub fn set_points(&mut self, n: usize) {
        self.points.fill(n);
    }

    /// How chains of powers group in all formulas: from right to left, unless this says otherwise.
    pub fn set_powers(&mut self, powers: Powers) {
        self.powers = powers;
    }

    /// Changes a parameter.
    ///
    /// # Errors
    /// [`Error::Value`] for a name without a `parameter` line.
    pub fn set_parameter(&mut self, name: &str, value: f64) -> Result<()> {
        match self.parameters.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => {
                *old = value;
                self.title = with_value(&self.title, name, value);
            }
            None => {
                let known: Vec<&str> = self.parameters.iter().map(|(name, _)| name.as_str()).collect();
                return Err(Error::value("parameter", one_of(&known), name));
            }
        }
        Ok(())
    }

    /// Sets the formula of a field's initial values, in place of its `initial` line where there is one.
    pub fn set_initial(&mut self, field: &str, formula: &str) {
        self.initial.retain(|(known, _)| known != field);
        self.initial.push((field.to_owned(), formula.to_owned()));
    }

    /// The system. `data` has the numbers for the `data` lines, in their order, one for each point.
    ///
    /// # Errors
    /// Those of [`System::from_text`].
    pub fn system(&self, data: &[Vec<f64>]) -> Result<System> {
        if data.len() != self.data.len() {
            let expected = format!("numbers for each of {} lines that begin with data", self.data.len());
            return Err(Error::value("data", expected, data.len()));
        }
        for (name, given) in [("origin", &self.origin), ("spacing", &self.spacing)] {
            if let Some(given) = given
                && given.len() != self.points.len()
            {
                let expected = format!("{} numbers, one for each axis", self.points.len());
                return Err(Error::value(name, expected, given.len()));
            }
        }
        let unit = || self.points.iter().map(|n| 1.0 / (*n.max(&2) - 1) as f64).collect();
        let origin = self.origin.clone().unwrap_or_else(|| vec![0.0; self.points.len()]);
        let spacing = self.spacing.clone().unwrap_or_else(unit);
        let mut builder = System::builder(Grid::new(&self.points, &origin, &spacing)).powers(self.powers);
        for (name, value) in &self.parameters {
            builder = builder.parameter(name, *value);
        }
        for (name, values) in self.data.iter().zip(data) {
            builder = builder.data(name, values.as_slice());
        }
        for (name, formula) in &self.definitions {
            builder = builder.define(name, formula);
        }
        for (name, formula) in &self.fields {
            builder = builder.field(name, formula);
        }
        for (sides, boundary) in &self.boundaries {
            builder = sides.iter().fold(builder, |b, (axis, side)| b.side(*axis, *side, boundary.clone()));
        }
        if let Some(layout) = self.layout {
            builder = builder.layout(layout);
        }
        let mut system = builder.build()?;
        system.stops.clone_from(&self.stops);
        for (line, event) in &self.events {
            system.event_from_text(event).map_err(|error| match error {
                Error::Value { expected, got, .. } => Error::value(format!("line {line}"), expected, got),
                other => other,
            })?;
        }
        Ok(system)
    }

    /// The system with the initial values of its `initial` lines and its times, under a name. Either every field has such a
    /// line or none: then the caller has to set them, see [`Problem::set_y0`].
    ///
    /// # Errors
    /// Those of [`Description::system`]; [`Error::Value`] for a name of one of
    /// [`PROBLEMS`](crate::problems::PROBLEMS), and an unknown or a missing field; [`Error::Formula`] for an initial value that
    /// reads a field. That values are finite is checked by [`Problem::y0`].
    pub fn problem(&self, name: &str, data: &[Vec<f64>]) -> Result<Problem> {
        if PROBLEMS.contains(&name) {
            return Err(Error::value("name", "a name other than those of the test problems", name));
        }
        let system = self.system(data)?;
        let [t0, t_end] = self.time.unwrap_or([0.0, 1.0]);
        let initial = if self.initial.is_empty() { Initial::Missing } else { self.initial_formulas(&system)? };
        let title = if self.title.is_empty() { "a system from a description".into() } else { self.title.clone() };
        Ok(Problem { name: name.into(), title, system, initial, t0, t_end, stops: self.stops.clone() })
    }

    /// A formula for each place.
    fn initial_formulas(&self, system: &System) -> Result<Initial> {
        let names: Vec<&str> = system.fields().iter().map(String::as_str).collect();
        if let Some((name, _)) = self.initial.iter().find(|(name, _)| !names.contains(&name.as_str())) {
            return Err(Error::value("initial", one_of(&names), name));
        }
        let mut formulas = vec![Expr::Number(0.0); names.len()];
        for (field, name) in names.iter().enumerate() {
            let Some((_, formula)) = self.initial.iter().rfind(|(known, _)| known == name) else {
                return Err(Error::value("initial", "a formula for each field", format!("none for {name}")));
            };
            formulas[system.place(field)] = system.parse_initial(formula, &self.data)?;
        }
        Ok(Initial::Formulas(formulas))
    }
}

fn one_of(names: &[&str]) -> String {
    if names.is_empty() { "none: the description has none".into() } else { format!("one of {}", names.join(", ")) }
}

impl System {
    /// A system from a description; [`Description`] has the statements, of which those about initial values and the interval of time
    /// play no part here. `data` has the numbers for the `data` lines, in their order, one for each point.
    ///
    /// ```
    /// use clinalg_ode::System;
    ///
    /// let swing = System::from_text("x' = v\nv' = -x", &[])?;
    /// assert_eq!((swing.fields(), swing.components()), (&["x".to_owned(), "v".to_owned()][..], 2));
    /// assert_eq!(System::from_text("x' = 1 +", &[]).unwrap_err().id(), "clinalg:ode:formula");
    /// # Ok::<(), clinalg_ode::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Value`] for a line that is no statement; those of [`Builder::build`](crate::model::Builder::build).
    pub fn from_text(text: &str, data: &[Vec<f64>]) -> Result<System> {
        Description::read(text)?.system(data)
    }
}

/// One or more whole numbers.
fn numbers(text: &str) -> Option<Vec<usize>> {
    let all: Option<Vec<usize>> = text.split_whitespace().map(|word| word.parse().ok()).collect();
    all.filter(|all| !all.is_empty())
}

/// One or more finite numbers or constant expressions, each without spaces.
fn reals(text: &str) -> Option<Vec<f64>> {
    let all: Option<Vec<f64>> = text.split_whitespace().map(|word| Function::constant(word).ok()).collect();
    all.filter(|all| !all.is_empty())
}

/// What stands before and after the first `=`.
fn named(text: &str) -> Option<(&str, &str)> {
    let (name, value) = text.split_once('=')?;
    Some((name.trim(), value.trim()))
}

type Sides = Vec<(usize, Side)>;

fn boundary(text: &str) -> Option<(Sides, Boundary)> {
    let word = |text: &str| -> (String, String) {
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        (word.to_owned(), rest.trim().to_owned())
    };
    let (mut first, mut rest) = word(text);
    let axis = ["x", "y", "z"].iter().position(|name| **name == first);
    let mut sides = vec![Side::Low, Side::High];
    if axis.is_some() {
        (first, rest) = word(&rest);
        if let Some(side) = [("low", Side::Low), ("high", Side::High)].iter().find(|(name, _)| **name == first) {
            sides = vec![side.1];
            (first, rest) = word(&rest);
        }
    }
    let kind = match (first.as_str(), rest.as_str()) {
        ("mirror", "") => Boundary::Mirror,
        ("copy", "") => Boundary::Copy,
        ("periodic", "") => Boundary::Periodic,
        ("value", formulas) => Boundary::Value(formulas.split(';').map(|f| f.trim().to_owned()).collect()),
        _ => return None,
    };
    let axes = axis.map_or(0..3, |axis| axis..axis + 1);
    Some((axes.flat_map(|axis| sides.iter().map(move |side| (axis, *side))).collect(), kind))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rhs;

    #[test]
    fn text_and_builder_make_the_same_system() {
        let text = "\n# two fields\ngrid 5 4\norigin 1 2\nspacing 0.5 0.25\nparameter a = -2.5e-1\ndata w\n\
                    define lap = u[-1,0] + u[0,1]\nu' = a*w*lap # + 7\nv'=u == v\nboundary periodic\n\
                    boundary y mirror\nboundary y low value t; a*x\nlayout field-wise\n";
        let w: Vec<f64> = (0..20).map(f64::from).collect();
        let value = Boundary::Value(vec!["t".into(), "a*x".into()]);
        let built = System::builder(Grid::new(&[5, 4], &[1.0, 2.0], &[0.5, 0.25]))
            .parameter("a", -0.25)
            .data("w", w.clone())
            .define("lap", "u[-1,0] + u[0,1]")
            .field("u", "a*w*lap")
            .field("v", "u == v")
            .boundary(Boundary::Periodic)
            .side(1, Side::Low, value)
            .side(1, Side::High, Boundary::Mirror)
            .layout(Layout::FieldWise)
            .build()
            .unwrap();
        assert_eq!(System::from_text(text, &[w]).unwrap(), built);
        let decay = System::from_text("y1' = -y1", &[]).unwrap();
        let mut f = [0.0_f64];
        decay.eval(0.0, &[3.0], &mut f);
        assert_eq!(f, [-3.0]);
    }

    #[test]
    fn bad_lines_are_named() {
        let fails = |text: &str, data: &[Vec<f64>]| System::from_text(text, data).unwrap_err().to_string();
        for line in [
            "grid",
            "grid 3.5",
            "grid x",
            "spacing a",
            "parameter a",
            "parameter a = b",
            "define c",
            "nonsense",
            "u = 3",
            "layout fast",
            "boundary",
            "boundary w mirror",
            "boundary x low",
            "boundary mirror now",
        ] {
            let error = fails(&format!("u' = 1\n{line}"), &[]);
            assert!(error.contains("line 2"), "{line}: {error}");
        }
        assert!(fails("u' = 1\norigin 1 2", &[]).contains("origin"));
        assert!(fails("u' = w\ndata w", &[]).contains("data"));
        assert!(fails("u' = 1", &[vec![1.0]]).contains("data"));
        assert!(fails("u' = 1 + q", &[]).contains("column 5"));
        assert!(fails("", &[]).contains("fields"));
    }

    #[test]
    fn numbers_can_be_constant_expressions() {
        let text = "grid 3\norigin -1/2\nspacing 1/4\nparameter b = 8/3\nu' = b\ninitial u = x\ntime 0 2*pi\nstop pi";
        let problem = Description::read(text).unwrap().problem("numbers", &[]).unwrap();
        assert_eq!(problem.y0().unwrap(), [-0.5, -0.25, 0.0]);
        assert_eq!((problem.t_end, &problem.stops[..]), (std::f64::consts::TAU, &[std::f64::consts::PI][..]));
        let mut f = [0.0; 3];
        problem.system.eval(0.0, &problem.y0().unwrap(), &mut f);
        assert_eq!(f, [8.0 / 3.0; 3]);
        for line in ["parameter a = t", "parameter a = 1/0", "parameter a = nan", "time 0 inf", "stop 1/0", "time 0 t"]
        {
            let error = Description::read(&format!("u' = 1\n{line}")).unwrap_err().to_string();
            assert!(error.contains("line 2"), "{line}: {error}");
        }
    }

    #[test]
    fn initial_values_and_times() {
        let text = "title two fields\ngrid 3 2\nspacing 0.5 2\nparameter a = 2\ndata w\nu' = -u/dx\nv' = u*dy\n\
                    initial v = a*x + y\ninitial u = w + t\ntime 1 3\nstop 2 2.5";
        let w: Vec<f64> = (0..6).map(f64::from).collect();
        let problem = Description::read(text).unwrap().problem("two", std::slice::from_ref(&w)).unwrap();
        let system = &problem.system;
        assert_eq!((problem.t0, problem.t_end, &problem.stops[..]), (1.0, 3.0, &[2.0, 2.5][..]));
        assert_eq!((&*problem.name, &*problem.title), ("two", "two fields"));
        let by_fields = system.by_fields(&problem.y0().unwrap());
        assert_eq!(by_fields, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 0.0, 1.0, 2.0, 2.0, 3.0, 4.0]);
        let mut f = vec![0.0; 12];
        system.eval(0.0, &problem.y0().unwrap(), &mut f);
        assert_eq!(system.by_fields(&f)[..7], [-2.0, -4.0, -6.0, -8.0, -10.0, -12.0, 2.0]);
        // The bindings read the same text, and leave out what they are given otherwise.
        assert_eq!(&System::from_text(text, &[w]).unwrap(), system);

        let mut other = Description::read("grid 4\nparameter a = 1\nu' = u\ninitial u = 3").unwrap();
        other.set_points(5);
        other.set_parameter("a", 4.0).unwrap();
        other.set_initial("u", "a*i");
        assert_eq!(other.problem("other", &[]).unwrap().y0().unwrap(), [0.0, 4.0, 8.0, 12.0, 16.0]);
        assert_eq!(other.set_parameter("b", 4.0).unwrap_err().id(), "clinalg:argument:value");
        assert_eq!(other.problem("heat2d", &[]).unwrap_err().id(), "clinalg:argument:value");
        let fails = |line: &str| {
            let read = Description::read(&format!("u' = -u\nv' = 1\n{line}"));
            read.and_then(|d| d.problem("d", &[])?.y0()).unwrap_err().to_string()
        };
        for (line, needle) in [
            ("initial u = 1", "none for v"),
            ("initial w = 1", "one of u, v"),
            ("initial u = v\ninitial v = 1", "reads no field"),
            ("initial u = 1 +\ninitial v = 1", "ends"),
            ("initial u = 1/0\ninitial v = 1", "finite"),
            ("initial u", "initial field"),
            ("time 1", "line 3"),
            ("time 2 1", "line 3"),
            ("stop x", "line 3"),
        ] {
            let error = fails(line);
            assert!(error.contains(needle), "{line}: {error}");
        }
    }
}
