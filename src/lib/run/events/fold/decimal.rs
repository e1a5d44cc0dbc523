//! Sums of decimal numbers without the errors of binary ones: 0.1 + 0.2 is 0.3.

use std::fmt;

/// Digits kept behind the point.
const PLACES: i32 = 12;
const UNIT: i128 = 1_000_000_000_000;

/// A sum, exact to twelve places.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Decimal(i128);

impl Decimal {
    /// Reads a JSON number; `None` for other text and for what is out of range. Places beyond the twelfth are cut.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let (negative, whole) = whole.strip_prefix('-').map_or((false, whole), |whole| (true, whole));
        let digits = format!("{whole}{fraction}");
        if digits.is_empty() || digits.bytes().any(|digit| !digit.is_ascii_digit()) {
            return None;
        }
        let digits = digits.trim_start_matches('0');
        if digits.is_empty() {
            return Some(Self(0));
        }
        // The last digit stands for 10 to this power, in units.
        let power = exponent.checked_sub(i32::try_from(fraction.len()).ok()?)?.checked_add(PLACES)?;
        let kept = i32::try_from(digits.len()).ok()?.checked_add(power.min(0))?;
        let Some(kept) = usize::try_from(kept).ok().and_then(|kept| digits.get(..kept)) else {
            return Some(Self(0));
        };
        let value: i128 = if kept.is_empty() { 0 } else { kept.parse().ok()? };
        let scaled = value.checked_mul(10_i128.checked_pow(u32::try_from(power.max(0)).ok()?)?)?;
        Some(Self(if negative { -scaled } else { scaled }))
    }

    /// Adds another; stays at the end of the range.
    pub fn add(&mut self, other: Self) {
        self.0 = self.0.saturating_add(other.0);
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let (whole, fraction) =
            (self.0.unsigned_abs() / UNIT.unsigned_abs(), self.0.unsigned_abs() % UNIT.unsigned_abs());
        let fraction = format!("{fraction:012}");
        match fraction.trim_end_matches('0') {
            "" => write!(f, "{sign}{whole}"),
            fraction => write!(f, "{sign}{whole}.{fraction}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_form_of_a_json_number() {
        for (text, shown) in [
            ("0", "0"),
            ("-0.0", "0"),
            ("0.1", "0.1"),
            ("12.50", "12.5"),
            ("1e3", "1000"),
            ("1.5E-3", "0.0015"),
            ("-2.5e+1", "-25"),
            ("1e-13", "0"),
            ("1e-300", "0"),
            ("0.1234567890129", "0.123456789012"),
        ] {
            assert_eq!(Decimal::parse(text).map(|d| d.to_string()).as_deref(), Some(shown), "{text}");
        }
        for bad in ["", "-", "x", "1.2.3", "1e", "1e99", "null", "\"1\"", "1e99999999999"] {
            assert_eq!(Decimal::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn sums_are_exact() {
        let mut sum = Decimal::default();
        for _ in 0..10 {
            sum.add(Decimal::parse("0.1").unwrap());
        }
        assert_eq!(sum.to_string(), "1");
    }
}
