//! Days and minutes.

use serde::Deserialize;

pub(crate) const MINUTES_A_DAY: i64 = 24 * 60;

/// A day of the week.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Day {
    /// Monday
    Mon,
    /// Tuesday
    Tue,
    /// Wednesday
    Wed,
    /// Thursday
    Thu,
    /// Friday
    Fri,
    /// Saturday
    Sat,
    /// Sunday
    Sun,
}

impl Day {
    /// The day that many days after 1970-01-01, which was a Thursday.
    fn since_epoch(days: i64) -> Self {
        match days.rem_euclid(7) {
            0 => Self::Thu,
            1 => Self::Fri,
            2 => Self::Sat,
            3 => Self::Sun,
            4 => Self::Mon,
            5 => Self::Tue,
            _ => Self::Wed,
        }
    }

    pub(crate) fn before(self) -> Self {
        match self {
            Self::Mon => Self::Sun,
            Self::Tue => Self::Mon,
            Self::Wed => Self::Tue,
            Self::Thu => Self::Wed,
            Self::Fri => Self::Thu,
            Self::Sat => Self::Fri,
            Self::Sun => Self::Sat,
        }
    }
}

/// The day and its minute, at an offset in minutes.
pub(crate) fn local(now_ms: u64, offset: i64) -> (Day, i64) {
    let minutes = i64::try_from(now_ms / 60_000).unwrap_or(i64::MAX / 2) + offset;
    (Day::since_epoch(minutes.div_euclid(MINUTES_A_DAY)), minutes.rem_euclid(MINUTES_A_DAY))
}

/// `HH:MM` from 00:00 to 24:00, in minutes.
pub(crate) fn time(text: &str) -> Option<i64> {
    let (hours, minutes) = text.split_once(':')?;
    let two_digits = |text: &str| text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
    if !two_digits(hours) || !two_digits(minutes) {
        return None;
    }
    let (hours, minutes): (i64, i64) = (hours.parse().ok()?, minutes.parse().ok()?);
    let total = hours * 60 + minutes;
    (minutes < 60 && total <= MINUTES_A_DAY).then_some(total)
}

/// `Z`, `+HH:MM` or `-HH:MM`, in minutes; at most 14 hours, as far as the world's clocks are apart.
pub(crate) fn offset(text: &str) -> Option<i64> {
    if text == "Z" {
        return Some(0);
    }
    let (sign, rest) = match text.split_at_checked(1)? {
        ("+", rest) => (1, rest),
        ("-", rest) => (-1, rest),
        _ => return None,
    };
    time(rest).filter(|minutes| *minutes <= 14 * 60).map(|minutes| sign * minutes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_offsets() {
        for (text, wanted) in [
            ("00:00", Some(0)),
            ("24:00", Some(1440)),
            ("09:30", Some(570)),
            ("9:30", None),
            ("24:01", None),
            ("12:60", None),
            ("+1:00", None),
        ] {
            assert_eq!(time(text), wanted, "{text}");
        }
        for (text, wanted) in
            [("Z", Some(0)), ("+01:00", Some(60)), ("-05:30", Some(-330)), ("01:00", None), ("+15:00", None), ("", None), ("é1:00", None)]
        {
            assert_eq!(offset(text), wanted, "{text}");
        }
    }
}
