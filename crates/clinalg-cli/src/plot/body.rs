//! A surface of triangles and quadrilaterals.

use plotters::prelude::*;

use super::axes::{Drawing, LABELS, bar, side, titled};
use super::canvas::{Area, Canvas, Drawn};
use super::colour::Scale;
use super::{Body, PlotArgs};

/// Where a body is seen from: right, front and top are in view.
const VIEW: [[f64; 3]; 3] = [[0.8, 0.6, 0.0], [-0.24, 0.32, 0.917], [0.55, -0.734, 0.4]];

impl Drawing for Body<'_> {
    fn draw<DB: Canvas>(&self, root: &Area<DB>, style: &PlotArgs) -> Drawn
    where
        DB::ErrorType: 'static,
    {
        let body = titled(root, style, (&self.title, &self.subtitle), &[])?;
        let finite = || self.values.iter().copied().filter(|v| v.is_finite());
        let (low, high) = (finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max));
        let (low, high) = style.plot_range.unwrap_or((low, high));
        let colours = if low <= high { Scale::new(low, high) } else { Scale::new(0.0, 0.0) };
        let side = side(&body);
        let (left, right) = body.split_horizontally(LABELS.0 + side + 30);
        // Right, up and towards the eye.
        let along = |p: [f64; 3], d: usize| (0..3).map(|k| VIEW[d][k] * p[k]).sum::<f64>();
        let seen: Vec<Vec<[f64; 3]>> =
            self.elements.iter().map(|e| e.iter().map(|p| [0, 1, 2].map(|d| along(*p, d))).collect()).collect();
        let range = |d: usize| {
            let all = seen.iter().flatten().map(move |p| p[d]);
            (all.clone().fold(f64::INFINITY, f64::min), all.fold(f64::NEG_INFINITY, f64::max))
        };
        let (xs, ys) = (range(0), range(1));
        let size = f64::from(side) * 0.96;
        let scale = size / (xs.1 - xs.0).max(ys.1 - ys.0);
        let place = |p: &[f64; 3]| {
            let x = f64::from(LABELS.0) / 2.0 + 0.5 * size + scale * (p[0] - 0.5 * (xs.0 + xs.1));
            let y = 0.5 * size + 10.0 - scale * (p[1] - 0.5 * (ys.0 + ys.1));
            (x.round() as i32, y.round() as i32)
        };
        // The nearest last; those that face away stay out.
        let faces = |corners: &[[f64; 3]]| {
            let next = corners.iter().cycle().skip(1);
            corners.iter().zip(next).map(|(a, b)| a[0] * b[1] - b[0] * a[1]).sum::<f64>() > 0.0
        };
        let mut order: Vec<usize> = (0..seen.len()).filter(|&k| faces(&seen[k])).collect();
        let depth = |k: usize| seen[k].iter().map(|p| p[2]).sum::<f64>() / seen[k].len() as f64;
        order.sort_by(|&a, &b| depth(a).total_cmp(&depth(b)));
        for k in order {
            let value = self.values[k];
            let colour = colours.colour(value);
            let corners: Vec<(i32, i32)> = seen[k].iter().map(place).collect();
            left.draw(&Polygon::new(corners.clone(), colour.filled()))?;
            let edge = RGBColor(colour.0 / 4 * 3, colour.1 / 4 * 3, colour.2 / 4 * 3);
            let sides: Vec<(i32, i32)> = corners.iter().chain(&corners[..1]).copied().collect();
            left.draw(&PathElement::new(sides, edge.stroke_width(1)))?;
        }
        bar(&right, size as i32, &colours, self.label)
    }
}
