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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_the_original_writes_them() {
        assert_eq!(rfc3339(1_795_956_271_524_646_147), "2026-11-29T12:44:31.524646147Z");
        assert_eq!(rfc3339(1_795_956_271_524_640_000), "2026-11-29T12:44:31.52464Z");
        assert_eq!(rfc3339(1_795_956_271_000_000_000), "2026-11-29T12:44:31Z");
    }
}
