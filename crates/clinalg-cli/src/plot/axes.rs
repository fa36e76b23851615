//! What pictures share: titles, axes with ticks, the colour bar, numbers as they are printed.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::PlotArgs;
use super::canvas::{Area, Canvas, Chart, Drawn, image};
use super::colour::{CURVES, GREY, INK, Scale};

/// What a picture shows.
pub(crate) trait Drawing {
    fn draw<DB: Canvas>(&self, root: &Area<DB>, style: &PlotArgs) -> Drawn
    where
        DB::ErrorType: 'static;
}

/// What SVG viewers take where they have no DejaVu Sans; both are as wide.
pub(super) const FONT: &str = "DejaVu Sans, Verdana, sans-serif";

pub(super) fn font(size: u32, colour: &RGBColor) -> TextStyle<'static> {
    (FONT, size).into_font().color(colour)
}

/// Width of a text in pixels.
pub(super) fn width<DB: Canvas>(root: &Area<DB>, text: &str, size: u32) -> i32 {
    root.estimate_text_size(text, &font(size, &INK)).map_or(0, |(width, _)| width as i32)
}

/// Least size of letters.
const LEAST: u32 = 11;

/// A text in as many pixels as there are: smaller letters where it is too long for its line, and its beginning where these would be
/// illegible. `wide` is how wide a text is in letters of `size`.
fn fitting(text: &str, size: u32, room: i32, wide: impl Fn(&str) -> i32) -> (String, u32) {
    let part = f64::from(room.max(0)) / f64::from(wide(text).max(1));
    let smaller = (f64::from(size) * part.min(1.0)) as u32;
    if smaller >= LEAST {
        return (text.to_owned(), smaller);
    }
    let count = text.chars().count() as f64 * part * f64::from(size) / f64::from(LEAST);
    (text.chars().take((count as usize).saturating_sub(1)).chain(['…']).collect(), LEAST)
}

/// Every how many of the ticks has a label, where these are `size` pixels long and `distance` apart.
fn stride(distance: f64, size: f64) -> usize {
    const GAP: f64 = 8.0;
    [1, 2, 5, 10, 20, 50].into_iter().find(|&k| k as f64 * distance >= size + GAP).unwrap_or(100)
}

/// The least distance of neighbours.
fn distance(mut places: Vec<i32>) -> f64 {
    places.sort_unstable();
    f64::from(places.windows(2).map(|p| p[1] - p[0]).min().unwrap_or(i32::MAX))
}

/// What reports write in words, such as alpha, pi^2, 12 us and 1e-7, as pictures show it: with the letters and signs of formulas.
pub(super) fn typeset(text: &str) -> String {
    let mut set = String::new();
    let mut rest = text;
    // A name of a file is one word, and so is a number with an exponent.
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    while !rest.is_empty() {
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end + exponent(&rest[..end], &rest[end..]));
        let is_after_number = set.strip_suffix(' ').is_some_and(|set| set.ends_with(|c: char| c.is_ascii_digit()));
        match word {
            "alpha" => set.push('α'),
            "omega" => set.push('ω'),
            "pi" => set.push('π'),
            "us" if is_after_number => set += "µs",
            number if number.contains('e') && number.parse::<f64>().is_ok() => set += &powers(number),
            other => set += other,
        }
        let (between, after) = after.split_at(after.find(is_part).unwrap_or(after.len()));
        set += between;
        rest = after;
    }
    let signs =
        [("Laplace u", "Δu"), ("grad u", "∇u"), ("div(", "∇·("), ("du/dn", "∂u/∂n"), ("-Δ", "−Δ"), ("-∇", "−∇")];
    with_superscripts(&signs.iter().fold(set, |text, (word, sign)| text.replace(word, sign)))
}

/// The length of the negative exponent that `after` begins with, where `word` is the mantissa to it.
fn exponent(word: &str, after: &str) -> usize {
    let is_mantissa = word.strip_suffix('e').is_some_and(|mantissa| mantissa.parse::<f64>().is_ok());
    let digits = after.strip_prefix('-').filter(|_| is_mantissa).unwrap_or_default();
    match digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len()) {
        0 => 0,
        count => 1 + count,
    }
}

/// The text with whole powers raised: x^2 as x².
fn with_superscripts(text: &str) -> String {
    let mut parts = text.split('^');
    let mut set = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (exponent, rest) = part.split_at(part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len()));
        if exponent.is_empty() || rest.starts_with(|c: char| c.is_alphanumeric() || c == '.' || c == '_') {
            set.push('^');
            set += part;
        } else {
            set += &raised(exponent);
            set += rest;
        }
    }
    set
}

/// Title and subtitle at the top left, below them the names of the curves where there are several; what is left below.
pub(super) fn titled<DB: Canvas>(
    root: &Area<DB>,
    style: &PlotArgs,
    (title, subtitle): (&str, &str),
    curves: &[&str],
) -> Result<Area<DB>, Box<dyn std::error::Error>>
where
    DB::ErrorType: 'static,
{
    /// Of all texts, and of a line of names.
    const LEFT: i32 = 40;
    const LINE: i32 = 32;
    root.fill(&WHITE)?;
    let right = root.dim_in_pixel().0 as i32 - LEFT;
    let texts = [(&style.title, title, 30, INK), (&style.subtitle, subtitle, 21, GREY)];
    let mut y = 28;
    for (given, own, size, colour) in texts {
        let text = &given.clone().unwrap_or_else(|| typeset(own));
        if !text.is_empty() {
            let (text, size_drawn) = fitting(text, size, right - LEFT, |text| width(root, text, size));
            root.draw_text(&text, &font(size_drawn, &colour), (LEFT, y))?;
            y += size as i32 + 16;
        }
    }
    let (mut x, several) = (LEFT, curves.len() > 1);
    let curves: Vec<String> = curves.iter().map(|name| typeset(name)).collect();
    let needed: Vec<i32> = curves.iter().map(|name| 46 + width(root, name, 21) + 30).collect();
    // Several lines of names have columns.
    let column = if needed.iter().sum::<i32>() > right - LEFT { needed.iter().copied().max().unwrap_or(0) } else { 0 };
    for (k, name) in curves.iter().enumerate().filter(|_| several) {
        let wide = needed[k].max(column);
        if x > LEFT && x + wide > right {
            (x, y) = (LEFT, y + LINE);
        }
        let colour = CURVES[k % CURVES.len()];
        root.draw(&PathElement::new([(x, y + 6), (x + 36, y + 6)], colour.stroke_width(3)))?;
        root.draw_text(name, &font(21, &INK), (x + 46, y))?;
        x += wide;
    }
    y += if several { LINE } else { 0 };
    Ok(root.margin((y + 9).max(20), 0, 0, 0))
}

/// Side of the square in the picture of a field, with the labels and the colour bar beside it.
pub(super) fn side<DB: Canvas>(body: &Area<DB>) -> u32 {
    let (width, height) = body.dim_in_pixel();
    (width.saturating_sub(LABELS.0 + 210)).min(height.saturating_sub(LABELS.1)).max(100)
}

/// Round numbers from `low` to `high`.
pub(super) fn ticks(low: f64, high: f64) -> Ticks {
    let (step, digits) = tick_step(low, high);
    let (first, last) = ((low / step - 1e-9).ceil() as i64, (high / step + 1e-9).floor() as i64);
    // Adding zero turns -0 into 0.
    (first..=last).map(|k| k as f64 * step + 0.0).map(|v| (v, tick_text(v, digits))).collect()
}

/// Round numbers on a logarithmic axis, by their logarithms, for which the axis reaches from `low` to `high`: powers of ten, over few
/// decades 2 and 5 times these too, and within a decade multiples of one step.
pub(super) fn logarithmic_ticks(low: f64, high: f64) -> Ticks {
    /// Above so many decades powers of ten alone are marked, above the second number where other marks would need an exponent.
    const MANY: [f64; 2] = [4.0, 3.0];
    const MOST: f64 = 12.0;
    const SLACK: f64 = 1e-9;
    let decades = high - low;
    let is_plain = low > -3.0 - SLACK && high < 5.0;
    if decades > MANY[usize::from(!is_plain)] {
        let stride = (decades / MOST).ceil();
        let (first, last) = ((low / stride - SLACK).ceil() as i64, (high / stride + SLACK).floor() as i64);
        return (first..=last).map(|k| k as f64 * stride).map(|k| (k, power(k))).collect();
    }
    let powers = (low.floor() as i32..=high.ceil() as i32).flat_map(|k| [1.0, 2.0, 5.0].map(|m| m * 10_f64.powi(k)));
    let marks: Vec<f64> = powers.filter(|v| (low - SLACK..=high + SLACK).contains(&v.log10())).collect();
    if marks.len() < 4 {
        let own = ticks(10_f64.powf(low), 10_f64.powf(high)).into_iter().filter(|(v, _)| *v > 0.0);
        return own.map(|(v, text)| (v.log10(), text)).collect();
    }
    let text = |v: f64| if is_plain { clinalg::number(v, 1) } else { scientific(v) };
    marks.iter().map(|&v| (v.log10(), text(v))).collect()
}

/// Where an axis has ticks, and what stands there.
pub(super) type Ticks = Vec<(f64, String)>;

/// Room for the labels beside and below a chart.
pub(super) const LABELS: (u32, u32) = (130, 90);

/// Frame, ticks, their labels and what the axes show.
pub(super) fn label<DB: Canvas>(
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
    /// Height of the labels.
    const HIGH: f64 = 16.0;
    let places: Vec<(i32, i32)> = x_ticks.iter().map(|(x, _)| place(chart, (*x, ys.start))).collect();
    let widest = x_ticks.iter().map(|(_, text)| width(area, text, 21)).max().unwrap_or(0);
    let step = stride(distance(places.iter().map(|p| p.0).collect()), f64::from(widest));
    for (k, ((_, text), (x, y))) in x_ticks.iter().zip(places).enumerate() {
        area.draw(&PathElement::new([(x, y), (x, y + 8)], INK.stroke_width(1)))?;
        if k.is_multiple_of(step) {
            area.draw_text(text, &font(21, &INK).pos(Pos::new(HPos::Center, VPos::Top)), (x, y + 14))?;
        }
    }
    let places: Vec<(i32, i32)> = y_ticks.iter().map(|(y, _)| place(chart, (xs.start, *y))).collect();
    let step = stride(distance(places.iter().map(|p| p.1).collect()), HIGH);
    for (k, ((_, text), (x, y))) in y_ticks.iter().zip(places).enumerate() {
        area.draw(&PathElement::new([(x - 8, y), (x, y)], INK.stroke_width(1)))?;
        if k.is_multiple_of(step) {
            area.draw_text(text, &font(21, &INK).pos(Pos::new(HPos::Right, VPos::Center)), (x - 14, y))?;
        }
    }
    chart.draw_series([Rectangle::new([(xs.start, ys.start), (xs.end, ys.end)], INK.stroke_width(1))])?;
    let (x, y) = place(chart, (xs.start.midpoint(xs.end), ys.start));
    area.draw_text(x_name, &font(24, &INK).pos(Pos::new(HPos::Center, VPos::Top)), (x, y + 50))?;
    let (x, y) = place(chart, (xs.start, ys.start.midpoint(ys.end)));
    let room = chart.plotting_area().dim_in_pixel().1 as i32;
    let (y_name, size) = fitting(y_name, 24, room, |text| width(area, text, 24));
    let upwards = font(size, &INK).transform(FontTransform::Rotate270).pos(Pos::new(HPos::Center, VPos::Center));
    let widest = y_ticks.iter().map(|(_, text)| width(area, text, 21)).max().unwrap_or(0);
    area.draw_text(&y_name, &upwards, ((x - 14 - widest - 24).max(14), y))?;
    Ok(())
}

/// The colour bar of `scale` in the first `height` pixels.
pub(super) fn bar<DB: Canvas>(area: &Area<DB>, height: i32, scale: &Scale, label: &str) -> Drawn
where
    DB::ErrorType: 'static,
{
    let (x0, x1, y1) = (10, 46, height - 1);
    let (low, high) = (scale.low, scale.high);
    let colours = (0..height).map(|y| scale.colour(high - (high - low) * f64::from(y) / f64::from(y1)));
    let pixels: Vec<u8> = colours.flat_map(|c| [c.0, c.1, c.2].repeat((x1 - x0) as usize)).collect();
    image(&area.margin(0, 0, x0, 0), ((x1 - x0) as u32, height as u32), &pixels)?;
    area.draw(&Rectangle::new([(x0, 0), (x1, y1)], INK.stroke_width(1)))?;
    let middle = Pos::new(HPos::Left, VPos::Center);
    let all = match scale.is_logarithmic() {
        _ if high <= low => Ticks::new(),
        true => logarithmic_ticks(low, high),
        false => ticks(low, high),
    };
    let place = |value: f64| y1 - ((value - low) / (high - low) * f64::from(y1)).round() as i32;
    let step = stride(distance(all.iter().map(|(value, _)| place(*value)).collect()), 16.0);
    for (k, (value, text)) in all.iter().enumerate() {
        let y = place(*value);
        area.draw(&PathElement::new([(x1, y), (x1 + 8, y)], INK.stroke_width(1)))?;
        if k.is_multiple_of(step) {
            area.draw_text(text, &font(21, &INK).pos(middle), (x1 + 14, y))?;
        }
    }
    if high <= low {
        let text = if scale.is_logarithmic() { scientific(10_f64.powf(low)) } else { tick_text(low, 3) };
        area.draw_text(&text, &font(21, &INK).pos(middle), (x1 + 14, height / 2))?;
    }
    let centred = Pos::new(HPos::Center, VPos::Top);
    area.draw_text(label, &font(24, &INK).pos(centred), ((x0 + x1) / 2, y1 + 14))?;
    Ok(())
}

/// A step of 1, 2 or 5 times a power of ten that cuts the range into eight or fewer, and the digits it needs.
pub(super) fn tick_step(low: f64, high: f64) -> (f64, usize) {
    let rough = ((high - low) / 8.0).max(f64::MIN_POSITIVE);
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().find(|m| m * power >= rough * 0.999).unwrap_or(10.0) * power;
    (step, (-step.log10().floor()).max(0.0) as usize)
}

/// The label of a tick, with this many decimal places.
pub(super) fn tick_text(value: f64, digits: usize) -> String {
    match digits > 4 || value.abs() >= 1e5 {
        // Ticks are round numbers, apart from rounding.
        true => powers(&format!("{:e}", format!("{value:.9e}").parse().unwrap_or(value))),
        false => format!("{value:.digits$}").replace('-', "−"),
    }
}

/// Ten to a whole power, as it is set.
pub(super) fn power(exponent: f64) -> String {
    if exponent == 0.0 {
        return "1".into();
    }
    format!("10{}", raised(&format!("{exponent:.0}")))
}

/// A whole number in raised digits.
fn raised(number: &str) -> String {
    let raised = number.chars().map(|c| match c {
        '-' => '⁻',
        digit => ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'][digit.to_digit(10).unwrap_or(0) as usize],
    });
    raised.collect()
}

/// A number with one digit behind the point and its power of ten, as they are set.
pub(super) fn scientific(value: f64) -> String {
    powers(&format!("{:e}", format!("{value:.1e}").parse().unwrap_or(value)))
}

/// A number in scientific notation as it is set.
fn powers(text: &str) -> String {
    match text.split_once('e').and_then(|(m, e)| Some((m, e.parse::<f64>().ok()?))) {
        Some(("0", _)) => "0".into(),
        Some(("1", exponent)) => power(exponent),
        Some((mantissa, 0.0)) => mantissa.replace('-', "−"),
        Some((mantissa, exponent)) => format!("{} · {}", mantissa.replace('-', "−"), power(exponent)),
        None => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_numbers() {
        assert_eq!(tick_step(0.0, 1.0), (0.2, 1));
        assert_eq!(tick_step(-0.03, 0.02), (0.01, 2));
        assert_eq!(tick_step(0.0, 230.0), (50.0, 0));
    }

    /// A title of 3000 letters was not there: they were smaller than a pixel.
    #[test]
    fn long_titles_are_cut() {
        let wide = |text: &str| 10 * text.chars().count() as i32;
        assert_eq!(fitting("short", 20, 100, wide), ("short".into(), 20));
        assert_eq!(fitting("fifteen letters", 20, 100, wide), ("fifteen letters".into(), 13));
        let (text, size) = fitting(&"é".repeat(3000), 20, 100, wide);
        assert_eq!((text.chars().count(), size), (18, LEAST));
        assert!(text.ends_with("é…"));
    }

    /// Titles had the letter α beside the word pi.
    #[test]
    fn titles_have_one_notation() {
        for (text, set) in [
            ("f = 2 pi^2 sin(pi x) sin(pi y)", "f = 2 π² sin(π x) sin(π y)"),
            ("Poisson problem -Laplace u = f", "Poisson problem −Δu = f"),
            ("-div(k D grad u) = f", "−∇·(k D ∇u) = f"),
            ("flux w = alpha du/dn", "flux w = α ∂u/∂n"),
            ("|u| at omega = 2", "|u| at ω = 2"),
            ("f = pi.npy, 2^20 points, spin", "f = pi.npy, 2²⁰ points, spin"),
            ("fastest 12 us, us, 1e-7 of 2e6", "fastest 12 µs, us, 10⁻⁷ of 2 · 10⁶"),
            ("x^2+y^10-x^a-x^2.5-1e-x-e-7", "x²+y¹⁰-x^a-x^2.5-1e-x-e-7"),
        ] {
            assert_eq!(typeset(text), set);
        }
    }

    /// An axis from 11 to 19 had no number.
    #[test]
    fn short_logarithmic_axes_have_labels() {
        let texts = |low: f64, high: f64| {
            logarithmic_ticks(low.log10(), high.log10()).into_iter().map(|(_, text)| text).collect::<Vec<_>>()
        };
        assert_eq!(texts(11.0, 19.0), ["11", "12", "13", "14", "15", "16", "17", "18", "19"]);
        assert_eq!(texts(0.1, 10.0), ["0.1", "0.2", "0.5", "1", "2", "5", "10"]);
        assert_eq!(texts(1e5, 2e6), ["10⁵", "2 · 10⁵", "5 · 10⁵", "10⁶", "2 · 10⁶"]);
        assert_eq!(texts(1e-12, 1.0)[10..], ["10⁻²", "10⁻¹", "1"]);
        for k in 0..200 {
            let low = 10_f64.powf(-3.0 + 0.031 * f64::from(k));
            for part in [1.02, 1.5, 3.0, 8.0, 12.0, 90.0, 1e5] {
                let ticks = logarithmic_ticks(low.log10(), (low * part).log10());
                assert!(ticks.len() >= 3 && ticks.len() <= 14, "{low} to {}: {ticks:?}", low * part);
            }
        }
    }

    #[test]
    fn labels_of_close_ticks_are_left_out() {
        assert_eq!((stride(100.0, 40.0), stride(40.0, 40.0), stride(10.0, 40.0)), (1, 2, 5));
        assert_eq!(distance(vec![90, 10, 40]), 30.0);
    }

    #[test]
    fn powers_of_ten_are_set() {
        assert_eq!(power(-12.0), "10⁻¹²");
        assert_eq!(scientific(1e-10), "10⁻¹⁰");
        assert_eq!(scientific(5.2e-11), "5.2 · 10⁻¹¹");
        assert_eq!(tick_text(-2e-5, 5), "−2 · 10⁻⁵");
        assert_eq!((tick_text(0.0, 5), tick_text(102_000.0, 0)), ("0".into(), "1.02 · 10⁵".into()));
    }
}
