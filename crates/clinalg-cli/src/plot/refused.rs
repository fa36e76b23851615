//! Pictures in a program without the feature `plot`: there are none.

use std::convert::Infallible;
use std::path::Path;

use super::{Body, Convergence, Field, Paths, Pattern, Profile, Scaling, Surface};
use crate::exit::Failure;

/// A picture, which cannot be made.
pub(crate) struct Picture(Infallible);

impl Picture {
    /// # Errors
    /// [`Failure::Usage`] always.
    pub(crate) fn new(path: &Path) -> Result<Picture, Failure> {
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

    /// The name of the file, for a document.
    pub(crate) fn name(&self) -> String {
        match self.0 {}
    }

    pub(crate) fn path(&self) -> &Path {
        match self.0 {}
    }

    pub(crate) fn field(&self, _: &Field<'_>) -> Result<(), Failure> {
        match self.0 {}
    }

    pub(crate) fn body(&self, _: &Body<'_>) -> Result<(), Failure> {
        match self.0 {}
    }

    pub(crate) fn convergence(&self, _: &Convergence<'_>) -> Result<(), Failure> {
        match self.0 {}
    }

    pub(crate) fn paths(&self, _: &Paths<'_>) -> Result<(), Failure> {
        match self.0 {}
    }

    pub(crate) fn pattern(&self, _: &Pattern) -> Result<(), Failure> {
        match self.0 {}
    }

    pub(crate) fn profile(&self, _: &Profile<'_>) -> Result<(), Failure> {
        match self.0 {}
    }

    pub(crate) fn scaling(&self, _: &Scaling<'_>) -> Result<(), Failure> {
        match self.0 {}
    }

    pub(crate) fn surface(&self, _: &Surface<'_>) -> Result<(), Failure> {
        match self.0 {}
    }
}

/// The files of frames, which cannot be made.
pub(crate) struct Frames(Infallible);

impl Frames {
    /// # Errors
    /// [`Failure::Usage`] always.
    pub(crate) fn new(path: &Path, _: &str, _: usize) -> Result<Frames, Failure> {
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
