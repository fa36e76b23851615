//! Tiles along the index of grid points, on which a kernel computes several stage groups.
//!
//! A right-hand side reads points at most d away, so that a stage group of a tile can follow the one before inside the tile if
//! that one was computed d points further on either side. A [`Phase`] says which points of which stage groups a tile computes:
//!
//! - overlapped: each tile starts wider than what it owns, by d for each stage group, and gets narrower by d from stage group to stage group;
//! - trapezoidal: tiles start next to each other and get narrower; a second phase computes the triangles between them;
//! - hexagonal: tiles get wider for some stage groups and narrower for as many, each row of them between those of the row before.
//!
//! In the last two a tile takes what it does not compute itself from vectors in memory, where tiles of earlier phases
//! saved it; only values along borders are ever saved.

use crate::plan::{Group, Variant};

/// Points of the stage groups that a tile computes in one kernel.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Phase {
    /// The stage groups, counted from the first of the group.
    pub(crate) stage_groups: Vec<usize>,
    /// First and last point, past the end, of each of them, relative to the tile's place.
    pub(crate) span: Vec<(i64, i64)>,
    /// What is written of the vectors that leave the group, relative to the tile's place; everything computed for `None`.
    pub(crate) own: Option<(i64, i64)>,
    /// Place of the first tile, and from tile to tile.
    pub(crate) origin: i64,
    pub(crate) spacing: i64,
    /// Number of tiles.
    pub(crate) tiles: usize,
}

impl Phase {
    /// Whether it computes this stage group of the group.
    pub(crate) fn has(&self, stage_group: usize) -> bool {
        self.stage_groups.contains(&stage_group)
    }

    /// Words moved per component by the model: what comes in at the first stage group and goes out at the last, and of what is
    /// saved the borders.
    pub(crate) fn words(&self, group: &Group, d: usize) -> f64 {
        let (d, spacing) = (d as f64, self.spacing as f64);
        let width = |span: &(i64, i64)| (span.1 - span.0) as f64 / spacing;
        let reads = match self.stage_groups.contains(&0) {
            true => group.reads.len() as f64 * (width(&self.span[0]) + 2.0 * d / spacing),
            false => 0.0,
        };
        let written = |own: (i64, i64)| group.writes.len() as f64 * width(&own);
        let writes = match self.own {
            Some(own) => written(own),
            None => self.span.last().map_or(0.0, |s| written(*s)),
        };
        reads + writes + group.saved.len() as f64 * 4.0 * d / spacing
    }

    /// Points computed for each of the grid's, over all stage groups.
    pub(crate) fn work(&self) -> f64 {
        self.span.iter().map(|(a, b)| (b - a) as f64).sum::<f64>() / self.spacing as f64
    }

    /// First point that is read or computed, and their number.
    pub(crate) fn window(&self, d: i64) -> (i64, i64) {
        let low = self.span.iter().map(|s| s.0).min().unwrap_or(0) - d;
        let high = self.span.iter().map(|s| s.1).max().unwrap_or(0) + d;
        (low, high - low)
    }
}

/// The phases that compute `stage_groups` stage groups of `points` points with access distance `d` on tiles of at most `window` points
/// with their margins; `None` where such tiles are too small.
pub(crate) fn phases(
    variant: Variant,
    stage_groups: usize,
    points: usize,
    d: usize,
    window: usize,
) -> Option<Vec<Phase>> {
    let (n, d, window, count) = (points as i64, d as i64, window as i64, stage_groups as i64);
    let all: Vec<usize> = (0..stage_groups).collect();
    match variant {
        Variant::Overlapped => {
            let own = window - 2 * d * count;
            // Less than a quarter of the work would be for the tile itself.
            if own < 1 || own * 4 < window {
                return None;
            }
            let margin = |k: usize| d * (count - 1 - k as i64);
            let span = all.iter().map(|k| (-margin(*k), own + margin(*k))).collect();
            let tiles = points.div_ceil(own as usize);
            Some(vec![Phase { stage_groups: all, span, own: Some((0, own)), origin: 0, spacing: own, tiles }])
        }
        Variant::Trapezoidal => {
            let width = window - 2 * d;
            if width < 1 || width < 2 * d * (count - 1) || 2 * d * count > window {
                return None;
            }
            let down = all.iter().map(|k| (d * *k as i64, width - d * *k as i64)).collect();
            let tiles = points.div_ceil(width as usize);
            let narrow = Phase { stage_groups: all, span: down, own: None, origin: 0, spacing: width, tiles };
            let later: Vec<usize> = (1..stage_groups).collect();
            let up = later.iter().map(|k| (-d * *k as i64, d * *k as i64)).collect();
            let between =
                Phase { stage_groups: later, span: up, own: None, origin: 0, spacing: width, tiles: tiles + 1 };
            let done = stage_groups == 1 || d == 0;
            Some(if done { vec![narrow] } else { vec![narrow, between] })
        }
        Variant::Hexagonal => {
            // Tiles as high as the window allows: half as many stage groups get wider as fit beside a margin.
            let half = |h: i64| (window - 2 * d) - 2 * d * (h - 1);
            let h = (1..=count.max(1)).rev().find(|h| half(*h) >= 2 * d * h.max(&1) + 2)?;
            // Widest 2 (g + d (h - 1)) = P / 2 + d (h - 1) for the period P, the narrowest 2 g with g at least 0.
            let widest = window - 2 * d;
            let mut period = 2 * (widest - d * (h - 1));
            period -= period.rem_euclid(4);
            while (period / 2 - d * (h - 1)) % 2 != 0 {
                period -= 2;
            }
            let g = (period / 2 - d * (h - 1)) / 2;
            if period < 4 || g < 1 {
                return None;
            }
            let width = |q: i64| if q < h { g + d * q } else { period / 2 - (g + d * (q - h)) };
            let mut rows = Vec::new();
            let mut row = 0;
            while (row - 1) * h < count {
                let steps: Vec<i64> = (0..2 * h).filter(|q| (0..count).contains(&((row - 1) * h + q))).collect();
                let stage_groups = steps.iter().map(|q| ((row - 1) * h + q) as usize).collect();
                let span = steps.iter().map(|q| (-width(*q), width(*q))).collect();
                let shift = if row % 2 == 0 { 0 } else { period / 2 };
                // From the first tile that reaches into the grid to the last.
                let tiles = ((n + period / 2 + period) / period + 1) as usize;
                rows.push(Phase {
                    stage_groups,
                    span,
                    own: None,
                    origin: shift - period,
                    spacing: period,
                    tiles: tiles + 1,
                });
                row += 1;
            }
            Some(rows.into_iter().filter(|p| !p.stage_groups.is_empty()).collect())
        }
        Variant::Cooperative => {
            let (span, tiles) = (vec![(0, window); stage_groups], points.div_ceil(window as usize));
            Some(vec![Phase { stage_groups: all, span, own: None, origin: 0, spacing: window, tiles }])
        }
        _ => None,
    }
}

/// How a tile's points are dealt out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Items {
    /// Items of a work-group; 1 on CPUs.
    pub(crate) local: usize,
    /// Points of an item.
    pub(crate) points: usize,
}
