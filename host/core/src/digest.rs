//! SHA-256 digests: of arguments and of definitions. The one place that makes either.

use std::fmt::{Debug, Display, Formatter};
use std::str::FromStr;

use sha2::{Digest as _, Sha256};

use crate::json::Json;

/// SHA-256, written in lower-case hexadecimal.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

/// A text that is not 64 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no SHA-256 digest: 64 hexadecimal digits are expected")]
pub struct InvalidDigest(String);

impl Digest {
    /// Of bytes.
    #[must_use]
    pub fn of(bytes: impl AsRef<[u8]>) -> Self {
        Self(Sha256::digest(bytes.as_ref()).into())
    }

    /// Of the canonical form of a value.
    #[must_use]
    pub fn of_json(value: &Json) -> Self {
        Self::of(value.canonical())
    }

    /// Of several texts, so that no two different lists share a digest.
    #[must_use]
    pub fn of_parts<'a>(parts: impl IntoIterator<Item = &'a str>) -> Self {
        let list: Vec<Json> = parts.into_iter().map(Json::from).collect();
        Self::of_json(&list.into())
    }

    /// The 32 bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl Display for Digest {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl Debug for Digest {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        Display::fmt(self, f)
    }
}

impl FromStr for Digest {
    type Err = InvalidDigest;

    fn from_str(text: &str) -> Result<Self, InvalidDigest> {
        let invalid = || InvalidDigest(text.to_owned());
        let digits: Vec<u8> = text.chars().filter_map(|digit| digit.to_digit(16)).filter_map(|digit| u8::try_from(digit).ok()).collect();
        if text.len() != 64 || digits.len() != 64 {
            return Err(invalid());
        }
        let bytes: Vec<u8> = digits.chunks_exact(2).map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit)).collect();
        bytes.try_into().map(Self).map_err(|_| invalid())
    }
}

macro_rules! digest_of {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub Digest);

        impl Display for $name {
            fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
                Display::fmt(&self.0, f)
            }
        }

        impl FromStr for $name {
            type Err = InvalidDigest;

            fn from_str(text: &str) -> Result<Self, InvalidDigest> {
                text.parse().map(Self)
            }
        }
    };
}

digest_of!(
    /// SHA-256 over the canonical JSON of a tool's raw definition, unknown fields included (PO-6).
    Fingerprint
);
digest_of!(
    /// SHA-256 over the canonical JSON of a call's arguments (PO-11).
    ArgsDigest
);

#[cfg(test)]
mod tests {
    use super::Digest;

    #[test]
    fn digests_are_read_back() {
        let digest = Digest::of("x");
        assert_eq!(digest.to_string().parse(), Ok(digest));
        for invalid in ["", "00", &"g".repeat(64), &"0".repeat(63), &"é".repeat(32)] {
            assert!(invalid.parse::<Digest>().is_err(), "{invalid}");
        }
    }

    #[test]
    fn lists_do_not_run_together() {
        assert_ne!(Digest::of_parts(["ab", "c"]), Digest::of_parts(["a", "bc"]));
        assert_ne!(Digest::of_parts(["a", ""]), Digest::of_parts(["a"]));
    }
}
