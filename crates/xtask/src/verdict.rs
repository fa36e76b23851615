//! How checks end.

/// How a check ended, with a note for the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    Ok(String),
    Failed(String),
    Skipped(String),
}

impl Verdict {
    pub(crate) fn ok(note: impl Into<String>) -> Verdict {
        Verdict::Ok(note.into())
    }

    pub(crate) fn failed(why: impl Into<String>) -> Verdict {
        Verdict::Failed(why.into())
    }

    pub(crate) fn skipped(why: impl Into<String>) -> Verdict {
        Verdict::Skipped(why.into())
    }
}
