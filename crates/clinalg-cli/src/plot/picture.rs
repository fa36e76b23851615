//! Files to draw into.

use std::path::{Path, PathBuf};
use std::sync::Once;

use plotters::prelude::*;
use plotters::style::register_font;

use super::PlotArgs;
use super::axes::{Drawing, FONT};
use super::canvas::{Raster, encoded};
use super::svg::{END, Svg};
use crate::exit::Failure;
use crate::paths::{check_ending, check_folder, check_target, create_folder, ending, write_file};
use crate::processes;

/// Width and height of a picture in pixels where --plot-size does not say otherwise.
const SIZE: (u32, u32) = (1140, 1010);

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
    style: PlotArgs,
}

impl Picture {
    /// # Errors
    /// As [`Picture::given`].
    pub(crate) fn new(path: &Path, style: &PlotArgs) -> Result<Picture, Failure> {
        Ok(Picture { style: style.clone(), ..Picture::given("--plot", path)? })
    }

    /// The file of an option.
    ///
    /// # Errors
    /// [`Failure::Usage`] unless the name ends in .png or .svg, [`Failure::File`] where it cannot be written.
    pub(crate) fn given(option: &str, path: &Path) -> Result<Picture, Failure> {
        check_ending(option, path, &["png", "svg"])?;
        let format = if ending(path) == "svg" { Format::Svg } else { Format::Png };
        check_target(path)?;
        Ok(Picture { path: path.to_owned(), format, style: PlotArgs::default() })
    }

    /// The file beside this one whose name has `suffix` before the extension, of the same size, with title and range of its own.
    pub(crate) fn beside(&self, suffix: &str) -> Picture {
        let stem = self.path.file_stem().unwrap_or_default().to_string_lossy();
        let extension = self.path.extension().unwrap_or_default().to_string_lossy();
        let style = PlotArgs { plot_size: self.style.plot_size, ..PlotArgs::default() };
        Picture { path: self.path.with_file_name(format!("{stem}{suffix}.{extension}")), format: self.format, style }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Draws into the file; returns its name.
    ///
    /// # Errors
    /// [`Failure::File`].
    pub(crate) fn draw(&self, drawing: &impl Drawing) -> Result<String, Failure> {
        let name = self.path.display().to_string();
        if !processes::writes() {
            return Ok(name);
        }
        register_font_once();
        let size = self.style.plot_size.unwrap_or(SIZE);
        let content = match self.format {
            Format::Png => {
                let mut pixels = vec![0; 3 * size.0 as usize * size.1 as usize];
                drawing
                    .draw(&Raster { pixels: &mut pixels, size }.into_drawing_area(), &self.style)
                    .map_err(|error| Failure::file(&self.path, error))?;
                encoded(&pixels, size).map_err(|error| Failure::file(&self.path, error))?
            }
            Format::Svg => {
                let mut text = String::new();
                drawing
                    .draw(&Svg::new(&mut text, size).into_drawing_area(), &self.style)
                    .map_err(|error| Failure::file(&self.path, error))?;
                text.push_str(END);
                text.into_bytes()
            }
        };
        write_file(&self.path, &content)?;
        Ok(name)
    }
}

/// The files of the frames.
pub(crate) struct Frames {
    /// Of the name, up to the number.
    folder: PathBuf,
    stem: String,
    extension: String,
    digits: usize,
    style: PlotArgs,
}

impl Frames {
    /// `count` files in the folder `path`, their names beginning with `stem`, or beside the picture `path`.
    ///
    /// # Errors
    /// [`Failure::Usage`] where the name has an extension that is no picture's, [`Failure::File`] where the files cannot be
    /// written.
    pub(crate) fn new(path: &Path, style: &PlotArgs, stem: &str, count: usize) -> Result<Frames, Failure> {
        let style = style.clone();
        let digits = count.saturating_sub(1).to_string().len().max(4);
        if path.extension().is_some() && !path.is_dir() {
            let picture = Picture::given("--plot", path)?;
            let text = |part: Option<&std::ffi::OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
            let folder = picture.path().parent().unwrap_or(Path::new("")).to_owned();
            return Ok(Frames {
                folder,
                stem: text(path.file_stem()),
                extension: text(path.extension()),
                digits,
                style,
            });
        }
        check_folder(path)?;
        Ok(Frames { folder: path.to_owned(), stem: stem.into(), extension: "png".into(), digits, style })
    }

    /// The file of a frame, in a folder that is created where it is missing.
    pub(crate) fn picture(&self, frame: usize) -> Result<Picture, Failure> {
        let Frames { folder, stem, extension, digits, style } = self;
        create_folder(folder)?;
        Picture::new(&folder.join(format!("{stem}-{frame:0digits$}.{extension}")), style)
    }
}

/// Makes the font known that the program carries, so that no machine needs any.
fn register_font_once() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        register_font(FONT, FontStyle::Normal, dejavu::sans::regular())
            .unwrap_or_else(|_| unreachable!("the program's own font is sound"));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_numbered() {
        let folder = tempfile::tempdir().unwrap();
        let inside = folder.path().join("new");
        let frames = Frames::new(&inside, &PlotArgs::default(), "wave", 11).unwrap();
        assert_eq!(frames.picture(3).unwrap().path(), inside.join("wave-0003.png"));
        let frames = Frames::new(&folder.path().join("u.svg"), &PlotArgs::default(), "wave", 20_000).unwrap();
        assert_eq!(frames.picture(3).unwrap().path(), folder.path().join("u-00003.svg"));
        assert!(Frames::new(&folder.path().join("u.gif"), &PlotArgs::default(), "wave", 11).is_err());
    }
}
