//! What a writer does not know survives its write (facts 8): the document that it submits is merged with the stored one, along
//! what is known of run.json.
//!
//! | shape | rule |
//! |---|---|
//! | struct | a stored member that is not known stays; a known one that was left out is gone with all below it |
//! | map | only the keys that were submitted; each is merged with the stored one |
//! | list of records | a record whose known part is the same as that of a stored one carries what is not known of it along |
//! | anything else | as submitted |
//!
//! Members that both have stay where the stored document has them, so that a write changes only the lines it is about.

use super::schema::Shape;
use crate::run::json::Json;

/// `submitted`, with what `stored` has beyond the known shape.
#[must_use]
pub fn merge(stored: &Json, submitted: Json, shape: Shape) -> Json {
    match (shape, stored, submitted) {
        (Shape::Struct(fields), Json::Object(old), Json::Object(new)) => merge_struct(old, new, fields, shape),
        (Shape::Map(inner), Json::Object(old), Json::Object(new)) => merge_map(old, new, *inner),
        (Shape::Records(inner), Json::Array(old), Json::Array(new)) => merge_records(old, new, *inner),
        (_, _, submitted) => submitted,
    }
}

fn merge_struct(
    old: &[(String, Json)],
    mut new: Vec<(String, Json)>,
    fields: &[(&'static str, Shape)],
    shape: Shape,
) -> Json {
    let known = |key: &str| fields.iter().find(|(name, _)| *name == key).map(|(_, shape)| *shape);
    let mut merged = Json::Object(Vec::with_capacity(new.len()));
    for (key, value) in old {
        let submitted = take(&mut new, key);
        match (submitted, known(key)) {
            (Some(submitted), shape) => {
                merged.set(key, merge(value, submitted, shape.unwrap_or(Shape::Value)));
            }
            (None, None) => merged.set(key, value.clone()),
            (None, Some(_)) => {}
        }
    }
    let order = shape.order();
    for (key, value) in new {
        merged.set_in_order(&key, value, &order);
    }
    merged
}

fn merge_map(old: &[(String, Json)], mut new: Vec<(String, Json)>, inner: Shape) -> Json {
    let mut merged = Vec::with_capacity(new.len());
    for (key, value) in old {
        if let Some(submitted) = take(&mut new, key) {
            merged.push((key.clone(), merge(value, submitted, inner)));
        }
    }
    merged.extend(new);
    Json::Object(merged)
}

fn take(members: &mut Vec<(String, Json)>, key: &str) -> Option<Json> {
    let place = members.iter().position(|(name, _)| name == key)?;
    Some(members.remove(place).1)
}

/// Each new record looks for an old one with the same known part, first at its own place.
fn merge_records(old: &[Json], new: Vec<Json>, inner: Shape) -> Json {
    let mut unused: Vec<Option<(Json, &Json)>> =
        old.iter().map(|record| Some((known_part(record, inner), record))).collect();
    let merged = new.into_iter().enumerate().map(|(index, record)| {
        let part = known_part(&record, inner);
        let is_same = |slot: &Option<(Json, &Json)>| slot.as_ref().is_some_and(|(other, _)| is_equal(&part, other));
        let place =
            if unused.get(index).is_some_and(is_same) { Some(index) } else { unused.iter().position(is_same) };
        match place.and_then(|place| unused.get_mut(place)).and_then(Option::take) {
            Some((_, stored)) => merge(stored, record, inner),
            None => record,
        }
    });
    Json::Array(merged.collect())
}

/// A value without what is not known, and without members that mean the same as none.
fn known_part(value: &Json, shape: Shape) -> Json {
    match (shape, value) {
        (Shape::Struct(fields), Json::Object(members)) => {
            let part = |(key, value): &(String, Json)| {
                let (_, shape) = fields.iter().find(|(name, _)| name == key)?;
                let part = known_part(value, *shape);
                (!part.is_zero()).then(|| (key.clone(), part))
            };
            Json::Object(members.iter().filter_map(part).collect())
        }
        (Shape::Map(inner), Json::Object(members)) => {
            Json::Object(members.iter().map(|(key, value)| (key.clone(), known_part(value, *inner))).collect())
        }
        (Shape::Records(inner), Json::Array(elements)) => {
            Json::Array(elements.iter().map(|element| known_part(element, *inner)).collect())
        }
        (_, value) => value.clone(),
    }
}

/// As [`Json::is_same`], and numbers are the same also in other words: `1`, `1.0` and `1e0`.
fn is_equal(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::Array(a), Json::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_equal(a, b)),
        (Json::Object(a), Json::Object(members)) => {
            a.len() == members.len()
                && a.iter().all(|(key, value)| b.get(key).is_some_and(|other| is_equal(value, other)))
        }
        _ => a.is_same(b) || is_same_number(a, b),
    }
}

fn is_same_number(a: &Json, b: &Json) -> bool {
    // Whole numbers differ when their texts do; as floats, large ones could not be told apart.
    if a.as_integer().is_some() && b.as_integer().is_some() {
        return false;
    }
    let number = |json: &Json| match json {
        Json::Scalar(text) => text.parse::<f64>().ok(),
        _ => None,
    };
    matches!((number(a), number(b)), (Some(a), Some(b)) if a.total_cmp(&b).is_eq())
}

#[cfg(test)]
mod tests {
    use super::super::schema::{CHECKPOINT, RUN};
    use super::*;

    fn merged(stored: &str, submitted: &str, shape: Shape) -> String {
        let tree = |text: &str| Json::parse(text.as_bytes()).unwrap();
        merge(&tree(stored), tree(submitted), shape).compact()
    }

    #[test]
    fn members_nobody_knows_stay_where_they_are() {
        assert_eq!(
            merged(
                r#"{"id":"r","x":1,"status":"running","budget":{"max_tokens":1,"y":2},"error":"e","retry_state":{"z":3}}"#,
                r#"{"status":"failed","id":"r","budget":{"max_tokens":5},"name":"n"}"#,
                RUN
            ),
            r#"{"id":"r","x":1,"name":"n","status":"failed","budget":{"max_tokens":5,"y":2}}"#,
            "a known member that was left out is gone with its extensions"
        );
    }

    /// Facts T 203.
    #[test]
    fn payloads_are_exactly_as_submitted() {
        assert_eq!(
            merged(r#"{"inputs":{"a":{"keep":1},"b":2},"outputs":1}"#, r#"{"inputs":{"a":{}}}"#, RUN),
            r#"{"inputs":{"a":{}},"outputs":1}"#
        );
        assert_eq!(
            merged(r#"{"outputs":{"n":{"a":1,"b":2}}}"#, r#"{"outputs":{"n":{"b":3}}}"#, CHECKPOINT),
            r#"{"outputs":{"n":{"b":3}}}"#
        );
    }

    /// Facts T 197 and 199.
    #[test]
    fn extensions_follow_their_records() {
        let stored = r#"{"selected_incoming":{"n":[{"from":"a","to":"n","x":1},{"from":"b","to":"n","x":2},{"from":"b","to":"n","x":3}],"gone":[{"from":"q","to":"gone","x":9}]}}"#;
        assert_eq!(
            merged(
                stored,
                r#"{"selected_incoming":{"n":[{"to":"n","from":"b","loop":""},{"from":"b","to":"n"},{"from":"a","to":"n"},{"from":"a","to":"n"}]}}"#,
                CHECKPOINT
            ),
            r#"{"selected_incoming":{"n":[{"from":"b","to":"n","x":2,"loop":""},{"from":"b","to":"n","x":3},{"from":"a","to":"n","x":1},{"from":"a","to":"n"}]}}"#
        );
        assert_eq!(
            merged(stored, r#"{"selected_incoming":{"n":[{"from":"a","to":"n","condition":"new"}]}}"#, CHECKPOINT),
            r#"{"selected_incoming":{"n":[{"from":"a","to":"n","condition":"new"}]}}"#,
            "a changed record is a new one"
        );
    }

    #[test]
    fn map_entries_are_merged_and_dropped_with_their_extensions() {
        assert_eq!(
            merged(
                r#"{"parallel":{"branches":{"a":{"branch_id":"a","x":1},"b":{"branch_id":"b","x":2}},"y":1}}"#,
                r#"{"parallel":{"branches":{"c":{},"a":{"branch_id":"a","completed":true}}}}"#,
                CHECKPOINT
            ),
            r#"{"parallel":{"branches":{"a":{"branch_id":"a","x":1,"completed":true},"c":{}},"y":1}}"#
        );
    }

    const LEAF: Shape = Shape::Struct(&[("a", Shape::Value), ("b", Shape::Value)]);
    const TREE: Shape = Shape::Struct(&[
        ("a", Shape::Value),
        ("b", Shape::Struct(&[("a", LEAF), ("b", Shape::Records(&LEAF))])),
        ("c", Shape::Map(&LEAF)),
        ("d", Shape::Map(&Shape::Records(&LEAF))),
    ]);

    /// Any tree over few keys; `x` and `y` are known nowhere.
    fn any_tree() -> impl proptest::strategy::Strategy<Value = Json> {
        use proptest::prelude::*;
        let leaf = prop_oneof![
            Just(Json::null()),
            (0..3_i64).prop_map(Json::integer),
            Just(Json::string("")),
            Just(Json::string("t")),
        ];
        let key = proptest::sample::select(vec!["a", "b", "c", "d", "x", "y"]);
        leaf.prop_recursive(5, 64, 5, move |inner| {
            prop_oneof![
                2 => proptest::collection::btree_map(key.clone(), inner.clone(), 0..5).prop_map(Json::object),
                1 => proptest::collection::vec(inner, 0..4).prop_map(Json::Array),
            ]
        })
    }

    /// Members of `stored` that nobody knows, wherever both trees have a known struct, with where they are.
    fn unknown(stored: &Json, merged: &Json, shape: Shape, path: &str, lost: &mut Vec<String>) {
        let (Shape::Struct(fields), Json::Object(old), Json::Object(_)) = (shape, stored, merged) else { return };
        for (key, value) in old {
            match (fields.iter().find(|(name, _)| name == key), merged.get(key)) {
                (None, None) => lost.push(format!("{path}/{key}")),
                (Some((_, shape)), Some(merged)) => unknown(value, merged, *shape, &format!("{path}/{key}"), lost),
                _ => {}
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn a_merge_says_what_the_writer_said_and_loses_nothing(stored in any_tree(), submitted in any_tree()) {
            let merged = merge(&stored, submitted.clone(), TREE);
            proptest::prop_assert!(
                is_equal(&known_part(&merged, TREE), &known_part(&submitted, TREE)),
                "{} over {} gave {}", submitted.compact(), stored.compact(), merged.compact()
            );
            let mut lost = Vec::new();
            unknown(&stored, &merged, TREE, "", &mut lost);
            proptest::prop_assert!(lost.is_empty(), "{:?} of {} are lost", lost, stored.compact());
            let again = merge(&merged, submitted.clone(), TREE);
            proptest::prop_assert!(again.is_same(&merged), "{} became {}", merged.compact(), again.compact());
            proptest::prop_assert_eq!(merge(&stored, stored.clone(), TREE).compact(), stored.compact());
            proptest::prop_assert_eq!(merge(&Json::null(), submitted.clone(), TREE), submitted);
        }
    }

    #[test]
    fn numbers_in_other_words_are_the_same() {
        let equal =
            |a: &str, b: &str| is_equal(&Json::parse(a.as_bytes()).unwrap(), &Json::parse(b.as_bytes()).unwrap());
        assert!(equal("1", "1.0") && equal("[1e2]", "[100]") && equal(r#""A""#, r#""\u0041""#));
        assert!(!equal("9007199254740992", "9007199254740993") && !equal("1", r#""1""#) && !equal("1", "2.0"));
    }
}
