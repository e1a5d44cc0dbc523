//! Ids for new runs: generated ones, and rules for those that somebody chose.

use std::path::Path;

use crate::clock;
use crate::error::{Error, IoContext, Result};
use crate::run::document;
use crate::store::component;
use crate::store::id::RunId;
use crate::store::{Store, layout};
use crate::stream::quote;

/// A new id: the text of a UUID of version 7, so that ids sort by the time they were made.
///
/// # Errors
/// [`crate::error::Kind::Io`] when the system gives no random bytes; an id without them could be somebody else's.
pub fn generate() -> Result<RunId> {
    let mut bytes = [0_u8; 16];
    fill_random(&mut bytes)?;
    let milliseconds = clock::now_ns() / 1_000_000;
    for (place, byte) in bytes.iter_mut().zip(milliseconds.to_be_bytes().into_iter().skip(2)) {
        *place = byte;
    }
    let [.., version, _, variant, _, _, _, _, _, _, _] = &mut bytes;
    *version = 0x70 | (*version & 0x0f);
    *variant = 0x80 | (*variant & 0x3f);
    let hex = hex::encode(bytes);
    let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|part| hex.get(part).unwrap_or_default());
    RunId::named(&parts.join("-"))
}

fn fill_random(bytes: &mut [u8]) -> Result<()> {
    let mut filled = 0;
    while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        filled += rustix::rand::getrandom(rest, rustix::rand::GetRandomFlags::empty())
            .on("cannot make a run id from", Path::new("the system's random numbers"))?;
    }
    Ok(())
}

/// Reads an id for a run that is to be made. Narrower than [`RunId::named`] (facts 10.10): at most 128 ASCII letters, digits,
/// dots, dashes and underscores, not hidden, and no name that a file system may change.
///
/// # Errors
/// [`crate::error::Kind::Usage`] naming the rule, [`crate::error::Kind::Refused`] for the family `pc<digits>_`, which newer
/// programs keep elsewhere (facts 1.9).
pub fn named(text: &str) -> Result<RunId> {
    let id = RunId::named(text)?;
    let charset = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    let flaw = component::flaw_of_new(text).or_else(|| {
        (!text.bytes().all(charset)).then_some("has more than ASCII letters, digits, '.', '_' and '-'")
    });
    if let Some(flaw) = flaw {
        return Err(Error::usage(format!("run id {} {flaw}", shown(text)))
            .hint("choose another id, or leave it out to have one made"));
    }
    id.refuse_reserved()?;
    Ok(id)
}

/// Checks the id of a run whose directory is made by the first who writes into it: as [`named`], and no other run may have
/// the same letters. The id of a run that is there may be any.
///
/// # Errors
/// As [`named`] and [`refuse_case_twin`].
pub fn made(store: &Store, run: &RunId) -> Result<()> {
    if layout::run(store.root(), run).is_dir() {
        return Ok(());
    }
    named(run.as_str())?;
    refuse_case_twin(store, run)
}

/// Refuses an id that differs from one that is there only in case: some file systems would take it for the same.
///
/// # Errors
/// [`crate::error::Kind::Refused`]; [`crate::error::Kind::Io`] when the runs cannot be listed.
pub fn refuse_case_twin(store: &Store, id: &RunId) -> Result<()> {
    let twin = document::list(&layout::runs(store.root()))?
        .into_iter()
        .find(|name| name != id.as_str() && name.eq_ignore_ascii_case(id.as_str()));
    match twin {
        None => Ok(()),
        Some(twin) => Err(Error::refused(format!(
            "run id {} differs from that of run {} only in case",
            shown(id.as_str()),
            shown(&twin)
        ))
        .hint("choose another id")),
    }
}

fn shown(text: &str) -> String {
    quote::name(text.chars().take(64).collect::<String>().as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_distinct_and_of_version_7() {
        let ids: std::collections::BTreeSet<String> =
            (0..1000).map(|_| generate().unwrap().as_str().to_owned()).collect();
        assert_eq!(ids.len(), 1000);
        for id in ids {
            let parts: Vec<_> = id.split('-').collect();
            assert_eq!(parts.iter().map(|part| part.len()).collect::<Vec<_>>(), [8, 4, 4, 4, 12], "{id}");
            assert!(parts[2].starts_with('7') && parts[3].starts_with(['8', '9', 'a', 'b']), "{id}");
            assert!(id.bytes().all(|byte| byte == b'-' || matches!(byte, b'0'..=b'9' | b'a'..=b'f')), "{id}");
        }
    }

    #[test]
    fn new_ids_are_narrower_than_those_that_are_read() {
        for good in
            ["01938f4c-78b3-7d2e-bc44-5e6a7b8c9d0e", "run_123", "repair-0a-1", "pc", "pc_1", "pcx1_a", "pc1"]
        {
            assert!(named(good).is_ok(), "{good}");
        }
        for bad in [".deleted", "a b", "caf\u{e9}", "-x", "NUL", "a.", &"x".repeat(129), "a/b", ""] {
            assert_eq!(named(bad).unwrap_err().kind(), crate::error::Kind::Usage, "{bad}");
        }
        for reserved in ["pc1_", "pc1_x", "pc22_"] {
            assert_eq!(named(reserved).unwrap_err().kind(), crate::error::Kind::Refused, "{reserved}");
        }
    }
}
