//! Curves over one coordinate.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::Profile;
use super::axes::{Area, Drawing, Drawn, LABELS, Ticks, font, label, number, tick_step, titled};
use super::colour::CURVES;
use super::picture::SIZE;

impl Drawing for Profile<'_> {
    fn draw<DB: DrawingBackend>(&self, root: &Area<DB>) -> Drawn
    where
        DB::ErrorType: 'static,
    {
        let body = titled(root, &self.title, &self.subtitle)?;
        let (name, first, last) = self.x;
        let (low, high) = self.range;
        let room = if high > low { 0.05 * (high - low) } else { 0.5 * low.abs().max(1.0) };
        let mut chart = ChartBuilder::on(&body)
            .margin_right(50)
            .x_label_area_size(LABELS.1)
            .y_label_area_size(LABELS.0)
            .build_cartesian_2d(first..last, low - room..high + room)?;
        let ticks = |range: std::ops::Range<f64>| -> Ticks {
            let (step, digits) = tick_step(range.start, range.end);
            let (first, last) = ((range.start / step).ceil() as i64, (range.end / step).floor() as i64);
            // Adding zero turns -0 into 0.
            (first..=last).map(|k| k as f64 * step + 0.0).map(|v| (v, number(v, digits))).collect()
        };
        let (x_ticks, y_ticks) = (ticks(chart.x_range()), ticks(chart.y_range()));
        let (xs, ys) = (chart.x_range(), chart.y_range());
        let light = RGBColor(225, 225, 225);
        let upright = x_ticks.iter().map(|(x, _)| [(*x, ys.start), (*x, ys.end)]);
        let level = y_ticks.iter().map(|(y, _)| [(xs.start, *y), (xs.end, *y)]);
        chart.draw_series(upright.chain(level).map(|ends| PathElement::new(ends, light.stroke_width(1))))?;
        let names: Vec<&str> = self.curves.iter().map(|(name, _)| name.as_str()).collect();
        label(&body, &mut chart, (name, &x_ticks), (&names.join(", "), &y_ticks))?;
        for (k, (name, values)) in self.curves.iter().enumerate() {
            let colour = CURVES[k % CURVES.len()];
            let step = (last - first) / (values.len().max(2) - 1) as f64;
            let points = values.iter().enumerate().filter(|(_, v)| v.is_finite());
            let line = points.map(|(i, v)| (first + i as f64 * step, *v));
            chart.draw_series(LineSeries::new(line, colour.stroke_width(3)))?;
            let right = Pos::new(HPos::Right, VPos::Center);
            root.draw_text(name, &font(24, &colour).pos(right), (SIZE.0 as i32 - 60, 140 + 32 * k as i32))?;
        }
        Ok(())
    }
}
