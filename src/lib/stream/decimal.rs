//! Decimal numbers in streams and documents, read and written without the general formatter.
//!
//! A capture of 10 000 files handles some 200 000 of them; the standard library's formatting and parsing were the first
//! things in its profile.

/// A whole number that is written in decimal digits.
pub trait Decimal: Copy {
    /// Whether it is below zero, and its distance from zero.
    fn parts(self) -> (bool, u64);
}

impl Decimal for u32 {
    fn parts(self) -> (bool, u64) {
        (false, u64::from(self))
    }
}

impl Decimal for u64 {
    fn parts(self) -> (bool, u64) {
        (false, self)
    }
}

impl Decimal for usize {
    fn parts(self) -> (bool, u64) {
        (false, self as u64)
    }
}

impl<T: Decimal> Decimal for &T {
    fn parts(self) -> (bool, u64) {
        (*self).parts()
    }
}

impl Decimal for i64 {
    fn parts(self) -> (bool, u64) {
        (self < 0, self.unsigned_abs())
    }
}

/// Most digits that a number of 64 bits has.
const DIGITS_MAX: usize = 20;

/// The two digits of every number below 100.
#[allow(clippy::cast_possible_truncation, reason = "both are below ten")]
const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[0; 2]; 100];
    let mut number = 0;
    while number < 100 {
        pairs[number] = [b'0' + (number / 10) as u8, b'0' + (number % 10) as u8];
        number += 1;
    }
    pairs
};

/// Writes a number.
pub fn push(out: &mut Vec<u8>, number: impl Decimal) {
    let (is_negative, mut rest) = number.parts();
    let mut digits = [b'0'; DIGITS_MAX];
    let mut first = DIGITS_MAX;
    for chunk in digits.rchunks_exact_mut(2) {
        if let Some(pair) = PAIRS.get((rest % 100) as usize) {
            chunk.copy_from_slice(pair);
        }
        first -= if rest < 10 { 1 } else { 2 };
        rest /= 100;
        if rest == 0 {
            break;
        }
    }
    if is_negative {
        out.push(b'-');
    }
    out.extend_from_slice(digits.get(first..).unwrap_or_default());
}

/// Reads digits and nothing else; `None` also for a number that 64 bits do not hold.
#[must_use]
pub fn parse_u64(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    // Below twenty digits nothing can overflow.
    if text.len() < DIGITS_MAX {
        return text.iter().try_fold(0, |number: u64, byte| {
            let digit = byte.wrapping_sub(b'0');
            (digit <= 9).then(|| number.wrapping_mul(10).wrapping_add(u64::from(digit)))
        });
    }
    let mut number: u64 = 0;
    for byte in text {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number = number.checked_mul(10)?.checked_add(u64::from(digit))?;
    }
    Some(number)
}

/// As [`parse_u64`], after a minus sign where there is one.
#[must_use]
pub fn parse_i64(text: &[u8]) -> Option<i64> {
    match text.strip_prefix(b"-") {
        Some(digits) => 0_i64.checked_sub_unsigned(parse_u64(digits)?),
        None => i64::try_from(parse_u64(text)?).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_the_formatter_writes_them_and_read_back() {
        let mut numbers = vec![0, 1, 9, 10, 11, 99, 100, 101, 999, 1000, 33_554_432, u64::MAX, u64::MAX - 1];
        numbers.extend((0..20).map(|power| 10_u64.pow(power)));
        numbers.extend((1..20).map(|power| 10_u64.pow(power) - 1));
        for number in numbers {
            let mut out = Vec::new();
            push(&mut out, number);
            assert_eq!(out, number.to_string().into_bytes());
            assert_eq!(parse_u64(&out), Some(number));
        }
        for number in [0, 1, -1, 42, -42, i64::MAX, i64::MIN, i64::MIN + 1] {
            let mut out = Vec::new();
            push(&mut out, number);
            assert_eq!(out, number.to_string().into_bytes());
            assert_eq!(parse_i64(&out), Some(number));
        }
    }

    #[test]
    fn what_is_no_number_of_64_bits_is_none() {
        for text in ["", "-", "+1", "1 ", " 1", "a", "1a", "18446744073709551616", "99999999999999999999", "-1"] {
            assert_eq!(parse_u64(text.as_bytes()), None, "{text}");
        }
        for text in ["", "-", "--1", "9223372036854775808", "-9223372036854775809"] {
            assert_eq!(parse_i64(text.as_bytes()), None, "{text}");
        }
    }
}
