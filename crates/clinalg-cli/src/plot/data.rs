//! What pictures show.

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

/// Values on the elements of the surface of a body, seen from outside.
pub(crate) struct Body<'a> {
    pub(crate) title: String,
    pub(crate) subtitle: String,
    /// What the colour bar shows.
    pub(crate) label: &'a str,
    /// The corners of each, anticlockwise seen from outside.
    pub(crate) elements: &'a [Vec<[f64; 3]>],
    /// One value per element.
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

/// How densely the cells of a sparse matrix are filled.
pub(crate) struct Pattern {
    pub(crate) title: String,
    pub(crate) subtitle: String,
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    /// Cells from top to bottom and from left to right.
    pub(crate) cells: [usize; 2],
    /// Entries over positions in each cell, row by row from the top.
    pub(crate) densities: Vec<f64>,
}

/// The most cells along a side of a pattern; each has two pixels or more.
const CELLS: f64 = 400.0;

impl Pattern {
    /// Of the entries, each a row and a column.
    pub(crate) fn new(
        title: String,
        subtitle: String,
        [rows, cols]: [usize; 2],
        entries: impl Iterator<Item = (usize, usize)>,
    ) -> Pattern {
        // The shorter side keeps its part of the longer one, up to one to four.
        let part = |own: usize, other: usize| {
            let ratio = own as f64 / other.max(1) as f64;
            own.clamp(1, (CELLS * ratio.clamp(0.25, 1.0)).round() as usize)
        };
        let cells = [part(rows, cols), part(cols, rows)];
        let cell = |index: usize, cells: usize, count: usize| (index as u128 * cells as u128 / count as u128) as usize;
        let mut densities = vec![0.0; cells[0] * cells[1]];
        for (i, j) in entries {
            densities[cell(i, cells[0], rows) * cells[1] + cell(j, cells[1], cols)] += 1.0;
        }
        // The first index in a cell.
        let first = |at: usize, cells: usize, count: usize| (at as u128 * count as u128).div_ceil(cells as u128);
        let size = |at: usize, cells: usize, count: usize| {
            (first(at + 1, cells, count) - first(at, cells, count)).max(1) as f64
        };
        for (k, density) in densities.iter_mut().enumerate() {
            *density /= size(k / cells[1], cells[0], rows) * size(k % cells[1], cells[1], cols);
        }
        Pattern { title, subtitle, rows, cols, cells, densities }
    }
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
    /// Where its parts begin, 0 first.
    pub(crate) starts: Vec<usize>,
    pub(crate) tolerance: f64,
    /// The largest relative residual that rounding leaves, where it is known.
    pub(crate) floor: Option<f64>,
}
