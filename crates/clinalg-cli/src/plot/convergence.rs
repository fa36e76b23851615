//! A history of residuals.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::axes::{Area, Drawing, Drawn, LABELS, font, label, power, scientific, tick_step, titled};
use super::colour::{BLUE, GREY, RED};
use super::{Convergence, PlotArgs};

/// Smallest relative residual in double precision, as a power of ten.
const DOUBLE: f64 = -17.0;

impl Drawing for Convergence<'_> {
    fn draw<DB: DrawingBackend>(&self, root: &Area<DB>, style: &PlotArgs) -> Drawn
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
        // The axis ends at the rounding floor; where that is not known, below all that is drawn, but not below that of double precision.
        let lowest = levels().fold(0.0, f64::min);
        let floor = self.floor.filter(|floor| *floor > 0.0).map(f64::log10);
        let bottom = floor.map_or((lowest - 0.5).max(DOUBLE), |floor| floor.min(lowest - 0.2));
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
        let stride = ((top - bottom) / 12.0).ceil();
        let step = tick_step(0.0, last).0.max(1.0);
        let multiples = |step: f64, range: &std::ops::Range<f64>| {
            let (first, last) = ((range.start / step).ceil() as i64, (range.end / step).floor() as i64);
            (first..=last).map(|k| k as f64 * step).collect::<Vec<_>>()
        };
        let (steps, decades) = (multiples(step, &(0.0..last)), multiples(stride, &ys));
        let light = RGBColor(225, 225, 225);
        let upright = steps.iter().map(|&x| [(x, ys.start), (x, ys.end)]);
        let level = decades.iter().map(|&y| [(xs.start, y), (xs.end, y)]);
        chart.draw_series(upright.chain(level).map(|ends| PathElement::new(ends, light.stroke_width(1))))?;
        let x_ticks = steps.iter().map(|&x| (x, format!("{x}"))).collect();
        let y_ticks = decades.iter().map(|&y| (y, power(y))).collect();
        label(&body, &mut chart, (self.steps, &x_ticks), (self.residual, &y_ticks))?;
        let mut occupied: Option<i32> = None;
        for (level, name, colour) in [(floor, "rounding floor", RED), (Some(self.tolerance.log10()), "tolerance", GREY)]
        {
            let Some(y) = level.filter(|y| ys.contains(y)) else { continue };
            chart.draw_series(DashedLineSeries::new([(xs.start, y), (xs.end, y)], 10, 8, colour.stroke_width(2)))?;
            // Above its line at the left, where the curve is far above; beside the other where that is as near.
            let at = chart.backend_coord(&(xs.start, y));
            let left = if occupied.is_some_and(|other| (other - at.1).abs() < 26) { 330 } else { 10 };
            occupied = Some(at.1);
            let style = font(20, &colour).pos(Pos::new(HPos::Left, VPos::Bottom));
            root.draw_text(&format!("{name} {}", scientific(10_f64.powf(y))), &style, (at.0 + left, at.1 - 5))?;
        }
        // Each part of the history, such as a window of steps, is a line of its own.
        let starts = [&self.starts[..], &[self.history.len()]].concat();
        let in_part = |part: &[usize]| {
            let (first, end) = (part[0] as f64, part[1] as f64);
            let inside = points.iter().filter(move |p| (first..end).contains(&p.0));
            inside.map(|&(x, residual)| (x, residual.log10().max(bottom)))
        };
        for part in starts.windows(2) {
            chart.draw_series(LineSeries::new(in_part(part), BLUE.stroke_width(3)))?;
            if points.len() <= 60 {
                chart.draw_series(in_part(part).map(|p| Circle::new(p, 6, BLUE.filled())))?;
            }
        }
        Ok(())
    }
}
