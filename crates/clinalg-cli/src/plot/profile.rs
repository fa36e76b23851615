//! Curves over one coordinate.

use plotters::prelude::*;

use super::axes::{Drawing, LABELS, label, ticks, titled};
use super::canvas::{Area, Canvas, Drawn, chart_curve};
use super::colour::CURVES;
use super::{PlotArgs, Profile};

impl Drawing for Profile<'_> {
    fn draw<DB: Canvas>(&self, root: &Area<DB>, style: &PlotArgs) -> Drawn
    where
        DB::ErrorType: 'static,
    {
        let names: Vec<&str> = self.curves.iter().map(|(name, _)| name.as_str()).collect();
        let body = titled(root, style, (&self.title, &self.subtitle), &names)?;
        let (name, first, last) = self.x;
        let (low, high) = self.range;
        let room = if high > low { 0.05 * (high - low) } else { 0.5 * low.abs().max(1.0) };
        let (low, high) = style.plot_range.unwrap_or((low - room, high + room));
        let mut chart = ChartBuilder::on(&body)
            .margin_right(50)
            .x_label_area_size(LABELS.1)
            .y_label_area_size(LABELS.0)
            .build_cartesian_2d(first..last, low..high)?;
        let (x_ticks, y_ticks) = (ticks(first, last), ticks(low, high));
        let (xs, ys) = (chart.x_range(), chart.y_range());
        let light = RGBColor(225, 225, 225);
        let upright = x_ticks.iter().map(|(x, _)| [(*x, ys.start), (*x, ys.end)]);
        let level = y_ticks.iter().map(|(y, _)| [(xs.start, *y), (xs.end, *y)]);
        chart.draw_series(upright.chain(level).map(|ends| PathElement::new(ends, light.stroke_width(1))))?;
        // Long names stand above only.
        let y_name = if names.len() > 1 && names.iter().any(|name| name.len() > 3) { "" } else { &names.join(", ") };
        label(&body, &mut chart, (name, &x_ticks), (y_name, &y_ticks))?;
        for (k, (_, values)) in self.curves.iter().enumerate() {
            let colour = CURVES[k % CURVES.len()];
            let step = (last - first) / (values.len().max(2) - 1) as f64;
            let points = values.iter().enumerate().map(|(i, v)| (first + i as f64 * step, *v));
            chart_curve(&chart, points, 3.0, colour)?;
        }
        Ok(())
    }
}
