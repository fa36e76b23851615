//! Pictures: a field on the unit square, a history of residuals, times over launch parameters.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Once;

use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use plotters::style::register_font;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::exit::Failure;

/// Width and height of both pictures in pixels.
const SIZE: (u32, u32) = (1140, 1010);
/// Width and height of the square in the picture of a field.
const SIDE: u32 = 800;
const INK: RGBColor = RGBColor(38, 38, 38);
const GREY: RGBColor = RGBColor(110, 110, 110);
const BLUE: RGBColor = RGBColor(33, 101, 172);
const RED: RGBColor = RGBColor(178, 24, 43);

/// What kind of file a picture is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Png,
    Svg,
}

/// A file to draw into; its name decides the format.
pub(crate) struct Picture {
    path: PathBuf,
    format: Format,
}

impl Picture {
    /// # Errors
    /// [`Failure::Usage`] unless the name ends in .png or .svg, [`Failure::File`] where it cannot be written.
    pub(crate) fn new(path: &Path) -> Result<Picture, Failure> {
        let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase());
        let format = match extension.as_deref() {
            Some("png") => Format::Png,
            Some("svg") => Format::Svg,
            _ => {
                return Err(Failure::usage(format!("--plot {}: the name must end in .png or .svg", path.display())));
            }
        };
        crate::output::check_target(path)?;
        Ok(Picture { path: path.to_owned(), format })
    }

    /// The file beside this one whose name has `suffix` before the extension.
    pub(crate) fn beside(&self, suffix: &str) -> Picture {
        let stem = self.path.file_stem().unwrap_or_default().to_string_lossy();
        let extension = self.path.extension().unwrap_or_default().to_string_lossy();
        Picture { path: self.path.with_file_name(format!("{stem}{suffix}.{extension}")), format: self.format }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn field(&self, field: &Field<'_>) -> Result<(), Failure> {
        self.draw(|root| field.draw(root), |root| field.draw(root))
    }

    pub(crate) fn body(&self, body: &Body<'_>) -> Result<(), Failure> {
        self.draw(|root| body.draw(root), |root| body.draw(root))
    }

    pub(crate) fn convergence(&self, convergence: &Convergence<'_>) -> Result<(), Failure> {
        self.draw(|root| convergence.draw(root), |root| convergence.draw(root))
    }

    pub(crate) fn profile(&self, profile: &Profile<'_>) -> Result<(), Failure> {
        self.draw(|root| profile.draw(root), |root| profile.draw(root))
    }

    pub(crate) fn surface(&self, surface: &Surface<'_>) -> Result<(), Failure> {
        self.draw(|root| surface.draw(root), |root| surface.draw(root))
    }

    /// Draws with the back end of the format.
    fn draw<'a>(
        &'a self,
        png: impl FnOnce(&DrawingArea<BitMapBackend<'a>, Shift>) -> Drawn,
        svg: impl FnOnce(&DrawingArea<SVGBackend<'a>, Shift>) -> Drawn,
    ) -> Result<(), Failure> {
        register_font_once();
        match self.format {
            Format::Png => png(&BitMapBackend::new(&self.path, SIZE).into_drawing_area()),
            Format::Svg => svg(&SVGBackend::new(&self.path, SIZE).into_drawing_area()),
        }
        .map_err(|error| Failure::File { path: self.path.clone(), reason: error.to_string() })
    }
}

/// The files of the frames.
pub(crate) struct Frames {
    /// Of the name, up to the number.
    folder: PathBuf,
    stem: String,
    extension: String,
    digits: usize,
}

impl Frames {
    /// `count` files in the folder `path`, their names beginning with `stem`, or beside the picture `path`.
    ///
    /// # Errors
    /// [`Failure::Usage`] where the name has an extension that is no picture's, [`Failure::File`] where the folder cannot be
    /// made.
    pub(crate) fn new(path: &Path, stem: &str, count: usize) -> Result<Frames, Failure> {
        let digits = count.saturating_sub(1).to_string().len().max(4);
        if path.extension().is_some() && !path.is_dir() {
            let picture = Picture::new(path)?;
            let text = |part: Option<&std::ffi::OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
            let folder = picture.path().parent().unwrap_or(Path::new("")).to_owned();
            return Ok(Frames { folder, stem: text(path.file_stem()), extension: text(path.extension()), digits });
        }
        if !path.is_dir() {
            std::fs::create_dir(path)
                .map_err(|error| Failure::File { path: path.to_owned(), reason: error.to_string() })?;
        }
        Ok(Frames { folder: path.to_owned(), stem: stem.into(), extension: "png".into(), digits })
    }

    pub(crate) fn picture(&self, frame: usize) -> Result<Picture, Failure> {
        let Frames { folder, stem, extension, digits } = self;
        Picture::new(&folder.join(format!("{stem}-{frame:0digits$}.{extension}")))
    }
}

/// The outcome of a drawing; back ends differ in their error types.
type Drawn = Result<(), Box<dyn std::error::Error>>;
type Area<DB> = DrawingArea<DB, Shift>;

/// Makes the font known that the program carries, so that no machine needs any.
fn register_font_once() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        register_font(FONT, FontStyle::Normal, dejavu::sans::regular())
            .unwrap_or_else(|_| unreachable!("the program's own font is sound"));
    });
}

/// What SVG viewers take where they have no DejaVu Sans; both are as wide.
const FONT: &str = "DejaVu Sans, Verdana, sans-serif";

fn font(size: u32, colour: &RGBColor) -> TextStyle<'static> {
    (FONT, size).into_font().color(colour)
}

/// Title and subtitle at the top left; what is left below them.
fn titled<DB: DrawingBackend>(
    root: &Area<DB>,
    title: &str,
    subtitle: &str,
) -> Result<Area<DB>, Box<dyn std::error::Error>>
where
    DB::ErrorType: 'static,
{
    root.fill(&WHITE)?;
    root.draw_text(title, &font(30, &INK), (40, 28))?;
    root.draw_text(subtitle, &font(21, &GREY), (40, 74))?;
    Ok(root.margin(120, 0, 0, 0))
}

/// A chart whose axes are labelled by [`label`].
type Chart<'a, DB> = ChartContext<'a, DB, Cartesian2d<RangedCoordf64, RangedCoordf64>>;
/// Where an axis has ticks, and what stands there.
type Ticks = Vec<(f64, String)>;

/// Room for the labels beside and below a chart.
const LABELS: (u32, u32) = (130, 90);

/// Frame, ticks, their labels and what the axes show.
fn label<DB: DrawingBackend>(
    area: &Area<DB>,
    chart: &mut Chart<'_, DB>,
    (x_name, x_ticks): (&str, &Ticks),
    (y_name, y_ticks): (&str, &Ticks),
) -> Drawn
where
    DB::ErrorType: 'static,
{
    let (xs, ys) = (chart.x_range(), chart.y_range());
    // Charts count pixels from the corner of the picture, areas from their own.
    let corner = area.get_base_pixel();
    let place = |chart: &Chart<'_, DB>, p: (f64, f64)| {
        let p = chart.backend_coord(&p);
        (p.0 - corner.0, p.1 - corner.1)
    };
    for (x, text) in x_ticks {
        let (x, y) = place(chart, (*x, ys.start));
        area.draw(&PathElement::new([(x, y), (x, y + 8)], INK.stroke_width(1)))?;
        area.draw_text(text, &font(21, &INK).pos(Pos::new(HPos::Center, VPos::Top)), (x, y + 14))?;
    }
    for (y, text) in y_ticks {
        let (x, y) = place(chart, (xs.start, *y));
        area.draw(&PathElement::new([(x - 8, y), (x, y)], INK.stroke_width(1)))?;
        area.draw_text(text, &font(21, &INK).pos(Pos::new(HPos::Right, VPos::Center)), (x - 14, y))?;
    }
    chart.draw_series([Rectangle::new([(xs.start, ys.start), (xs.end, ys.end)], INK.stroke_width(1))])?;
    let (x, y) = place(chart, (xs.start.midpoint(xs.end), ys.start));
    area.draw_text(x_name, &font(24, &INK).pos(Pos::new(HPos::Center, VPos::Top)), (x, y + 50))?;
    let (x, y) = place(chart, (xs.start, ys.start.midpoint(ys.end)));
    let upwards = font(24, &INK).transform(FontTransform::Rotate270).pos(Pos::new(HPos::Center, VPos::Center));
    area.draw_text(y_name, &upwards, (x - 95, y))?;
    Ok(())
}

/// Values on the n by n points of the unit square, row by row from y = 0.
pub(crate) struct Field<'a> {
    pub(crate) title: String,
    pub(crate) subtitle: String,
    /// What the colour bar shows.
    pub(crate) label: &'a str,
    pub(crate) n: usize,
    pub(crate) values: &'a [f64],
    /// What the colours reach over, where it is not the values' own range.
    pub(crate) range: Option<(f64, f64)>,
}

impl Field<'_> {
    fn draw<DB: DrawingBackend>(&self, root: &Area<DB>) -> Drawn
    where
        DB::ErrorType: 'static,
    {
        let body = titled(root, &self.title, &self.subtitle)?;
        let (low, high) = self.extent();
        let (left, right) = body.split_horizontally(LABELS.0 + SIDE + 30);
        let mut chart = ChartBuilder::on(&left)
            .margin_right(30)
            .x_label_area_size(LABELS.1)
            .y_label_area_size(LABELS.0)
            .build_cartesian_2d(0.0..1.0, 0.0..1.0)?;
        let (width, height) = chart.plotting_area().dim_in_pixel();
        let image = BitMapElement::with_owned_buffer((0.0, 1.0), (width, height), self.pixels(width, height))
            .ok_or("the picture has as many pixels as it should")?;
        chart.plotting_area().draw(&image)?;
        let ticks = (0..=5).map(|k| (0.2 * f64::from(k), format!("{:.1}", 0.2 * f64::from(k)))).collect();
        label(&left, &mut chart, ("x", &ticks), ("y", &ticks))?;
        bar(&right, height as i32, (low, high), self.label)
    }

    /// The field in colours, row by row from the top, with thin lines of equal value at the ticks of the colour bar.
    fn pixels(&self, width: u32, height: u32) -> Vec<u8> {
        let (low, high) = self.extent();
        let (step, _) = tick_step(low, high);
        let row = |row: u32| (0..=width).map(|c| self.sample((c.min(width - 1), width), (row, height))).collect();
        let mut pixels = Vec::with_capacity(3 * (width * height) as usize);
        let mut current: Vec<f64> = row(height - 1);
        for j in (0..height).rev() {
            let below: Vec<f64> = row(j.saturating_sub(1));
            for i in 0..width as usize {
                let value = current[i];
                let colour = viridis(if high > low { (value - low) / (high - low) } else { 0.5 });
                // The distance in pixels to the next line, by the slope.
                let slope = (current[i + 1] - value).hypot(below[i] - value);
                let level = (value / step).round() * step;
                let distance = (value - level).abs() / slope;
                // A line at the very end of the range would be a dot on a summit.
                let inside = level > low + 0.01 * step && level < high - 0.01 * step;
                // Nor has a plain that rounding has made uneven a line.
                let line = if inside && slope > 1e-3 * step { 0.5 * (1.2 - distance).clamp(0.0, 1.0) } else { 0.0 };
                let blend = |c: u8| (f64::from(c) + (255.0 - f64::from(c)) * line) as u8;
                pixels.extend([blend(colour.0), blend(colour.1), blend(colour.2)]);
            }
            current = below;
        }
        pixels
    }

    /// What the colours reach over: the range given, else from the smallest to the largest finite value.
    fn extent(&self) -> (f64, f64) {
        if let Some(range) = self.range {
            return range;
        }
        let finite = self.values.iter().copied().filter(|v| v.is_finite());
        finite
            .fold(None, |range, v| range.map_or(Some((v, v)), |(a, b): (f64, f64)| Some((a.min(v), b.max(v)))))
            .unwrap_or((0.0, 0.0))
    }

    /// The value that one pixel shows: the mean of the points in it, or bilinear between points where there is none.
    fn sample(&self, (column, width): (u32, u32), (row, height): (u32, u32)) -> f64 {
        let last = (self.n - 1) as f64;
        let place = |pixel: u32, pixels: u32| f64::from(pixel) / f64::from(pixels - 1) * last;
        let (x, y) = (place(column, width), place(row, height));
        if self.n > 2 * width as usize {
            let half = last / f64::from(width) / 2.0;
            let range = |at: f64| ((at - half).ceil().max(0.0) as usize)..=((at + half).floor().min(last) as usize);
            let (mut sum, mut count) = (0.0, 0.0);
            for j in range(y) {
                for value in &self.values[j * self.n..][range(x)] {
                    sum += value;
                    count += 1.0;
                }
            }
            return sum / count;
        }
        let (i, j) = (x.floor().min(last - 1.0), y.floor().min(last - 1.0));
        let (s, t) = (x - i, y - j);
        let at = j as usize * self.n + i as usize;
        let edge = |k: usize| (1.0 - s) * self.values[k] + s * self.values[k + 1];
        (1.0 - t) * edge(at) + t * edge(at + self.n)
    }
}

/// Values on the triangles of the surface of a body, seen from outside.
pub(crate) struct Body<'a> {
    pub(crate) title: String,
    pub(crate) subtitle: String,
    /// What the colour bar shows.
    pub(crate) label: &'a str,
    /// Corners, anticlockwise seen from outside.
    pub(crate) triangles: &'a [[[f64; 3]; 3]],
    /// One value a triangle.
    pub(crate) values: &'a [f64],
}

/// Where a body is seen from: right, front and top are in view.
const VIEW: [[f64; 3]; 3] = [[0.8, 0.6, 0.0], [-0.24, 0.32, 0.917], [0.55, -0.734, 0.4]];

impl Body<'_> {
    fn draw<DB: DrawingBackend>(&self, root: &Area<DB>) -> Drawn
    where
        DB::ErrorType: 'static,
    {
        let body = titled(root, &self.title, &self.subtitle)?;
        let finite = || self.values.iter().copied().filter(|v| v.is_finite());
        let (low, high) = (finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max));
        let (low, high) = if low <= high { (low, high) } else { (0.0, 0.0) };
        let (left, right) = body.split_horizontally(LABELS.0 + SIDE + 30);
        // Right, up and towards the eye.
        let along = |p: [f64; 3], d: usize| (0..3).map(|k| VIEW[d][k] * p[k]).sum::<f64>();
        let seen: Vec<[[f64; 3]; 3]> =
            self.triangles.iter().map(|t| t.map(|p| [0, 1, 2].map(|d| along(p, d)))).collect();
        let range = |d: usize| {
            let all = seen.iter().flatten().map(move |p| p[d]);
            (all.clone().fold(f64::INFINITY, f64::min), all.fold(f64::NEG_INFINITY, f64::max))
        };
        let (xs, ys) = (range(0), range(1));
        let size = f64::from(SIDE) * 0.96;
        let scale = size / (xs.1 - xs.0).max(ys.1 - ys.0);
        let place = |p: &[f64; 3]| {
            let x = f64::from(LABELS.0) / 2.0 + 0.5 * size + scale * (p[0] - 0.5 * (xs.0 + xs.1));
            let y = 0.5 * size + 10.0 - scale * (p[1] - 0.5 * (ys.0 + ys.1));
            (x.round() as i32, y.round() as i32)
        };
        // The nearest last; those that face away stay out.
        let turn =
            |t: &[[f64; 3]; 3]| (t[1][0] - t[0][0]) * (t[2][1] - t[0][1]) - (t[1][1] - t[0][1]) * (t[2][0] - t[0][0]);
        let mut order: Vec<usize> = (0..seen.len()).filter(|&k| turn(&seen[k]) > 0.0).collect();
        let depth = |k: usize| seen[k].iter().map(|p| p[2]).sum::<f64>();
        order.sort_by(|&a, &b| depth(a).total_cmp(&depth(b)));
        for k in order {
            let value = self.values[k];
            let colour = viridis(if high > low { (value - low) / (high - low) } else { 0.5 });
            let corners: Vec<(i32, i32)> = seen[k].iter().map(place).collect();
            left.draw(&Polygon::new(corners.clone(), colour.filled()))?;
            let edge = RGBColor(colour.0 / 4 * 3, colour.1 / 4 * 3, colour.2 / 4 * 3);
            left.draw(&PathElement::new([corners[0], corners[1], corners[2], corners[0]], edge.stroke_width(1)))?;
        }
        bar(&right, size as i32, (low, high), self.label)
    }
}

/// The colour bar of values from `low` to `high` in the first `height` pixels.
fn bar<DB: DrawingBackend>(area: &Area<DB>, height: i32, (low, high): (f64, f64), label: &str) -> Drawn
where
    DB::ErrorType: 'static,
{
    let (x0, x1, y1) = (10, 46, height - 1);
    let colours = (0..height).map(|y| viridis(1.0 - f64::from(y) / f64::from(y1)));
    let pixels = colours.flat_map(|c| [c.0, c.1, c.2].repeat((x1 - x0) as usize)).collect();
    let image = BitMapElement::with_owned_buffer((x0, 0), ((x1 - x0) as u32, height as u32), pixels);
    area.draw(&image.ok_or("the colour bar has as many pixels as it should")?)?;
    area.draw(&Rectangle::new([(x0, 0), (x1, y1)], INK.stroke_width(1)))?;
    let (step, digits) = tick_step(low, high);
    let scale = if high > low { f64::from(y1) / (high - low) } else { 0.0 };
    let middle = Pos::new(HPos::Left, VPos::Center);
    let mut tick = (low / step).ceil();
    while high > low && tick * step <= high + 1e-9 * step {
        let y = y1 - ((tick * step - low) * scale).round() as i32;
        area.draw(&PathElement::new([(x1, y), (x1 + 8, y)], INK.stroke_width(1)))?;
        // Adding zero turns -0 into 0.
        area.draw_text(&number(tick * step + 0.0, digits), &font(21, &INK).pos(middle), (x1 + 14, y))?;
        tick += 1.0;
    }
    if high <= low {
        area.draw_text(&number(low, 3), &font(21, &INK).pos(middle), (x1 + 14, height / 2))?;
    }
    let centred = Pos::new(HPos::Center, VPos::Top);
    area.draw_text(label, &font(24, &INK).pos(centred), ((x0 + x1) / 2, y1 + 14))?;
    Ok(())
}

/// Curves over one coordinate.
pub(crate) struct Profile<'a> {
    pub(crate) title: String,
    pub(crate) subtitle: String,
    /// The coordinate's name and where the first and the last point stand.
    pub(crate) x: (&'a str, f64, f64),
    /// Names and values, at points the same distance apart.
    pub(crate) curves: &'a [(String, Vec<f64>)],
    /// What the other axis reaches over.
    pub(crate) range: (f64, f64),
}

/// Colours that differ in lightness too (Okabe and Ito, 2008).
const CURVES: [RGBColor; 6] = [
    BLUE,
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
];

impl Profile<'_> {
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

/// A step of 1, 2 or 5 times a power of ten that cuts the range into eight or fewer, and the digits it needs.
fn tick_step(low: f64, high: f64) -> (f64, usize) {
    let rough = ((high - low) / 8.0).max(f64::MIN_POSITIVE);
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().find(|m| m * power >= rough * 0.999).unwrap_or(10.0) * power;
    (step, (-step.log10().floor()).max(0.0) as usize)
}

fn number(value: f64, digits: usize) -> String {
    if digits > 4 || value.abs() >= 1e5 { format!("{value:.1e}") } else { format!("{value:.digits$}") }
}

/// Times over two launch parameters, a cell for each pair that was tried.
pub(crate) struct Surface<'a> {
    pub(crate) title: String,
    pub(crate) subtitle: String,
    pub(crate) x_name: &'a str,
    pub(crate) y_name: &'a str,
    /// The parameters and the seconds.
    pub(crate) cells: Vec<((u32, u32), f64)>,
}

impl Surface<'_> {
    fn draw<DB: DrawingBackend>(&self, root: &Area<DB>) -> Drawn
    where
        DB::ErrorType: 'static,
    {
        let body = titled(root, &self.title, &self.subtitle)?;
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
        let (fast, slow) = (times().fold(f64::INFINITY, f64::min), times().fold(0.0, f64::max));
        for ((x, y), seconds) in &self.cells {
            let place = |values: &[u32], value: &u32| values.iter().position(|v| v == value).unwrap_or(0) as f64;
            let (x, y) = (place(&xs, x), place(&ys, y));
            // Fast cells are bright; logarithmic, as times differ by factors.
            let t = if slow > fast { (slow / seconds).ln() / (slow / fast).ln() } else { 1.0 };
            let ink = if t > 0.6 { &INK } else { &WHITE };
            let corners = [(x, y), (x + 1.0, y + 1.0)];
            chart.draw_series([Rectangle::new(corners, viridis(t).filled())])?;
            let centre = Pos::new(HPos::Center, VPos::Center);
            let text = crate::output::seconds(*seconds);
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

/// Relative residuals from the start on, on a logarithmic axis.
pub(crate) struct Convergence<'a> {
    pub(crate) title: String,
    pub(crate) subtitle: String,
    /// What is counted: cycles or iterations.
    pub(crate) steps: &'a str,
    /// What is drawn over them.
    pub(crate) residual: &'a str,
    pub(crate) history: &'a [f64],
    pub(crate) tolerance: f64,
    /// The relative residual that rounding leaves, where it is known.
    pub(crate) floor: Option<f64>,
}

impl Convergence<'_> {
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

/// Ten to a whole power, as it is set.
fn power(exponent: f64) -> String {
    if exponent == 0.0 {
        return "1".into();
    }
    let digits = format!("{exponent:.0}");
    let raised = digits.chars().map(|c| match c {
        '-' => '⁻',
        digit => ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'][digit.to_digit(10).unwrap_or(0) as usize],
    });
    format!("10{}", raised.collect::<String>())
}

/// A number with one digit behind the point and its power of ten, as they are set.
fn scientific(value: f64) -> String {
    let text = format!("{value:.1e}");
    match text.split_once('e').and_then(|(m, e)| Some((m, e.parse::<f64>().ok()?))) {
        Some(("1.0", exponent)) => power(exponent),
        Some((mantissa, exponent)) => format!("{mantissa} · {}", power(exponent)),
        None => text,
    }
}

/// The colour map viridis (Smith and van der Walt, 2015, public domain) at t from 0 to 1: perceptually uniform and legible
/// with any colour vision. Polynomials of degree 6 fitted to its table (Zucker, 2020, public domain).
fn viridis(t: f64) -> RGBColor {
    const C: [[f64; 3]; 7] = [
        [0.277_727_327, 0.005_407_345, 0.334_099_805],
        [0.105_093_043, 1.404_613_530, 1.384_590_163],
        [-0.330_861_829, 0.214_847_559, 0.095_095_163],
        [-4.634_230_499, -5.799_100_973, -19.332_440_956],
        [6.228_269_936, 14.179_933_367, 56.690_552_601],
        [4.776_384_998, -13.745_145_378, -65.353_032_633],
        [-5.435_455_856, 4.645_852_612, 26.312_435_250],
    ];
    let t = if t.is_nan() { return RGBColor(255, 255, 255) } else { t.clamp(0.0, 1.0) };
    let channel = |k: usize| (C.iter().rev().fold(0.0, |sum, c| sum * t + c[k]).clamp(0.0, 1.0) * 255.0).round() as u8;
    RGBColor(channel(0), channel(1), channel(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_colour_map_has_the_published_ends_and_rising_lightness() {
        let near = |a: RGBColor, b: (u8, u8, u8)| {
            let d = |x: u8, y: u8| x.abs_diff(y) <= 4;
            d(a.0, b.0) && d(a.1, b.1) && d(a.2, b.2)
        };
        // Entries 0, 128 and 255 of the published table.
        assert!(near(viridis(0.0), (68, 1, 84)));
        assert!(near(viridis(128.0 / 255.0), (33, 145, 140)));
        assert!(near(viridis(1.0), (253, 231, 37)));
        let luminance = |c: RGBColor| 0.2126 * f64::from(c.0) + 0.7152 * f64::from(c.1) + 0.0722 * f64::from(c.2);
        let steps: Vec<f64> = (0..=20).map(|k| luminance(viridis(f64::from(k) / 20.0))).collect();
        assert!(steps.windows(2).all(|w| w[0] < w[1]));
    }

    #[test]
    fn pixels_show_means_or_lie_between_points() {
        let linear = |n: usize| (0..n * n).map(|k| (k % n) as f64 / (n - 1) as f64).collect::<Vec<_>>();
        for n in [3, 5, 65, 257] {
            let values = linear(n);
            let field =
                Field { title: String::new(), subtitle: String::new(), label: "", n, values: &values, range: None };
            for column in 0..100 {
                let got = field.sample((column, 100), (37, 100));
                let want = f64::from(column) / 99.0;
                assert!((got - want).abs() <= 0.5 / 99.0, "n {n}, column {column}: {got}, expected {want}");
            }
        }
    }

    #[test]
    fn frames_are_numbered() {
        let folder = tempfile::tempdir().unwrap();
        let inside = folder.path().join("new");
        let frames = Frames::new(&inside, "wave", 11).unwrap();
        assert_eq!(frames.picture(3).unwrap().path(), inside.join("wave-0003.png"));
        let frames = Frames::new(&folder.path().join("u.svg"), "wave", 20_000).unwrap();
        assert_eq!(frames.picture(3).unwrap().path(), folder.path().join("u-00003.svg"));
        assert!(Frames::new(&folder.path().join("u.gif"), "wave", 11).is_err());
    }

    #[test]
    fn ticks_are_round_numbers() {
        assert_eq!(tick_step(0.0, 1.0), (0.2, 1));
        assert_eq!(tick_step(-0.03, 0.02), (0.01, 2));
        assert_eq!(tick_step(0.0, 230.0), (50.0, 0));
    }

    #[test]
    fn powers_of_ten_are_set() {
        assert_eq!(power(-12.0), "10⁻¹²");
        assert_eq!(scientific(1e-10), "10⁻¹⁰");
        assert_eq!(scientific(5.2e-11), "5.2 · 10⁻¹¹");
    }
}
