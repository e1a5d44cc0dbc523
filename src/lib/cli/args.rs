//! Groups of options that several programs share; a program flattens those it understands.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

/// Options of every program; [`super::main`] adds them.
#[derive(Args, Debug, Clone)]
#[allow(clippy::struct_excessive_bools, reason = "each is one switch on the command line")]
pub struct Common {
    /// Write JSON lines; an error is also written as {"error":{...}}
    #[arg(long, global = true)]
    pub json: bool,
    /// No warnings and no summary; errors are still reported
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Say more on standard error
    #[arg(short, long, global = true, conflicts_with = "quiet")]
    pub verbose: bool,
}

/// Which workspace.
#[derive(Args, Debug, Clone)]
pub struct WorkspaceArgs {
    /// The workspace [default: `$WT_WORKSPACE`, else the current directory]
    #[arg(short = 'C', value_name = "DIR")]
    pub workspace: Option<PathBuf>,
}

/// Which workspace is one: of a program that reads or writes in it. Others only find their store by its path.
#[derive(Args, Debug, Clone, Copy)]
pub struct RootArgs {
    /// Take the workspace even if it is /, the home directory or holds the stores
    #[arg(long)]
    pub yes_this_root: bool,
}

/// Which store.
#[derive(Args, Debug, Clone)]
pub struct StoreArgs {
    /// The store [default: `$WT_STORE`, else `.iterion` of the workspace if it is a store, else below `~/.iterion`]
    #[arg(long, value_name = "DIR")]
    pub store: Option<PathBuf>,
}

/// Which run.
#[derive(Args, Debug, Clone)]
pub struct RunArgs {
    /// The run [default: `$WT_RUN`]
    #[arg(long, value_name = "ID")]
    pub run: Option<OsString>,
}

/// Which history: what most programs need.
#[derive(Args, Debug, Clone)]
pub struct HistoryArgs {
    /// Which workspace.
    #[command(flatten)]
    pub workspace: WorkspaceArgs,
    /// Which store.
    #[command(flatten)]
    pub store: StoreArgs,
    /// Which run.
    #[command(flatten)]
    pub run: RunArgs,
}

/// How items are separated.
#[derive(Args, Debug, Clone, Copy)]
pub struct ZeroArgs {
    /// Items end in NUL and names are raw bytes, on input and output
    #[arg(short = 'z')]
    pub zero: bool,
}

impl ZeroArgs {
    /// The form of the streams.
    #[must_use]
    pub fn framing(self) -> crate::stream::Framing {
        if self.zero { crate::stream::Framing::Nul } else { crate::stream::Framing::Line }
    }

    /// Refuses `-z` where nothing is read or written that it could separate.
    ///
    /// # Errors
    /// [`crate::error::Kind::Usage`].
    pub fn need_items(self, there_are: bool) -> crate::error::Result<()> {
        if !self.zero || there_are {
            return Ok(());
        }
        Err(crate::error::Error::usage(
            "-z cannot be used with what is asked for: there are no items that could end in NUL",
        )
        .hint("leave it out"))
    }
}

/// How items are separated, for a program that reads none. JSON is one object a line.
#[derive(Args, Debug, Clone, Copy)]
pub struct ZeroOutArgs {
    /// Items end in NUL and names are raw bytes
    #[arg(short = 'z', conflicts_with = "json")]
    pub zero: bool,
}

impl ZeroOutArgs {
    /// The form of the stream.
    #[must_use]
    pub fn framing(self) -> crate::stream::Framing {
        ZeroArgs { zero: self.zero }.framing()
    }
}

/// How much a walk takes.
#[derive(Args, Debug, Clone)]
pub struct LimitArgs {
    /// More captured files than this are an error
    #[arg(long, value_name = "N", default_value_t = crate::tree::scan::FILES_MAX)]
    pub max_files: u64,
    /// How large a file.
    #[command(flatten)]
    pub cap: CapArgs,
}

/// How large a file a walk takes.
#[derive(Args, Debug, Clone)]
pub struct CapArgs {
    /// Larger files are gaps; K, M and G are understood [default: `$ITERION_WORKSPACE_MAX_FILE_MB`, else 32M]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub max_file_size: Option<u64>,
}

impl CapArgs {
    /// Bytes, with what the environment says where no option does.
    #[must_use]
    pub fn bytes(&self, env: &super::context::Environment) -> u64 {
        self.max_file_size.or_else(|| env.max_file_bytes()).unwrap_or(crate::tree::scan::CAP_BYTES)
    }
}

impl LimitArgs {
    /// The limits, with what the environment says where no option does.
    #[must_use]
    pub fn limits(&self, env: &super::context::Environment) -> crate::tree::scan::Limits {
        crate::tree::scan::Limits { files_max: self.max_files, cap_bytes: self.cap.bytes(env) }
    }
}

/// Reads a size: a whole number of bytes, or of K, M or G (powers of 1024).
///
/// # Errors
/// A sentence for the person.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let (digits, factor) = match text.as_bytes().last() {
        Some(b'K' | b'k') => (text.get(..text.len() - 1), 1_u64 << 10),
        Some(b'M' | b'm') => (text.get(..text.len() - 1), 1 << 20),
        Some(b'G' | b'g') => (text.get(..text.len() - 1), 1 << 30),
        _ => (Some(text), 1),
    };
    digits
        .filter(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
        .and_then(|digits| digits.parse::<u64>().ok()?.checked_mul(factor))
        .ok_or_else(|| "a size is a whole number, with K, M or G behind it if you like".to_owned())
}

/// Reads a span of time: a whole number of seconds, or of s, m, h or d.
///
/// # Errors
/// A sentence for the person.
pub fn parse_duration(text: &str) -> Result<std::time::Duration, String> {
    let (digits, seconds) = match text.as_bytes().last() {
        Some(b's') => (text.get(..text.len() - 1), 1),
        Some(b'm') => (text.get(..text.len() - 1), 60),
        Some(b'h') => (text.get(..text.len() - 1), 3600),
        Some(b'd') => (text.get(..text.len() - 1), 86400),
        _ => (Some(text), 1),
    };
    digits
        .filter(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
        .and_then(|digits| digits.parse::<u64>().ok()?.checked_mul(seconds))
        .map(std::time::Duration::from_secs)
        .ok_or_else(|| "a span of time is a whole number, with s, m, h or d behind it if you like".to_owned())
}

/// Reads a span of time as Go writes it: numbers with units from `ns` to `h` one behind the other, `1m30s` or `1.5h`, or `0`.
/// `None` for one below 0.
///
/// # Errors
/// A sentence for the person.
pub fn parse_go_duration(text: &str) -> Result<Option<std::time::Duration>, String> {
    let wrong = || "a span of time is written as 90s, 1m30s or 1.5h".to_owned();
    let (is_negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Ok(Some(std::time::Duration::ZERO));
    }
    if rest.is_empty() {
        return Err(wrong());
    }
    let mut seconds = 0.0;
    while !rest.is_empty() {
        let number = rest.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(wrong)?;
        let (number, tail) = rest.split_at(number);
        let unit = tail.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(unit);
        let unit = match unit {
            "ns" => 1e-9,
            "us" | "\u{b5}s" | "\u{3bc}s" => 1e-6,
            "ms" => 1e-3,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            _ => return Err(wrong()),
        };
        seconds += number.parse::<f64>().map_err(|_| wrong())? * unit;
        rest = tail;
    }
    if is_negative && seconds > 0.0 {
        return Ok(None);
    }
    std::time::Duration::try_from_secs_f64(seconds).map(Some).map_err(|_| wrong())
}

/// What a writer of history does when the engine's run lock is held.
#[derive(Args, Debug, Clone, Copy)]
pub struct EngineArgs {
    /// Write although an unrelated engine holds the run's lock
    #[arg(long)]
    pub while_running: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn spans_of_time_are_read_as_go_writes_them() {
        for (text, ms) in
            [("0", 0), ("0s", 0), ("60s", 60_000), ("1m30s", 90_000), ("1.5h", 5_400_000), ("250ms", 250)]
        {
            assert_eq!(parse_go_duration(text), Ok(Some(Duration::from_millis(ms))), "{text}");
        }
        assert_eq!(parse_go_duration("-5s"), Ok(None));
        for bad in ["", "5", "s", "1x", "1s2", ".s", "1..5s", "-", "now", "1e9s"] {
            assert!(parse_go_duration(bad).is_err(), "{bad}");
        }
    }
}
