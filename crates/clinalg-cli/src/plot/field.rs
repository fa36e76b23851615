//! A field on a rectangle.

use plotters::prelude::*;

use super::Field;
use super::axes::{Drawing, LABELS, bar, label, side, tick_step, ticks, titled};
use super::canvas::{Area, Canvas, Drawn, Point, curve, image};
use super::colour::Scale;
use super::{PlotArgs, contours};

/// Width of lines of equal value in pixels.
const LINE: f64 = 1.4;

impl Drawing for Field<'_> {
    fn draw<DB: Canvas>(&self, root: &Area<DB>, style: &PlotArgs) -> Drawn
    where
        DB::ErrorType: 'static,
    {
        let body = titled(root, style, (&self.title, &self.subtitle), &[])?;
        let scale = self.scale(style);
        let [width, height] = self.size(side(&body));
        let (left, right) = body.split_horizontally(LABELS.0 + width + 30);
        let (left, _) = left.split_vertically(height + LABELS.1);
        let mut chart = ChartBuilder::on(&left)
            .margin_right(30)
            .x_label_area_size(LABELS.1)
            .y_label_area_size(LABELS.0)
            .build_cartesian_2d(self.bounds[0][0]..self.bounds[0][1], self.bounds[1][0]..self.bounds[1][1])?;
        let (width, height) = chart.plotting_area().dim_in_pixel();
        let area = chart.plotting_area().strip_coord_spec();
        image(&area, (width, height), &self.pixels(&scale, width, height))?;
        for line in self.lines(&scale, width, height) {
            curve(&area, &line, LINE, scale.line().mix(0.5))?;
        }
        let [x_ticks, y_ticks] = self.bounds.map(|[low, high]| ticks(low, high));
        label(&left, &mut chart, ("x", &x_ticks), ("y", &y_ticks))?;
        bar(&right, height as i32, &scale, self.label)
    }
}

impl Field<'_> {
    /// Pixels of the rectangle, of which the longer side has `side` and the shorter one at least a quarter of that.
    fn size(&self, side: u32) -> [u32; 2] {
        let [x, y] = self.bounds.map(|[low, high]| high - low);
        let part = |own: f64, other: f64| (f64::from(side) * (own / other).clamp(0.25, 1.0)).round() as u32;
        [part(x, y), part(y, x)]
    }

    /// The field in colours, row by row from the top.
    fn pixels(&self, scale: &Scale, width: u32, height: u32) -> Vec<u8> {
        let palette = scale.palette();
        let mut pixels = Vec::with_capacity(3 * width as usize * height as usize);
        for row in (0..height).rev() {
            for column in 0..width {
                pixels.extend(palette.colour(self.sample((column, width), (row, height))));
            }
        }
        pixels
    }

    /// Lines of equal value at the ticks of the colour bar, in pixels from the top left.
    fn lines(&self, scale: &Scale, width: u32, height: u32) -> Vec<Vec<Point>> {
        if self.columns < 2 || self.values.len() < 2 * self.columns {
            return Vec::new();
        }
        // Lines are found between points two pixels apart.
        let [columns, rows] = [width, height].map(|pixels| pixels / 2 + 1);
        let points = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
        let values: Vec<f64> = points.map(|(row, column)| self.sample((column, columns), (row, rows))).collect();
        let place = |(x, y): (f64, f64)| {
            let part = [x / f64::from(columns - 1), 1.0 - y / f64::from(rows - 1)];
            (part[0] * f64::from(width - 1), part[1] * f64::from(height - 1))
        };
        let (step, _) = tick_step(scale.low, scale.high);
        let levels = ((scale.low / step).ceil() as i64..=(scale.high / step).floor() as i64).map(|k| k as f64 * step);
        // A line at the very end of the range would be a dot on a summit.
        let inside = levels.filter(|level| *level > scale.low + 0.01 * step && *level < scale.high - 0.01 * step);
        let lines = inside.flat_map(|level| contours::lines(columns as usize, &values, level, step));
        lines.map(|line| line.into_iter().map(place).collect()).collect()
    }

    fn scale(&self, style: &PlotArgs) -> Scale {
        let (low, high) = style.plot_range.unwrap_or_else(|| self.extent());
        Scale::new(low, high)
    }

    /// What the colours reach over: the range given, else from the smallest to the largest finite value.
    fn extent(&self) -> (f64, f64) {
        if let Some(range) = self.range {
            return range;
        }
        let finite = self.values.iter().copied().filter(|v| v.is_finite());
        finite
            .fold(None, |range, v| range.map_or(Some((v, v)), |(a, b): (f64, f64)| Some((a.min(v), b.max(v)))))
            .unwrap_or((0.0, 0.0))
    }

    /// The value that one pixel shows: the mean of the points in it, or bilinear between points where there is none.
    fn sample(&self, (column, width): (u32, u32), (row, height): (u32, u32)) -> f64 {
        let n = self.columns;
        let last = [(n - 1) as f64, (self.values.len() / n - 1) as f64];
        let place = |pixel: u32, pixels: u32, last: f64| f64::from(pixel) / f64::from(pixels - 1) * last;
        let (x, y) = (place(column, width, last[0]), place(row, height, last[1]));
        if last[0] > 2.0 * f64::from(width) && last[1] > 2.0 * f64::from(height) {
            let range = |at: f64, last: f64, pixels: u32| {
                let half = last / f64::from(pixels) / 2.0;
                ((at - half).ceil().max(0.0) as usize)..=((at + half).floor().min(last) as usize)
            };
            let (mut sum, mut count) = (0.0, 0.0);
            for j in range(y, last[1], height) {
                for value in &self.values[j * n..][range(x, last[0], width)] {
                    sum += value;
                    count += 1.0;
                }
            }
            return sum / count;
        }
        // The points around; in a direction of one point that one.
        let around = |at: f64, last: f64| {
            let low = at.floor().min(last - 1.0).max(0.0);
            (low as usize, (low + 1.0).min(last) as usize, at - low)
        };
        let ((west, east, s), (south, north, t)) = (around(x, last[0]), around(y, last[1]));
        let along = |j: usize| (1.0 - s) * self.values[j * n + west] + s * self.values[j * n + east];
        (1.0 - t) * along(south) + t * along(north)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rectangles_keep_their_shape_up_to_one_to_four() {
        // 3 by 2 points with u = x + 10 y in units of points.
        let values = [0.0, 1.0, 2.0, 10.0, 11.0, 12.0];
        let of = |bounds| {
            let (title, subtitle) = (String::new(), String::new());
            Field { title, subtitle, label: "", columns: 3, bounds, values: &values, range: None }
        };
        let wide = of([[0.0, 2.0], [0.0, 1.0]]);
        assert_eq!(wide.size(800), [800, 400]);
        assert_eq!(of([[0.0, 1.0], [0.0, 100.0]]).size(800), [200, 800]);
        assert!((wide.sample((25, 51), (25, 51)) - 6.0).abs() < 1e-12);
        assert_eq!((wide.sample((50, 51), (0, 51)), wide.sample((0, 51), (50, 51))), (2.0, 10.0));
        assert_eq!(ticks(0.0, 2.0)[1], (0.5, "0.5".into()));
    }

    #[test]
    fn pixels_show_means_or_lie_between_points() {
        let linear = |n: usize| (0..n * n).map(|k| (k % n) as f64 / (n - 1) as f64).collect::<Vec<_>>();
        for n in [3, 5, 65, 257] {
            let values = linear(n);
            let (title, subtitle) = (String::new(), String::new());
            let field =
                Field { title, subtitle, label: "", columns: n, bounds: [[0.0, 1.0]; 2], values: &values, range: None };
            for column in 0..100 {
                let got = field.sample((column, 100), (37, 100));
                let want = f64::from(column) / 99.0;
                assert!((got - want).abs() <= 0.5 / 99.0, "n {n}, column {column}: {got}, expected {want}");
            }
        }
    }
}
