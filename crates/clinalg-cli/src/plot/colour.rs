//! Colours.

use plotters::style::{Color, RGBColor};

pub(super) const INK: RGBColor = RGBColor(38, 38, 38);
pub(super) const GREY: RGBColor = RGBColor(110, 110, 110);
pub(super) const BLUE: RGBColor = RGBColor(33, 101, 172);
pub(super) const RED: RGBColor = RGBColor(178, 24, 43);

/// Colours that differ in lightness too (Okabe and Ito, 2008).
pub(super) const CURVES: [RGBColor; 6] = [
    BLUE,
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
];

/// The colour map viridis (Smith and van der Walt, 2015, public domain) at t from 0 to 1: perceptually uniform and legible
/// with any colour vision. Polynomials of degree 6 fitted to its table (Zucker, 2020, public domain).
pub(super) fn viridis(t: f64) -> RGBColor {
    const C: [[f64; 3]; 7] = [
        [0.277_727_327, 0.005_407_345, 0.334_099_805],
        [0.105_093_043, 1.404_613_530, 1.384_590_163],
        [-0.330_861_829, 0.214_847_559, 0.095_095_163],
        [-4.634_230_499, -5.799_100_973, -19.332_440_956],
        [6.228_269_936, 14.179_933_367, 56.690_552_601],
        [4.776_384_998, -13.745_145_378, -65.353_032_633],
        [-5.435_455_856, 4.645_852_612, 26.312_435_250],
    ];
    let t = t.clamp(0.0, 1.0);
    let channel = |k: usize| (C.iter().rev().fold(0.0, |sum, c| sum * t + c[k]).clamp(0.0, 1.0) * 255.0).round() as u8;
    RGBColor(channel(0), channel(1), channel(2))
}

/// The colour map of signed values at t from 0 to 1, white at 1/2 (the five classes of RdBu, Brewer 2003, reversed).
fn blue_to_red(t: f64) -> RGBColor {
    const C: [[f64; 3]; 5] =
        [[5.0, 113.0, 176.0], [146.0, 197.0, 222.0], [247.0, 247.0, 247.0], [244.0, 165.0, 130.0], [202.0, 0.0, 32.0]];
    let at = t.clamp(0.0, 1.0) * 4.0;
    let class = (at as usize).min(3);
    let part = at - class as f64;
    let channel = |k: usize| ((1.0 - part) * C[class][k] + part * C[class + 1][k]).round() as u8;
    RGBColor(channel(0), channel(1), channel(2))
}

/// How values become colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Map {
    Rising,
    Signed,
    /// From a bright to a dark colour, on white where there is nothing.
    Logarithmic,
}

/// The values that colours stand for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    pub(super) low: f64,
    pub(super) high: f64,
    map: Map,
}

/// The part of the largest magnitude that values on the other side of 0 must reach for a scale with 0 in its middle.
const SIGNED: f64 = 0.01;
/// Where the colours of a logarithmic scale begin: yellow would be too bright on white.
const BRIGHTEST: f64 = 0.8;

impl Scale {
    /// For values from `low` to `high`; where both signs occur, 0 is in the middle and white.
    pub(super) fn new(low: f64, high: f64) -> Scale {
        let most = high.max(-low);
        if low < 0.0 && high > 0.0 && high.min(-low) >= SIGNED * most {
            return Scale { low: -most, high: most, map: Map::Signed };
        }
        Scale { low, high, map: Map::Rising }
    }

    /// For values from `low` to `high`, both above 0; its own numbers are their logarithms to base 10.
    pub(super) fn logarithmic(low: f64, high: f64) -> Scale {
        Scale { low: low.log10(), high: high.log10(), map: Map::Logarithmic }
    }

    pub(super) fn is_logarithmic(&self) -> bool {
        self.map == Map::Logarithmic
    }

    pub(super) fn colour(&self, value: f64) -> RGBColor {
        let t = if self.high > self.low { (value - self.low) / (self.high - self.low) } else { 0.5 };
        match self.map {
            _ if t.is_nan() => RGBColor(255, 255, 255),
            Map::Signed => blue_to_red(t),
            Map::Rising => viridis(t),
            Map::Logarithmic => viridis(BRIGHTEST * (1.0 - t.clamp(0.0, 1.0))),
        }
    }

    /// The colours of many values.
    pub(super) fn palette(&self) -> Palette {
        let step = (self.high - self.low) / COLOURS as f64;
        let middles = (0..COLOURS).map(|k| self.low + (k as f64 + 0.5) * step);
        Palette { scale: *self, colours: middles.map(|value| <[u8; 3]>::from(self.colour(value).rgb())).collect() }
    }

    /// The colour of lines of equal value, which differs from those beside it.
    pub(super) fn line(&self) -> RGBColor {
        if self.map == Map::Signed { GREY } else { RGBColor(255, 255, 255) }
    }
}

/// So many that neighbours differ by one at most in each channel.
const COLOURS: usize = 2048;

/// A table of colours.
pub(super) struct Palette {
    scale: Scale,
    colours: Vec<[u8; 3]>,
}

impl Palette {
    pub(super) fn colour(&self, value: f64) -> [u8; 3] {
        let Scale { low, high, .. } = self.scale;
        let t = if high > low { (value - low) / (high - low) } else { 0.5 };
        if t.is_nan() {
            return <[u8; 3]>::from(self.scale.colour(value).rgb());
        }
        self.colours[((t.clamp(0.0, 1.0) * COLOURS as f64) as usize).min(COLOURS - 1)]
    }
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
    fn colours_of_the_table_are_those_of_the_scale() {
        for scale in [Scale::new(0.0, 3.0), Scale::new(-1.0, 3.0), Scale::logarithmic(1e-6, 1.0), Scale::new(2.0, 2.0)]
        {
            let palette = scale.palette();
            for value in (-40..=400).map(|k| 0.01 * f64::from(k)).chain([f64::NAN, f64::INFINITY, f64::NEG_INFINITY]) {
                let (RGBColor(r, g, b), got) = (scale.colour(value), palette.colour(value));
                assert!([r, g, b].iter().zip(got).all(|(a, b)| a.abs_diff(b) <= 1), "{value}: {r} {g} {b}, {got:?}");
            }
        }
    }

    #[test]
    fn signed_values_have_white_at_zero_and_equal_strength_on_both_sides() {
        let scale = Scale::new(-0.2, 1.0);
        assert_eq!((scale.low, scale.high), (-1.0, 1.0));
        let RGBColor(r, g, b) = scale.colour(0.0);
        assert_eq!((r, g, b), (247, 247, 247));
        let (RGBColor(r, _, b), RGBColor(r2, _, b2)) = (scale.colour(-1.0), scale.colour(1.0));
        assert!(b > r && r2 > b2);
        // Values of one sign, and rounding on the other side of 0.
        for low in [0.0, -1e-9] {
            assert_eq!(Scale::new(low, 1.0).low, low);
        }
        let RGBColor(r, g, b) = Scale::new(0.0, 1.0).colour(f64::NAN);
        assert_eq!((r, g, b), (255, 255, 255));
    }
}
