//! Paths in a plane, to one scale along both axes.

use plotters::prelude::*;

use super::axes::{Drawing, LABELS, label, side, ticks, titled};
use super::canvas::{Area, Canvas, Drawn, chart_curve};
use super::colour::CURVES;
use super::{Paths, PlotArgs};

impl Drawing for Paths<'_> {
    fn draw<DB: Canvas>(&self, root: &Area<DB>, style: &PlotArgs) -> Drawn
    where
        DB::ErrorType: 'static,
    {
        let body = titled(root, style, (&self.title, &self.subtitle), &[])?;
        let side = side(&body);
        let (square, _) = body.split_horizontally(LABELS.0 + side);
        let (square, _) = square.split_vertically(LABELS.1 + side);
        let [xs, ys] = style.plot_range.map_or_else(|| self.window(), |range| [range; 2]);
        let mut chart = ChartBuilder::on(&square)
            .x_label_area_size(LABELS.1)
            .y_label_area_size(LABELS.0)
            .build_cartesian_2d(xs.0..xs.1, ys.0..ys.1)?;
        label(&square, &mut chart, (self.names[0], &ticks(xs.0, xs.1)), (self.names[1], &ticks(ys.0, ys.1)))?;
        for (k, path) in self.paths.iter().enumerate() {
            let colour = CURVES[k % CURVES.len()];
            chart_curve(&chart, path.iter().copied(), 2.0, colour)?;
            let is_inside = |(x, y): &&(f64, f64)| (xs.0..=xs.1).contains(x) && (ys.0..=ys.1).contains(y);
            let end = path.last().filter(is_inside);
            chart.draw_series(end.map(|end| Circle::new(*end, 5, colour.filled())))?;
        }
        Ok(())
    }
}

impl Paths<'_> {
    /// The square that holds all paths, with a margin.
    fn window(&self) -> [(f64, f64); 2] {
        let range = |of: fn(&(f64, f64)) -> f64| {
            let values = self.paths.iter().flatten().map(of).filter(|v| v.is_finite());
            values.fold(None, |range: Option<(f64, f64)>, v| {
                Some(range.map_or((v, v), |(low, high)| (low.min(v), high.max(v))))
            })
        };
        let ranges = [range(|p| p.0), range(|p| p.1)].map(|range| range.unwrap_or((0.0, 0.0)));
        let longest = ranges.iter().map(|(low, high)| high - low).fold(0.0, f64::max);
        let half = if longest > 0.0 { 0.55 * longest } else { 1.0 };
        ranges.map(|(low, high)| (low.midpoint(high) - half, low.midpoint(high) + half))
    }
}
