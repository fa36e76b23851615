//! A field on the unit square.

use plotters::prelude::*;

use super::Field;
use super::axes::{Area, Drawn, LABELS, SIDE, bar, label, tick_step, titled};
use super::colour::Scale;

impl Field<'_> {
    pub(super) fn draw<DB: DrawingBackend>(&self, root: &Area<DB>) -> Drawn
    where
        DB::ErrorType: 'static,
    {
        let body = titled(root, &self.title, &self.subtitle)?;
        let (left, right) = body.split_horizontally(LABELS.0 + SIDE + 30);
        let mut chart = ChartBuilder::on(&left)
            .margin_right(30)
            .x_label_area_size(LABELS.1)
            .y_label_area_size(LABELS.0)
            .build_cartesian_2d(0.0..1.0, 0.0..1.0)?;
        let (width, height) = chart.plotting_area().dim_in_pixel();
        let image = BitMapElement::with_owned_buffer((0.0, 1.0), (width, height), self.pixels(width, height))
            .ok_or("the picture has as many pixels as it should")?;
        chart.plotting_area().draw(&image)?;
        let ticks = (0..=5).map(|k| (0.2 * f64::from(k), format!("{:.1}", 0.2 * f64::from(k)))).collect();
        label(&left, &mut chart, ("x", &ticks), ("y", &ticks))?;
        bar(&right, height as i32, &self.scale(), self.label)
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
        let last = (self.n - 1) as f64;
        let place = |pixel: u32, pixels: u32| f64::from(pixel) / f64::from(pixels - 1) * last;
        let (x, y) = (place(column, width), place(row, height));
        if self.n > 2 * width as usize {
            let half = last / f64::from(width) / 2.0;
            let range = |at: f64| ((at - half).ceil().max(0.0) as usize)..=((at + half).floor().min(last) as usize);
            let (mut sum, mut count) = (0.0, 0.0);
            for j in range(y) {
                for value in &self.values[j * self.n..][range(x)] {
                    sum += value;
                    count += 1.0;
                }
            }
            return sum / count;
        }
        let (i, j) = (x.floor().min(last - 1.0), y.floor().min(last - 1.0));
        let (s, t) = (x - i, y - j);
        let at = j as usize * self.n + i as usize;
        let edge = |k: usize| (1.0 - s) * self.values[k] + s * self.values[k + 1];
        (1.0 - t) * edge(at) + t * edge(at + self.n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_show_means_or_lie_between_points() {
        let linear = |n: usize| (0..n * n).map(|k| (k % n) as f64 / (n - 1) as f64).collect::<Vec<_>>();
        for n in [3, 5, 65, 257] {
            let values = linear(n);
            let field =
                Field { title: String::new(), subtitle: String::new(), label: "", n, values: &values, range: None };
            for column in 0..100 {
                let got = field.sample((column, 100), (37, 100));
                let want = f64::from(column) / 99.0;
                assert!((got - want).abs() <= 0.5 / 99.0, "n {n}, column {column}: {got}, expected {want}");
            }
        }
    }
}
