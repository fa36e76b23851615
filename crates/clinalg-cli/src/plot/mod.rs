//! Pictures: a field on the unit square, a surface of triangles, curves, paths, a history of residuals, times over launch parameters,
//! measurements over sizes, the entries of a sparse matrix.
//! Without the feature `plot` every file is refused.

#[cfg(feature = "plot")]
mod axes;
#[cfg(feature = "plot")]
mod body;
#[cfg(feature = "plot")]
mod canvas;
#[cfg(feature = "plot")]
mod colour;
#[cfg(feature = "plot")]
mod contours;
#[cfg(feature = "plot")]
mod convergence;
#[cfg_attr(not(feature = "plot"), allow(dead_code))]
mod data;
#[cfg(feature = "plot")]
mod field;
#[cfg(feature = "plot")]
mod paths;
#[cfg(feature = "plot")]
mod pattern;
#[cfg(feature = "plot")]
mod picture;
#[cfg(not(feature = "plot"))]
#[path = "refused.rs"]
mod picture;
#[cfg(feature = "plot")]
mod profile;
#[cfg(feature = "plot")]
mod scaling;
#[cfg_attr(not(feature = "plot"), allow(dead_code))]
mod style;
#[cfg(feature = "plot")]
mod surface;
#[cfg(feature = "plot")]
mod svg;

pub(crate) use self::data::{Body, Convergence, Field, Paths, Pattern, Profile, Scaling, Surface};
pub(crate) use self::picture::{Frames, Picture};
pub(crate) use self::style::{OPTIONS, PlotArgs};
