//! Systems from text, for doors to other languages.

use crate::rhs::{Boundary, Builder, Grid, Layout, Side, System};
use crate::{Error, Result};

impl System {
    /// Begins a system from a description: a statement a line, `#` begins a comment.
    ///
    /// ```text
    /// grid 64 32                       # points along each axis; one point where there is no such line
    /// origin 0 0                       # of the first point, 0 where it is not said
    /// spacing 0.5 0.5                  # 1 / (points - 1) where it is not said
    /// parameter a = 0.25
    /// data w                           # numbers for each point, which are given apart
    /// define lap = u[-1,0] + u[1,0] + u[0,-1] + u[0,1] - 4*u
    /// u' = a*w*lap - v
    /// v' = u
    /// boundary periodic                # mirror, copy, periodic, or value with a formula for each field
    /// boundary x low value sin(t); 0   # on one side, or without low or high on both sides of an axis
    /// layout interleaved               # or field-wise; the better one where it is not said
    /// event falling terminal at 3 0 = u - 0.5   # rising, falling, terminal and the point where they are wanted
    /// ```
    /// `data` has the numbers for the `data` lines, in their order, one for each point.
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
    /// [`Error::Value`] for a line that is none of these; those of [`Builder::build`].
    pub fn from_text(text: &str, data: &[Vec<f64>]) -> Result<System> {
        let (mut n, mut origin, mut spacing) = (vec![1], None, None);
        let mut steps: Vec<Box<dyn FnOnce(Builder) -> Builder + '_>> = Vec::new();
        let mut values = data.iter();
        let mut events = Vec::new();
        for (number, whole) in text.lines().enumerate() {
            let line = whole.split('#').next().unwrap_or_default().trim();
            let fail = |expected: &str| Error::value(format!("line {}", number + 1), expected, format!("`{line}`"));
            let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
            let rest = rest.trim();
            match word {
                "" => {}
                "grid" => n = numbers(rest).ok_or_else(|| fail("grid and the number of points along each axis"))?,
                "origin" => origin = Some(numbers(rest).ok_or_else(|| fail("origin and a coordinate for each axis"))?),
                "spacing" => spacing = Some(numbers(rest).ok_or_else(|| fail("spacing and a number for each axis"))?),
                "parameter" => {
                    let (name, value) = named(rest).ok_or_else(|| fail("parameter name = number"))?;
                    let value: f64 = value.parse().map_err(|_| fail("parameter name = number"))?;
                    steps.push(Box::new(move |b| b.parameter(name, value)));
                }
                "define" => {
                    let (name, formula) = named(rest).ok_or_else(|| fail("define name = formula"))?;
                    steps.push(Box::new(move |b| b.define(name, formula)));
                }
                "data" => {
                    let Some(numbers) = values.next() else {
                        return Err(Error::value("data", "numbers for each line that begins with data", data.len()));
                    };
                    steps.push(Box::new(move |b| b.data(rest, numbers.as_slice())));
                }
                "event" => events.push((number + 1, rest)),
                "layout" => {
                    let layout = match rest {
                        "interleaved" => Layout::Interleaved,
                        "field-wise" => Layout::FieldWise,
                        _ => return Err(fail("layout interleaved or layout field-wise")),
                    };
                    steps.push(Box::new(move |b| b.layout(layout)));
                }
                "boundary" => {
                    let (sides, boundary) = boundary(rest).ok_or_else(|| {
                        fail("boundary [x|y|z [low|high]] mirror, copy, periodic or value and formulas")
                    })?;
                    steps.push(Box::new(move |b| {
                        sides.into_iter().fold(b, |b, (axis, side)| b.side(axis, side, boundary.clone()))
                    }));
                }
                _ => {
                    let known = "a statement such as grid, parameter, define, boundary, or name' = formula";
                    let (name, formula) = named(line).ok_or_else(|| fail(known))?;
                    let name = name.strip_suffix('\'').ok_or_else(|| fail(known))?.trim();
                    steps.push(Box::new(move |b| b.field(name, formula)));
                }
            }
        }
        if values.next().is_some() {
            return Err(Error::value("data", "no more numbers than lines that begin with data", data.len()));
        }
        for (name, given) in [("origin", &origin), ("spacing", &spacing)] {
            if let Some(given) = given
                && given.len() != n.len()
            {
                return Err(Error::value(name, format!("{} numbers, one for each axis", n.len()), given.len()));
            }
        }
        let unit: Vec<f64> = n.iter().map(|n: &usize| 1.0 / (*n.max(&2) - 1) as f64).collect();
        let grid = Grid::new(&n, &origin.unwrap_or_else(|| vec![0.0; n.len()]), &spacing.unwrap_or(unit));
        let mut system = steps.into_iter().fold(System::builder(grid), |builder, step| step(builder)).build()?;
        for (line, event) in events {
            system.event_from_text(event).map_err(|error| match error {
                Error::Value { expected, got, .. } => Error::value(format!("line {line}"), expected, got),
                other => other,
            })?;
        }
        Ok(system)
    }
}

fn numbers<T: std::str::FromStr>(text: &str) -> Option<Vec<T>> {
    let all: Option<Vec<T>> = text.split_whitespace().map(|word| word.parse().ok()).collect();
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
}
