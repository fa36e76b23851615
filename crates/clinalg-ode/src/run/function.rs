//! Functions of coordinates at the points of grids, computed on devices.

use std::ops::Range;

use clinalg::runtime::{Arg, Buffer};
use clinalg::{Error, Real, Result, Vector};

use crate::Function;
use crate::codegen::points;
use crate::run::whole::range;

/// Points of a box, by the sides on which they lie; of several sides that of the last direction counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Places {
    /// The sides, low and high of each direction, at whose ends points lie.
    pub sides: [[bool; 2]; 3],
    /// The sides of these whose points are meant.
    pub on: [[bool; 2]; 3],
    /// Whether the points on no side are meant.
    pub inside: bool,
}

impl Places {
    /// All points.
    pub const ALL: Places = Places { sides: [[false; 2]; 3], on: [[false; 2]; 3], inside: true };
}

impl Function {
    /// Writes its values at consecutive points of a grid to `out`, at time 0, where `places` has the points; other
    /// elements stay as they are. The grid has the products of the numbers in `axes`, the first fastest, as points.
    /// Values are computed in double precision, those of [`Function::at`] up to the rounding of the functions.
    ///
    /// ```
    /// use clinalg::{Context, Vector};
    /// use clinalg_ode::{Function, Places};
    ///
    /// let context = Context::global()?;
    /// # if !context.device().fp64 { return Ok(()); }
    /// let f = Function::parse("x + 10*y", &["x", "y"])?;
    /// let mut values = Vector::<f64>::zeros(&context, 4)?;
    /// f.fill(&[vec![1.0, 2.0, 3.0], vec![1.0, 2.0]], &Places::ALL, 2..6, &mut values)?;
    /// assert_eq!(values.to_vec()?, [13.0, 21.0, 22.0, 23.0]);
    /// # Ok::<(), clinalg_ode::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Value`] for other numbers of axes than variables, for points that the grid does not have, and for
    /// another length of `out`; [`Error::NoFp64`] and what else the device reports.
    pub fn fill<T: Real>(
        &self,
        axes: &[Vec<f64>],
        places: &Places,
        points: Range<usize>,
        out: &mut Vector<T>,
    ) -> Result<()> {
        if axes.len() != self.variables() || axes.len() > 3 {
            let expected = format!("{}, at most 3, one for each variable", self.variables());
            return Err(Error::value("axes", expected, axes.len()));
        }
        let n: [usize; 3] = std::array::from_fn(|axis| axes.get(axis).map_or(1, Vec::len));
        let all = n.iter().product::<usize>();
        if points.end > all || points.len() != out.len() {
            let expected = format!("{} of the {all} points of the grid", out.len());
            return Err(Error::value("points", expected, format!("{points:?}")));
        }
        let context = out.context();
        context.require::<f64>()?;
        if points.is_empty() {
            return Ok(());
        }
        let bits = |sides: [[bool; 2]; 3]| {
            sides.as_flattened().iter().enumerate().map(|(k, is)| u32::from(*is) << k).sum::<u32>()
        };
        let wanted = bits(places.on) | u32::from(places.inside) << 6;
        let kernel = points::function_values::<T>(&self.expr, self.variables(), context.family());
        let axes = Buffer::from_slice(context, &if axes.is_empty() { vec![0.0] } else { axes.concat() })?;
        let [nx, ny, nz] = n.map(Arg::size);
        let (begin, count) = (Arg::size(points.start), Arg::size(points.len()));
        let (held, wanted) = (Arg::U32(bits(places.sides)), Arg::U32(wanted));
        let args = [begin, count, nx, ny, nz, held, wanted, axes.arg(), out.buffer().arg()];
        // SAFETY: the arguments are those that `function_values` names; the points are of the grid of the axes, `out`
        // has an element for each, and both buffers are of this context.
        unsafe { context.launch_generated(&kernel, range(context, points.len()), &args)? };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use clinalg::{Context, ContextOptions, Device, KernelFamily};

    use super::*;

    /// The sides of a box of 9 x 7 x 5 points that are held, and which are meant.
    fn places() -> [Places; 4] {
        let sides = [[true; 2], [true, false], [true; 2]];
        [
            Places::ALL,
            Places { sides, on: [[false; 2]; 3], inside: true },
            Places { sides, on: sides, inside: false },
            Places { sides, on: [[false, true], [true, false], [false; 2]], inside: false },
        ]
    }

    #[test]
    fn values_of_functions_are_those_of_the_host_where_they_are_meant() {
        let Some(device) = clinalg_testing::found(Device::default_device()) else { return };
        let axes = [9, 7, 5].map(|n| (0..n).map(|i| f64::from(i) / f64::from(n)).collect::<Vec<_>>());
        let f = Function::parse("x + 2*y^2 - z/3 + mod(7*x, 2)*(y > z) + t", &["x", "y", "z"]).unwrap();
        for family in clinalg_testing::families([KernelFamily::Cpu, KernelFamily::Gpu]) {
            let context = Context::new(&device, &ContextOptions { family, ..ContextOptions::default() }).unwrap();
            if context.require::<f64>().is_err() {
                continue;
            }
            for places in places() {
                let value = |p: usize| {
                    let at = [p % 9, p / 9 % 7, p / 63];
                    let mut side = None;
                    for axis in 0..3 {
                        for (end, i) in [0, axes[axis].len() - 1].into_iter().enumerate() {
                            if at[axis] == i && places.sides[axis][end] {
                                side = Some((axis, end));
                            }
                        }
                    }
                    let is_meant = side.map_or(places.inside, |(axis, end)| places.on[axis][end]);
                    let at: Vec<f64> = at.iter().zip(&axes).map(|(i, axis)| axis[*i]).collect();
                    if is_meant { f.at(&at, 0.0) } else { -1.0 }
                };
                for points in [0..315, 60..200, 314..315, 7..7] {
                    let mut got = Vector::<f64>::filled(&context, points.len(), -1.0).unwrap();
                    f.fill(&axes, &places, points.clone(), &mut got).unwrap();
                    let want: Vec<f64> = points.clone().map(value).collect();
                    assert_eq!(got.to_vec().unwrap(), want, "{places:?}, {points:?}, {family:?}");
                }
            }
        }
    }

    #[test]
    fn points_and_axes_have_to_fit() {
        let Some(context) = clinalg_testing::found(Context::global()) else { return };
        let f = Function::parse("x", &["x"]).unwrap();
        let mut out = Vector::<f64>::zeros(&context, 2).unwrap();
        assert!(f.fill(&[], &Places::ALL, 0..2, &mut out).is_err());
        assert!(f.fill(&[vec![0.0; 3]], &Places::ALL, 2..4, &mut out).is_err());
        assert!(f.fill(&[vec![0.0; 3]], &Places::ALL, 0..3, &mut out).is_err());
    }
}
