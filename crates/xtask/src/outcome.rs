//! How checks end.

/// How a check ended, with a note for the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    Ok(String),
    Failed(String),
    Skipped(String),
}

impl Outcome {
    pub(crate) fn ok(note: impl Into<String>) -> Outcome {
        Outcome::Ok(note.into())
    }

    pub(crate) fn failed(why: impl Into<String>) -> Outcome {
        Outcome::Failed(why.into())
    }

    pub(crate) fn skipped(why: impl Into<String>) -> Outcome {
        Outcome::Skipped(why.into())
    }
}
