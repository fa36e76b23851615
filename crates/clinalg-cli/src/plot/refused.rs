//! Pictures in a program without the feature `plot`: there are none.

use std::convert::Infallible;
use std::path::Path;

use super::PlotArgs;
use crate::exit::Failure;

/// A picture, which cannot be made.
pub(crate) struct Picture(Infallible);

impl Picture {
    /// # Errors
    /// [`Failure::Usage`] always.
    pub(crate) fn new(path: &Path, _: &PlotArgs) -> Result<Picture, Failure> {
        Picture::given("--plot", path)
    }

    /// # Errors
    /// [`Failure::Usage`] always.
    pub(crate) fn given(option: &str, path: &Path) -> Result<Picture, Failure> {
        Err(refusal(option, path))
    }

    pub(crate) fn beside(&self, _: &str) -> Picture {
        match self.0 {}
    }

    pub(crate) fn draw<D>(&self, _: &D) -> Result<String, Failure> {
        match self.0 {}
    }
}

/// The files of frames, which cannot be made.
pub(crate) struct Frames(Infallible);

impl Frames {
    /// # Errors
    /// [`Failure::Usage`] always.
    pub(crate) fn new(path: &Path, _: &PlotArgs, _: &str, _: usize) -> Result<Frames, Failure> {
        Err(refusal("--plot", path))
    }

    pub(crate) fn picture(&self, _: usize) -> Result<Picture, Failure> {
        match self.0 {}
    }
}

fn refusal(option: &str, path: &Path) -> Failure {
    Failure::usage(format!(
        "{option} {}: this program was built without pictures; build it with the feature `plot`",
        path.display()
    ))
}
