//! The append-only event log of a run, `<run>/events.jsonl` (facts 3, run-events(1)).
//!
//! ```text
//! {"seq":12,"timestamp":"...","type":"node_finished","run_id":"...","node_id":"...","data":{...},"log_offset":1842}\n
//!   │        │                │                       │              │                 │            └ length of run.log
//!   │        │                │                       │              │                 └ schemaless object
//!   │        │                │                       │              └ branch_id?, node_id?
//!   │        │                │                       └ the run's directory name
//!   │        │                └ open vocabulary (vocabulary)
//!   │        └ RFC 3339, set at append
//!   └ 0, 1, 2, ... over the whole run
//! ```
//!
//! Rules of change: lines are only added, each in one write with its newline, under `.events.lock`; the next number comes
//! from the end of the file; a torn tail gets a newline of its own and stays; nothing rewrites a line. Readers work on
//! bytes, take blocks with `pread`, and never lock.
//!
//! * [`source`], [`lines`], [`backwards`], [`bisect`]: bytes to lines, from the front, the back and the middle.
//! * [`event`], with [`crate::run::json`]: a line to an event, and back.
//! * [`scan`], [`order`], [`damage`]: a log to events and damages, judged once for all readers.
//! * [`append`], [`draft`]: the only writer.
//! * [`follow`]: a log that grows.
//! * [`filter`], [`view`], [`template`], [`vocabulary`]: what people ask for and see.
//! * [`fold`]: reducers over the stream.

pub mod append;
pub mod backwards;
pub mod bisect;
pub mod damage;
pub mod draft;
pub mod event;
pub mod filter;
pub mod fold;
pub mod follow;
pub mod lines;
pub mod nodes;
pub mod order;
pub mod scan;
pub mod source;
pub mod template;
pub mod view;
pub mod vocabulary;

/// Longest line, with its newline, in bytes: the original's readers stop at a longer one (facts 3.3).
///
/// A fuzzer gets small limits and blocks, so that it meets their edges.
pub const LINE_BYTES_MAX: usize = if cfg!(fuzzing) { 1024 } else { 10 * 1024 * 1024 };

/// A line without the byte order mark and the carriage return that are tolerated on read.
pub(crate) fn bare_line(line: &[u8]) -> &[u8] {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// The number that a line begins with, when the rest of it cannot be relied on.
fn seq_of_damaged(line: &[u8]) -> Option<u64> {
    let rest = bare_line(line).strip_prefix(b"{\"seq\":")?;
    let digits = rest.get(..rest.iter().position(|byte| *byte == b',')?)?;
    std::str::from_utf8(digits).ok()?.parse().ok().filter(|seq| i64::try_from(*seq).is_ok())
}
