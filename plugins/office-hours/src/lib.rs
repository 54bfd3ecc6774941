//! Holds during office hours, on the call's own time: a decision that is replayed tomorrow comes out the same.

mod clock;

use callgate_sdk::prelude::*;
use serde::Deserialize;

use clock::{Day, MINUTES_A_DAY};

/// When the office is open, as it is written down.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The days on which a window begins.
    #[serde(default = "working_days")]
    days: Vec<Day>,
    /// `HH:MM`, the first minute of the window.
    from: String,
    /// `HH:MM`, the first minute after it; at or before `from` it is the next day's. `24:00` is the end of the day.
    to: String,
    /// `+HH:MM`, `-HH:MM` or `Z`.
    #[serde(default = "utc")]
    utc_offset: String,
}

fn working_days() -> Vec<Day> {
    vec![Day::Mon, Day::Tue, Day::Wed, Day::Thu, Day::Fri]
}

fn utc() -> String {
    "Z".to_owned()
}

/// When the office is open, in minutes.
#[derive(Debug)]
pub struct Hours {
    days: Vec<Day>,
    from: i64,
    to: i64,
    offset: i64,
}

/// Reads the times.
pub fn configure(settings: Settings) -> Result<Hours, String> {
    let time = |name: &str, text: &str| clock::time(text).ok_or_else(|| format!("`{text}` in `{name}` is no time of day such as 09:00"));
    let (from, to) = (time("from", &settings.from)?, time("to", &settings.to)?);
    if from == to {
        return Err("`from` and `to` are the same; for whole days say from 00:00 to 24:00".to_owned());
    }
    if settings.days.is_empty() {
        return Err("`days` must name at least one day".to_owned());
    }
    let offset = clock::offset(&settings.utc_offset)
        .ok_or_else(|| format!("`{}` in `utc_offset` is no offset such as +01:00", settings.utc_offset))?;
    Ok(Hours { days: settings.days, from, to, offset })
}

impl Hours {
    /// Whether the window of some day holds this time.
    fn hold(&self, now_ms: u64) -> bool {
        let (day, minute) = clock::local(now_ms, self.offset);
        let open = |day: Day| self.days.contains(&day);
        if self.from < self.to {
            return open(day) && (self.from..self.to).contains(&minute);
        }
        // Over midnight: tonight's window has begun, or last night's goes on.
        (open(day) && (self.from..MINUTES_A_DAY).contains(&minute)) || (open(day.before()) && minute < self.to)
    }
}

/// A match while the office is open.
pub fn is_open(_call: &ToolCall, context: &Context) -> Result<bool, String> {
    Ok(settings::<Hours>()?.hold(context.now_ms()))
}

callgate_sdk::export!(predicate = is_open, configure = configure);

#[cfg(test)]
mod tests {
    use super::*;

    callgate_sdk::fixtures!("fixtures");

    /// 2026-01-01, a Thursday.
    const THURSDAY: u64 = 1_767_225_600_000;
    const HOUR: u64 = 3_600_000;

    fn hours(days: &[Day], from: &str, to: &str, offset: &str) -> Hours {
        let settings = Settings { days: days.into(), from: from.into(), to: to.into(), utc_offset: offset.into() };
        configure(settings).unwrap()
    }

    #[test]
    fn both_edges_of_a_window() {
        let nine_to_five = hours(&[Day::Thu], "09:00", "17:00", "Z");
        for (at, wanted) in [(9 * HOUR - 1, false), (9 * HOUR, true), (17 * HOUR - 1, true), (17 * HOUR, false), (33 * HOUR, false)] {
            assert_eq!(nine_to_five.hold(THURSDAY + at), wanted, "{at}");
        }
    }

    #[test]
    fn a_night_belongs_to_the_day_on_which_it_begins() {
        let thursday_night = hours(&[Day::Thu], "22:00", "06:00", "Z");
        for (at, wanted) in [(0, false), (5, false), (21, false), (22, true), (24, true), (29, true), (30, false), (46, false)] {
            assert_eq!(thursday_night.hold(THURSDAY + at * HOUR), wanted, "{at}");
        }
    }

    #[test]
    fn the_offset_moves_the_day_too() {
        let all_thursday = |offset| hours(&[Day::Thu], "00:00", "24:00", offset);
        assert!(!all_thursday("Z").hold(THURSDAY - HOUR));
        assert!(all_thursday("+02:00").hold(THURSDAY - HOUR));
        assert!(!all_thursday("-02:00").hold(THURSDAY + HOUR));
        assert!(!all_thursday("-02:00").hold(0) && hours(&[Day::Wed], "00:00", "24:00", "-02:00").hold(0));
    }

    #[test]
    fn an_end_of_24_00_or_00_00_is_midnight() {
        assert!(hours(&[Day::Thu], "20:00", "24:00", "Z").hold(THURSDAY + 23 * HOUR));
        assert!(hours(&[Day::Thu], "20:00", "00:00", "Z").hold(THURSDAY + 23 * HOUR));
        assert!(!hours(&[Day::Thu], "20:00", "00:00", "Z").hold(THURSDAY + 24 * HOUR));
        assert!(!hours(&[Day::Thu], "24:00", "06:00", "Z").hold(THURSDAY + 23 * HOUR));
    }
}
