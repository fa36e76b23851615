//! Whether steps are many because the right-hand side jumps in them, where a solution slides along a switch.

/// Steps tried from one look to the next.
const EVERY: usize = 100;

/// Looks of a window.
const LOOKS: usize = 40;

/// Steps to the end from which on it looks, and, with what a window has shown, gives up: some ten seconds of small systems.
const MANY: (f64, f64) = (2e4, 1e5);

/// Looks at a component that may slide, and so many of them at which it has to be at its switch: one that crosses the switch is there once.
const AGAIN: (usize, usize) = (12, 3);

/// Steps of a window whose sizes differ by more recover from jumps.
const RECOVERS: f64 = 100.0;

/// A window whose largest step is smaller than that of an earlier window by more than this factor may chatter although
/// its steps recover.
const SHRUNK: f64 = 50.0;

/// In such a step the component at the switch changes by less than this fraction of its magnitude.
const MOVES: f64 = 0.01;

/// An error estimate that falls with less than this part of its power of the step size is that of a jump.
const POWER: f64 = 0.5;

/// What the steps of the last window were like.
#[derive(Debug, Clone)]
pub(crate) struct Chattering {
    /// Steps tried and time where the window began.
    begin: (usize, f64),
    looks: usize,
    /// Looks that saw a jump.
    jumps: usize,
    smallest: f64,
    largest: f64,
    /// The largest step of all windows.
    largest_ever: f64,
    /// The component that may slide: the looks are at its jumps.
    suspect: Option<usize>,
}

impl Chattering {
    pub(crate) fn new(t: f64) -> Chattering {
        let (smallest, largest) = (f64::INFINITY, 0.0);
        Chattering { begin: (0, t), looks: 0, jumps: 0, smallest, largest, largest_ever: largest, suspect: None }
    }

    /// Whether to look, after so many steps tried and with so many ahead.
    pub(crate) fn is_due(&self, steps: usize, ahead: f64) -> bool {
        steps > 0 && steps.is_multiple_of(EVERY) && ahead > MANY.0
    }

    /// The errors of a step and of one half as large from the same point, where a smooth one falls with the power `smooth`.
    pub(crate) fn probed(&mut self, whole: f64, half: f64, smooth: f64) {
        let power = (whole / half).log2();
        // Without an error nothing jumps.
        self.looked(whole > 0.0 && power < POWER * smooth);
    }

    /// A look that saw a jump or none.
    pub(crate) fn looked(&mut self, jumps: bool) {
        self.looks += 1;
        self.jumps += usize::from(jumps);
    }

    /// A step that was taken.
    pub(crate) fn took(&mut self, h: f64) {
        (self.smallest, self.largest) = (self.smallest.min(h), self.largest.max(h));
        self.largest_ever = self.largest_ever.max(h);
    }

    /// Whether a quarter of the looks saw a jump; smooth right-hand sides show none.
    fn jumps(&self) -> bool {
        self.looks >= LOOKS / 4 && 4 * self.jumps >= self.looks
    }

    /// Whether the steps of the window so far are small because of jumps.
    pub(crate) fn is_likely(&self) -> bool {
        self.suspect.is_some() || (self.jumps() && !self.recovers())
    }

    fn recovers(&self) -> bool {
        self.largest >= RECOVERS * self.smallest
    }

    /// Whether the steps of the window that ends here are small because of jumps, with too many of them ahead: then the
    /// largest step of the window if steps recover from jumps but become ever smaller, 0 if none recovers.
    pub(crate) fn keeps_steps_small(&mut self, steps: usize, t: f64, end: f64) -> Option<f64> {
        if self.looks < LOOKS {
            return None;
        }
        let ahead = (end - t) / (t - self.begin.1) * (steps - self.begin.0) as f64;
        let recovers = self.recovers();
        let shrunk = SHRUNK * self.largest < self.largest_ever;
        let found = self.jumps() && ahead > MANY.1 && (!recovers || shrunk);
        let largest = if recovers { self.largest } else { 0.0 };
        if !found {
            self.begin(steps, t, None);
        }
        found.then_some(largest)
    }

    /// Begins a window, of looks at one component where it may slide.
    pub(crate) fn begin(&mut self, steps: usize, t: f64, suspect: Option<usize>) {
        *self = Chattering { begin: (steps, t), suspect, largest_ever: self.largest_ever, ..Chattering::new(t) };
    }

    /// Whether a component of this size that has this derivative hardly moves in a step of the size h. One that oscillates
    /// faster and faster across a switch moves.
    pub(crate) fn is_small(h: f64, slope: f64, size: f64) -> bool {
        h == 0.0 || h * slope < MOVES * size
    }

    /// The component that may slide.
    pub(crate) fn suspect(&self) -> Option<usize> {
        self.suspect
    }

    /// Whether the component has been at its switch again and again.
    pub(crate) fn slides(&self) -> bool {
        self.suspect.is_some() && self.jumps >= AGAIN.1
    }

    /// Whether the component has been looked at often enough.
    pub(crate) fn is_cleared(&self) -> bool {
        self.looks >= AGAIN.0
    }
}
