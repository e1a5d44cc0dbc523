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

#[cfg(test)]
mod tests {
    use super::*;

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
