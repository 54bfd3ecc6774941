//! Three-valued logic: true, false, or nobody can tell.

/// Whether a condition holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truth {
    /// It does not.
    False,
    /// Nobody can tell: a trap, an undecided predicate, a missing or wrongly typed value. Counts as a match in deny and ask
    /// rules, never in allow rules (T1).
    Failed,
    /// It does.
    True,
}

impl Truth {
    /// Strong Kleene negation: what cannot be told stays so.
    #[must_use]
    pub fn negate(self) -> Self {
        match self {
            Truth::False => Truth::True,
            Truth::Failed => Truth::Failed,
            Truth::True => Truth::False,
        }
    }

    /// Strong Kleene conjunction of values that are only asked for while they matter.
    pub fn all(values: impl Iterator<Item = Truth>) -> Self {
        let mut result = Truth::True;
        for value in values {
            match value {
                Truth::False => return Truth::False,
                Truth::Failed => result = Truth::Failed,
                Truth::True => {}
            }
        }
        result
    }

    /// Strong Kleene disjunction.
    pub fn any(values: impl Iterator<Item = Truth>) -> Self {
        Self::all(values.map(Truth::negate)).negate()
    }
}

impl From<bool> for Truth {
    fn from(value: bool) -> Self {
        if value { Truth::True } else { Truth::False }
    }
}

#[cfg(test)]
mod tests {
    use super::Truth::{self, Failed, False, True};

    #[test]
    fn strong_kleene_tables() {
        for (a, b, both, either) in [
            (True, True, True, True),
            (True, Failed, Failed, True),
            (True, False, False, True),
            (Failed, Failed, Failed, Failed),
            (Failed, False, False, Failed),
            (False, False, False, False),
        ] {
            for pair in [[a, b], [b, a]] {
                assert_eq!(Truth::all(pair.into_iter()), both, "{pair:?}");
                assert_eq!(Truth::any(pair.into_iter()), either, "{pair:?}");
            }
        }
        assert_eq!(Truth::all(std::iter::empty()), True);
        assert_eq!(Truth::any(std::iter::empty()), False);
    }
}
