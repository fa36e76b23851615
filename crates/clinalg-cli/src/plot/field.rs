//! A field on a rectangle.

use plotters::prelude::*;

use super::Field;
use super::axes::{Area, Drawing, Drawn, LABELS, bar, label, side, tick_step, ticks, titled};
use super::colour::Scale;
use super::{PlotArgs, contours};

impl Drawing for Field<'_> {
    fn draw<DB: DrawingBackend>(&self, root: &Area<DB>, style: &PlotArgs) -> Drawn
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
        let image = BitMapElement::with_owned_buffer(
            (self.bounds[0][0], self.bounds[1][1]),
            (width, height),
            self.pixels(&scale, width, height),
        )
        .ok_or("the picture has as many pixels as it should")?;
        chart.plotting_area().draw(&image)?;
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

    /// The field in colours, row by row from the top, with thin lines of equal value at the ticks of the colour bar.
    fn pixels(&self, scale: &Scale, width: u32, height: u32) -> Vec<u8> {
        let lines = self.lines(scale, width, height);
        let ink = <[u8; 3]>::from(scale.line().rgb());
        let blend = |c: u8, to: u8, part: f64| (f64::from(c) + (f64::from(to) - f64::from(c)) * part) as u8;
        let places = (0..height).rev().flat_map(|row| (0..width).map(move |column| (row, column)));
        let colour = |((row, column), line): ((u32, u32), f64)| {
            let own = <[u8; 3]>::from(scale.colour(self.sample((column, width), (row, height))).rgb());
            [0, 1, 2].map(|k| blend(own[k], ink[k], 0.5 * line))
        };
        places.zip(lines).flat_map(colour).collect()
    }

    /// How much of each pixel lines of equal value cover, row by row from the top.
    fn lines(&self, scale: &Scale, width: u32, height: u32) -> Vec<f64> {
        let mut covered = vec![0.0; width as usize * height as usize];
        if self.columns < 2 || self.values.len() < 2 * self.columns {
            return covered;
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
        for line in inside.flat_map(|level| contours::lines(columns as usize, &values, level, step)) {
            for ends in line.windows(2) {
                cover(&mut covered, width as usize, place(ends[0]), place(ends[1]));
            }
        }
        covered
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

/// Adds the pixels that a straight line, a little more than a pixel wide, covers.
fn cover(covered: &mut [f64], width: usize, a: (f64, f64), b: (f64, f64)) {
    let height = covered.len() / width;
    let around = |a: f64, b: f64, count: usize| {
        (a.min(b) - 1.0).floor().max(0.0) as usize..=((a.max(b) + 1.0).ceil() as usize).min(count - 1)
    };
    let (along, across) = (b.0 - a.0, b.1 - a.1);
    for y in around(a.1, b.1, height) {
        for x in around(a.0, b.0, width) {
            let (dx, dy) = (x as f64 - a.0, y as f64 - a.1);
            let t =
                ((dx * along + dy * across) / (along * along + across * across).max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
            let distance = (dx - t * along).hypot(dy - t * across);
            let pixel = &mut covered[y * width + x];
            *pixel = pixel.max((1.2 - distance).clamp(0.0, 1.0));
        }
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
