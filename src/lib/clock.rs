//! The wall clock, in the units of the formats.

use std::time::{SystemTime, UNIX_EPOCH};

/// Nanoseconds since the epoch; 0 for a clock set before it.
#[must_use]
pub fn now_ns() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |elapsed| u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX))
}

/// RFC 3339 in UTC with up to nine fractional digits, trailing zeros trimmed, as the original writes times (facts 1.2).
#[must_use]
pub fn rfc3339(ns: u64) -> String {
    jiff::Timestamp::from_nanosecond(i128::from(ns)).unwrap_or(jiff::Timestamp::MAX).to_string()
}

/// Reads an RFC 3339 time as nanoseconds since the epoch; `None` for anything else. A `T` and a zone are required, as
/// the original's reader requires them.
#[must_use]
pub fn parse_rfc3339(text: &str) -> Option<i128> {
    (text.as_bytes().get(10) == Some(&b'T')).then_some(())?;
    text.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_nanosecond)
}

/// How long before `now_ns` something was, in words: the largest unit that fits, rounded down.
#[must_use]
pub fn age(then_ns: u64, now_ns: u64) -> String {
    const UNITS: [(u64, &str); 6] = [
        (365 * 86_400, "year"),
        (30 * 86_400, "month"),
        (7 * 86_400, "week"),
        (86_400, "day"),
        (3600, "hour"),
        (60, "minute"),
    ];
    let Some(elapsed_ns) = now_ns.checked_sub(then_ns) else { return "in the future".into() };
    let seconds = elapsed_ns / 1_000_000_000;
    let (size, unit) = UNITS.into_iter().find(|(size, _)| seconds >= *size).unwrap_or((1, "second"));
    let count = seconds / size;
    format!("{count} {unit}{} ago", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_in_the_largest_unit_that_fits() {
        let second = 1_000_000_000;
        for (seconds, words) in [
            (0, "0 seconds ago"),
            (1, "1 second ago"),
            (59, "59 seconds ago"),
            (60, "1 minute ago"),
            (3 * 3600 + 59 * 60, "3 hours ago"),
            (86_400, "1 day ago"),
            (8 * 86_400, "1 week ago"),
            (400 * 86_400, "1 year ago"),
        ] {
            assert_eq!(age(7, 7 + seconds * second), words);
        }
        assert_eq!(age(2, 1), "in the future");
    }

    #[test]
    fn reads_only_rfc_3339() {
        assert_eq!(parse_rfc3339("2026-11-29T12:44:31.5Z"), Some(1_795_956_271_500_000_000));
        assert_eq!(parse_rfc3339("2026-11-29T13:44:31.5+01:00"), Some(1_795_956_271_500_000_000));
        assert!(parse_rfc3339("0001-01-01T00:00:00Z").is_some_and(|ns| ns < 0));
        for bad in ["", "now", "2026-11-29", "2026-11-29 12:44:31Z", "2026-11-29T12:44:31", "1795956271"] {
            assert_eq!(parse_rfc3339(bad), None, "{bad}");
        }
    }

    #[test]
    fn times_are_written_as_the_original_writes_them() {
        assert_eq!(rfc3339(1_795_956_271_524_646_147), "2026-11-29T12:44:31.524646147Z");
        assert_eq!(rfc3339(1_795_956_271_524_640_000), "2026-11-29T12:44:31.52464Z");
        assert_eq!(rfc3339(1_795_956_271_000_000_000), "2026-11-29T12:44:31Z");
    }
}
