//! Measurements over sizes.

use plotters::prelude::*;

use super::axes::{Drawing, LABELS, Ticks, label, logarithmic_ticks, titled};
use super::canvas::{Area, Canvas, Drawn, chart_curve};
use super::colour::CURVES;
use super::{PlotArgs, Scaling};

impl Drawing for Scaling<'_> {
    fn draw<DB: Canvas>(&self, root: &Area<DB>, style: &PlotArgs) -> Drawn
    where
        DB::ErrorType: 'static,
    {
        let names: Vec<&str> = self.curves.iter().map(|(name, _)| name.as_str()).collect();
        let body = titled(root, style, (&self.title, &self.subtitle), &names)?;
        let all = || self.curves.iter().flat_map(|(_, values)| values).map(|v| v.log10());
        let (low, high) = (all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max));
        let place = |size: usize| (size.max(1) as f64).log10();
        let first = self.sizes.iter().copied().map(place).fold(f64::INFINITY, f64::min);
        let last = self.sizes.iter().copied().map(place).fold(f64::NEG_INFINITY, f64::max);
        let room = |low: f64, high: f64| 0.06 * (high - low).max(0.5);
        let own = (low - room(low, high), high + room(low, high));
        // The axis is logarithmic.
        let given = style.plot_range.filter(|(low, _)| *low > 0.0).map(|(low, high)| (low.log10(), high.log10()));
        let (low, high) = given.unwrap_or(own);
        let mut chart = ChartBuilder::on(&body)
            .margin_right(50)
            .x_label_area_size(LABELS.1)
            .y_label_area_size(LABELS.0)
            .build_cartesian_2d(first - room(first, last)..last + room(first, last), low..high)?;
        let (xs, ys) = (chart.x_range(), chart.y_range());
        let x_ticks: Ticks = self.sizes.iter().map(|size| (place(*size), size.to_string())).collect();
        let y_ticks = logarithmic_ticks(ys.start, ys.end);
        let light = RGBColor(225, 225, 225);
        let upright = x_ticks.iter().map(|(x, _)| [(*x, ys.start), (*x, ys.end)]);
        let level = y_ticks.iter().map(|(y, _)| [(xs.start, *y), (xs.end, *y)]);
        chart.draw_series(upright.chain(level).map(|ends| PathElement::new(ends, light.stroke_width(1))))?;
        label(&body, &mut chart, (self.names[0], &x_ticks), (self.names[1], &y_ticks))?;
        for (k, (_, values)) in self.curves.iter().enumerate() {
            let colour = CURVES[k % CURVES.len()];
            let points: Vec<(f64, f64)> =
                self.sizes.iter().zip(values).map(|(size, v)| (place(*size), v.log10())).collect();
            chart_curve(&chart, points.iter().copied(), 3.0, colour)?;
            let inside = points.iter().filter(|p| (low..=high).contains(&p.1));
            chart.draw_series(inside.map(|p| Circle::new(*p, 6, colour.filled())))?;
        }
        Ok(())
    }
}
