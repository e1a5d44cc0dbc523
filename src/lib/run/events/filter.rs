//! Which events somebody asked for.

use crate::clock;
use crate::error::{Error, Result};
use crate::stream::quote;

use super::event::Event;

/// A selection of events; the default selects all.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// The lowest number.
    pub from: Option<u64>,
    /// The number above the highest.
    pub to: Option<u64>,
    /// Patterns of types with `*` and `?`, of which one must match; empty for all.
    pub types: Vec<String>,
    /// Nodes, of which one must be the event's; empty for all.
    pub nodes: Vec<String>,
    /// Branches, likewise; `main` also stands for events without one.
    pub branches: Vec<String>,
    /// The earliest time, in nanoseconds since the epoch.
    pub since_ns: Option<i128>,
}

impl Filter {
    /// Whether the event was asked for. An event whose time cannot be read is not left out for it.
    #[must_use]
    pub fn selects(&self, event: &Event<'_>) -> bool {
        let any = |list: &[String], matches: &dyn Fn(&str) -> bool| {
            list.is_empty() || list.iter().any(|wanted| matches(wanted))
        };
        self.from.is_none_or(|from| event.seq >= from)
            && !self.is_past(event)
            && any(&self.types, &|pattern| glob(pattern.as_bytes(), event.kind.as_bytes()))
            && any(&self.nodes, &|node| event.node_id == node)
            && any(&self.branches, &|branch| {
                event.branch_id == branch || (branch == "main" && event.branch_id.is_empty())
            })
            && self.since_ns.is_none_or(|since| clock::parse_rfc3339(&event.timestamp).is_none_or(|ns| ns >= since))
    }

    /// Whether the event and all that follow it come too late.
    #[must_use]
    pub fn is_past(&self, event: &Event<'_>) -> bool {
        self.to.is_some_and(|to| event.seq >= to)
    }

    /// Sets the earliest time: RFC 3339, or a time before now such as `90s`, `15m`, `2h`, `7d`.
    ///
    /// # Errors
    /// [`crate::error::Kind::Usage`] for anything else.
    pub fn set_since(&mut self, text: &str, now_ns: u64) -> Result<()> {
        let ago = || {
            let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
            let seconds: u32 = match unit {
                "s" => 1,
                "m" => 60,
                "h" => 3600,
                "d" => 86_400,
                _ => return None,
            };
            let count: u32 = number.parse().ok()?;
            Some(i128::from(now_ns) - i128::from(count) * i128::from(seconds) * 1_000_000_000)
        };
        let since = clock::parse_rfc3339(text).or_else(ago).ok_or_else(|| {
            Error::usage(format!("{} is not a time", quote::name(text.as_bytes())))
                .hint("write it as 2026-01-31T12:00:00Z, or as 15m for the last quarter of an hour")
        })?;
        self.since_ns = Some(since);
        Ok(())
    }
}

/// Whether a pattern with `*` (any bytes) and `?` (one byte) matches the whole of `text`, in time linear in both.
#[must_use]
pub fn glob(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    // After the last star, and the place in the text up to which it was stretched.
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some(b'*') => {
                p += 1;
                star = Some((p, t));
            }
            Some(byte) if *byte == b'?' || text.get(t) == Some(byte) => {
                p += 1;
                t += 1;
            }
            _ => {
                let Some((after, stretched)) = star else { return false };
                p = after;
                t = stretched + 1;
                star = Some((after, t));
            }
        }
    }
    pattern.get(p..).is_some_and(|rest| rest.iter().all(|byte| *byte == b'*'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_whole_types() {
        for (pattern, text, matches) in [
            ("run_*", "run_started", true),
            ("run_*", "rerun_started", false),
            ("*_error", "tool_error", true),
            ("*", "", true),
            ("", "x", false),
            ("a?c*", "abc", true),
            ("a?c", "ac", false),
            ("*a*b*", "xxaxxbxx", true),
        ] {
            assert_eq!(glob(pattern.as_bytes(), text.as_bytes()), matches, "{pattern} {text}");
        }
        let stars = "*a".repeat(20) + "b";
        assert!(!glob(stars.as_bytes(), "a".repeat(2000).as_bytes()), "no exponential search");
    }

    #[test]
    fn times_are_absolute_or_ago() {
        let mut filter = Filter::default();
        filter.set_since("2026-01-01T00:00:00Z", 0).unwrap();
        assert_eq!(filter.since_ns, Some(1_767_225_600_000_000_000));
        filter.set_since("2m", 200_000_000_000).unwrap();
        assert_eq!(filter.since_ns, Some(80_000_000_000));
        for bad in ["", "m", "yesterday", "2w", "-3s", "\u{e9}"] {
            assert!(filter.set_since(bad, 0).is_err(), "{bad}");
        }
    }

    #[test]
    fn all_conditions_must_hold() {
        let line = br#"{"seq":5,"timestamp":"2026-01-01T00:00:00Z","type":"node_started","node_id":"a"}"#;
        let event = Event::parse(line).unwrap();
        let all = Filter::default();
        assert!(all.selects(&event));
        assert!(Filter { from: Some(5), to: Some(6), nodes: vec!["a".into()], ..all.clone() }.selects(&event));
        assert!(Filter { branches: vec!["main".into()], ..all.clone() }.selects(&event));
        for miss in [
            Filter { from: Some(6), ..all.clone() },
            Filter { to: Some(5), ..all.clone() },
            Filter { types: vec!["run_*".into()], ..all.clone() },
            Filter { nodes: vec!["b".into()], ..all.clone() },
            Filter { branches: vec!["x".into()], ..all.clone() },
            Filter { since_ns: Some(1_767_225_600_000_000_001), ..all },
        ] {
            assert!(!miss.selects(&event), "{miss:?}");
        }
    }
}
