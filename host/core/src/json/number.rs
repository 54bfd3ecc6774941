//! Numbers as tokens, and what value a token has.

use std::borrow::Cow;

/// A JSON number, kept as the token that was read.
///
/// Two numbers are equal when their values are, whatever their spelling: `1`, `1.0` and `10e-1` are one number.
#[derive(Clone, Debug)]
pub struct Number(Box<str>);

/// A token's exact value: `sign * digits * 10^exponent`, digits without leading or trailing zeros; empty digits are zero.
#[derive(PartialEq, Eq)]
struct Decimal {
    negative: bool,
    digits: String,
    exponent: i64,
}

impl Number {
    /// A token that the reader has found to fit the grammar of JSON numbers.
    pub(super) fn from_token(token: &str) -> Self {
        Self(token.into())
    }

    pub(super) fn from_serde(number: &serde_json::Number) -> Self {
        Self(number.to_string().into())
    }

    /// The token as it was read.
    #[must_use]
    pub fn as_token(&self) -> &str {
        &self.0
    }

    /// The value where it is an integer that a signed 64-bit one holds: `3.0` is 3.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        self.0.parse().ok().or_else(|| self.integer_digits()?.parse().ok())
    }

    /// The value where it is an integer that an unsigned 64-bit one holds.
    #[must_use]
    pub fn as_u64(&self) -> Option<u64> {
        self.0.parse().ok().or_else(|| self.integer_digits()?.parse().ok())
    }

    /// The nearest double; infinite for a token beyond its range.
    #[must_use]
    pub fn as_f64(&self) -> f64 {
        self.0.parse().unwrap_or(f64::NAN)
    }

    /// Whether [`Number::canonical`] has the same value as the token. Arguments with other numbers are refused: somebody on the
    /// way to the server would read another value than the policy did.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        if self.as_i64().is_some() || self.as_u64().is_some() {
            return true;
        }
        let double = self.as_f64();
        double.is_finite()
            && match (Decimal::of(&self.0), Decimal::of(ryu_js::Buffer::new().format(double))) {
                (Some(token), Some(written)) => token == written,
                _ => false,
            }
    }

    /// The canonical token: RFC 8785's, except that integers keep all their digits, so that two different integers never share a
    /// digest. A token beyond the range of doubles keeps its exact value too.
    #[must_use]
    pub fn canonical(&self) -> Cow<'_, str> {
        if let Some(value) = self.as_i64() {
            return Cow::Owned(value.to_string());
        }
        if let Some(value) = self.as_u64() {
            return Cow::Owned(value.to_string());
        }
        let double = self.as_f64();
        let written = ryu_js::Buffer::new().format_finite(if double.is_finite() { double } else { 0.0 }).to_owned();
        let Some(exact) = Decimal::of(&self.0) else { return Cow::Borrowed(&self.0) };
        let lossy_integer = exact.exponent >= 0 && Decimal::of(&written).is_none_or(|seen| seen != exact);
        if double.is_finite() && !lossy_integer { Cow::Owned(written) } else { Cow::Owned(exact.to_string()) }
    }

    /// The digits of an integral value that could be a 64-bit one.
    fn integer_digits(&self) -> Option<String> {
        let decimal = Decimal::of(&self.0)?;
        let zeros = usize::try_from(decimal.exponent).ok().filter(|zeros| zeros + decimal.digits.len() <= 20)?;
        if decimal.digits.is_empty() {
            return Some("0".to_owned());
        }
        let sign = if decimal.negative { "-" } else { "" };
        Some(format!("{sign}{}{}", decimal.digits, "0".repeat(zeros)))
    }

    pub(super) fn to_serde(&self) -> serde_json::Number {
        if let Some(value) = self.as_i64() {
            return value.into();
        }
        if let Some(value) = self.as_u64() {
            return value.into();
        }
        let nearest = self.as_f64().clamp(f64::MIN, f64::MAX);
        serde_json::Number::from_f64(nearest).unwrap_or_else(|| 0.into())
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0 || Decimal::of(&self.0) == Decimal::of(&other.0) && Decimal::of(&self.0).is_some()
    }
}

impl From<u64> for Number {
    fn from(value: u64) -> Self {
        Self(value.to_string().into())
    }
}

impl From<i64> for Number {
    fn from(value: i64) -> Self {
        Self(value.to_string().into())
    }
}

impl Decimal {
    /// None where the exponent is beyond any that could matter; such a token is compared and digested as it stands.
    fn of(token: &str) -> Option<Self> {
        let (negative, token) = token.strip_prefix('-').map_or((false, token), |rest| (true, rest));
        let (mantissa, exponent) = token.split_once(['e', 'E']).unwrap_or((token, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = format!("{whole}{fraction}");
        let significant = all.trim_start_matches('0');
        let digits = significant.trim_end_matches('0');
        if digits.is_empty() {
            return Some(Self { negative: false, digits: String::new(), exponent: 0 });
        }
        let dropped = i64::try_from(significant.len() - digits.len()).ok()?;
        let exponent = exponent.parse::<i64>().ok()?.checked_sub(i64::try_from(fraction.len()).ok()?)?.checked_add(dropped)?;
        Some(Self { negative, digits: digits.to_owned(), exponent })
    }
}

impl std::fmt::Display for Decimal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sign = if self.negative { "-" } else { "" };
        match usize::try_from(self.exponent) {
            Ok(zeros) if zeros + self.digits.len() <= 400 => write!(f, "{sign}{}{}", self.digits, "0".repeat(zeros)),
            _ => write!(f, "{sign}{}e{}", self.digits, self.exponent),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Number;

    #[test]
    fn canonical_numbers_follow_rfc_8785_and_keep_integers() {
        for (token, canonical) in [
            ("0", "0"),
            ("-0", "0"),
            ("-0.0", "0"),
            ("1.0", "1"),
            ("1e2", "100"),
            ("4.50", "4.5"),
            ("2e-3", "0.002"),
            ("333333333.33333329", "333333333.3333333"),
            ("1E30", "1e+30"),
            ("0.000000000000000000000000001", "1e-27"),
            ("9007199254740993", "9007199254740993"),
            ("18446744073709551615", "18446744073709551615"),
            ("18446744073709551616", "18446744073709551616"),
            ("-9223372036854775808", "-9223372036854775808"),
            ("-9223372036854775809", "-9223372036854775809"),
            ("1e400", "1e400"),
            ("1e-400", "0"),
        ] {
            assert_eq!(Number::from_token(token).canonical(), canonical, "{token}");
        }
    }

    #[test]
    fn numbers_that_would_change_are_not_exact() {
        for exact in ["0", "-1", "1.5", "0.1", "1e300", "18446744073709551615", "-9223372036854775808", "100e-2", "1e20"] {
            assert!(Number::from_token(exact).is_exact(), "{exact}");
        }
        for lossy in ["18446744073709551616", "-9223372036854775809", "0.10000000000000000001", "1e400", "1e-400", "1e99999999999999999999"]
        {
            assert!(!Number::from_token(lossy).is_exact(), "{lossy}");
        }
    }

    #[test]
    fn equality_is_by_value() {
        assert_eq!(Number::from_token("1"), Number::from_token("10e-1"));
        assert_eq!(Number::from_token("0"), Number::from_token("-0.0"));
        assert_ne!(Number::from_token("9007199254740993"), Number::from_token("9007199254740992"));
    }
}
