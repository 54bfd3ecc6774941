//! What a line from a server is. Pure: a line in, a meaning out.

use callgate_core::json::{Json, Object, ParseError};

use crate::salvage;

/// What a line is.
#[derive(Debug, PartialEq)]
pub(crate) enum Incoming {
    /// An answer to a request of ours.
    Reply {
        /// Whose.
        id: ReplyId,
        /// What.
        answer: Answer,
    },
    /// A request of the server's.
    Request {
        /// Its id, to be answered as it came: a string or a number.
        id: Json,
        /// What it asks for.
        method: String,
        /// The details; `null` where there are none.
        params: Json,
    },
    /// A notification.
    Notice {
        /// What happened.
        method: String,
        /// The details; `null` where there are none.
        params: Json,
    },
    /// Text or JSON that is no message and does not look like one.
    Noise,
    /// Something that looks like a message, is none, and is nobody's answer.
    Malformed,
    /// Something that looks like a message but cannot be read: it may be anybody's answer.
    Garbled(ParseError),
    /// An array of messages. Only version 2025-03-26 had those, and only in answer to one.
    Batch,
}

/// Whose reply it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReplyId {
    /// The request of that number.
    Of(u64),
    /// Nobody knows: `null` says that the server could not read the request's id.
    Null,
    /// Something that is no id of ours.
    Foreign,
}

/// What a reply says.
#[derive(Debug, PartialEq)]
pub(crate) enum Answer {
    /// The result.
    Result(Json),
    /// A JSON-RPC error: code, and the whole error object.
    Error(i64, Json),
    /// Neither, or both: why.
    Malformed(&'static str),
    /// Not strict JSON: why, and the line.
    NotStrict(ParseError, String),
}

/// What this line is.
pub(crate) fn read(line: &[u8]) -> Incoming {
    match Json::parse_bytes(line) {
        Ok(Json::Object(object)) => message(object),
        Ok(Json::Array(_)) => Incoming::Batch,
        Ok(_) => Incoming::Noise,
        // A line of log often begins with `[`; a message that is no batch never does.
        Err(error) if line.trim_ascii_start().first() == Some(&b'{') => not_strict(line, error),
        Err(_) => Incoming::Noise,
    }
}

fn message(mut object: Object) -> Incoming {
    let is_message = object.get("jsonrpc").and_then(Json::as_str) == Some("2.0");
    let method = object.get("method").and_then(Json::as_str).map(str::to_owned);
    let has_method = object.contains_key("method");
    let id = object.shift_remove("id");
    let answers = object.contains_key("result") || object.contains_key("error");
    match (method, id) {
        // JSON logs are lines too.
        _ if !is_message && !answers => Incoming::Noise,
        (_, Some(id)) if !has_method => {
            let answer = if is_message { answer(object) } else { Answer::Malformed("without `\"jsonrpc\":\"2.0\"`") };
            Incoming::Reply { id: reply_id(&id), answer }
        }
        (Some(method), id) if is_message && !answers => {
            let params = object.shift_remove("params").unwrap_or(Json::Null);
            match id {
                None => Incoming::Notice { method, params },
                Some(id @ (Json::String(_) | Json::Number(_))) => Incoming::Request { id, method, params },
                Some(_) => Incoming::Malformed,
            }
        }
        _ => Incoming::Malformed,
    }
}

fn answer(mut object: Object) -> Answer {
    match (object.shift_remove("result"), object.shift_remove("error")) {
        (Some(result), None) => Answer::Result(result),
        (None, Some(error)) => {
            let code = error.get("code").and_then(Json::as_number).and_then(callgate_core::json::Number::as_i64);
            match (code, error.get("message").and_then(Json::as_str)) {
                (Some(code), Some(_)) => Answer::Error(code, error),
                _ => Answer::Malformed("with an error that has no code and message"),
            }
        }
        (Some(_), Some(_)) => Answer::Malformed("with both a result and an error"),
        (None, None) => Answer::Malformed("with neither a result nor an error"),
    }
}

fn reply_id(id: &Json) -> ReplyId {
    match id {
        Json::Null => ReplyId::Null,
        Json::Number(number) => number.as_u64().map_or(ReplyId::Foreign, ReplyId::Of),
        _ => ReplyId::Foreign,
    }
}

fn not_strict(line: &[u8], error: ParseError) -> Incoming {
    // What is not UTF-8 becomes a sign that no strict text holds, so that whatever it is in is refused when it is read again.
    let text: String = line.utf8_chunks().flat_map(|chunk| [chunk.valid(), if chunk.invalid().is_empty() { "" } else { "\0" }]).collect();
    let Some(members) = salvage::members(&text) else { return Incoming::Garbled(error) };
    let named = |name: &'static str| members.iter().filter(move |(key, _)| key == name);
    if named("method").next().is_some() || named("jsonrpc").next().is_none() {
        return Incoming::Malformed;
    }
    let mut ids = named("id").map(|(_, raw)| Json::parse(raw));
    match (ids.next(), ids.next()) {
        (Some(Ok(id)), None) => {
            let id = reply_id(&id);
            drop(ids);
            Incoming::Reply { id, answer: Answer::NotStrict(error, text) }
        }
        _ => Incoming::Garbled(error),
    }
}

#[cfg(test)]
mod tests {
    use super::{Answer, Incoming, ReplyId, read};

    fn kind(line: &str) -> String {
        match read(line.as_bytes()) {
            Incoming::Reply { id, answer } => {
                let id = if let ReplyId::Of(id) = id { id.to_string() } else { format!("{id:?}") };
                match answer {
                    Answer::Result(result) => format!("result {id} {result}"),
                    Answer::Error(code, _) => format!("error {id} {code}"),
                    Answer::Malformed(_) => format!("malformed {id}"),
                    Answer::NotStrict(error, _) => format!("not strict {id} {}", error.kind),
                }
            }
            Incoming::Request { id, method, .. } => format!("request {id} {method}"),
            Incoming::Notice { method, .. } => format!("notice {method}"),
            other => format!("{other:?}").split('(').next().unwrap().to_lowercase(),
        }
    }

    #[test]
    fn lines_mean_what_they_say() {
        for (line, expected) in [
            (r#"{"jsonrpc":"2.0","id":1,"result":{"a":1.0}}"#, r#"result 1 {"a":1.0}"#),
            (r#"{"jsonrpc":"2.0","id":1.0,"result":null}"#, "result 1 null"),
            (r#"{"jsonrpc":"2.0","id":"1","result":{}}"#, "result Foreign {}"),
            (r#"{"jsonrpc":"2.0","id":-1,"result":{}}"#, "result Foreign {}"),
            (r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":""}}"#, "error Null -32700"),
            (r#"{"jsonrpc":"2.0","id":1,"error":{"code":"x","message":""}}"#, "malformed 1"),
            (r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""},"result":{}}"#, "malformed 1"),
            (r#"{"jsonrpc":"2.0","id":1}"#, "malformed 1"),
            (r#"{"id":1,"result":{}}"#, "malformed 1"),
            (r#"{"jsonrpc":"2.0","result":{}}"#, "malformed"),
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, "request 1 ping"),
            (r#"{"jsonrpc":"2.0","id":"a","method":"ping"}"#, r#"request "a" ping"#),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, "malformed"),
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}"#, "malformed"),
            (r#"{"jsonrpc":"2.0","method":"x"}"#, "notice x"),
            (r#"{"jsonrpc":"2.0","method":7}"#, "malformed"),
            (r#"[{"jsonrpc":"2.0","id":1,"result":{}}]"#, "batch"),
            (r#"{"level":"info","msg":"hi"}"#, "noise"),
            ("Server running on stdio", "noise"),
            ("[12:00] INFO up", "noise"),
            ("42", "noise"),
            (r#"{"jsonrpc":"2.0","id":1,"result":{"a":1,"a":2}}"#, "not strict 1 duplicate key"),
            (r#"{"jsonrpc":"2.0","id":1,"result":"\ud800"}"#, "not strict 1 lone surrogate"),
            (r#"{"jsonrpc":"2.0","id":1,"id":2,"result":{}}"#, "garbled"),
            (r#"{"jsonrpc":"2.0","id":1,"result":{"#, "garbled"),
            (r#"{"jsonrpc":"2.0","method":"x","params":{"a":1,"a":1}}"#, "malformed"),
        ] {
            assert_eq!(kind(line), expected, "{line}");
        }
        assert!(matches!(
            read(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"\xff\"}"),
            Incoming::Reply { answer: Answer::NotStrict(..), .. }
        ));
        assert_eq!(read(b"\xff"), Incoming::Noise);
    }

    #[test]
    fn what_is_not_utf_8_is_not_made_good() {
        let line = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"tools\":[{\"name\":\"a\",\"title\":\"\xff\"},{\"name\":\"b\"}]}}";
        let Incoming::Reply { answer: Answer::NotStrict(_, text), .. } = read(line) else { panic!("no reply") };
        let kept = crate::salvage::listing(&text).unwrap();
        assert_eq!(kept.to_string(), r#"{"tools":[{"name":"a"},{"name":"b"}]}"#, "its name only");
    }
}
