//! The values on the sides: one formula or file for all sides, others for some of them.

use std::ops::Range;

use clinalg::multigrid::{Condition, End, Grid, SideValues};
use clinalg::{Real, Vector};
use clinalg_ode::Places;

use crate::args::boxes::{self, ENDS, side_name};
use crate::data::{GridValues, InputField, Lattice};
use crate::exit::{Failure, usage};

const OPTION: &str = "--boundary";

/// The values on the sides.
pub(super) enum Boundary<T: Real> {
    /// 0.
    Zero,
    /// At the points of the sides; the others keep their values, of those of the host 0.
    Points(Vec<GridValues<T>>),
    /// g of each side.
    Sides(SideValues<T>),
}

impl<T: Real> Boundary<T> {
    /// Writes the values of u at those of consecutive points of the grid that are on sides to a vector on a device.
    pub(super) fn fill(&self, points: Range<usize>, out: &mut Vector<T>) -> clinalg::Result<()> {
        let Boundary::Points(values) = self else { return Ok(()) };
        values.iter().try_for_each(|values| values.fill(points.clone(), out))
    }
}

/// What `--boundary` gives.
pub(super) struct BoundaryData {
    /// As it was given.
    text: String,
    all: Option<InputField>,
    /// Those of single sides.
    sides: Vec<(usize, End, InputField)>,
}

/// The side before the first equals sign, unless that is part of a comparison, and what stands behind it.
fn split(text: &str) -> Option<(boxes::SideSelector, &str)> {
    let (side, rest) = text.split_once('=')?;
    if rest.starts_with('=') { None } else { Some((boxes::side(side.trim())?, rest)) }
}

impl BoundaryData {
    /// Reads the values of the option, each a formula or a file, with `SIDE=` before it for some sides only; `None` where there are none.
    ///
    /// # Errors
    /// Those of [`InputField::new`]; [`Failure::Usage`] for a side that the grid does not have, one without values and one that is named twice.
    pub(super) fn new(texts: &[String], grid: &Grid) -> Result<Option<BoundaryData>, Failure> {
        let (mut all, mut sides): (Option<InputField>, Vec<(usize, End, InputField)>) = (None, Vec::new());
        // A resumed run may repeat what the checkpoint has.
        for (_, text) in texts.iter().enumerate().filter(|(k, text)| !texts[..*k].contains(text)) {
            match split(text) {
                None if all.is_some() => {
                    return usage!(
                        "{OPTION} is given twice without a side; restrict one of them to a side, for example {OPTION} x0={text}"
                    );
                }
                None => all = Some(InputField::new(OPTION, text, grid.dim())?),
                Some((side, rest)) => {
                    let given = InputField::new(OPTION, rest, grid.dim())?;
                    side.each(OPTION, grid.dim(), |axis, end| {
                        let name = side_name(axis, end);
                        if matches!(grid.condition(axis, end), Condition::Periodic) {
                            return usage!("{OPTION} {text}: side {name} is periodic and takes no values; leave it out");
                        }
                        if sides.iter().any(|(a, e, _)| (*a, *e) == (axis, end)) {
                            return usage!(
                                "{OPTION} sets side {name} twice (perhaps by all= or by its direction); set each side once, \
                                 as a formula without SIDE= applies to the remaining sides"
                            );
                        }
                        sides.push((axis, end, given.clone()));
                        Ok(())
                    })?;
                }
            }
        }
        let data = BoundaryData { text: texts.join(", "), all, sides };
        data.warn_of_two_meanings(grid);
        Ok((!texts.is_empty()).then_some(data))
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// What is given for a side; 0 where nothing is.
    fn of(&self, axis: usize, end: End) -> Option<&InputField> {
        let own = self.sides.iter().find(|(a, e, _)| (*a, *e) == (axis, end)).map(|(.., given)| given);
        own.or(self.all.as_ref())
    }

    /// One formula is rarely both u on some sides and the right-hand side of the conditions on others.
    fn warn_of_two_meanings(&self, grid: &Grid) {
        let Some(all) = &self.all else { return };
        if all.text().trim().parse() == Ok(0.0) {
            return;
        }
        let every = boxes::sides(grid.dim());
        let (held, others): (Vec<_>, Vec<_>) = every
            .filter(|&(axis, end)| !self.sides.iter().any(|(a, e, _)| (*a, *e) == (axis, end)))
            .filter(|&(axis, end)| !matches!(grid.condition(axis, end), Condition::Periodic))
            .partition(|&(axis, end)| matches!(grid.condition(axis, end), Condition::Dirichlet));
        if held.is_empty() || others.is_empty() {
            return;
        }
        let names = |sides: &[(usize, End)]| {
            sides.iter().map(|&(axis, end)| side_name(axis, end)).collect::<Vec<_>>().join(", ")
        };
        log::warn!(
            target: "clinalg",
            "{OPTION} {} is used as u on {} and as the right-hand side of the condition on {}; if these differ, give the latter separately: {OPTION} {}=FORMULA",
            all.text(),
            names(&held),
            names(&others),
            names(&others[..1])
        );
    }

    /// The values on the sides of the grid. Where directions meet, those of the last direction hold. With `computed`
    /// devices compute formulas for u.
    pub(super) fn values<T: Real>(
        &self,
        grid: &Grid,
        lattice: &Lattice,
        computed: bool,
    ) -> Result<Boundary<T>, Failure> {
        let mut sides = boxes::sides(grid.dim());
        if sides.all(|(axis, end)| grid.is_held(axis, end)) {
            return Ok(Boundary::Points(match self.on_devices(grid, lattice).filter(|_| computed) {
                Some(values) => values,
                None => vec![GridValues::Host(self.at_points(grid, lattice)?)],
            }));
        }
        let mut failure = None;
        let values = SideValues::from_fn(grid, |axis, end, at| {
            let Some(given) = self.of(axis, end) else { return T::zero() };
            let value = given.at(&at[..grid.dim()]).unwrap_or_else(|| {
                let message = "is a file; with --cells, or with sides other than dirichlet, give a formula";
                usage!("{OPTION} {} {message}", given.text())
            });
            value.map(T::from_f64).unwrap_or_else(|error| {
                failure.get_or_insert(error);
                T::zero()
            })
        })?;
        failure.map_or(Ok(Boundary::Sides(values)), Err)
    }

    /// As [`BoundaryData::at_points`], for devices to compute; `None` where a file has some of the values.
    fn on_devices<T: Real>(&self, grid: &Grid, lattice: &Lattice) -> Option<Vec<GridValues<T>>> {
        let sides = held(grid);
        let (mut rest, mut values) = (sides, Vec::new());
        for (axis, end, given) in &self.sides {
            let mut on = [[false; 2]; 3];
            on[*axis][*end as usize] = true;
            rest[*axis][*end as usize] = false;
            values.push(given.on_devices(lattice, Places { sides, on, inside: false })?);
        }
        if let Some(all) = &self.all {
            values.push(all.on_devices(lattice, Places { sides, on: rest, inside: false })?);
        }
        Some(values)
    }

    /// The values at the points of a grid whose sides all have values of u there, 0 at others.
    pub(super) fn at_points<T: Real>(&self, grid: &Grid, lattice: &Lattice) -> Result<Vec<T>, Failure> {
        let mut values = vec![T::zero(); grid.len()];
        let is_own = |side: (usize, End)| self.sides.iter().any(|&(axis, end, _)| (axis, end) == side);
        let mut take = |given: &InputField, is_wanted: &(dyn Fn((usize, End)) -> bool + Sync)| -> Result<(), Failure> {
            let wanted = |k: usize| side_of(grid, k).is_some_and(is_wanted);
            let given: Vec<T> = given.at_points(lattice, wanted)?;
            given.into_iter().enumerate().filter(|(k, _)| wanted(*k)).for_each(|(k, value)| values[k] = value);
            Ok(())
        };
        if let Some(all) = &self.all {
            take(all, &|side| !is_own(side))?;
        }
        for (axis, end, given) in &self.sides {
            take(given, &|side| side == (*axis, *end))?;
        }
        Ok(values)
    }
}

/// The sides where u is given at the points, low and high of each direction.
pub(super) fn held(grid: &Grid) -> [[bool; 2]; 3] {
    let is_held = |axis: usize| ENDS.map(|end| axis < grid.dim() && grid.is_held(axis, end));
    std::array::from_fn(is_held)
}

/// The side on which point `k` lies, of several that of the last direction; of sides where u is given at the points.
pub(super) fn side_of(grid: &Grid, k: usize) -> Option<(usize, End)> {
    let mut rest = k;
    let sides = grid.points().iter().enumerate().filter_map(|(axis, &n)| {
        let i = rest % n;
        rest /= n;
        let low = i == 0 && grid.is_held(axis, End::Low);
        let high = i == n - 1 && grid.is_held(axis, End::High);
        (low || high).then_some((axis, if low { End::Low } else { End::High }))
    });
    sides.last()
}

#[cfg(test)]
mod tests {
    use clinalg::multigrid::Centring;

    use super::*;

    #[test]
    fn a_comparison_names_no_side() {
        assert!(split("x == 0").is_none() && split("x0==1").is_none() && split("x >= 0.5").is_none());
        assert_eq!(split("x1=y == 0").map(|(_, rest)| rest), Some("y == 0"));
        assert!(split("u=1").is_none() && split("y=1").is_some() && split("all=2").is_some());
    }

    #[test]
    fn at_corners_the_last_direction_holds() {
        let grid = Grid::new(&[3, 4]);
        let side = |i: usize, j: usize| side_of(&grid, i + 3 * j);
        assert_eq!(side(0, 0), Some((1, End::Low)));
        assert_eq!(side(2, 3), Some((1, End::High)));
        assert_eq!(side(2, 1), Some((0, End::High)));
        assert_eq!(side(1, 1), None);
    }

    #[test]
    fn points_where_u_is_given_are_those_of_dirichlet_sides() {
        let inside = |grid: &Grid| (0..grid.len()).filter(|&k| side_of(grid, k).is_none()).collect::<Vec<_>>();
        assert_eq!(inside(&Grid::square(5)), [6, 7, 8, 11, 12, 13, 16, 17, 18]);
        assert_eq!(inside(&Grid::cube(3)), [13]);
        assert_eq!(inside(&Grid::new(&[3, 3]).side(0, End::Low, Condition::Neumann)), [3, 4]);
        assert_eq!(inside(&Grid::new(&[2, 2]).centring(Centring::Cell)), [0, 1, 2, 3]);
    }
}
