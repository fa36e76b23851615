//! How pictures look: what the options of every command that draws say of it.

/// The options of pictures.
#[derive(clap::Args, Debug, Clone, Default)]
pub(crate) struct PlotArgs {
    /// Title of the picture of --plot, in place of its own; empty for none
    #[arg(long, value_name = "TEXT", requires = "plot", hide_short_help = true)]
    pub(super) title: Option<String>,
    /// The line below the title, in place of its own; empty for none
    #[arg(long, value_name = "TEXT", requires = "plot", hide_short_help = true)]
    pub(super) subtitle: Option<String>,
    /// Size of pictures in pixels; a smaller one has larger letters for its size [default: 1140x1010]
    #[arg(long, value_name = "WIDTHxHEIGHT", value_parser = size, requires = "plot", hide_short_help = true)]
    pub(super) plot_size: Option<(u32, u32)>,
    /// What the colours or the vertical axis reach over [default: the range of the values]
    #[arg(long, value_name = "LOW:HIGH", value_parser = range, requires = "plot", hide_short_help = true, allow_hyphen_values = true)]
    pub(super) plot_range: Option<(f64, f64)>,
}

/// The options above, as command lines spell them.
pub(crate) const OPTIONS: [&str; 4] = ["title", "subtitle", "plot-size", "plot-range"];

/// Least and most pixels along a side.
const SIDES: std::ops::RangeInclusive<u32> = 400..=10_000;

fn size(text: &str) -> Result<(u32, u32), String> {
    let side = |text: &str| text.trim().parse().ok().filter(|side| SIDES.contains(side));
    let sides = text.split_once('x').and_then(|(width, height)| Some((side(width)?, side(height)?)));
    sides.ok_or_else(|| "expected width and height from 400 to 10000 pixels, such as 800x700".into())
}

fn range(text: &str) -> Result<(f64, f64), String> {
    let end = |text: &str| text.trim().parse().ok().filter(|end: &f64| end.is_finite());
    let ends = text.split_once(':').and_then(|(low, high)| Some((end(low)?, end(high)?)));
    ends.filter(|(low, high)| low < high)
        .ok_or_else(|| "expected two numbers, the smaller one first, such as -1:1".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_ranges_are_pairs() {
        assert_eq!((size("800x700"), range("-1:0.5")), (Ok((800, 700)), Ok((-1.0, 0.5))));
        for text in ["", "800", "800x", "0x700", "99999x700", "800:700"] {
            assert!(size(text).is_err(), "{text}");
        }
        for text in ["", "1", "1:1", "2:1", "0:inf", "nan:1"] {
            assert!(range(text).is_err(), "{text}");
        }
    }
}
