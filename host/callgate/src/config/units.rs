//! Durations, sizes and values as people write them.

use std::time::Duration;

use callgate_core::json::Json;

/// `250ms`, `60s`, `5m`, `24h`, `7d`.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let scale = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];
    measured(text, &scale)
        .map(Duration::from_millis)
        .ok_or_else(|| format!("`{text}` is no duration; write it like `250ms`, `60s`, `5m` or `24h`"))
}

/// `65536`, `64KiB`, `32MiB`, `1GiB`.
pub(super) fn bytes(text: &str) -> Result<u64, String> {
    let scale = [("", 1), ("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)];
    measured(text, &scale).ok_or_else(|| format!("`{text}` is no size; write it like `64KiB` or `32MiB`"))
}

fn measured(text: &str, scale: &[(&str, u64)]) -> Option<u64> {
    let digits = text.trim_end_matches(|unit: char| !unit.is_ascii_digit());
    let unit = text.strip_prefix(digits)?.trim();
    let (_, factor) = scale.iter().find(|(name, _)| *name == unit)?;
    digits.parse::<u64>().ok().filter(|number| *number > 0)?.checked_mul(*factor)
}

/// A TOML value as JSON. Dates have no JSON form; write them as strings.
pub(super) fn json(value: toml::Value) -> Result<Json, String> {
    Ok(match value {
        toml::Value::String(text) => text.into(),
        toml::Value::Integer(number) => number.into(),
        toml::Value::Float(number) => serde_json::Number::from_f64(number)
            .map(|number| serde_json::Value::Number(number).into())
            .ok_or_else(|| format!("{number} has no JSON form"))?,
        toml::Value::Boolean(value) => value.into(),
        toml::Value::Datetime(date) => return Err(format!("the date {date} has no JSON form; write it as a string")),
        toml::Value::Array(items) => items.into_iter().map(json).collect::<Result<Vec<_>, _>>()?.into(),
        toml::Value::Table(table) => {
            let members = table.into_iter().map(|(key, value)| Ok((key, json(value)?)));
            members.collect::<Result<callgate_core::json::Object, String>>()?.into()
        }
    })
}

#[cfg(test)]
mod tests {
    use super::{bytes, duration};
    use std::time::Duration;

    #[test]
    fn measures() {
        assert_eq!(duration("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(duration("24h"), Ok(Duration::from_secs(86_400)));
        assert_eq!(bytes("32MiB"), Ok(32 << 20));
        assert_eq!(bytes("65536"), Ok(65_536));
        for wrong in ["", "s", "0s", "-1s", "1.5s", "10", "1 week", "99999999999999999999h"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }
}
