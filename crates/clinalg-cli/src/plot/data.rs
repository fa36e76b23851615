//! What pictures show.

/// The bounds of the unit square.
pub(crate) const UNIT: [[f64; 2]; 2] = [[0.0, 1.0]; 2];

/// Values on the points of a rectangle, row by row from the smallest y.
pub(crate) struct Field<'a> {
    pub(crate) title: String,
    pub(crate) subtitle: String,
    /// What the colour bar shows.
    pub(crate) label: &'a str,
    /// Points of a row.
    pub(crate) columns: usize,
    /// Coordinates of the first and the last point of each direction.
    pub(crate) bounds: [[f64; 2]; 2],
    pub(crate) values: &'a [f64],
    /// What the colours reach over, where it is not the values' own range.
    pub(crate) range: Option<(f64, f64)>,
}

/// Values on the triangles of the surface of a body, seen from outside.
pub(crate) struct Body<'a> {
    pub(crate) title: String,
    pub(crate) subtitle: String,
    /// What the colour bar shows.
    pub(crate) label: &'a str,
    /// Corners, anticlockwise seen from outside.
    pub(crate) triangles: &'a [[[f64; 3]; 3]],
    /// One value a triangle.
    pub(crate) values: &'a [f64],
}

/// Paths in a plane, each with a dot at its end.
pub(crate) struct Paths<'a> {
    pub(crate) title: String,
    pub(crate) subtitle: String,
    /// The coordinates.
    pub(crate) names: [&'a str; 2],
    pub(crate) paths: Vec<Vec<(f64, f64)>>,
}

/// Curves over one coordinate.
pub(crate) struct Profile<'a> {
    pub(crate) title: String,
    pub(crate) subtitle: String,
    /// The coordinate's name and where the first and the last point stand.
    pub(crate) x: (&'a str, f64, f64),
    /// Names and values, at points the same distance apart.
    pub(crate) curves: &'a [(String, Vec<f64>)],
    /// What the other axis reaches over.
    pub(crate) range: (f64, f64),
}

/// Times over two launch parameters, a cell for each pair that was tried.
pub(crate) struct Surface<'a> {
    pub(crate) title: String,
    pub(crate) subtitle: String,
    pub(crate) x_name: &'a str,
    pub(crate) y_name: &'a str,
    /// The parameters and the seconds.
    pub(crate) cells: Vec<((u32, u32), f64)>,
}

/// Measurements over sizes, on logarithmic axes.
pub(crate) struct Scaling<'a> {
    pub(crate) title: String,
    pub(crate) subtitle: String,
    /// What the sizes and the measurements are.
    pub(crate) names: [&'a str; 2],
    pub(crate) sizes: &'a [usize],
    /// Names and a measurement for each size, above 0.
    pub(crate) curves: &'a [(String, Vec<f64>)],
}

/// Relative residuals from the start on, on a logarithmic axis.
pub(crate) struct Convergence<'a> {
    pub(crate) title: String,
    pub(crate) subtitle: String,
    /// What is counted: cycles or iterations.
    pub(crate) steps: &'a str,
    /// What is drawn over them.
    pub(crate) residual: &'a str,
    pub(crate) history: &'a [f64],
    pub(crate) tolerance: f64,
    /// The smallest relative residual that rounding allows, where it is known.
    pub(crate) floor: Option<f64>,
}
