//! Links to attachments that are good for a while (facts 4.3).
//!
//! ```text
//! /api/runs/<run>/attachments/<name>?exp=<unix seconds>&sig=<hex of HMAC-SHA256(key, "<run>\n<name>\n<exp>")>
//! ```
//!
//! The text that is signed is the original's, so that either program takes the other's links. It joins its parts by
//! newlines; that no two links are signed alike rests on run ids and names having no control characters, which their types
//! see to.

use std::fmt::Write;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::error::{Error, Kind, Result};
use crate::store::component::Component;
use crate::store::fsio::{self, document};
use crate::store::id::RunId;
use crate::store::{Store, layout, read_document};

/// Length of the key.
const KEY_BYTES: usize = 32;

/// The key with which links of a store are signed.
pub struct Key([u8; KEY_BYTES]);

impl Key {
    /// Reads the key; `None` where none was made yet, and so no link is good.
    ///
    /// # Errors
    /// [`Kind::Damaged`] when what is there is no key.
    pub fn read(store: &Store) -> Result<Option<Self>> {
        let path = layout::signing_key(store.root());
        let bytes = match read_document(&path) {
            Err(error) if error.kind() == Kind::NotFound => return Ok(None),
            other => other?,
        };
        match <[u8; KEY_BYTES]>::try_from(&*bytes) {
            Ok(key) => Ok(Some(Self(key))),
            Err(_) => Err(Error::damaged(&path, format!("a key has {KEY_BYTES} bytes, not {}", bytes.len()))
                .hint("remove the file; links that were signed are no good then")),
        }
    }

    /// Reads the key, or makes one. Of two who make one at the same time, both use that of the first.
    ///
    /// # Errors
    /// As [`Key::read`]; [`Kind::Refused`] when the system has no entropy, [`Kind::Io`].
    pub fn read_or_make(store: &Store) -> Result<Self> {
        if let Some(key) = Self::read(store)? {
            return Ok(key);
        }
        let mut fresh = [0; KEY_BYTES];
        fsio::fill_random(&mut fresh).map_err(|cause| {
            let why = crate::error::describe(&cause);
            Error::refused(format!("no key can be made to sign with: the system gives no random bytes ({why})"))
                .hint("run the command again later")
        })?;
        store.create()?;
        document::publish_new(&layout::signing_key(store.root()), &[&fresh], store.durability())?;
        Self::read(store)?.ok_or_else(|| Error::new(Kind::Io, "the key to sign with vanished"))
    }

    /// The signature of a link, in hex.
    #[must_use]
    pub fn sign(&self, run: &RunId, name: &Component, expires: i64) -> String {
        self.mac(run, name, expires).map(|mac| hex::encode(mac.finalize().into_bytes())).unwrap_or_default()
    }

    /// Whether a link is good at `now`, unix seconds. Takes as long for a signature that is almost right as for any other.
    #[must_use]
    pub fn verify(&self, run: &RunId, name: &Component, expires: i64, signature: &str, now: i64) -> bool {
        let Ok(given) = hex::decode(signature) else { return false };
        let is_right = self.mac(run, name, expires).is_some_and(|mac| mac.verify_slice(&given).is_ok());
        is_right && now <= expires
    }

    /// A key of any length is taken, so there always is one.
    fn mac(&self, run: &RunId, name: &Component, expires: i64) -> Option<Hmac<Sha256>> {
        let mut mac = <Hmac<Sha256> as KeyInit>::new_from_slice(&self.0).ok()?;
        mac.update(format!("{run}\n{name}\n{expires}").as_bytes());
        Some(mac)
    }
}

/// The link itself.
#[must_use]
pub fn url(run: &RunId, name: &Component, expires: i64, signature: &str) -> String {
    let path = layout::attachment_url(&escaped(run.as_str()), &escaped(name.as_str()));
    format!("{path}?exp={expires}&sig={signature}")
}

/// Escapes what a component of a URL's path cannot hold.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_good_for_its_link_and_its_time_only() {
        let key = Key([7; KEY_BYTES]);
        let (run, name) = (RunId::named("r").unwrap(), Component::named("name", "a b").unwrap());
        let signature = key.sign(&run, &name, 100);
        // printf 'r\na b\n100' | openssl dgst -sha256 -mac HMAC -macopt hexkey:0707...
        assert_eq!(signature, "470c98498be4f866bdb16f376b5f42cc772ad8d4fda34de6800ccc925b15e165");
        assert!(key.verify(&run, &name, 100, &signature, 100));
        assert!(key.verify(&run, &name, 100, &signature.to_uppercase(), 0));
        assert!(!key.verify(&run, &name, 100, &signature, 101), "too late");
        assert!(!key.verify(&run, &name, 101, &signature, 50), "another time");
        let other = RunId::named("q").unwrap();
        assert!(!key.verify(&other, &name, 100, &signature, 50), "another run");
        for wrong in ["", "zz", &signature[..62], &format!("{signature}00")] {
            assert!(!key.verify(&run, &name, 100, wrong, 50), "{wrong}");
        }
        assert!(!Key([8; KEY_BYTES]).verify(&run, &name, 100, &signature, 50), "another key");
        assert_eq!(url(&run, &name, 100, "ab"), "/api/runs/r/attachments/a%20b?exp=100&sig=ab");
    }
}
