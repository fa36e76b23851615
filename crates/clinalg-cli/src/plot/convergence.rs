//! A history of residuals.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::axes::{Drawing, LABELS, font, label, logarithmic_ticks, scientific, tick_step, titled, width};
use super::canvas::{Area, Canvas, Drawn, Point, chart_curve, clipped, in_pixels};
use super::colour::{BLUE, GREY, RED};
use super::{Convergence, PlotArgs};

/// Smallest relative residual in double precision, as a power of ten.
const DOUBLE: f64 = -17.0;

impl Drawing for Convergence<'_> {
    fn draw<DB: Canvas>(&self, root: &Area<DB>, style: &PlotArgs) -> Drawn
    where
        DB::ErrorType: 'static,
    {
        let body = titled(root, style, (&self.title, &self.subtitle), &[])?;
        let points: Vec<(f64, f64)> = (0..)
            .zip(self.history)
            .filter(|(_, residual)| residual.is_finite() && **residual > 0.0)
            .map(|(step, &residual)| (f64::from(step), residual))
            .collect();
        let levels = || points.iter().map(|p| p.1).chain([self.tolerance]).filter(|v| *v > 0.0).map(f64::log10);
        // The axis ends in the band of rounding errors; where that is not known, below all that is drawn, but not below that of double
        // precision.
        let lowest = levels().fold(0.0, f64::min);
        let floor = self.floor.filter(|floor| *floor > 0.0).map(f64::log10);
        let bottom = floor.map_or((lowest - 0.5).max(DOUBLE), |floor| (floor - 0.5).min(lowest - 0.2));
        let top = levels().fold(0.0, f64::max).max(bottom + 1.0) + 0.3;
        let given = style.plot_range.filter(|(low, _)| *low > 0.0).map(|(low, high)| (low.log10(), high.log10()));
        let (bottom, top) = given.unwrap_or((bottom, top));
        let last = (self.history.len().max(2) - 1) as f64;
        let mut chart = ChartBuilder::on(&body)
            .margin_right(50)
            .x_label_area_size(LABELS.1)
            .y_label_area_size(LABELS.0)
            .build_cartesian_2d(-0.02 * last..1.02 * last, bottom..top)?;
        let (xs, ys) = (chart.x_range(), chart.y_range());
        let step = tick_step(0.0, last).0.max(1.0);
        let steps: Vec<f64> = (0..=(last / step).floor() as u32).map(|k| f64::from(k) * step).collect();
        let y_ticks = logarithmic_ticks(ys.start, ys.end);
        // Residuals in this band may be rounding errors.
        if let Some(floor) = floor.filter(|floor| ys.contains(floor)) {
            let band = [(xs.start, ys.start), (xs.end, floor)];
            chart.draw_series([Rectangle::new(band, RGBColor(250, 236, 238).filled())])?;
        }
        let light = RGBColor(225, 225, 225);
        let upright = steps.iter().map(|&x| [(x, ys.start), (x, ys.end)]);
        let level = y_ticks.iter().map(|(y, _)| [(xs.start, *y), (xs.end, *y)]);
        chart.draw_series(upright.chain(level).map(|ends| PathElement::new(ends, light.stroke_width(1))))?;
        let x_ticks = steps.iter().map(|&x| (x, format!("{x}"))).collect();
        label(&body, &mut chart, (self.steps, &x_ticks), (self.residual, &y_ticks))?;
        let level = [(floor, "rounding error, at most", RED), (Some(self.tolerance.log10()), "tolerance", GREY)];
        let levels: Vec<(f64, &str, RGBColor)> = level
            .into_iter()
            .filter_map(|(y, name, colour)| Some((y.filter(|y| ys.contains(y))?, name, colour)))
            .collect();
        for (y, _, colour) in &levels {
            chart.draw_series(DashedLineSeries::new([(xs.start, *y), (xs.end, *y)], 10, 8, colour.stroke_width(2)))?;
        }
        // Each part of the history, such as a window of steps, is a line of its own.
        let starts = [&self.starts[..], &[self.history.len()]].concat();
        let in_part = |part: &[usize]| {
            let (first, end) = (part[0] as f64, part[1] as f64);
            let inside = points.iter().filter(move |p| (first..end).contains(&p.0));
            inside.map(|&(x, residual)| (x, residual.log10().max(bottom)))
        };
        for part in starts.windows(2) {
            chart_curve(&chart, in_part(part), 3.0, BLUE)?;
            if points.len() <= 60 {
                let inside = in_part(part).filter(|p| ys.contains(&p.1));
                chart.draw_series(inside.map(|p| Circle::new(p, 6, BLUE.filled())))?;
            }
        }
        let curve: Vec<Vec<Point>> = starts.windows(2).map(|part| in_pixels(&chart, in_part(part))).collect();
        let area = chart.plotting_area().strip_coord_spec();
        let texts: Vec<String> =
            levels.iter().map(|(y, name, _)| format!("{name} {}", scientific(10_f64.powf(*y)))).collect();
        let lines: Vec<f64> = levels.iter().map(|(y, ..)| in_pixels(&chart, [(0.0, *y)])[0].1).collect();
        let sizes = texts.iter().map(|text| (f64::from(width(&area, text, 20)), 20.0));
        let boxes = places(&lines, &sizes.collect::<Vec<_>>(), &curve, area.dim_in_pixel());
        for ((text, (x, y)), (.., colour)) in texts.iter().zip(boxes).zip(&levels) {
            let style = font(20, colour).pos(Pos::new(HPos::Left, VPos::Center));
            area.draw_text(text, &style, (x as i32, y as i32))?;
        }
        Ok(())
    }
}

/// Pixels between a label and whatever is beside it.
const GAP: f64 = 6.0;

/// Where labels of level lines stand, by the middles of their left sides: just above their line if that is free of the curve, of
/// lines and of other labels, else just below it, else higher, as far to the left as possible.
fn places(lines: &[f64], sizes: &[(f64, f64)], curve: &[Vec<Point>], (width, height): (u32, u32)) -> Vec<Point> {
    let (right, bottom) = (f64::from(width) - 1.0, f64::from(height) - 1.0);
    let mut taken: Vec<[Point; 2]> = Vec::new();
    for (&line, &(wide, high)) in lines.iter().zip(sizes) {
        let up = |line: f64| line - GAP - high;
        let rows = [up(line), line + GAP].into_iter().chain((1..20).map(|k| up(line) - 8.0 * f64::from(k)));
        let columns = || (0..).map(|k| 10.0 + 20.0 * f64::from(k)).take_while(|x| x + wide + GAP < right);
        let mut all = rows
            .flat_map(|y| columns().map(move |x| [(x - GAP, y - GAP + 1.0), (x + wide + GAP, y + high + GAP - 1.0)]));
        let is_free = |[low, high]: &[Point; 2]| {
            let crosses = |a: Point, b: Point| {
                let inside = |p: Point| (p.0 - low.0, p.1 - low.1);
                clipped(inside(a), inside(b), (high.0 - low.0, high.1 - low.1)).is_some()
            };
            low.1 >= 0.0
                && high.1 <= bottom
                && !lines.iter().any(|y| (low.1..=high.1).contains(y))
                && !taken
                    .iter()
                    .any(|other| low.0 < other[1].0 && other[0].0 < high.0 && low.1 < other[1].1 && other[0].1 < high.1)
                && !curve.iter().any(|part| part.windows(2).any(|ends| crosses(ends[0], ends[1])))
        };
        let place = all.find(is_free).unwrap_or([(10.0 - GAP, up(line) - GAP + 1.0), (10.0 + wide + GAP, line - 1.0)]);
        taken.push(place);
    }
    taken.iter().map(|[low, high]| (low.0 + GAP, low.1.midpoint(high.1))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: (u32, u32) = (900, 700);
    const LABEL: (f64, f64) = (260.0, 20.0);

    /// The label of the lower line, a little below the other one, stood on that.
    #[test]
    fn labels_touch_neither_lines_nor_curves_nor_each_other() {
        let falling = vec![vec![(20.0, 20.0), (450.0, 400.0), (880.0, 690.0)]];
        let fast = vec![vec![(20.0, 20.0), (60.0, 690.0), (880.0, 690.0)]];
        let flat = vec![vec![(20.0, 655.0), (880.0, 645.0)]];
        for curve in [falling, fast, flat] {
            for distance in [0.0, 2.0, 10.0, 20.0, 30.0, 45.0, 60.0, 300.0] {
                for floor in [699.0, 660.0, 400.0] {
                    let lines = [floor, floor - distance];
                    let places = places(&lines, &[LABEL, LABEL], &curve, SIZE);
                    let boxes = places.iter().map(|&(x, y)| [(x, y - 10.0), (x + LABEL.0, y + 10.0)]);
                    let boxes: Vec<[Point; 2]> = boxes.collect();
                    for [low, high] in &boxes {
                        assert!(low.0 > 0.0 && high.0 < 900.0 && low.1 > 0.0 && high.1 < 700.0, "{boxes:?}");
                        assert!(lines.iter().all(|y| *y < low.1 - 2.0 || *y > high.1 + 2.0), "{lines:?}: {boxes:?}");
                        let size = (high.0 - low.0, high.1 - low.1);
                        let moved = |p: Point| (p.0 - low.0, p.1 - low.1);
                        let crossed = curve[0].windows(2).any(|e| clipped(moved(e[0]), moved(e[1]), size).is_some());
                        assert!(!crossed, "{lines:?}: {boxes:?}");
                    }
                    let ([a, b], [c, d]) = (boxes[0], boxes[1]);
                    assert!(a.0 > d.0 || c.0 > b.0 || a.1 > d.1 || c.1 > b.1, "{lines:?}: {boxes:?}");
                }
            }
        }
    }
}
