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

const TEN_TO_8: u64 = 100_000_000;

/// Writes a number.
pub fn push(out: &mut Vec<u8>, number: impl Decimal) {
    let (is_negative, number) = number.parts();
    if is_negative {
        out.push(b'-');
    }
    let (above, last) = (number / TEN_TO_8, number % TEN_TO_8);
    if above == 0 {
        return push_first(out, last);
    }
    let (first, middle) = (above / TEN_TO_8, above % TEN_TO_8);
    if first == 0 {
        push_first(out, middle);
    } else {
        push_first(out, first);
        push_eight(out, digits(middle));
    }
    push_eight(out, digits(last));
}

/// The values of the eight digits of a number below 10^8, the first one lowest: halved, and halved again, all at once.
fn digits(number: u64) -> u64 {
    let fours = (number / 10_000) | ((number % 10_000) << 32);
    let hundreds = ((fours * 10_486) >> 20) & 0x0000_007f_0000_007f;
    let pairs = hundreds | ((fours - 100 * hundreds) << 16);
    let tens = ((pairs * 103) >> 10) & 0x000f_000f_000f_000f;
    tens | ((pairs - 10 * tens) << 8)
}

fn push_eight(out: &mut Vec<u8>, digits: u64) {
    out.extend_from_slice(&(digits | ZEROS).to_le_bytes());
}

/// Writes a number below 10^8 without zeros before it.
fn push_first(out: &mut Vec<u8>, number: u64) {
    let digits = digits(number);
    // A zero alone is written.
    let zeros = (digits | 1 << 56).trailing_zeros() / 8;
    push_eight(out, digits >> (8 * zeros));
    out.truncate(out.len() - zeros as usize);
}

/// Eight times the digit 0, as text.
const ZEROS: u64 = 0x3030_3030_3030_3030;

/// How many digits a text begins with.
#[must_use]
pub fn leading_digits(text: &[u8]) -> usize {
    let mut count = 0;
    let (words, tail) = text.as_chunks::<8>();
    for word in words {
        let word = u64::from_le_bytes(*word) ^ ZEROS;
        // The highest bit of each byte that is no digit, up to the first such byte; what a sum carries goes behind it.
        let others = (word.wrapping_add(0x7676_7676_7676_7676) | word) & 0x8080_8080_8080_8080;
        if others != 0 {
            return count + (others.trailing_zeros() / 8) as usize;
        }
        count += 8;
    }
    count + tail.iter().take_while(|byte| byte.is_ascii_digit()).count()
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
    fn every_number_of_few_digits_is_written_as_the_formatter_writes_it() {
        let numbers = (0..100_000).chain((0..TEN_TO_8).step_by(9_973)).chain(TEN_TO_8 - 1_000..TEN_TO_8);
        for number in numbers {
            let mut out = Vec::new();
            push(&mut out, number);
            assert_eq!(out, number.to_string().into_bytes());
        }
    }

    #[test]
    fn leading_digits_end_at_the_first_other_byte() {
        for length in 0..30 {
            let digits: Vec<u8> = b"0123456789".iter().copied().cycle().take(length).collect();
            assert_eq!(leading_digits(&digits), length);
            for other in (0..=255_u8).filter(|byte| !byte.is_ascii_digit()) {
                let text = [&digits[..], &[other], b"12345678901234567"].concat();
                assert_eq!(leading_digits(&text), length, "{other}");
            }
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
