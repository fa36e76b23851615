//! The system that `clinalg ode` and `clinalg waveform` integrate: a test problem or a file.

use std::path::{Path, PathBuf};

use clinalg::io::matrix_market;
use clinalg_ode::problems::{self, PROBLEMS, Problem};
use clinalg_ode::{Description, Function, System};

use crate::args;
use crate::checkpoint::Fingerprint;
use crate::data::Array;
use crate::exit::{Failure, usage};
use crate::paths::ending;
use crate::series::csv;

/// What stands in the help of both commands.
pub(crate) const HELP: &str = "\
FILE describes a system, a statement a line (examples/ode has some):
  title the heat equation
  grid 65 65                     points along each axis; one point by default
  origin 0 0, spacing 0.1 0.1    by default the unit square
  parameter a = 0.1
  data w                         numbers for each point, given by --data w=FILE
  define lap = (u[-1,0] + u[1,0] - 2*u)/dx^2 + (u[0,-1] + u[0,1] - 2*u)/dy^2
  u' = a*lap
  boundary x low value sin(t)    also mirror (the default), copy, periodic
  initial u = exp(-40*((x-0.5)^2 + (y-0.5)^2))
  time 0 1
  event falling terminal at 3 0 = u - 0.5   report (of ode), or end at, a zero of a formula
  stop 0.5                       a time at which the right-hand side jumps
Formulas: + - * / ^ (2^3^2 is 2^(3^2) = 512), comparisons, && ||, if(c, a, b), pi, min
max pow mod rem atan2 hypot, sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh
exp expm1 log log1p log10 log2 sqrt rsqrt abs sign floor ceil round fix, sum(f).";

#[derive(clap::Args, Clone)]
pub(crate) struct SystemArgs {
    /// File that describes the system
    #[arg(value_name = "FILE", conflicts_with = "problem")]
    file: Option<PathBuf>,
    /// A test problem, one of `clinalg ode --list`, or a file
    #[arg(long, value_name = "NAME|FILE")]
    problem: Option<String>,
    /// Grid points along each axis; pairs, inverters or bodies where there is no grid [default: that of the file or the problem]
    #[arg(long, value_parser = args::positive, allow_hyphen_values = true)]
    n: Option<usize>,
    /// Value of a parameter in place of the system's own; may be repeated
    #[arg(long = "parameter", value_name = "NAME=VALUE", value_parser = parameter, allow_hyphen_values = true)]
    parameters: Vec<(String, f64)>,
    /// Initial values: the formula of a field, which may be repeated, or a file with all fields (.npy, .csv, .mtx), of a series
    /// its last frame
    #[arg(long, value_name = "FIELD=FORMULA|FILE")]
    initial: Vec<String>,
    /// Numbers for each point that a file's `data` line names, from a file (.npy, .mtx); may be repeated
    #[arg(long, value_name = "NAME=FILE", value_parser = named)]
    data: Vec<(String, String)>,
}

/// What decides the solution of a problem.
///
/// # Errors
/// Those of the initial values.
pub(crate) fn fingerprint(problem: &Problem) -> Result<Fingerprint, Failure> {
    let options = Fingerprint::default().option("--n", problem.system.grid().shape());
    let options = options.described("the system", &problem.system).values("--initial", Some(&problem.y0()?));
    Ok(options.option("the beginning", problem.t0).option("stops", &problem.stops))
}

fn named(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) => Ok((name.trim().to_owned(), value.trim().to_owned())),
        None => Err("expected NAME=VALUE".into()),
    }
}

fn parameter(text: &str) -> Result<(String, f64), String> {
    let (name, value) = named(text)?;
    let expected = |_| format!("`{value}`: expected a finite number or a constant expression such as 8/3");
    Ok((name, Function::constant(&value).map_err(expected)?))
}

impl SystemArgs {
    /// Whether a system is named.
    pub(crate) fn is_given(&self) -> bool {
        self.file.is_some() || self.problem.is_some()
    }

    /// The same with `n` points along each axis.
    pub(crate) fn with_points(&self, n: usize) -> SystemArgs {
        SystemArgs { n: Some(n), ..self.clone() }
    }

    /// The problem, `usual` where none is named; `points` gives the points along an axis where `--n` does not, for a test problem.
    ///
    /// # Errors
    /// [`Failure::Usage`], [`Failure::File`], and those of the library.
    pub(crate) fn problem(&self, usual: &str, points: impl Fn(&str) -> usize) -> Result<Problem, Failure> {
        let mut problem = match (&self.file, self.problem.as_deref().unwrap_or(usual)) {
            (Some(path), _) => self.described(path)?,
            (None, name) if PROBLEMS.contains(&name) => self.named(name, &points)?,
            (None, name) if Path::new(name).is_file() => self.described(Path::new(name))?,
            (None, name) => {
                let known = PROBLEMS.join(", ");
                return usage!("--problem {name}: expected a file or one of {known}");
            }
        };
        if let Some(path) = self.initial.iter().find(|text| formula(text).is_none()) {
            if self.initial.len() > 1 {
                return usage!(
                    "--initial {path}: the file gives the initial values of all fields; leave out the other --initial options"
                );
            }
            let values = last_frame(Path::new(path), &problem.system)?;
            problem.set_y0(problem.system.from_fields(&values))?;
        }
        if !problem.has_y0() {
            let first = &problem.system.fields()[0];
            return usage!(
                "the system has no initial values: add a line `initial {first} = ...` for each field, or give --initial"
            );
        }
        Ok(problem)
    }

    /// A test problem.
    fn named(&self, name: &str, points: &impl Fn(&str) -> usize) -> Result<Problem, Failure> {
        if let Some((data, _)) = self.data.first() {
            return usage!("--data {data}: test problems take no data; leave out --data");
        }
        let n = self.n.unwrap_or_else(|| points(name));
        let mut problem = problems::problem(name, n)?;
        for (parameter, value) in &self.parameters {
            problem.set_parameter(parameter, *value)?;
        }
        for (field, formula) in self.initial.iter().filter_map(|text| formula(text)) {
            problem.set_initial(field, formula)?;
        }
        Ok(problem)
    }

    /// The system of a file.
    fn described(&self, path: &Path) -> Result<Problem, Failure> {
        let text = clinalg::io::read_text(path).map_err(|error| Failure::file(path, error))?;
        let mut description = Description::read(&text)?;
        if let Some(n) = self.n {
            description.set_points(n);
        }
        for (name, value) in &self.parameters {
            description.set_parameter(name, *value)?;
        }
        for (field, formula) in self.initial.iter().filter_map(|text| formula(text)) {
            description.set_initial(field, formula);
        }
        let known = description.data();
        if let Some((name, _)) = self.data.iter().find(|(name, _)| !known.contains(name)) {
            return usage!("--data {name}: {} has no line `data {name}`", path.display());
        }
        let numbers = |name: &String| match self.data.iter().find(|(given, _)| given == name) {
            Some((_, file)) => values(Path::new(file)),
            None => usage!("{} needs --data {name}=FILE", path.display()),
        };
        let data = known.iter().map(numbers).collect::<Result<Vec<_>, Failure>>()?;
        Ok(description.problem(&path.display().to_string(), &data)?)
    }
}

/// Field and formula, unless the text is the name of a file.
fn formula(text: &str) -> Option<(&str, &str)> {
    let (field, formula) = text.split_once('=')?;
    let field = field.trim();
    let name = field.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    (name && !Path::new(text).is_file()).then(|| (field, formula.trim()))
}

/// All numbers of a file, points along x first.
fn values(path: &Path) -> Result<Vec<f64>, Failure> {
    match ending(path).as_str() {
        "npy" => Ok(Array::read(path, "", usize::MAX)?.values),
        "mtx" => Ok(matrix_market::read(path)?.to_column_major()?),
        _ => usage!("{}: the name must end in .npy or .mtx", path.display()),
    }
}

/// The last frame of a file, field by field.
fn last_frame(path: &Path, system: &System) -> Result<Vec<f64>, Failure> {
    let all = match ending(path).as_str() {
        "csv" => csv::last_frame(path, system)?,
        "npy" | "mtx" => values(path)?,
        _ => {
            let expected = "expected FIELD=FORMULA or a file whose name ends in .npy, .csv or .mtx";
            return usage!("--initial {}: {expected}", path.display());
        }
    };
    let components = system.components();
    if all.is_empty() || !all.len().is_multiple_of(components) {
        let reason = format!("{} numbers, expected one for each of {components} components", all.len());
        return Err(Failure::file(path, reason));
    }
    if let Some(k) = all.iter().position(|v| !v.is_finite()) {
        return Err(Failure::file(path, format!("number {} is not finite", k + 1)));
    }
    Ok(all[all.len() - components..].to_vec())
}
