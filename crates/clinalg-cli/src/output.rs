//! Everything that reaches stdout.

use std::io::{BufWriter, ErrorKind, Stdout, Write};
use std::time::Duration;

use clinalg::{Context, Error};
use serde::Serialize;

use crate::exit::{Ended, Exit, Failure};
use crate::phases::{Phase, Phases};
use crate::processes;
use crate::text::{bytes, number, seconds, table};

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

/// What a run reports: a text for people, a document, an exit code.
pub(crate) trait Report: Serialize {
    /// Prints the text.
    fn print(&self, out: &mut Output) -> Result<(), Failure>;
    /// The exit code, which says whether the run reached its goal.
    fn exit(&self) -> Exit;
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

    /// The end of a run: its text, with `--verbose` the norms and what the contexts did, its document.
    ///
    /// # Errors
    /// Those of `norms`.
    pub(crate) fn report<const N: usize>(
        &mut self,
        report: &impl Report,
        contexts: &[Context],
        norms: impl FnOnce() -> Result<[(&'static str, f64); N], Failure>,
    ) -> Result<Exit, Failure> {
        report.print(self)?;
        self.norms(norms)?;
        self.details(contexts)?;
        self.json(report)?;
        Ok(report.exit())
    }

    /// What `--verbose` adds about the norms of some vectors, which are computed for it alone.
    ///
    /// # Errors
    /// Those of `norms`.
    pub(crate) fn norms<const N: usize>(
        &mut self,
        norms: impl FnOnce() -> Result<[(&'static str, f64); N], Failure>,
    ) -> Result<(), Failure> {
        if !self.verbose || N == 0 {
            return Ok(());
        }
        let norms = norms()?.map(|(name, norm)| format!("|{name}| = {}", number(norm, 5)));
        self.detail("2-norms", norms.join(", "))
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

    /// The lines of a [`table`].
    pub(crate) fn table(
        &mut self,
        columns: &[&str],
        rows: impl IntoIterator<Item = Vec<String>>,
    ) -> Result<(), Failure> {
        let rows: Vec<Vec<String>> = rows.into_iter().collect();
        table(columns, &rows).into_iter().try_for_each(|line| self.line(line))
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
