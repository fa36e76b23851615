//! What pictures are drawn on, and curves.

use std::convert::Infallible;
use std::iter::{Once, once};

use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::element::{Drawable, PointCollection};
use plotters::prelude::*;
use plotters_backend::text_anchor::{HPos, VPos};
use plotters_backend::{BackendColor, BackendStyle, BackendTextStyle, DrawingErrorKind};

/// The outcome of a drawing; back ends differ in their error types.
pub(super) type Drawn = Result<(), Box<dyn std::error::Error>>;
pub(super) type Area<DB> = DrawingArea<DB, Shift>;
pub(super) type Chart<'a, DB> = ChartContext<'a, DB, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// A point in pixels, of which those with whole coordinates are the centres.
pub(super) type Point = (f64, f64);

/// A back end that draws curves through points between the centres of pixels.
pub(crate) trait Canvas: DrawingBackend {
    /// Draws lines from point to point.
    fn curve(
        &mut self,
        points: &[Point],
        width: f64,
        colour: BackendColor,
    ) -> Result<(), DrawingErrorKind<Self::ErrorType>>;
}

/// The part of a line from `a` to `b` in the rectangle with the corners 0 and `end`.
pub(super) fn clipped(a: Point, b: Point, end: Point) -> Option<[Point; 2]> {
    if ![a.0, a.1, b.0, b.1].iter().all(|v| v.is_finite()) {
        return None;
    }
    let (mut first, mut last) = (0.0_f64, 1.0_f64);
    for (from, to, end) in [(a.0, b.0, end.0), (a.1, b.1, end.1)] {
        if from == to && !(0.0..=end).contains(&from) {
            return None;
        }
        if from != to {
            let [s, t] = [0.0, end].map(|side| (side - from) / (to - from));
            (first, last) = (first.max(s.min(t)), last.min(s.max(t)));
        }
    }
    let at = |t: f64| if t == 1.0 { b } else { (a.0 + t * (b.0 - a.0), a.1 + t * (b.1 - a.1)) };
    (first <= last).then(|| [at(first), at(last)])
}

/// Something that is drawn by a function of the back end, the corner of the area and its size.
struct Element<F>(F);

impl<'a, F> PointCollection<'a, (i32, i32)> for &'a Element<F> {
    type Point = (i32, i32);
    type IntoIter = Once<(i32, i32)>;

    fn point_iter(self) -> Once<(i32, i32)> {
        once((0, 0))
    }
}

impl<DB, F> Drawable<DB> for Element<F>
where
    DB: DrawingBackend,
    F: Fn(&mut DB, (i32, i32), (u32, u32)) -> Result<(), DrawingErrorKind<DB::ErrorType>>,
{
    fn draw<I: Iterator<Item = (i32, i32)>>(
        &self,
        mut corner: I,
        backend: &mut DB,
        size: (u32, u32),
    ) -> Result<(), DrawingErrorKind<DB::ErrorType>> {
        self.0(backend, corner.next().unwrap_or_default(), size)
    }
}

/// Draws a curve through `points`, in pixels of the area; parts outside of it are not drawn.
pub(super) fn curve<DB: Canvas>(area: &Area<DB>, points: &[Point], width: f64, colour: RGBAColor) -> Drawn
where
    DB::ErrorType: 'static,
{
    let draw = |backend: &mut DB, corner: (i32, i32), size: (u32, u32)| {
        let shifted = |(x, y): Point| (x + f64::from(corner.0), y + f64::from(corner.1));
        let end = (f64::from(size.0) - 1.0, f64::from(size.1) - 1.0);
        let mut inside: Vec<Point> = Vec::new();
        for ends in points.windows(2) {
            let Some([a, b]) = clipped(ends[0], ends[1], end) else { continue };
            if inside.last() != Some(&shifted(a)) {
                backend.curve(&inside, width, colour.to_backend_color())?;
                inside = vec![shifted(a)];
            }
            inside.push(shifted(b));
        }
        backend.curve(&inside, width, colour.to_backend_color())
    };
    Ok(area.draw(&Element(draw))?)
}

/// Draws pixels, three bytes each, row by row from the top, with their upper left corner in that of the area.
pub(super) fn image<DB: Canvas>(area: &Area<DB>, size: (u32, u32), pixels: &[u8]) -> Drawn
where
    DB::ErrorType: 'static,
{
    let draw = |backend: &mut DB, corner: (i32, i32), _: (u32, u32)| backend.blit_bitmap(corner, size, pixels);
    Ok(area.draw(&Element(draw))?)
}

/// Where the points of a chart are in pixels of its plotting area.
pub(super) fn in_pixels<DB: Canvas>(chart: &Chart<'_, DB>, points: impl IntoIterator<Item = (f64, f64)>) -> Vec<Point> {
    let (xs, ys) = (chart.x_range(), chart.y_range());
    let (width, height) = chart.plotting_area().dim_in_pixel();
    let part = |v: f64, range: &std::ops::Range<f64>| (v - range.start) / (range.end - range.start);
    let place = |(x, y)| (part(x, &xs) * f64::from(width - 1), (1.0 - part(y, &ys)) * f64::from(height - 1));
    points.into_iter().map(place).collect()
}

/// Draws a curve through points of a chart.
pub(super) fn chart_curve<DB: Canvas>(
    chart: &Chart<'_, DB>,
    points: impl IntoIterator<Item = (f64, f64)>,
    width: f64,
    colour: RGBColor,
) -> Drawn
where
    DB::ErrorType: 'static,
{
    curve(&chart.plotting_area().strip_coord_spec(), &in_pixels(chart, points), width, colour.to_rgba())
}

/// Pixels, three bytes each, row by row from the top.
pub(super) struct Raster<'a> {
    pub(super) pixels: &'a mut [u8],
    pub(super) size: (u32, u32),
}

/// The pixels, three bytes each, as PNG.
pub(super) fn encoded(pixels: &[u8], (width, height): (u32, u32)) -> Result<Vec<u8>, png::EncodingError> {
    let mut content = Vec::new();
    let mut encoder = png::Encoder::new(&mut content, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_adaptive_filter(png::AdaptiveFilterType::Adaptive);
    encoder.set_compression(png::Compression::Default);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(pixels)?;
    writer.finish()?;
    Ok(content)
}

impl DrawingBackend for Raster<'_> {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        self.size
    }

    fn ensure_prepared(&mut self) -> Result<(), DrawingErrorKind<Infallible>> {
        Ok(())
    }

    fn present(&mut self) -> Result<(), DrawingErrorKind<Infallible>> {
        Ok(())
    }

    fn draw_pixel(&mut self, (x, y): (i32, i32), colour: BackendColor) -> Result<(), DrawingErrorKind<Infallible>> {
        let (width, height) = (self.size.0 as i32, self.size.1 as i32);
        if (0..width).contains(&x) && (0..height).contains(&y) {
            let at = 3 * (y as usize * width as usize + x as usize);
            let (r, g, b) = colour.rgb;
            for (own, new) in self.pixels[at..at + 3].iter_mut().zip([r, g, b]) {
                let old = f64::from(*own);
                *own = (old + (f64::from(new) - old) * colour.alpha + 0.5) as u8;
            }
        }
        Ok(())
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = (i32, i32)>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Result<(), DrawingErrorKind<Infallible>> {
        let points: Vec<Point> = path.into_iter().map(|(x, y)| (f64::from(x), f64::from(y))).collect();
        self.curve(&points, f64::from(style.stroke_width()), style.color())
    }

    fn draw_text<S: BackendTextStyle>(
        &mut self,
        text: &str,
        style: &S,
        (x, y): (i32, i32),
    ) -> Result<(), DrawingErrorKind<Infallible>> {
        /// By what part of the size of a font the middle of digits is above that of a line.
        const ABOVE: f64 = 0.19;
        let fault = |error: S::FontError| DrawingErrorKind::FontError(Box::new(error));
        let ((left, top), (right, bottom)) = style.layout_box(text).map_err(fault)?;
        let dx = match style.anchor().h_pos {
            HPos::Left => 0,
            HPos::Center => (left - right) / 2,
            HPos::Right => left - right,
        };
        let dy = match style.anchor().v_pos {
            VPos::Top => 0,
            VPos::Center => (top - bottom) / 2 + (ABOVE * style.size()).round() as i32,
            VPos::Bottom => top - bottom,
        };
        let turned = style.transform();
        let draw = |across: i32, down: i32, colour: BackendColor| {
            let (across, down) = turned.transform(across + dx - left, down + dy - top);
            self.draw_pixel((x + across, y + down), colour)
        };
        style.draw(text, (0, 0), draw).map_err(fault)?
    }

    fn blit_bitmap(
        &mut self,
        (x, y): (i32, i32),
        (width, height): (u32, u32),
        pixels: &[u8],
    ) -> Result<(), DrawingErrorKind<Infallible>> {
        let (x, y) = (x.max(0) as usize, y.max(0) as usize);
        let [own, whole] = [width, self.size.0].map(|pixels| 3 * pixels as usize);
        let count = own.min(whole.saturating_sub(3 * x));
        let rows = self.pixels.chunks_mut(whole).skip(y).zip(pixels.chunks(own)).take(height as usize);
        for (to, from) in rows.filter(|_| count > 0) {
            to[3 * x..3 * x + count].copy_from_slice(&from[..count]);
        }
        Ok(())
    }
}

impl Canvas for Raster<'_> {
    fn curve(
        &mut self,
        points: &[Point],
        width: f64,
        colour: BackendColor,
    ) -> Result<(), DrawingErrorKind<Infallible>> {
        if points.len() < 2 {
            return Ok(());
        }
        let reach = 0.5 * width + 0.5;
        let range = |of: fn(&Point) -> f64, pixels: u32| {
            let (low, high) =
                points.iter().map(of).fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
            ((low - reach).floor().max(0.0) as usize)
                ..((high + reach).ceil() + 1.0).clamp(0.0, f64::from(pixels)) as usize
        };
        let (xs, ys) = (range(|p| p.0, self.size.0), range(|p| p.1, self.size.1));
        // By how much each pixel of the rectangle around is covered: where lines meet, no more than by one of them.
        let mut covered = vec![0.0_f32; xs.len() * ys.len()];
        for ends in points.windows(2) {
            cover(&mut covered, (&xs, &ys), [ends[0], ends[1]], reach);
        }
        for (row, y) in covered.chunks(xs.len().max(1)).zip(ys) {
            for (part, x) in row.iter().zip(xs.clone()).filter(|(part, _)| **part > 0.0) {
                let alpha = colour.alpha * f64::from(*part);
                self.draw_pixel((x as i32, y as i32), BackendColor { alpha, ..colour })?;
            }
        }
        Ok(())
    }
}

/// Covers pixels nearer than `reach` to a line, those at the rim in part.
fn cover(
    covered: &mut [f32],
    (xs, ys): (&std::ops::Range<usize>, &std::ops::Range<usize>),
    [a, b]: [Point; 2],
    reach: f64,
) {
    let (dx, dy) = (b.0 - a.0, b.1 - a.1);
    let square = (dx * dx + dy * dy).max(f64::MIN_POSITIVE);
    let within = |low: f64, high: f64, all: &std::ops::Range<usize>| {
        ((low - reach).floor().max(all.start as f64) as usize)
            ..(((high + reach).ceil() + 1.0).clamp(0.0, all.end as f64) as usize)
    };
    for y in within(a.1.min(b.1), a.1.max(b.1), ys) {
        // The part of the line that is near this row.
        let part = |side: f64| {
            if dy == 0.0 { 0.5 + 0.5 * side.signum() } else { ((y as f64 + side - a.1) / dy).clamp(0.0, 1.0) }
        };
        let [s, t] = [-reach, reach].map(|side| a.0 + part(side) * dx);
        for x in within(s.min(t), s.max(t), xs) {
            let (px, py) = (x as f64 - a.0, y as f64 - a.1);
            let along = ((px * dx + py * dy) / square).clamp(0.0, 1.0);
            let distance = (px - along * dx).hypot(py - along * dy);
            let pixel = &mut covered[(y - ys.start) * xs.len() + x - xs.start];
            *pixel = pixel.max((reach - distance).clamp(0.0, 1.0) as f32);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const N: usize = 100;

    /// How dark the pixels of a square are after black curves on white.
    fn drawn(curves: &[(&[Point], f64)]) -> Vec<f64> {
        let mut pixels = vec![255; 3 * N * N];
        let mut raster = Raster { pixels: &mut pixels, size: (N as u32, N as u32) };
        for (points, width) in curves {
            raster.curve(points, *width, BLACK.to_backend_color()).unwrap();
        }
        pixels.chunks(3).map(|c| 1.0 - f64::from(c[0]) / 255.0).collect()
    }

    /// A curve that rises by many pixels from column to column was torn: its outline crossed itself.
    #[test]
    fn steep_curves_are_unbroken_and_as_wide_as_asked() {
        for slope in [0.0, 0.3, 1.0, 7.0, 40.0] {
            let points: Vec<Point> = (0..N).map(|k| 0.3 * k as f64).map(|t| (20.0 + t, 20.0 + slope * t)).collect();
            for width in [1.4, 2.0, 3.0] {
                let dark = drawn(&[(&points, width)]);
                let (steep, across) = (slope > 1.0, width * (1.0 + f64::min(slope, 1.0 / slope).powi(2)).sqrt());
                let last = if steep { (20.0 + slope * 29.0).min(95.0) } else { 45.0 } as usize;
                for line in 25..last {
                    let cells = (0..N).map(|k| if steep { dark[line * N + k] } else { dark[k * N + line] });
                    let sum: f64 = cells.sum();
                    assert!(
                        (sum - across).abs() < 0.25,
                        "slope {slope}, width {width}, line {line}: {sum}, not {across}"
                    );
                }
            }
        }
    }

    #[test]
    fn lines_through_centres_of_pixels_are_sharp() {
        let dark = drawn(&[(&[(10.0, 5.0), (10.0, 60.0)], 1.0), (&[(20.0, 80.0), (70.0, 80.0)], 3.0)]);
        let full = |cells: &mut dyn Iterator<Item = usize>| cells.filter(|&k| dark[k] > 0.0).collect::<Vec<_>>();
        assert_eq!(full(&mut (0..N).map(|x| 30 * N + x)), [30 * N + 10]);
        assert_eq!(full(&mut (0..N).map(|y| y * N + 40)), [79, 80, 81].map(|y| y * N + 40));
        assert!(dark.iter().filter(|v| **v == 1.0).count() >= 56 + 3 * 51);
    }

    #[test]
    fn curves_end_at_the_sides_of_their_area() {
        let mut pixels = vec![255; 3 * N * N];
        let raster = Raster { pixels: &mut pixels, size: (N as u32, N as u32) };
        let area = raster.into_drawing_area().margin(30, 30, 30, 30);
        let points = [(-1e6, 3.0), (20.0, 3.0), (20.0, -1e9), (25.0, 7.0), (25.0, 1e9)];
        curve(&area, &points, 2.0, BLACK.to_rgba()).unwrap();
        drop(area);
        let dark = |x: usize, y: usize| pixels[3 * (y * N + x)] < 128;
        assert!(dark(30, 33) && dark(50, 31) && dark(55, 69) && !dark(40, 31));
        for k in (0..N).filter(|k| !(28..72).contains(k)) {
            assert!((0..N).all(|other| !dark(k, other) && !dark(other, k)), "{k}");
        }
    }

    #[test]
    fn parts_of_lines_in_a_rectangle() {
        let end = (10.0, 5.0);
        assert_eq!(clipped((-10.0, 1.0), (10.0, 3.0), end), Some([(0.0, 2.0), (10.0, 3.0)]));
        assert_eq!(clipped((3.0, 9.0), (3.0, -9.0), end), Some([(3.0, 5.0), (3.0, 0.0)]));
        assert_eq!(clipped((11.0, 0.0), (11.0, 5.0), end), None);
        assert_eq!(clipped((9.0, 6.0), (12.0, 4.0), end), None);
    }
}
