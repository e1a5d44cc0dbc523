//! `tools/<tool use>/{input,output}`: what went into a tool and came out, where it is too long for an event (facts 4.5).
//!
//! ```text
//! up to 4096 bytes   {"input": "..."}                                           in the event
//! more               {"input_preview": "...", "input_size": n, "input_ref": id}   and the bytes in the file
//! ```
//!
//! The preview ends where a character ends. What is not UTF-8 goes into the file whatever its length, since an event would
//! change it.

use std::fs::File;
use std::io::Read;

use super::access::{self, Writing};
use super::events::source;
use super::json::Json;
use crate::error::{Error, IoContext, Kind, Result};
use crate::store::component::Component;
use crate::store::fsio::staged::Staged;
use crate::store::id::RunId;
use crate::store::{Store, layout};
use crate::stream::quote;

/// Content up to this many bytes stays in the event; so long is a preview.
pub const INLINE_BYTES_MAX: u64 = 4096;
/// Where a file cannot be written, so many bytes stay in the event.
const RESCUED_BYTES_MAX: u64 = 1 << 20;
/// How much is read at once, in bytes.
const BLOCK_BYTES: usize = 128 * 1024;

/// Which body of a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Body {
    /// What the tool was given.
    Input,
    /// What it gave back.
    Output,
}

impl Body {
    /// The name of the file, and the key in the event.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Output => "output",
        }
    }
}

/// What the event is to say, and why the content is not in a file, if it should be.
pub struct Put {
    /// Members for the `data` of the event.
    pub payload: Json,
    /// The file could not be written, and the payload holds what fits.
    pub lost: Option<Error>,
}

/// Stores a body, or says that it may stay in the event.
///
/// # Errors
/// Those of [`Writing::begin`], and of reading `content`. A file that cannot be written is no error: see [`Put::lost`].
pub fn put(
    store: &Store,
    run: &RunId,
    tool_use: &Component,
    body: Body,
    threshold: u64,
    content: &mut dyn Read,
) -> Result<Put> {
    access::check(store, run)?;
    let mut head = read_head(content, threshold.max(INLINE_BYTES_MAX))?;
    let key = body.as_str();
    if head.is_empty() {
        return Ok(Put { payload: Json::object::<&str>([]), lost: None });
    }
    if head.len() as u64 <= threshold
        && let Ok(text) = std::str::from_utf8(&head)
    {
        return Ok(Put { payload: Json::object([(key, Json::string(text))]), lost: None });
    }
    access::prepare(store, run)?;
    let mut size = head.len() as u64;
    let stored = store_body(store, run, tool_use, body, &mut head, &mut size, content)?;
    let mut payload = Json::object::<&str>([]);
    let lost = match stored {
        Ok(()) => {
            payload.set(&format!("{key}_preview"), Json::string(&text_up_to(&head, INLINE_BYTES_MAX)));
            payload.set(&format!("{key}_size"), Json::integer(i64::try_from(size).unwrap_or(i64::MAX)));
            payload.set(&format!("{key}_ref"), Json::string(tool_use.as_str()));
            None
        }
        Err(error) if error.kind() == Kind::Io => {
            store.refuse_deleted(run)?;
            // As much as an event takes is rescued; the rest is only counted.
            size += drain(content, &mut head)?;
            payload.set(key, Json::string(&text_up_to(&head, RESCUED_BYTES_MAX)));
            payload.set(&format!("{key}_size"), Json::integer(i64::try_from(size).unwrap_or(i64::MAX)));
            Some(error)
        }
        Err(error) => return Err(error),
    };
    Ok(Put { payload, lost })
}

/// Reads one byte more than `limit`, if there are so many.
fn read_head(content: &mut dyn Read, limit: u64) -> Result<Vec<u8>> {
    let mut head = Vec::new();
    content.take(limit + 1).read_to_end(&mut head).on("cannot read", "the content")?;
    Ok(head)
}

/// Writes `head` and the rest of `content` into the file. `head` is filled up to what may have to be rescued. What is wrong
/// with the content is told apart from what is wrong with the file.
fn store_body(
    store: &Store,
    run: &RunId,
    tool_use: &Component,
    body: Body,
    head: &mut Vec<u8>,
    size: &mut u64,
    content: &mut dyn Read,
) -> Result<Result<()>> {
    let mut staged = match Staged::begin(&layout::run(store.root(), run), layout::UPLOAD_PREFIX) {
        Ok(staged) => staged,
        Err(error) => return Ok(Err(error)),
    };
    if let Err(error) = staged.write(head) {
        return Ok(Err(error));
    }
    let mut block = vec![0; BLOCK_BYTES];
    loop {
        let count = read_block(content, &mut block)?;
        let Some(bytes) = block.get(..count).filter(|bytes| !bytes.is_empty()) else { break };
        *size += count as u64;
        keep(head, bytes);
        if let Err(error) = staged.write(bytes) {
            return Ok(Err(error));
        }
    }
    Ok(publish(store, run, tool_use, body, staged))
}

fn publish(store: &Store, run: &RunId, tool_use: &Component, body: Body, staged: Staged) -> Result<()> {
    staged.flush(store.durability())?;
    let writing = Writing::begin(store, run)?;
    let path = layout::tool_body(store.root(), run, tool_use, body.as_str());
    if let Some(dir) = path.parent() {
        store.create_dir(dir)?;
    }
    staged.publish(&path, store.durability())?;
    drop(writing);
    Ok(())
}

fn drain(content: &mut dyn Read, head: &mut Vec<u8>) -> Result<u64> {
    let (mut block, mut size) = (vec![0; BLOCK_BYTES], 0);
    loop {
        let count = read_block(content, &mut block)?;
        let Some(bytes) = block.get(..count).filter(|bytes| !bytes.is_empty()) else { return Ok(size) };
        keep(head, bytes);
        size += count as u64;
    }
}

/// Keeps what may have to be rescued, and a character more, so that it shows where the last one ends.
fn keep(head: &mut Vec<u8>, bytes: &[u8]) {
    let room = usize::try_from(RESCUED_BYTES_MAX + 4).unwrap_or(0).saturating_sub(head.len()).min(bytes.len());
    head.extend_from_slice(bytes.get(..room).unwrap_or_default());
}

fn read_block(content: &mut dyn Read, block: &mut [u8]) -> Result<usize> {
    loop {
        match content.read(block) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            other => return other.on("cannot read", "the content"),
        }
    }
}

/// At most `limit` bytes as text, cut where a character ends. Bytes that are no text become U+FFFD.
fn text_up_to(bytes: &[u8], limit: u64) -> String {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut cut = bytes.get(..limit).unwrap_or(bytes);
    if cut.len() < bytes.len()
        && let Some(partial) = (1..4_usize).find(|n| is_lead_of_more(cut, *n))
    {
        cut = cut.get(..cut.len() - partial).unwrap_or_default();
    }
    String::from_utf8_lossy(cut).into_owned()
}

/// Whether the `n`-th byte from the end begins a character of more than `n` bytes.
fn is_lead_of_more(bytes: &[u8], n: usize) -> bool {
    let width = match bytes.len().checked_sub(n).and_then(|at| bytes.get(at)) {
        Some(0xc2..=0xdf) => 2,
        Some(0xe0..=0xef) => 3,
        Some(0xf0..=0xf4) => 4,
        _ => 1,
    };
    width > n
}

/// Opens a stored body; its length is the file's.
///
/// # Errors
/// [`Kind::NotFound`], [`Kind::Damaged`] for what is no file.
pub fn open(store: &Store, run: &RunId, tool_use: &Component, body: Body) -> Result<(File, u64)> {
    let path = layout::tool_body(store.root(), run, tool_use, body.as_str());
    let Some(file) = source::open(&path)? else {
        let name = quote::name(tool_use.as_str().as_bytes());
        return Err(Error::not_found(format!("no {} of the tool call {name} is stored", body.as_str()))
            .at(path)
            .hint("up to 4096 bytes stay in the event of the call"));
    };
    let len = source::len(&file).on("cannot examine", &path)?;
    Ok((file, len))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_where_a_character_ends() {
        let text = "a\u{e9}\u{20ac}\u{1f600}b";
        for limit in 0..=text.len() {
            let cut = text_up_to(text.as_bytes(), limit as u64);
            assert!(text.starts_with(&cut), "{limit}: {cut:?}");
            let next = text[cut.len()..].chars().next().map_or(0, char::len_utf8);
            assert!(cut.len() <= limit && (next == 0 || cut.len() + next > limit), "{limit}: as much as fits");
        }
        assert_eq!(text_up_to(b"\xffab", 2), "\u{fffd}a");
        assert_eq!(text_up_to(b"\xff\xff\xe2\x82\xac", 4), "\u{fffd}\u{fffd}");
    }
}
