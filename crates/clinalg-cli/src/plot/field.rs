//! A field on a rectangle.

use plotters::prelude::*;

use super::Field;
use super::axes::{Area, Drawing, Drawn, LABELS, SIDE, Ticks, bar, label, number, tick_step, titled};
use super::colour::Scale;

impl Drawing for Field<'_> {
    fn draw<DB: DrawingBackend>(&self, root: &Area<DB>) -> Drawn
    where
        DB::ErrorType: 'static,
    {
        let body = titled(root, &self.title, &self.subtitle)?;
        let [width, height] = self.size();
        let (left, right) = body.split_horizontally(LABELS.0 + width + 30);
        let (left, _) = left.split_vertically(height + LABELS.1);
        let mut chart = ChartBuilder::on(&left)
            .margin_right(30)
            .x_label_area_size(LABELS.1)
            .y_label_area_size(LABELS.0)
            .build_cartesian_2d(self.bounds[0][0]..self.bounds[0][1], self.bounds[1][0]..self.bounds[1][1])?;
        let (width, height) = chart.plotting_area().dim_in_pixel();
        let image = BitMapElement::with_owned_buffer(
            (self.bounds[0][0], self.bounds[1][1]),
            (width, height),
            self.pixels(width, height),
        )
        .ok_or("the picture has as many pixels as it should")?;
        chart.plotting_area().draw(&image)?;
        let [x_ticks, y_ticks] = self.bounds.map(ticks);
        label(&left, &mut chart, ("x", &x_ticks), ("y", &y_ticks))?;
        bar(&right, height as i32, &self.scale(), self.label)
    }
}

impl Field<'_> {
    /// Pixels of the rectangle, of which the longer side has [`SIDE`] and the shorter one at least a quarter of that.
    fn size(&self) -> [u32; 2] {
        let [x, y] = self.bounds.map(|[low, high]| high - low);
        let part = |own: f64, other: f64| (f64::from(SIDE) * (own / other).clamp(0.25, 1.0)).round() as u32;
        [part(x, y), part(y, x)]
    }

    /// The field in colours, row by row from the top, with thin lines of equal value at the ticks of the colour bar.
    fn pixels(&self, width: u32, height: u32) -> Vec<u8> {
        let scale = self.scale();
        let (low, high, lines) = (scale.low, scale.high, scale.line());
        let (step, _) = tick_step(low, high);
        let row = |row: u32| (0..=width).map(|c| self.sample((c.min(width - 1), width), (row, height))).collect();
        let mut pixels = Vec::with_capacity(3 * (width * height) as usize);
        let mut current: Vec<f64> = row(height - 1);
        for j in (0..height).rev() {
            let below: Vec<f64> = row(j.saturating_sub(1));
            for i in 0..width as usize {
                let value = current[i];
                let colour = scale.colour(value);
                // The distance in pixels to the next line, by the slope.
                let slope = (current[i + 1] - value).hypot(below[i] - value);
                let level = (value / step).round() * step;
                let distance = (value - level).abs() / slope;
                // A line at the very end of the range would be a dot on a summit.
                let inside = level > low + 0.01 * step && level < high - 0.01 * step;
                // Nor has a plain that rounding has made uneven a line.
                let line = if inside && slope > 1e-3 * step { 0.5 * (1.2 - distance).clamp(0.0, 1.0) } else { 0.0 };
                let blend = |c: u8, to: u8| (f64::from(c) + (f64::from(to) - f64::from(c)) * line) as u8;
                pixels.extend([blend(colour.0, lines.0), blend(colour.1, lines.1), blend(colour.2, lines.2)]);
            }
            current = below;
        }
        pixels
    }

    fn scale(&self) -> Scale {
        let (low, high) = self.extent();
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

/// Round numbers within the bounds of a direction.
fn ticks([low, high]: [f64; 2]) -> Ticks {
    let (step, digits) = tick_step(low, high);
    let first = (low / step - 1e-9).ceil() as i64;
    let last = (high / step + 1e-9).floor() as i64;
    // Adding zero turns -0 into 0.
    (first..=last).map(|k| (k as f64 * step, number(k as f64 * step + 0.0, digits))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::UNIT;

    #[test]
    fn rectangles_keep_their_shape_up_to_one_to_four() {
        // 3 by 2 points with u = x + 10 y in units of points.
        let values = [0.0, 1.0, 2.0, 10.0, 11.0, 12.0];
        let of = |bounds| {
            let (title, subtitle) = (String::new(), String::new());
            Field { title, subtitle, label: "", columns: 3, bounds, values: &values, range: None }
        };
        let wide = of([[0.0, 2.0], [0.0, 1.0]]);
        assert_eq!(wide.size(), [800, 400]);
        assert_eq!(of([[0.0, 1.0], [0.0, 100.0]]).size(), [200, 800]);
        assert!((wide.sample((25, 51), (25, 51)) - 6.0).abs() < 1e-12);
        assert_eq!((wide.sample((50, 51), (0, 51)), wide.sample((0, 51), (50, 51))), (2.0, 10.0));
        assert_eq!(ticks([0.0, 2.0])[1], (0.5, "0.5".into()));
    }

    #[test]
    fn pixels_show_means_or_lie_between_points() {
        let linear = |n: usize| (0..n * n).map(|k| (k % n) as f64 / (n - 1) as f64).collect::<Vec<_>>();
        for n in [3, 5, 65, 257] {
            let values = linear(n);
            let (title, subtitle) = (String::new(), String::new());
            let field = Field { title, subtitle, label: "", columns: n, bounds: UNIT, values: &values, range: None };
            for column in 0..100 {
                let got = field.sample((column, 100), (37, 100));
                let want = f64::from(column) / 99.0;
                assert!((got - want).abs() <= 0.5 / 99.0, "n {n}, column {column}: {got}, expected {want}");
            }
        }
    }
}
