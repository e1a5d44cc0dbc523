//! The one error type of the library.
//!
//! An error has a [`Kind`] for the calling program (it becomes the exit code) and one sentence for the person: lower
//! case, problem first, the subject in single quotes, the cause, and where there is one the way out. It knows nothing
//! of terminals, exit codes or JSON; `cli` does.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::stream::quote;

/// What went wrong, as far as a calling program can act on it. Design section 5 gives each an exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The request itself is malformed or contradicts itself.
    Usage,
    /// A named thing (run, snapshot, label, object, workspace) is not there.
    NotFound,
    /// Stored or streamed data is damaged or cut short; nothing was changed.
    Damaged,
    /// The request would lose data or touch what it must not; nothing was changed.
    Refused,
    /// Somebody else was faster, or holds a lock; nothing was changed.
    Conflict,
    /// A limit (files, bytes, line length) was exceeded; nothing was changed.
    Limit,
    /// The operating system refused.
    Io,
}

impl Kind {
    /// The stable name used in JSON error objects.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Usage => "usage",
            Self::NotFound => "not_found",
            Self::Damaged => "damaged",
            Self::Refused => "refused",
            Self::Conflict => "conflict",
            Self::Limit => "limit",
            Self::Io => "io",
        }
    }
}

/// An error: a kind for the program, a sentence and a way out for the person.
#[derive(Debug)]
pub struct Error {
    kind: Kind,
    message: String,
    hint: Option<String>,
    path: Option<PathBuf>,
    cause: Option<io::ErrorKind>,
    is_reported: bool,
    facts: Vec<(&'static str, Fact)>,
}

/// What a program that was refused must know to decide what to do: a member of the JSON error object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fact {
    /// A number.
    Number(i64),
    /// A text.
    Text(String),
}

/// The result of everything fallible in this library.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// Makes an error of `kind`; `message` is lower case and has no full stop.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            hint: None,
            path: None,
            cause: None,
            is_reported: false,
            facts: Vec::new(),
        }
    }

    /// Makes a [`Kind::Usage`] error.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Kind::Usage, message)
    }

    /// Makes a [`Kind::NotFound`] error.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(Kind::NotFound, message)
    }

    /// Makes a [`Kind::Damaged`] error about the file at `path`.
    pub fn damaged(path: impl AsRef<Path>, cause: impl fmt::Display) -> Self {
        let path = path.as_ref();
        Self::new(Kind::Damaged, format!("{}: {cause}", quote::path(path))).at(path)
    }

    /// Makes a [`Kind::Refused`] error.
    pub fn refused(message: impl Into<String>) -> Self {
        Self::new(Kind::Refused, message)
    }

    /// Makes a [`Kind::Conflict`] error.
    pub fn conflict(message: impl Into<String>) -> Self {
        Self::new(Kind::Conflict, message)
    }

    /// Makes a [`Kind::Limit`] error.
    pub fn limit(message: impl Into<String>) -> Self {
        Self::new(Kind::Limit, message)
    }

    /// Makes a [`Kind::Io`] error: `verb` says what was tried (`cannot open`), `path` on what.
    pub fn io(verb: &str, path: impl AsRef<Path>, cause: &io::Error) -> Self {
        let path = path.as_ref();
        let mut error = Self::new(Kind::Io, format!("{verb} {}: {}", quote::path(path), describe(cause)));
        error.path = Some(path.to_owned());
        error.cause = Some(cause.kind());
        if matches!(cause.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) {
            error.hint = Some("free some space and run the command again".into());
        }
        error
    }

    /// Names the path the error is about, for JSON.
    #[must_use]
    pub fn at(mut self, path: impl AsRef<Path>) -> Self {
        self.path = Some(path.as_ref().to_owned());
        self
    }

    /// Adds the way out, in the imperative.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds something that a program can act on, as a member of the JSON error object.
    #[must_use]
    pub fn with_fact(mut self, name: &'static str, fact: Fact) -> Self {
        self.facts.push((name, fact));
        self
    }

    /// What a program can act on besides kind and path.
    #[must_use]
    pub fn facts(&self) -> &[(&'static str, Fact)] {
        &self.facts
    }

    /// Adds one more thing that the person has to know, behind the way out.
    #[must_use]
    pub fn also(mut self, what: impl fmt::Display) -> Self {
        self.hint = Some(match self.hint {
            Some(hint) => format!("{hint}; {what}"),
            None => what.to_string(),
        });
        self
    }

    /// Puts words in front of the message, to say what was being done.
    #[must_use]
    pub fn while_doing(mut self, what: impl fmt::Display) -> Self {
        self.message = format!("{what}: {}", self.message);
        self
    }

    /// Marks it as said already by whoever met it first: it still decides the exit code.
    #[must_use]
    pub fn reported(mut self) -> Self {
        self.is_reported = true;
        self
    }

    /// Whether somebody has said it already.
    #[must_use]
    pub fn is_reported(&self) -> bool {
        self.is_reported
    }

    /// The same error with another kind, where a caller knows better what it means.
    #[must_use]
    pub fn with_kind(mut self, kind: Kind) -> Self {
        self.kind = kind;
        self
    }

    /// What kind of error this is.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The path it is about, if one was named.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Whether the operating system said `kind`.
    #[must_use]
    pub fn is_io(&self, kind: io::ErrorKind) -> bool {
        self.cause == Some(kind)
    }

    /// Whether the disk is full, or what the user may have of it.
    #[must_use]
    pub fn is_no_space(&self) -> bool {
        self.is_io(io::ErrorKind::StorageFull) || self.is_io(io::ErrorKind::QuotaExceeded)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "; {hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {}

/// Says the operating system's reason in lower case and without its number.
#[must_use]
pub fn describe(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or(&text);
    let mut chars = text.chars();
    match chars.next() {
        // An acronym keeps its capitals ("NUL byte"), a sentence loses its first one.
        Some(first) if !text.chars().nth(1).is_some_and(char::is_uppercase) => {
            first.to_lowercase().chain(chars).collect()
        }
        _ => text.to_owned(),
    }
}

/// Turns an operating-system result into ours, with the path it was about.
pub trait IoContext<T> {
    /// Adds what was tried and on what: `.on("cannot open", path)`.
    ///
    /// # Errors
    /// The original error, described.
    fn on(self, verb: &str, path: impl AsRef<Path>) -> Result<T>;
}

impl<T> IoContext<T> for io::Result<T> {
    fn on(self, verb: &str, path: impl AsRef<Path>) -> Result<T> {
        self.map_err(|cause| Error::io(verb, path, &cause))
    }
}

impl<T> IoContext<T> for rustix::io::Result<T> {
    fn on(self, verb: &str, path: impl AsRef<Path>) -> Result<T> {
        self.map_err(|cause| Error::io(verb, path, &cause.into()))
    }
}
