//! Pictures as SVG: shapes and texts stay what they are, arrays of pixels are images in the file.

use std::fmt::{Display, Write};

use plotters::prelude::DrawingBackend;
use plotters_backend::text_anchor::{HPos, VPos};
use plotters_backend::{BackendColor, BackendStyle, BackendTextStyle, DrawingErrorKind, FontTransform};

use super::canvas::{Canvas, Point, encoded};

/// Writes elements; the caller writes the end tag of the document.
pub(super) struct Svg<'a> {
    text: &'a mut String,
    size: (u32, u32),
}

type Done = Result<(), DrawingErrorKind<png::EncodingError>>;

/// The end of the document.
pub(super) const END: &str = "</svg>\n";

/// Points of a curve that are nearer to the one before, in pixels, are left out.
const NEAR: f64 = 0.1;

impl<'a> Svg<'a> {
    /// Whole coordinates are centres of pixels, as in the other format.
    pub(super) fn new(text: &'a mut String, size: (u32, u32)) -> Svg<'a> {
        let (width, height) = size;
        let names = "xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\"";
        let view = format!("width=\"{width}\" height=\"{height}\" viewBox=\"-0.5 -0.5 {width} {height}\"");
        *text = format!("<svg {names} {view} stroke-linejoin=\"round\">\n");
        Svg { text, size }
    }

    /// An element without content.
    fn element(&mut self, name: &str, attributes: &[(&str, &dyn Display)]) -> Done {
        self.open(name, attributes);
        self.text.push_str("/>\n");
        Ok(())
    }

    fn open(&mut self, name: &str, attributes: &[(&str, &dyn Display)]) {
        self.text.push('<');
        self.text.push_str(name);
        for (key, value) in attributes {
            // Strings take whatever is written to them.
            let _ = write!(self.text, " {key}=\"{}\"", escaped(&value.to_string()));
        }
    }

    fn polyline<T: Display>(&mut self, points: impl Iterator<Item = (T, T)>, width: f64, colour: BackendColor) -> Done {
        let (points, stroke, opacity) = (listed(points), hex(colour), colour.alpha);
        let line: [(&str, &dyn Display); 5] = [
            ("fill", &"none"),
            ("stroke", &stroke),
            ("stroke-width", &width),
            ("stroke-opacity", &opacity),
            ("points", &points),
        ];
        self.element("polyline", &line)
    }
}

fn listed<T: Display>(points: impl Iterator<Item = (T, T)>) -> String {
    points.map(|(x, y)| format!("{x},{y}")).collect::<Vec<_>>().join(" ")
}

fn hex(colour: BackendColor) -> String {
    let (r, g, b) = colour.rgb;
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// Text as content or attribute; characters that XML excludes are replaced.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            '"' => safe.push_str("&quot;"),
            '\t' | '\n' | '\r' => safe.push(' '),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => safe.push('\u{fffd}'),
            c => safe.push(c),
        }
    }
    safe
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for part in bytes.chunks(3) {
        let bits = part.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - part.len()));
        for k in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * k)) as usize & 63];
            text.push(if k <= part.len() { char::from(digit) } else { '=' });
        }
    }
    text
}

impl DrawingBackend for Svg<'_> {
    type ErrorType = png::EncodingError;

    fn get_size(&self) -> (u32, u32) {
        self.size
    }

    fn ensure_prepared(&mut self) -> Done {
        Ok(())
    }

    fn present(&mut self) -> Done {
        Ok(())
    }

    fn draw_pixel(&mut self, (x, y): (i32, i32), colour: BackendColor) -> Done {
        self.draw_rect((x, y), (x + 1, y + 1), &colour, true)
    }

    fn draw_rect<S: BackendStyle>(&mut self, from: (i32, i32), to: (i32, i32), style: &S, fill: bool) -> Done {
        let (width, height, colour) = (to.0 - from.0, to.1 - from.1, style.color());
        if !fill {
            let corners = [from, (to.0, from.1), to, (from.0, to.1), from];
            return self.polyline(corners.into_iter(), f64::from(style.stroke_width()), colour);
        }
        // From the rim of the first pixel to that of the last.
        let [x, y] = [from.0, from.1].map(|v| f64::from(v) - 0.5);
        let (fill, opacity) = (hex(colour), colour.alpha);
        let rectangle: [(&str, &dyn Display); 6] =
            [("x", &x), ("y", &y), ("width", &width), ("height", &height), ("fill", &fill), ("fill-opacity", &opacity)];
        self.element("rect", &rectangle)
    }

    fn draw_line<S: BackendStyle>(&mut self, from: (i32, i32), to: (i32, i32), style: &S) -> Done {
        self.draw_path([from, to], style)
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = (i32, i32)>>(&mut self, path: I, style: &S) -> Done {
        self.polyline(path.into_iter(), f64::from(style.stroke_width()), style.color())
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = (i32, i32)>>(&mut self, corners: I, style: &S) -> Done {
        let (fill, opacity, points) = (hex(style.color()), style.color().alpha, listed(corners.into_iter()));
        self.element("polygon", &[("fill", &fill), ("fill-opacity", &opacity), ("points", &points)])
    }

    fn draw_circle<S: BackendStyle>(&mut self, (x, y): (i32, i32), radius: u32, style: &S, fill: bool) -> Done {
        let colour = hex(style.color());
        let paint = if fill { ("fill", "stroke") } else { ("stroke", "fill") };
        self.element("circle", &[("cx", &x), ("cy", &y), ("r", &radius), (paint.0, &colour), (paint.1, &"none")])
    }

    fn draw_text<S: BackendTextStyle>(&mut self, text: &str, style: &S, (x, y): (i32, i32)) -> Done {
        let anchor = match style.anchor().h_pos {
            HPos::Left => "start",
            HPos::Center => "middle",
            HPos::Right => "end",
        };
        // From the edge that stands at y to the base line.
        let down = match style.anchor().v_pos {
            VPos::Top => "0.76em",
            // Half the height of digits.
            VPos::Center => "0.36em",
            VPos::Bottom => "-0.5ex",
        };
        let turned = match style.transform() {
            FontTransform::None => 0,
            FontTransform::Rotate90 => 90,
            FontTransform::Rotate180 => 180,
            FontTransform::Rotate270 => 270,
        };
        // Sizes of fonts here are heights of lines, and 1.24 em in the font that pictures have.
        let (family, size) = (style.family(), (style.size() / 1.24 * 100.0).round() / 100.0);
        let (fill, transform) = (hex(style.color()), format!("rotate({turned}, {x}, {y})"));
        let mut attributes: Vec<(&str, &dyn Display)> = vec![("x", &x), ("y", &y), ("dy", &down)];
        let family = family.as_str();
        attributes.extend([("text-anchor", &anchor as &dyn Display), ("font-family", &family), ("font-size", &size)]);
        attributes.push(("fill", &fill));
        attributes.extend((turned != 0).then_some(("transform", &transform as &dyn Display)));
        self.open("text", &attributes);
        let _ = writeln!(self.text, ">{}</text>", escaped(text));
        Ok(())
    }

    fn blit_bitmap(&mut self, (x, y): (i32, i32), size: (u32, u32), pixels: &[u8]) -> Done {
        let content = encoded(pixels, size).map_err(DrawingErrorKind::DrawingError)?;
        let ([x, y], address) =
            ([x, y].map(|v| f64::from(v) - 0.5), format!("data:image/png;base64,{}", base64(&content)));
        let image: [(&str, &dyn Display); 6] = [
            ("x", &x),
            ("y", &y),
            ("width", &size.0),
            ("height", &size.1),
            ("preserveAspectRatio", &"none"),
            // Viewers of SVG 1.1 know no other name.
            ("xlink:href", &address),
        ];
        self.element("image", &image)
    }
}

impl Canvas for Svg<'_> {
    fn curve(&mut self, points: &[Point], width: f64, colour: BackendColor) -> Done {
        let mut kept: Vec<Point> = Vec::new();
        for (k, &(x, y)) in points.iter().enumerate() {
            let is_near = kept.last().is_some_and(|last| (last.0 - x).abs() < NEAR && (last.1 - y).abs() < NEAR);
            if !is_near || k + 1 == points.len() {
                kept.push((x, y));
            }
        }
        if kept.len() < 2 {
            return Ok(());
        }
        let tenths = |v: f64| (v * 10.0).round() / 10.0;
        self.polyline(kept.into_iter().map(|(x, y)| (tenths(x), tenths(y))), width, colour)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Test vectors of RFC 4648.
    #[test]
    fn bytes_in_base_64() {
        let vectors =
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("foobar", "Zm9vYmFy")];
        for (bytes, text) in vectors {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
        assert_eq!(base64(&[0xfb, 0xff, 0xfe]), "+//+");
    }

    #[test]
    fn titles_of_any_characters_make_sound_documents() {
        assert_eq!(
            escaped("a<b> & \"c\" 'd' é\u{7}\u{0}\n\u{ffff}"),
            "a&lt;b&gt; &amp; &quot;c&quot; 'd' é\u{fffd}\u{fffd} \u{fffd}"
        );
    }
}
