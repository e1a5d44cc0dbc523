//! What a snapshot claims to know: [`Coverage`] (design section 6).
//!
//! A path is "absent from the snapshot" only where the snapshot's coverage includes its kind and its name. A manifest
//! of the original has no `coverage` member; it covers regular files with UTF-8 names, under the rules file that it
//! captured.

use std::borrow::Cow;

use serde::Deserialize;

use super::json;
use crate::store::id::ObjectId;
use crate::store::relpath::{RelPath, RelPathBuf};
use crate::stream::record::GapReason;

/// What decided which paths a snapshot holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selection {
    /// Ignore rules: everything they include is in the snapshot or is a gap.
    Rules {
        /// `.iterionignore`, `.gitignore` or `none`.
        source: String,
        /// The object with the rules file's content.
        id: ObjectId,
    },
    /// A list: nothing is known of what it does not name.
    Listed,
    /// The original's walk, whose rules are those of the rules file among its entries.
    Original,
}

/// A path that was there and is not in the snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    /// Where.
    pub path: RelPathBuf,
    /// Why.
    pub reason: GapReason,
    /// Whether it is a directory of which nothing below is known.
    pub hides_subtree: bool,
}

/// What a snapshot claims to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coverage {
    /// What decided which paths it holds.
    pub selection: Selection,
    /// The name of the rule engine.
    pub engine: String,
    /// Files above this many bytes are gaps.
    pub cap_bytes: Option<u64>,
    /// Whether links, empty directories and names that are not UTF-8 are covered, or regular UTF-8 files only.
    pub all_kinds: bool,
}

/// The kinds that a manifest with `coverage` covers, in the order they are written.
const KINDS: [&str; 4] = ["file", "link", "dir", "raw"];

#[derive(Deserialize)]
pub(super) struct CoverageJson<'a> {
    #[serde(borrow)]
    rules: Option<RulesJson<'a>>,
    #[serde(borrow, default)]
    engine: Cow<'a, str>,
    cap: Option<u64>,
    #[serde(borrow, default)]
    kinds: Vec<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) gaps: Vec<GapJson<'a>>,
}

#[derive(Deserialize)]
struct RulesJson<'a> {
    #[serde(borrow)]
    source: Cow<'a, str>,
    #[serde(borrow)]
    oid: Cow<'a, str>,
}

#[derive(Deserialize)]
pub(super) struct GapJson<'a> {
    #[serde(borrow)]
    path: Option<Cow<'a, str>>,
    #[serde(borrow)]
    path_b64: Option<Cow<'a, str>>,
    #[serde(borrow)]
    reason: Cow<'a, str>,
    #[serde(default)]
    subtree: bool,
}

impl GapJson<'_> {
    pub(super) fn read(&self) -> Result<Gap, String> {
        let name =
            json::name(self.path.as_deref(), self.path_b64.as_deref()).ok_or("a gap has no readable path")?;
        let path = RelPath::new(&name).map_err(|problem| format!("gap: {problem}"))?.to_owned();
        let reason = GapReason::parse(&self.reason).ok_or("a gap has a malformed reason")?;
        Ok(Gap { path, reason, hides_subtree: self.subtree })
    }
}

impl Coverage {
    /// The coverage of a manifest without that member.
    #[must_use]
    pub fn original() -> Self {
        Self { selection: Selection::Original, engine: String::new(), cap_bytes: None, all_kinds: false }
    }

    pub(super) fn read(json: &CoverageJson<'_>) -> Result<Self, String> {
        let selection = match &json.rules {
            None => Selection::Listed,
            Some(rules) => Selection::Rules {
                source: rules.source.clone().into_owned(),
                id: ObjectId::parse(rules.oid.as_bytes()).ok_or("the rules have a malformed object id")?,
            },
        };
        let all_kinds = KINDS.iter().all(|kind| json.kinds.iter().any(|listed| listed == kind));
        Ok(Self { selection, engine: json.engine.clone().into_owned(), cap_bytes: json.cap, all_kinds })
    }

    /// Writes the member's value; the original's coverage has none.
    pub(super) fn write(&self, out: &mut Vec<u8>, gaps: &[Gap]) {
        out.push(b'{');
        if let Selection::Rules { source, id } = &self.selection {
            json::push_key(out, "rules");
            out.push(b'{');
            json::push_key(out, "source");
            json::push_string(out, source);
            json::push_key(out, "oid");
            json::push_string(out, &id.to_string());
            out.push(b'}');
        }
        json::push_key(out, "engine");
        json::push_string(out, &self.engine);
        if let Some(cap) = self.cap_bytes {
            json::push_key(out, "cap");
            json::push_number(out, cap);
        }
        json::push_key(out, "kinds");
        let kinds = if self.all_kinds { &KINDS[..] } else { &KINDS[..1] };
        json::push_array(out, kinds, |out, kind| json::push_string(out, kind));
        if !gaps.is_empty() {
            json::push_key(out, "gaps");
            json::push_array(out, gaps, push_gap);
        }
        out.push(b'}');
    }

    /// The object with the rules file's content, if the snapshot names one.
    #[must_use]
    pub fn rules_object(&self) -> Option<ObjectId> {
        match self.selection {
            Selection::Rules { ref source, id } if source != "none" => Some(id),
            Selection::Rules { .. } | Selection::Listed | Selection::Original => None,
        }
    }
}

fn push_gap(out: &mut Vec<u8>, gap: &Gap) {
    out.push(b'{');
    json::push_name(out, "path", gap.path.as_bytes());
    json::push_key(out, "reason");
    json::push_string(out, gap.reason.as_str());
    if gap.hides_subtree {
        json::push_key(out, "subtree");
        out.extend_from_slice(b"true");
    }
    out.push(b'}');
}
