//! The entries of a sparse matrix.

use plotters::prelude::*;

use super::axes::{Drawing, LABELS, Ticks, bar, label, side, tick_step, tick_text, titled};
use super::canvas::{Area, Canvas, Drawn, image};
use super::colour::{BLUE, Scale};
use super::{Pattern, PlotArgs};

impl Drawing for Pattern {
    fn draw<DB: Canvas>(&self, root: &Area<DB>, style: &PlotArgs) -> Drawn
    where
        DB::ErrorType: 'static,
    {
        let body = titled(root, style, (&self.title, &self.subtitle), &[])?;
        let sides = self.sides(side(&body));
        let [height, width] = [0, 1].map(|d| (self.cells[d] * sides[d]) as u32);
        let (left, right) = body.split_horizontally(LABELS.0 + width + 45);
        let (left, _) = left.split_vertically(height + LABELS.1);
        let last = [self.rows, self.cols].map(|count| count as f64 + 0.5);
        // Rows are counted from the top.
        let mut chart = ChartBuilder::on(&left)
            .margin_right(45)
            .x_label_area_size(LABELS.1)
            .y_label_area_size(LABELS.0)
            .build_cartesian_2d(0.5..last[1], last[0]..0.5)?;
        image(&chart.plotting_area().strip_coord_spec(), (width, height), &self.image(sides))?;
        label(&left, &mut chart, ("column", &ticks(self.cols)), ("row", &ticks(self.rows)))?;
        if self.shows_entries() {
            return Ok(());
        }
        bar(&right, height as i32, &self.scale(), "density")
    }
}

impl Pattern {
    /// Height and width of a cell, in whole pixels so that all are of the same size.
    fn sides(&self, side: u32) -> [usize; 2] {
        let part = |own: usize, other: usize, cells: usize| {
            let ratio = (own as f64 / other.max(1) as f64).clamp(0.25, 1.0);
            (f64::from(side) * ratio / cells as f64).max(1.0) as usize
        };
        [part(self.rows, self.cols, self.cells[0]), part(self.cols, self.rows, self.cells[1])]
    }

    /// Whether each cell is one position of the matrix.
    fn shows_entries(&self) -> bool {
        self.cells == [self.rows, self.cols]
    }

    /// Of the cells with entries; logarithmic, as densities differ by factors.
    fn scale(&self) -> Scale {
        let some = || self.densities.iter().copied().filter(|&density| density > 0.0);
        let (low, high) = (some().fold(1.0, f64::min), some().fold(0.0, f64::max));
        Scale::logarithmic(low, high.max(low))
    }

    /// The cells in colours, row by row from the top, each so many pixels high and wide.
    fn image(&self, [high, wide]: [usize; 2]) -> Vec<u8> {
        let scale = self.scale();
        let colour = |density: f64| match density {
            0.0 => RGBColor(255, 255, 255),
            _ if self.shows_entries() => BLUE,
            density => scale.colour(density.log10()),
        };
        let mut image = Vec::with_capacity(3 * high * wide * self.densities.len());
        for row in self.densities.chunks(self.cells[1]) {
            let line: Vec<u8> = row.iter().map(|&d| colour(d)).flat_map(|c| [c.0, c.1, c.2].repeat(wide)).collect();
            image.extend(line.repeat(high));
        }
        image
    }
}

/// The first index and round ones.
fn ticks(count: usize) -> Ticks {
    let step = tick_step(0.0, count as f64).0.max(1.0);
    let last = (count as f64 / step).floor() as usize;
    let text = |index: f64| if index < 1e6 { format!("{index}") } else { tick_text(index, 0) };
    let rest = (1..=last).map(|k| k as f64 * step).filter(|&index| index > 1.0);
    [1.0].into_iter().chain(rest).map(|index| (index, text(index))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The colours of the middles of the cells.
    fn colours(pattern: &Pattern, side: usize) -> Vec<RGBColor> {
        let image = pattern.image([side, side]);
        let [rows, cols] = pattern.cells;
        assert_eq!(image.len(), 3 * rows * cols * side * side);
        let middle = |i: usize, j: usize| 3 * ((i * side + side / 2) * cols * side + j * side + side / 2);
        let at = (0..rows).flat_map(|i| (0..cols).map(move |j| middle(i, j)));
        at.map(|at| RGBColor(image[at], image[at + 1], image[at + 2])).collect()
    }

    #[test]
    fn marks_are_where_the_entries_are() {
        let entries = [(0, 0), (0, 2), (1, 3), (2, 0), (2, 3)];
        let pattern = Pattern::new(String::new(), String::new(), [3, 4], entries.into_iter());
        assert_eq!(pattern.cells, [3, 4]);
        for side in [1, 5] {
            let found: Vec<_> = (0..12).filter(|&k| colours(&pattern, side)[k] == BLUE).collect();
            assert_eq!(found, entries.map(|(i, j)| 4 * i + j));
        }
        assert_eq!(ticks(4).iter().map(|tick| tick.0).collect::<Vec<_>>(), [1.0, 2.0, 3.0, 4.0]);
        assert_eq!(ticks(400).iter().map(|tick| tick.1.as_str()).collect::<Vec<_>>()[..3], ["1", "50", "100"]);
    }

    /// A diagonal, and a block on one side that is full.
    #[test]
    fn dense_parts_of_large_matrices_are_darker() {
        let n = 4000;
        let block = (0..100).flat_map(|i| (0..100).map(move |j| (i, n - 100 + j)));
        let pattern = Pattern::new(String::new(), String::new(), [n, n], (0..n).map(|i| (i, i)).chain(block));
        let [rows, cols] = pattern.cells;
        assert!(rows == cols && rows <= 512, "{rows} x {cols}");
        let (side, colours) = (n / rows, colours(&pattern, 2));
        let is_white = |c: RGBColor| c == RGBColor(255, 255, 255);
        for i in 0..rows {
            for j in 0..cols {
                let has_entries = i == j || (i < 100_usize.div_ceil(side) && j >= (n - 100) / side);
                assert_eq!(is_white(colours[i * cols + j]), !has_entries, "{i}, {j}");
            }
        }
        let luminance = |c: RGBColor| u32::from(c.0) + u32::from(c.1) + u32::from(c.2);
        assert!(luminance(colours[cols - 1]) + 100 < luminance(colours[(rows / 2) * (cols + 1)]));
    }

    #[test]
    fn long_and_empty_matrices_have_pictures() {
        for shape in [[0, 0], [3, 0], [1, 100_000], [100_000, 7]] {
            let pattern = Pattern::new(String::new(), String::new(), shape, std::iter::empty());
            assert!(pattern.cells.iter().all(|&cells| (1..=512).contains(&cells)), "{shape:?}");
            assert!(pattern.image([1, 1]).iter().all(|&part| part == 255), "{shape:?}");
        }
    }
}
