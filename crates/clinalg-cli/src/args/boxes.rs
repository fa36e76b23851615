//! Options that describe a box.

use std::str::FromStr;

use clinalg::multigrid::End;

use crate::exit::{Failure, usage};

/// Names of directions.
pub(crate) const AXES: [&str; 3] = ["x", "y", "z"];
pub(crate) const ENDS: [End; 2] = [End::Low, End::High];

/// A number for each direction.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Each<T>(pub(crate) Vec<T>);

fn each<T: FromStr + PartialOrd + Default>(text: &str, expected: &str) -> Result<Each<T>, String> {
    let words: Vec<_> = text.split('x').collect();
    let values: Vec<T> = words.iter().filter_map(|word| word.trim().parse().ok()).collect();
    let fits = (2..=3).contains(&values.len()) && values.len() == words.len();
    if fits && values.iter().all(|value| *value > T::default()) { Ok(Each(values)) } else { Err(expected.into()) }
}

/// `300x200` or `300x200x100`.
pub(crate) fn counts(text: &str) -> Result<Each<usize>, String> {
    let counts = each(text, "expected two or three whole numbers above 0 with x between, such as 300x200")?;
    match counts.0.iter().try_fold(1_usize, |all, n| all.checked_mul(*n)) {
        Some(points) if points <= MOST_POINTS => Ok(counts),
        _ => Err(format!("expected at most {MOST_POINTS} points in all")),
    }
}

/// Points for which an array of one number for each can be addressed, with room for what is computed from their number.
const MOST_POINTS: usize = 1 << 48;

/// `2x1` or `2x1x0.5`.
pub(crate) fn lengths(text: &str) -> Result<Each<f64>, String> {
    let expected = "expected two or three finite numbers above 0 with x between, such as 2x0.5";
    let lengths = each(text, expected)?;
    if lengths.0.iter().all(|length: &f64| length.is_finite()) { Ok(lengths) } else { Err(expected.into()) }
}

/// One or several sides of a box: none for an axis or an end means all.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct SideSelector {
    axis: Option<usize>,
    end: Option<End>,
}

/// Reads a side (`x0`), a direction (`x`) or `all`.
pub(crate) fn side(name: &str) -> Option<SideSelector> {
    if name == "all" {
        return Some(SideSelector { axis: None, end: None });
    }
    let axis = AXES.iter().position(|axis| name.starts_with(axis))?;
    let end = match &name[1..] {
        "" => None,
        "0" => Some(End::Low),
        "1" => Some(End::High),
        _ => return None,
    };
    Some(SideSelector { axis: Some(axis), end })
}

impl SideSelector {
    /// Calls `f` for each side of a box of `dim` directions that is meant.
    ///
    /// # Errors
    /// [`Failure::Usage`] for a direction that the box does not have, with the name of the option; those of `f`.
    pub(crate) fn each(
        self,
        option: &str,
        dim: usize,
        mut f: impl FnMut(usize, End) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        if let Some(axis) = self.axis.filter(|&axis| axis >= dim) {
            return usage!(
                "{option} names direction {}, but the grid has only {dim} dimensions; remove it, or use a grid in three dimensions (--dim 3, or three numbers in --points)",
                AXES[axis]
            );
        }
        for axis in self.axis.map_or(0..dim, |axis| axis..axis + 1) {
            let mut ends = ENDS.into_iter().filter(|&e| self.end.is_none_or(|end| end == e));
            ends.try_for_each(|end| f(axis, end))?;
        }
        Ok(())
    }
}

/// Conditions by side, in the order in which they were given.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sides<C>(Vec<(SideSelector, C)>);

impl<C: Copy> Sides<C> {
    /// Reads `x0=A,y=B,all=C`, where `condition` reads what stands behind the signs; `names` says what that may be.
    pub(crate) fn parse(text: &str, names: &str, condition: impl Fn(&str) -> Option<C>) -> Result<Sides<C>, String> {
        let one = |word: &str| -> Option<(SideSelector, C)> {
            let (name, word) = word.trim().split_once('=')?;
            Some((side(name.trim())?, condition(word.trim())?))
        };
        let refused = |word: &str| {
            format!("`{word}`: expected a side (x0, x1, y0, ...), a direction (x, y, z) or all, then = and {names}")
        };
        text.split(',').map(|word| one(word).ok_or_else(|| refused(word))).collect::<Result<_, _>>().map(Sides)
    }

    /// Calls `set` for each side of a box of `dim` directions that is named, in the order in which they were given.
    ///
    /// # Errors
    /// [`Failure::Usage`] for a direction that the box does not have.
    pub(crate) fn apply(&self, dim: usize, mut set: impl FnMut(usize, End, C)) -> Result<(), Failure> {
        for &(side, condition) in &self.0 {
            side.each("--sides", dim, |axis, end| {
                set(axis, end, condition);
                Ok(())
            })?;
        }
        Ok(())
    }
}

/// Both ends of each of `dim` directions.
pub(crate) fn sides(dim: usize) -> impl Iterator<Item = (usize, End)> {
    (0..dim).flat_map(|axis| ENDS.map(|end| (axis, end)))
}

/// The name of a side.
pub(crate) fn side_name(axis: usize, end: End) -> String {
    format!("{}{}", AXES[axis], if end == End::Low { 0 } else { 1 })
}

/// An error unless `option` has as many numbers as `--points`.
///
/// # Errors
/// [`Failure::Usage`].
pub(crate) fn check_count<T>(option: &str, given: Option<&Each<T>>, dim: usize) -> Result<(), Failure> {
    match given {
        Some(given) if given.0.len() != dim => {
            let count = given.0.len();
            usage!("{option} has {count} numbers, --points has {dim}; they must agree")
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_are_read_by_side_direction_and_all() {
        let read =
            |text: &str| Sides::parse(text, "low or high", |word| ["low", "high"].iter().position(|w| *w == word));
        let side = |axis, end| SideSelector { axis, end };
        let all = [(side(None, None), 1), (side(Some(0), Some(End::High)), 0), (side(Some(1), None), 0)];
        let sides = read("all=high, x1 = low,y=low").unwrap();
        assert_eq!(sides.0, all);
        let mut set = Vec::new();
        sides.apply(2, |axis, end, condition| set.push((side_name(axis, end), condition))).unwrap();
        let names: Vec<_> = set.iter().map(|(name, condition)| format!("{name}{condition}")).collect();
        assert_eq!(names, ["x01", "x11", "y01", "y11", "x10", "y00", "y10"]);
        assert!(read("z=low").unwrap().apply(2, |_, _, _| ()).unwrap_err().message().contains("direction z"));
        for wrong in ["", "x", "x2=low", "w=low", "x0=", "x0=mixed", "all0=low", "x0=low,", "é=low"] {
            assert!(read(wrong).unwrap_err().contains("low or high"), "{wrong}");
        }
    }

    #[test]
    fn numbers_have_an_x_between() {
        assert_eq!(counts("300x200").unwrap().0, [300, 200]);
        assert_eq!(lengths("2x0.5x1e3").unwrap().0, [2.0, 0.5, 1e3]);
        for wrong in ["300", "0x3", "3x", "3x4x5x6", "3x-4", "3.5x2", "99999999999x99999999999"] {
            assert!(counts(wrong).is_err(), "{wrong}");
        }
        for wrong in ["1xnan", "1xinf", "1x0"] {
            assert!(lengths(wrong).is_err(), "{wrong}");
        }
    }
}
