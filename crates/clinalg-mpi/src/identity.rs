//! What the processes of a run have to agree on before it begins.

use clinalg::{Error, Result};
use serde_json::json;

/// What a process says of itself at its start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) version: String,
    /// The command line without the program's name.
    pub(crate) arguments: Vec<String>,
    pub(crate) host: String,
    pub(crate) pid: i32,
}

impl Identity {
    pub(crate) fn to_text(&self) -> String {
        json!([self.version, self.arguments, self.host, self.pid]).to_string()
    }

    pub(crate) fn from_text(text: &str) -> Option<Identity> {
        let (version, arguments, host, pid) = serde_json::from_str(text).ok()?;
        Some(Identity { version, arguments, host, pid })
    }

    /// The value of an option.
    fn option(&self, name: &str) -> Option<&str> {
        self.arguments.iter().enumerate().find_map(|(k, word)| match word.strip_prefix(name)? {
            "" => self.arguments.get(k + 1).map(String::as_str),
            rest => rest.strip_prefix('='),
        })
    }
}

/// An error unless all processes have the version, precision and arguments of the first one; it names the first that has not.
pub(crate) fn check(identities: &[Identity]) -> Result<()> {
    let Some(first) = identities.first() else { return Ok(()) };
    for (rank, own) in identities.iter().enumerate().skip(1) {
        let as_first = |value: &str| format!("{value} as on rank 0; all ranks need the same");
        let precision = |identity: &Identity| identity.option("--precision").unwrap_or("the default").to_owned();
        let source = if own.version != first.version {
            Error::value("version", as_first(&first.version), &own.version)
        } else if precision(own) != precision(first) {
            Error::value("--precision", as_first(&precision(first)), precision(own))
        } else if own.arguments != first.arguments {
            let line = |identity: &Identity| format!("`{}`", identity.arguments.join(" "));
            Error::value("command line", as_first(&line(first)), line(own))
        } else {
            continue;
        };
        return Err(Error::Rank { rank, device: format!("of host {}", own.host), source: Box::new(source) });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(version: &str, line: &str) -> Identity {
        let arguments = line.split_whitespace().map(str::to_owned).collect();
        Identity { version: version.into(), arguments, host: "node".into(), pid: 7 }
    }

    #[test]
    fn what_differs_is_named_with_its_rank() {
        let first = identity("1.0.0", "poisson --n 65");
        assert_eq!(Identity::from_text(&first.to_text()).as_ref(), Some(&first));
        assert!(check(&[first.clone(), first.clone()]).is_ok() && check(&[]).is_ok());
        for (other, needles) in [
            (identity("1.0.1", "poisson --n 65"), ["`version` is 1.0.1", "1.0.0"]),
            (identity("1.0.0", "poisson --n 65 --precision f32"), ["`--precision` is f32", "default"]),
            (identity("1.0.0", "poisson --n 65 --precision=f32"), ["`--precision` is f32", "default"]),
            (identity("1.0.0", "poisson --n 129"), ["`poisson --n 129`", "`poisson --n 65`"]),
        ] {
            let error = check(&[first.clone(), first.clone(), other]).unwrap_err();
            let message = error.to_string();
            assert!(message.contains("rank 2") && needles.iter().all(|needle| message.contains(needle)), "{message}");
            assert_eq!(error.id(), "clinalg:argument:value");
        }
    }
}
