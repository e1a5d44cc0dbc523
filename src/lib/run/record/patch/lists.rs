//! Members that are lists of texts without doubles.

use super::Subject;
use crate::error::Result;
use crate::run::json::Json;
use crate::run::record::ORDER;

/// The tiers of credentials.
const TIERS: [&str; 5] = ["byok", "oauth-forfait", "org", "pool", "platform"];

/// Adds issues, in the order in which they were first seen (`AddWatchedIssues`).
pub(super) fn watched_issues(subject: &mut Subject<'_>, value: Json) -> Result<()> {
    let mut issues = subject.stored().map(texts).unwrap_or_default();
    for issue in list_of_texts(subject, &value)? {
        if !issue.is_empty() && !issues.contains(&issue) {
            issues.push(issue);
        }
    }
    subject.put(Json::strings(issues));
    Ok(())
}

/// Says which credentials are in use (`SetRunCredStamp`). A run that uses some is not idle.
pub(super) fn cred_stamp(subject: &mut Subject<'_>, value: Json) -> Result<()> {
    if !value.is_object() {
        return Err(subject.wrong("is not an object").hint("give {\"fingerprints\": [...], \"tiers\": [...]}"));
    }
    let empty = Json::Array(Vec::new());
    let of = |key: &str| value.get(key).unwrap_or(&empty);
    let fingerprints = list_of_texts(subject, of("fingerprints"))?;
    let mut tiers = list_of_texts(subject, of("tiers"))?;
    if let Some(odd) = tiers.iter().find(|tier| !TIERS.contains(&tier.as_str())) {
        let what = format!("has a tier {odd:?} that is none");
        return Err(subject.wrong(&what).hint(format!("they are {}", TIERS.join(", "))));
    }
    tiers.sort();
    tiers.dedup();
    for (member, texts) in [("cred_fingerprints", fingerprints), ("credential_tiers", tiers)] {
        if texts.is_empty() {
            subject.document.remove(member);
        } else {
            subject.document.set_in_order(member, Json::strings(texts), ORDER);
        }
    }
    subject.document.remove("llm_idle_since");
    Ok(())
}

fn texts(list: &Json) -> Vec<String> {
    list.elements().iter().filter_map(|text| Some(text.text()?.into_owned())).collect()
}

fn list_of_texts(subject: &Subject<'_>, value: &Json) -> Result<Vec<String>> {
    let texts = texts(value);
    match value {
        Json::Array(all) if all.len() == texts.len() => Ok(texts),
        _ => Err(subject.wrong("is not a list of texts").hint("write it as [\"...\", \"...\"]")),
    }
}
