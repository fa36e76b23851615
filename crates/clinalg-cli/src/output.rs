//! Everything that reaches stdout, and how numbers and tables look.

use std::io::{BufWriter, ErrorKind, Stdout, Write};
use std::path::Path;
use std::time::Duration;

use clinalg::io::AtomicFile;
use clinalg::{Context, Error, Scalar};
use serde::Serialize;

use crate::Ended;
use crate::exit::Failure;
use crate::phases::{Phase, Phases};
use crate::processes;

/// An error where `path` cannot be written, before work goes into what is to be written there. A file that is there stays as it is.
///
/// # Errors
/// [`Failure::File`].
pub(crate) fn check_target(path: &Path) -> Result<(), Failure> {
    if !processes::writes() {
        return Ok(());
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
        return Err(Failure::File { path: folder.to_owned(), reason: "no such folder".into() });
    }
    // What is no regular file is opened when it is written: a reader of a pipe sees one writer.
    if path.metadata().is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        return Ok(());
    }
    let created = AtomicFile::create(path).map(drop);
    created.map_err(|error| Failure::File { path: path.to_owned(), reason: error.to_string() })
}

/// An error unless the name of a file to write ends in one of these, in small or capital letters.
///
/// # Errors
/// [`Failure::Usage`].
pub(crate) fn check_ending(option: &str, path: &Path, known: &[&str]) -> Result<(), Failure> {
    let ending = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    if known.contains(&ending.as_str()) {
        return Ok(());
    }
    let known = known.join(", .");
    Err(Failure::usage(format!("{option} {}: the name must end in .{known}", path.display())))
}

/// The same for files in `folder`, which is created with the first of them.
///
/// # Errors
/// [`Failure::File`].
pub(crate) fn check_folder(folder: &Path) -> Result<(), Failure> {
    if folder.is_dir() { check_target(&folder.join("frame")) } else { check_target(folder) }
}

/// The version of the documents that `clinalg schema` describes. It grows when a key changes its meaning or goes.
pub(crate) const SCHEMA_VERSION: u32 = 1;

/// A document with the version of its schema, and the phases of the run.
#[derive(Serialize)]
struct Versioned<'a, T> {
    schema_version: u32,
    #[serde(flatten)]
    document: &'a T,
    #[serde(skip_serializing_if = "<[Phase]>::is_empty")]
    phases: &'a [Phase],
}

/// Stdout, for people or for programs.
pub(crate) struct Output {
    json: bool,
    quiet: bool,
    verbose: bool,
    phases: Phases,
    stdout: BufWriter<Stdout>,
}

impl Output {
    pub(crate) fn new(json: bool) -> Output {
        let writes = processes::writes();
        let stdout = BufWriter::new(std::io::stdout());
        Output { json: json && writes, quiet: !writes, verbose: false, phases: Phases::default(), stdout }
    }

    /// Without reports for people.
    pub(crate) fn quiet(self, quiet: bool) -> Output {
        Output { quiet: quiet || self.quiet, ..self }
    }

    /// With longer ones.
    pub(crate) fn verbose(self, verbose: bool) -> Output {
        Output { verbose, ..self }
    }

    /// Whether nothing but errors is to be written, or a document.
    pub(crate) fn is_silent(&self) -> bool {
        self.json || self.quiet
    }

    /// Bytes that are what the command was run for.
    pub(crate) fn raw(&mut self, content: &[u8]) -> Result<(), Failure> {
        if !processes::writes() {
            return Ok(());
        }
        self.stdout.write_all(content).map_err(broken)?;
        self.flush()
    }

    /// A line of a report that `--verbose` adds.
    pub(crate) fn detail(&mut self, name: &str, text: impl AsRef<str>) -> Result<(), Failure> {
        if self.verbose { self.field(name, text) } else { Ok(()) }
    }

    /// From now on this part of the run goes on.
    pub(crate) fn phase(&mut self, phase: &'static str) {
        self.phases.begin(phase);
    }

    /// The part of the run that goes on ends; `parts` of it are parts of their own.
    pub(crate) fn split_phase(&mut self, parts: &[(&'static str, Duration)]) {
        self.phases.split(parts);
    }

    /// What `--verbose` adds about the norms of some vectors, which are computed for it alone.
    ///
    /// # Errors
    /// Those of `norms`.
    pub(crate) fn norms<const N: usize>(
        &mut self,
        norms: impl FnOnce() -> Result<[(&'static str, f64); N], Failure>,
    ) -> Result<(), Failure> {
        if !self.verbose {
            return Ok(());
        }
        let words = norms()?.map(|(name, norm)| format!("|{name}| = {norm:.4e}"));
        self.detail("2-norms", words.join(", "))
    }

    /// What `--verbose` adds at the end: the kernels built and the memory of each context, and the time by phase.
    pub(crate) fn details(&mut self, contexts: &[Context]) -> Result<(), Failure> {
        for context in contexts {
            let (kernels, memory) = (context.programs_report(), context.memory());
            self.detail(
                "kernels",
                format!("{} built or taken from the cache in {}", kernels.builds, seconds(kernels.seconds)),
            )?;
            let (live, peak) = (bytes(memory.live_bytes), bytes(memory.peak_bytes));
            let all = bytes(context.device().global_mem);
            self.detail("memory", format!("{live} in {} buffers, {peak} at most, of {all}", memory.live_buffers))?;
        }
        for (k, line) in self.phases.lines().iter().enumerate() {
            self.detail(if k == 0 { "time" } else { "" }, line)?;
        }
        Ok(())
    }

    /// Whether a JSON document is wanted.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// A line for people, seen at once; nothing where JSON is wanted.
    pub(crate) fn line(&mut self, text: impl AsRef<str>) -> Result<(), Failure> {
        if self.is_silent() {
            return Ok(());
        }
        writeln!(self.stdout, "{}", text.as_ref().trim_end()).map_err(broken)?;
        self.flush()
    }

    /// A line of a report: what it tells in a column of its own, then the words.
    pub(crate) fn field(&mut self, name: &str, text: impl AsRef<str>) -> Result<(), Failure> {
        self.line(format!("{name:<15}{}", text.as_ref()))
    }

    /// The JSON document, an object, with the version of its schema; nothing where it is not wanted.
    pub(crate) fn json(&mut self, document: &impl Serialize) -> Result<(), Failure> {
        if !self.json {
            return Ok(());
        }
        let phases = self.phases.all().to_vec();
        self.json_list(&Versioned { schema_version: SCHEMA_VERSION, document, phases: &phases })
    }

    /// A JSON document that has no room for a version.
    pub(crate) fn json_list(&mut self, value: &impl Serialize) -> Result<(), Failure> {
        if !self.json {
            return Ok(());
        }
        serde_json::to_writer_pretty(&mut self.stdout, value).map_err(|error| broken(error.into()))?;
        writeln!(self.stdout).map_err(broken)?;
        self.flush()
    }

    pub(crate) fn flush(&mut self) -> Result<(), Failure> {
        self.stdout.flush().map_err(broken)
    }

    /// Says what went wrong: in words on stderr, and as JSON where that is wanted.
    ///
    /// Of several processes the first one does, and all of them where a rank failed, as the first may be the one that is lost.
    pub(crate) fn fail(&mut self, failure: &Failure) -> Ended {
        let of_rank = matches!(failure, Failure::Library(Error::Rank { .. }));
        if !matches!(failure, Failure::ReaderGone) && (of_rank || processes::writes()) {
            let who = processes::rank().map_or_else(String::new, |rank| format!("rank {rank}: "));
            // Nothing is left to do where stderr cannot be written.
            let _ = writeln!(std::io::stderr(), "clinalg: {who}{}", failure.message());
            self.json_failure(failure);
        }
        failure.ended()
    }

    /// The failure as a JSON document, where that is wanted.
    pub(crate) fn json_failure(&mut self, failure: &Failure) {
        self.phases = Phases::default();
        let (id, message, exit_code) = (failure.id(), failure.message(), failure.exit() as u8);
        // The exit code and stderr tell it too.
        let _ = self.json(&serde_json::json!({ "error": { "id": id, "message": message, "exit_code": exit_code } }));
    }
}

fn broken(error: std::io::Error) -> Failure {
    match error.kind() {
        ErrorKind::BrokenPipe => Failure::ReaderGone,
        _ => Failure::Stdout(error),
    }
}

/// Which side of its column a cell keeps to.
#[derive(Clone, Copy)]
pub(crate) enum Align {
    Left,
    Right,
}

/// Lines of a table with a header, columns two blanks apart.
pub(crate) fn table(columns: &[(&str, Align)], rows: &[Vec<String>]) -> Vec<String> {
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.chain([columns[column].0.chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns.len()).map(width).collect();
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let padded = cells.zip(&widths).zip(columns).map(|((cell, &width), (_, align))| match align {
            Align::Left => format!("{cell:<width$}"),
            Align::Right => format!("{cell:>width$}"),
        });
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    let header = line(&mut columns.iter().map(|(title, _)| *title));
    let body = rows.iter().map(|row| line(&mut row.iter().map(String::as_str)));
    [header].into_iter().chain(body).collect()
}

/// The 2-norm of values.
pub(crate) fn norm<T: Scalar>(values: &[T]) -> f64 {
    values.iter().map(|v| v.widen().norm_sqr()).sum::<f64>().sqrt()
}

/// A number of bytes in binary units, three digits.
pub(crate) fn bytes(count: u64) -> String {
    let mut value = count as f64;
    for unit in ["B", "KiB", "MiB", "GiB", "TiB"] {
        if value < 1000.0 || unit == "TiB" {
            let digits = if unit == "B" || value >= 99.95 { 0 } else { 1 };
            return format!("{value:.digits$} {unit}");
        }
        value /= 1024.0;
    }
    unreachable!("the last unit takes every value")
}

/// A time with a fitting unit, three digits.
pub(crate) fn seconds(value: f64) -> String {
    let (scaled, unit) = match value {
        v if v >= 1.0 || v == 0.0 => (v, "s"),
        v if v >= 1e-3 => (v * 1e3, "ms"),
        v if v >= 1e-6 => (v * 1e6, "us"),
        v => (v * 1e9, "ns"),
    };
    let digits = if scaled >= 99.95 {
        0
    } else if scaled >= 9.995 {
        1
    } else {
        2
    };
    format!("{scaled:.digits$} {unit}")
}

/// The text in lines of at most `width` characters, broken at blanks.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is always a line");
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(word.to_owned());
        } else {
            line.push_str(if line.is_empty() { "" } else { " " });
            line.push_str(word);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(bytes(0), "0 B");
        assert_eq!(bytes(1023), "1.0 KiB");
        assert_eq!(bytes(15 << 30), "15.0 GiB");
        assert_eq!(bytes(u64::MAX), "16777216 TiB");
        assert_eq!(seconds(0.0123), "12.3 ms");
        assert_eq!(seconds(123.4), "123 s");
        assert_eq!(seconds(2.5e-6), "2.50 us");
    }

    #[test]
    fn norms_count_both_parts() {
        let z = |re: f64, im: f64| clinalg::Complex::new(re, im);
        assert_eq!(norm(&[3.0_f32, 4.0]), 5.0);
        assert_eq!(norm(&[z(2.0, 4.0), z(-2.0, 1.0)]), 5.0);
        assert_eq!(norm::<f64>(&[]), 0.0);
    }

    #[test]
    fn long_text_is_broken_at_blanks() {
        assert_eq!(wrapped("one two  three", 7), ["one two", "three"]);
        assert_eq!(wrapped("unbreakable it is", 5), ["unbreakable", "it is"]);
        assert_eq!(wrapped("", 5), [""]);
    }

    #[test]
    fn columns_line_up() {
        let rows = [vec!["a".into(), "1".into()], vec!["long".into(), "23".into()]];
        let lines = table(&[("name", Align::Left), ("n", Align::Right)], &rows);
        assert_eq!(lines, ["name   n", "a      1", "long  23"]);
    }
}
