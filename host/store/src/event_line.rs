//! One event as one line of JSON. Pure. Codes, names, digests and durations only: whatever an event captured of arguments or results
//! is not read here, so that it cannot be written (T22).

use std::time::Duration;

use callgate_core::json::{Json, Object};
use callgate_core::observe::{Event, Outcome, Subject};

/// The form of the lines. Members may be added under one version; none changes its meaning.
const VERSION: u64 = 1;

/// A line without its end. `dropped` lines before it are missing.
pub(crate) fn line(event: &Event<'_>, unix_ms: u64, dropped: u64) -> String {
    let mut line = Line::default();
    line.put("version", VERSION);
    line.put("time", time(unix_ms));
    if dropped > 0 {
        line.put("dropped", dropped);
    }
    match event {
        Event::Policy { call, decision } => {
            line.event("policy", call);
            line.put("effect", decision.effect.as_str());
            line.put("reason", decision.reason.as_str());
            line.put("rule", decision.rule.clone());
        }
        Event::HookStop { call, step, plugin, verdict, fuel, duration } => {
            line.event("hook_stop", call);
            line.put("step", *step);
            line.put("plugin", *plugin);
            line.put("outcome", *verdict);
            line.put("fuel", *fuel);
            line.put("micros", micros(*duration));
        }
        Event::HookException { call, step, plugin, failure, duration } => {
            line.event("hook_exception", call);
            line.put("step", *step);
            line.put("plugin", *plugin);
            line.put("failure", failure.kind.as_str());
            line.put("limit", failure.limit.map(callgate_core::model::Limit::as_str));
            line.put("micros", micros(*duration));
        }
        Event::BaselineRecorded { server, tools } => {
            line.put("event", "baseline_recorded");
            line.put("server", server.as_str());
            line.put("tools", u64::try_from(*tools).unwrap_or(u64::MAX));
        }
        Event::ToolDropped { server, index, defect } => {
            line.put("event", "tool_dropped");
            line.put("server", server.as_str());
            line.put("index", u64::try_from(*index).unwrap_or(u64::MAX));
            line.put("defect", defect.as_str());
        }
        Event::ToolRenamed { server, from, to } => {
            line.put("event", "tool_renamed");
            line.put("server", server.as_str());
            line.put("from", *from);
            line.put("to", *to);
        }
        Event::ToolCallStop { call, digest, outcome, duration, arguments: _, result: _ } => {
            line.event("tool_call_stop", call);
            line.put("digest", digest.map(|digest| digest.to_string()));
            line.outcome(*outcome);
            line.put("micros", micros(*duration));
        }
    }
    Json::Object(line.0).to_string()
}

#[derive(Default)]
struct Line(Object);

impl Line {
    fn put(&mut self, key: &str, value: impl Into<Json>) {
        self.0.insert(key.to_owned(), value.into());
    }

    fn event(&mut self, event: &str, call: &Subject) {
        self.put("event", event);
        self.put("call_id", call.call_id.as_ref().map(|id| id.as_str()));
        self.put("server", call.server.as_str());
        self.put("tool", call.tool.as_str());
        self.put("principal", call.principal.as_ref().map(ToString::to_string));
        self.put("revision", call.revision.as_str());
    }

    fn outcome(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Result { is_error, synthetic } => {
                self.put("outcome", "result");
                self.put("is_error", is_error);
                self.put("synthetic", synthetic);
            }
            Outcome::Error { kind, reason, sent } => {
                self.put("outcome", "error");
                self.put("kind", kind.as_str());
                self.put("reason", reason.as_str());
                self.put("sent", sent.as_str());
            }
        }
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

/// RFC 3339 in UTC, to the millisecond.
fn time(unix_ms: u64) -> String {
    let (seconds, ms) = (unix_ms / 1000, unix_ms % 1000);
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = date(days);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{ms:03}Z", second / 3600, second / 60 % 60, second % 60)
}

/// The date of a day since 1970 in the Gregorian calendar: "days to civil", counted from 1 March of the year 0, so that a leap day
/// is the last of its year.
fn date(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::time;

    #[test]
    fn times_are_those_of_date() {
        for (ms, expected) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (951_868_799_999, "2000-02-29T23:59:59.999Z"),
            (1_796_083_200_123, "2026-12-01T00:00:00.123Z"),
            (4_107_542_399_000, "2100-02-28T23:59:59.000Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
        ] {
            assert_eq!(time(ms), expected);
        }
    }
}
