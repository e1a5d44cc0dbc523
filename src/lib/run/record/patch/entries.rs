//! Members that are changed entry by entry.

use std::borrow::Cow;

use super::Subject;
use super::values::caps;
use crate::error::Result;
use crate::run::json::Json;
use crate::run::record::schema::{self, Shape};
use crate::run::record::{ORDER, preserve};
use crate::store::id::RunId;
use crate::stream::quote;

/// Changes the entries that `value` names: `one` makes the new one of the stored and the given one. An entry that is `null`
/// is taken out.
pub(super) fn each(
    subject: &mut Subject<'_>,
    value: &Json,
    mut one: impl FnMut(&Subject<'_>, &str, Option<&Json>, &Json) -> Result<Option<Json>>,
) -> Result<()> {
    if value.is_null() {
        subject.put(Json::null());
        return Ok(());
    }
    if !value.is_object() {
        return Err(subject.wrong("is not an object").hint("give its entries by key: {\"KEY\": ...}"));
    }
    let mut all = match subject.stored() {
        Some(stored) if stored.is_object() => stored.clone(),
        _ => Json::Object(Vec::new()),
    };
    for (key, given) in value.members() {
        if given.is_null() {
            all.remove(key);
        } else if let Some(entry) = one(subject, key, all.get(key), given)? {
            all.set(key, entry);
        }
    }
    subject.put(all);
    Ok(())
}

/// Raises of the budget: a cap that is named is set.
pub(super) fn raises(subject: &mut Subject<'_>, value: Json) -> Result<()> {
    if !value.is_null() {
        caps(subject, &value)?;
    }
    each(subject, &value, |_, _, _, given| Ok(Some(given.clone())))
}

/// Extra grants of loops: a number sets, `"+N"` adds to what was granted.
pub(super) fn grants(subject: &mut Subject<'_>, value: Json) -> Result<()> {
    each(subject, &value, |subject, key, stored, given| {
        let granted = stored.and_then(Json::as_integer).unwrap_or(0);
        let more = given.text().and_then(|text| text.strip_prefix('+')?.parse::<i64>().ok());
        let count = match more {
            Some(more) if more >= 0 => granted.checked_add(more),
            Some(_) => None,
            None => given.as_integer().filter(|count| *count >= 0),
        };
        let key = quote::name(key.as_bytes());
        count.map(|count| Some(Json::integer(count))).ok_or_else(|| {
            subject
                .wrong(&format!("has a grant of loop {key} that is no number of rounds"))
                .hint("write 3, or \"+3\" for 3 more")
        })
    })
}

/// Rules that were granted to nodes, to be replayed on a resume: they only become more.
pub(super) fn permissions(subject: &mut Subject<'_>, value: Json) -> Result<()> {
    each(subject, &value, |subject, key, stored, given| {
        let Json::Array(rules) = given else {
            let key = quote::name(key.as_bytes());
            return Err(subject.wrong(&format!("has no list of rules for node {key}")));
        };
        let mut all = stored.map(Json::elements).unwrap_or_default().to_vec();
        for rule in rules {
            if !all.iter().any(|known| known.is_same(rule)) {
                all.push(rule.clone());
            }
        }
        Ok(Some(Json::Array(all)))
    })
}

/// Who served a node last; an entry is what the last writer says. A node without a name is nobody.
pub(super) fn served(subject: &mut Subject<'_>, value: Json) -> Result<()> {
    each(subject, &value, |subject, key, _, given| {
        if key.is_empty() {
            return Ok(None);
        }
        let mut entry = record(subject, key, given)?;
        if let Some(fingerprint) = entry.get_mut("fingerprint") {
            let text = fingerprint.text().unwrap_or_default().into_owned();
            *fingerprint = Json::string(&without_secrets(&text));
        }
        Ok(Some(entry))
    })
}

/// The label of a facade without what may be a secret in its address: user, query and fragment (facts 1.3).
fn without_secrets(fingerprint: &str) -> Cow<'_, str> {
    let Some(url) = fingerprint.strip_prefix("facade:") else { return Cow::Borrowed(fingerprint) };
    let url = url.split(['?', '#']).next().unwrap_or_default();
    let (scheme, rest) = match url.split_once("://") {
        Some((scheme, rest)) => (format!("{scheme}://"), rest),
        None => (String::new(), url),
    };
    // A password may hold a slash that nobody escaped: what stands before the last @ of the whole goes.
    let rest = rest.rsplit_once('@').map_or(rest, |(_, rest)| rest);
    Cow::Owned(format!("facade:{scheme}{rest}"))
}

/// Episodes in which a node corrects its output. Taken out, one goes to the history.
pub(super) fn corrections(subject: &mut Subject<'_>, value: Json) -> Result<()> {
    if value.is_null() {
        return Err(subject.wrong("are retired one by one").hint("give {\"KEY\": null}"));
    }
    let retired: Vec<Json> = value
        .members()
        .iter()
        .filter(|(_, given)| given.is_null())
        .filter_map(|(key, _)| subject.stored()?.get(key).cloned())
        .collect();
    each(subject, &value, |subject, key, stored, given| merged(subject, key, stored, given, schema::CORRECTION))?;
    if retired.is_empty() {
        return Ok(());
    }
    let mut history = match subject.document.get("output_correction_history") {
        Some(Json::Array(history)) => history.clone(),
        _ => Vec::new(),
    };
    let now = Json::string(subject.now);
    history.extend(retired.into_iter().map(|mut episode| {
        if episode.get("retired_at").is_none_or(Json::is_zero) {
            episode.set_in_order("retired_at", now.clone(), &schema::CORRECTION.order());
        }
        episode
    }));
    subject.document.set_in_order("output_correction_history", Json::Array(history), ORDER);
    Ok(())
}

/// Where watchers of the run stand.
pub(super) fn cursors(subject: &mut Subject<'_>, value: Json) -> Result<()> {
    each(subject, &value, |subject, key, stored, given| merged(subject, key, stored, given, schema::CURSOR))
}

/// Children that the run waits for.
pub(super) fn children(subject: &mut Subject<'_>, value: Json) -> Result<()> {
    each(subject, &value, |subject, key, _, given| {
        let Some(id) = given.text() else {
            let key = quote::name(key.as_bytes());
            return Err(subject.wrong(&format!("has no run id for {key}")));
        };
        RunId::named(&id)?;
        Ok(Some(Json::string(&id)))
    })
}

fn record(subject: &Subject<'_>, key: &str, given: &Json) -> Result<Json> {
    if given.is_object() {
        return Ok(given.clone());
    }
    Err(subject.wrong(&format!("has an entry {} that is not an object", quote::name(key.as_bytes()))))
}

fn merged(
    subject: &Subject<'_>,
    key: &str,
    stored: Option<&Json>,
    given: &Json,
    shape: Shape,
) -> Result<Option<Json>> {
    let given = record(subject, key, given)?;
    Ok(Some(match stored {
        Some(stored) => preserve::merge(stored, given, shape),
        None => given,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_facade_is_named_without_secrets() {
        for (given, kept) in [
            ("facade:https://user:p@ss/w@host:8080/v1?key=1#x", "facade:https://host:8080/v1"),
            ("facade:https://host/v1", "facade:https://host/v1"),
            ("facade:user@host", "facade:host"),
            ("facade:https://u@h?x@y", "facade:https://h"),
            ("anthropic-oauth", "anthropic-oauth"),
            ("", ""),
        ] {
            assert_eq!(without_secrets(given), kept, "{given}");
        }
    }
}
