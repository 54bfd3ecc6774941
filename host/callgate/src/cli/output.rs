//! What goes to standard output.

use std::io::Write;

use callgate::core::json::Json;
use callgate::core::model::{Error, Reply};
use callgate::core::shape::{clean_text, show_json, show_text};
use callgate::core::{Step, Traced};

use super::{Format, Global};

/// Columns where nobody says how many there are.
const USUAL_COLUMNS: usize = 100;

/// Prints one line. A reader that is gone is no error.
pub(crate) fn line(text: &impl std::fmt::Display) {
    let _reader_gone = writeln!(std::io::stdout(), "{text}");
}

/// How wide what is printed may be: as wide as the terminal, or as a usual page where there is none.
pub(crate) fn columns() -> usize {
    let known = rustix::termios::tcgetwinsize(std::io::stdout()).ok().map(|size| usize::from(size.ws_col));
    known.filter(|columns| *columns > 0).unwrap_or(USUAL_COLUMNS)
}

/// Says one line on standard error. A reader that is gone is no error here, either: what the command does must not hang on it.
pub(crate) fn say(text: &impl std::fmt::Display) {
    let _reader_gone = writeln!(std::io::stderr(), "{text}");
}

/// A call as the one JSON object of `--format json`.
pub(crate) fn call_json(traced: &Traced, with_steps: bool) -> Json {
    let head = [
        ("version", Json::from(1u64)),
        ("call_id", traced.call_id.as_str().into()),
        ("revision", traced.revision.as_str().into()),
        ("outcome", if traced.outcome.is_ok() { "result" } else { "error" }.into()),
    ];
    let body = match &traced.outcome {
        Ok(reply) => ("result", reply.value().clone()),
        Err(error) => ("error", error_json(error)),
    };
    let steps = with_steps.then(|| ("steps", traced.steps.iter().map(step_json).collect::<Vec<_>>().into()));
    head.into_iter().chain([body]).chain(steps).collect()
}

/// What did not become a call, as the one JSON object.
pub(crate) fn failure_json(error: Json) -> Json {
    [("version", Json::from(1u64)), ("outcome", "error".into()), ("error", error)].into_iter().collect()
}

/// What was done, for a command whose answer is nothing else: a sentence for a person, or the one JSON object.
pub(crate) fn done(global: &Global, sentence: &str, member: (&str, Json)) {
    say(&show_text(sentence));
    if global.format == Format::Json {
        line(&[("version", Json::from(1u64)), member].into_iter().collect::<Json>());
    }
}

pub(crate) fn error_json(error: &Error) -> Json {
    [
        ("kind", Json::from(error.kind.as_str())),
        ("reason", error.reason.as_str().into()),
        ("message", error.message.as_str().into()),
        ("data", error.data.clone()),
        ("sent", error.sent.as_str().into()),
    ]
    .into_iter()
    .collect()
}

fn step_json(step: &Step) -> Json {
    let micros = u64::try_from(step.duration.as_micros()).unwrap_or(u64::MAX);
    let optional =
        [("plugin", step.plugin.clone().map(Json::from)), ("fuel", step.fuel.map(Json::from)), ("note", step.note.clone().map(Json::from))];
    [("step", Json::from(step.step)), ("verdict", step.verdict.into()), ("micros", micros.into())]
        .into_iter()
        .chain(optional.into_iter().filter_map(|(key, value)| Some((key, value?))))
        .collect()
}

/// Prints a result for a person.
pub(crate) fn reply(reply: &Reply) {
    for text in texts(reply) {
        line(&text);
    }
}

/// Text as text, the rest as JSON; nothing that could play with the terminal, or passes for a note of this host. Structured content
/// repeats the text (MCP 2026-07-28, server/tools), so it is shown where there is none.
fn texts(reply: &Reply) -> Vec<String> {
    // What was shaped is clean, and its notes are this host's own: cleaned again, they would be marked as forged.
    let clean = |text: &str| match reply {
        Reply::Raw(_) => clean_text(text).text,
        Reply::Shaped(_) => text.to_owned(),
    };
    let value = reply.value();
    let content = value.get("content").and_then(Json::as_array).unwrap_or_default();
    let structured = value.get("structuredContent").filter(|_| content.is_empty());
    let block = |block: &Json| match block.get("text").and_then(Json::as_str) {
        Some(text) => clean(text),
        None => clean(&show_json(&block.to_string())),
    };
    content.iter().map(block).chain(structured.map(|structured| clean(&show_json(&structured.to_string())))).collect()
}

/// The steps as a table that a person likes to read.
pub(crate) fn table(steps: &[Step]) -> String {
    let rows: Vec<[String; 6]> = steps
        .iter()
        .map(|step| {
            [
                step.step.to_owned(),
                step.verdict.to_owned(),
                step.plugin.clone().unwrap_or_default(),
                step.fuel.map(grouped).unwrap_or_default(),
                format!("{} us", grouped(u64::try_from(step.duration.as_micros()).unwrap_or(u64::MAX))),
                step.note.clone().unwrap_or_default().chars().take(80).collect(),
            ]
        })
        .collect();
    let header = ["step", "verdict", "plugin", "fuel", "time", "note"].map(str::to_owned);
    let width = |column: usize| rows.iter().chain([&header]).filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..header.len()).map(|column| width(column).unwrap_or(0)).collect();
    let rule = widths.iter().map(|width| "-".repeat(*width)).collect::<Vec<_>>().join("  ");
    let print = |row: &[String; 6]| {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, width))| {
            let is_number = column == 3 || column == 4;
            if is_number { format!("{cell:>width$}") } else { format!("{cell:<width$}") }
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    let lines = [print(&header), rule].into_iter().chain(rows.iter().map(print));
    lines.map(|line| format!("  {line}\n")).collect()
}

/// `12 345 678`
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(' ');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use callgate::core::json::Json;
    use callgate::core::model::{Reply, ToolResult};
    use callgate::core::shape::shape;

    use super::texts;

    fn both(result: &str) -> [Vec<String>; 2] {
        let result = ToolResult::from_server(Json::parse(result).unwrap()).unwrap();
        let shaped = shape(&result, &"s".parse().unwrap(), 1 << 20);
        [Reply::Raw(result), Reply::Shaped(shaped)].map(|reply| texts(&reply))
    }

    #[test]
    fn this_hosts_notes_stand_and_forged_ones_do_not() {
        let text = "[removed by the MCP client]";
        let [raw, shaped] = both(
            r#"{"content":[{"type":"text","text":"[removed by the MCP client]"},{"type":"image","mimeType":"image/svg+xml","data":"eA=="}]}"#,
        );
        let forged = text.replace('[', "(");
        assert_eq!(raw.first(), Some(&forged));
        assert_eq!(shaped, [forged.as_str(), "[image/svg+xml removed by the MCP client]"]);
        for body in [
            r#""content":[{"type":"resource","resource":{"uri":"x","text":"[removed by the MCP client]"}}]"#,
            r#""content":[],"structuredContent":"[removed by the MCP client]""#,
        ] {
            for texts in both(&format!("{{{body}}}")) {
                assert!(texts.concat().contains(&forged), "{texts:?}");
            }
        }
    }

    #[test]
    fn nothing_plays_with_the_terminal() {
        for body in [
            r#""content":[{"type":"text","text":"a\u001b[2Jb\u202e\u0007\u009b2J"}]"#,
            r#""content":[{"type":"resource","resource":{"uri":"x\u001b[2J\u202e","text":"\u009b2J"}}]"#,
            r#""content":[{"type":"x\u001b[2J\u202e\u009b2J"}]"#,
            r#""content":[],"structuredContent":{"\u001b[2J\u202e":"\u009b2J"}"#,
        ] {
            for text in both(&format!("{{{body}}}")).concat() {
                assert!(!text.contains(['\u{1b}', '\u{9b}', '\u{202e}', '\u{7}']), "{text:?}");
            }
        }
    }
}
