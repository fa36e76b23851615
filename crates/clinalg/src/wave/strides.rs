//! Steps that are made before their end is waited for.

use std::time::{Duration, Instant};

use crate::Result;
use crate::solve::Progress;
use crate::wave::WaveReport;

/// Steps before the first look: those of a pass over memory.
const FIRST: usize = 8;
/// Most steps between two looks.
const MOST: usize = 1024;
/// Steps between two looks where several processes must make the same ones.
pub(crate) const AGREED: usize = 128;
/// While steps take less, twice as many are made before the next look.
const SHORT: Duration = Duration::from_millis(50);

/// Makes `steps` steps by `make`, which waits for their end, and calls `progress` with the number of steps made and `time` after some of them.
/// Strides of `fixed` steps, or of as many as take a short time.
pub(crate) fn in_strides(
    steps: usize,
    fixed: Option<usize>,
    progress: Progress<'_>,
    mut make: impl FnMut(usize) -> Result<(WaveReport, f64)>,
) -> Result<WaveReport> {
    let mut all = WaveReport { steps: 0, implicit: None };
    let mut stride = fixed.unwrap_or(FIRST);
    while all.steps < steps {
        let (wanted, begun) = (stride.min(steps - all.steps), Instant::now());
        let (report, time) = make(wanted)?;
        all.add(report);
        let ended = progress(all.steps, time).is_break();
        if ended || report.steps < wanted {
            break;
        }
        if fixed.is_none() && begun.elapsed() < SHORT {
            stride = (2 * stride).min(MOST);
        }
    }
    Ok(all)
}
