//! Times over two launch parameters.

use std::collections::BTreeSet;

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::axes::{Drawing, LABELS, font, label, titled, typeset};
use super::canvas::{Area, Canvas, Drawn};
use super::colour::{INK, RED, viridis};
use super::{PlotArgs, Surface};

impl Drawing for Surface<'_> {
    fn draw<DB: Canvas>(&self, root: &Area<DB>, style: &PlotArgs) -> Drawn
    where
        DB::ErrorType: 'static,
    {
        let body = titled(root, style, (&self.title, &self.subtitle), &[])?;
        let axis = |pick: fn(&(u32, u32)) -> u32| {
            let values: BTreeSet<u32> = self.cells.iter().map(|(cell, _)| pick(cell)).collect();
            values.into_iter().collect::<Vec<u32>>()
        };
        let (xs, ys) = (axis(|c| c.0), axis(|c| c.1));
        let mut chart = ChartBuilder::on(&body)
            .margin_right(40)
            .x_label_area_size(LABELS.1)
            .y_label_area_size(LABELS.0)
            .build_cartesian_2d(0.0..xs.len() as f64, 0.0..ys.len() as f64)?;
        let times = || self.cells.iter().map(|(_, seconds)| *seconds);
        let fast = times().fold(f64::INFINITY, f64::min);
        let (least, slow) = style.plot_range.unwrap_or((fast, times().fold(0.0, f64::max)));
        for ((x, y), seconds) in &self.cells {
            let place = |values: &[u32], value: &u32| values.iter().position(|v| v == value).unwrap_or(0) as f64;
            let (x, y) = (place(&xs, x), place(&ys, y));
            // Fast cells are bright; logarithmic, as times differ by factors.
            let t = if slow > least { (slow / seconds).ln() / (slow / least).ln() } else { 1.0 };
            let ink = if t > 0.6 { &INK } else { &WHITE };
            let corners = [(x, y), (x + 1.0, y + 1.0)];
            chart.draw_series([Rectangle::new(corners, viridis(t).filled())])?;
            let centre = Pos::new(HPos::Center, VPos::Center);
            let text = typeset(&crate::text::seconds(*seconds));
            chart.draw_series([Text::new(text, (x + 0.5, y + 0.5), font(21, ink).pos(centre))])?;
            if *seconds == fast {
                let inset = [(x + 0.03, y + 0.05), (x + 0.97, y + 0.95)];
                chart.draw_series([Rectangle::new(inset, RED.stroke_width(3))])?;
            }
        }
        let ticks = |values: &[u32]| (0..).zip(values).map(|(k, v)| (f64::from(k) + 0.5, v.to_string())).collect();
        label(&body, &mut chart, (self.x_name, &ticks(&xs)), (self.y_name, &ticks(&ys)))
    }
}
