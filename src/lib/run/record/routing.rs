//! `routing_policy`: what whoever acts on the outcome of a run may do, fixed when the run begins (facts 1.3).
//!
//! ```text
//! {version, success_when, block_when[], merge_into, merge_strategy, allowed_actions[], max_relaunches, hash}
//! ```
//!
//! `hash` is the SHA-256 of the compact JSON of the policy, in hex, with `hash` empty and `allowed_actions` sorted. Whether
//! an empty `hash` is written or left out is not known; both are taken, and the first is made.
//!
//! The facts do not say what is done with a wrong hash (1.3, 2.5, 8). A stored policy stays for the life of its run, and with
//! it the hash, by which others tell what they were allowed to do: a wrong one could never be put right. So it is refused while
//! nothing is lost by that. A policy of a later version may be hashed in another way; what is said of it is taken as it is.

use crate::error::{Error, Result};
use crate::run::json::Json;
use crate::store::hash;

/// The member of run.json.
pub const MEMBER: &str = "routing_policy";
/// The version of a policy that is understood here.
const VERSION: i64 = 1;
/// The members of a policy, in the order in which they are hashed.
const ORDER: &[&str] = &[
    "version",
    "success_when",
    "block_when",
    "merge_into",
    "merge_strategy",
    "allowed_actions",
    "max_relaunches",
    "hash",
];

/// Checks the hash of a document's policy that is about to be stored, and makes one where there is none. A policy of a later
/// version is left as it is.
///
/// # Errors
/// [`crate::error::Kind::Usage`] for a hash that is not that of the policy.
pub fn seal(document: &mut Json) -> Result<()> {
    let Some(policy) = document.get_mut(MEMBER).filter(|policy| policy.is_object()) else { return Ok(()) };
    if policy.get("version").and_then(Json::as_integer).is_some_and(|version| version > VERSION) {
        return Ok(());
    }
    let forms = forms(policy);
    let given = policy.text_of("hash").into_owned();
    if given.is_empty() {
        let made = forms.first().map(digest).unwrap_or_default();
        policy.set_in_order("hash", Json::string(&made), ORDER);
        return Ok(());
    }
    if forms.iter().any(|form| digest(form) == given) {
        return Ok(());
    }
    Err(Error::usage("the 'hash' of 'routing_policy' is not that of its other members")
        .hint("leave 'hash' out to have it made"))
}

/// What may have been hashed: with and without the empty hash; and, where there are members that are not known here, also
/// without those, since whoever made the hash may not have known them either.
fn forms(policy: &Json) -> Vec<Json> {
    let is_known = |key: &str| ORDER.contains(&key);
    let mut members: Vec<_> = policy.members().iter().filter(|(key, _)| key != "hash").cloned().collect();
    // Known members in their order, others behind them as they come.
    members.sort_by_key(|(key, _)| ORDER.iter().position(|known| known == key).unwrap_or(ORDER.len()));
    if let Some((_, Json::Array(actions))) = members.iter_mut().find(|(key, _)| key == "allowed_actions") {
        actions.sort_by(|a, b| a.text().cmp(&b.text()));
    }
    let known: Vec<_> = members.iter().filter(|(key, _)| is_known(key)).cloned().collect();
    let bodies = if known.len() == members.len() { vec![known] } else { vec![members, known] };
    let mut forms = Vec::new();
    for body in bodies {
        let bare = Json::Object(body);
        let mut with_empty = bare.clone();
        with_empty.set_in_order("hash", Json::string(""), ORDER);
        forms.extend([with_empty, bare]);
    }
    forms
}

fn digest(form: &Json) -> String {
    hash::of_bytes(rewritten(form).compact().as_bytes()).to_string()
}

/// The same with all strings escaped as the original escapes them, whoever wrote them.
fn rewritten(json: &Json) -> Json {
    match json {
        Json::Scalar(_) => json.text().map_or_else(|| json.clone(), |text| Json::string(&text)),
        Json::Array(elements) => Json::Array(elements.iter().map(rewritten).collect()),
        Json::Object(members) => Json::object(members.iter().map(|(key, value)| (key.clone(), rewritten(value)))),
    }
}
