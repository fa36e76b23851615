//! A history of residuals.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::Convergence;
use super::axes::{Area, Drawing, Drawn, LABELS, font, label, power, scientific, tick_step, titled};
use super::colour::{BLUE, GREY, RED};

impl Drawing for Convergence<'_> {
    fn draw<DB: DrawingBackend>(&self, root: &Area<DB>) -> Drawn
    where
        DB::ErrorType: 'static,
    {
        let body = titled(root, &self.title, &self.subtitle)?;
        let points: Vec<(f64, f64)> = (0..)
            .zip(self.history)
            .filter(|(_, residual)| residual.is_finite() && **residual > 0.0)
            .map(|(step, &residual)| (f64::from(step), residual))
            .collect();
        let levels = || points.iter().map(|p| p.1).chain([self.tolerance]).chain(self.floor).filter(|v| *v > 0.0);
        // Decades around all that is drawn, in the exponent.
        let bottom = levels().fold(0.0_f64, |a, v| a.min(v.log10().floor())) - 0.5;
        // The first residual is 1 but for rounding.
        let top = levels().fold(0.0_f64, |a, v| a.max((v.log10() - 1e-6).ceil())) + 0.3;
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
        let floor = self.floor.unwrap_or(0.0);
        for (level, other, name, colour) in
            [(self.tolerance, floor, "tolerance", GREY), (floor, self.tolerance, "rounding floor", RED)]
        {
            if level <= 0.0 {
                continue;
            }
            let y = level.log10();
            chart.draw_series(DashedLineSeries::new([(xs.start, y), (xs.end, y)], 10, 8, colour.stroke_width(2)))?;
            // At the left, where the curve is far above; the words of the lower line below it.
            let at = chart.backend_coord(&(xs.start, y));
            let (side, shift) = if level > other { (VPos::Bottom, -5) } else { (VPos::Top, 9) };
            let style = font(20, &colour).pos(Pos::new(HPos::Left, side));
            root.draw_text(&format!("{name} {}", scientific(level)), &style, (at.0 + 10, at.1 + shift))?;
        }
        let logs = || points.iter().map(|&(x, residual)| (x, residual.log10()));
        chart.draw_series(LineSeries::new(logs(), BLUE.stroke_width(3)))?;
        if points.len() <= 60 {
            chart.draw_series(logs().map(|p| Circle::new(p, 6, BLUE.filled())))?;
        }
        Ok(())
    }
}
