//! A caller's `_meta`: what of it may reach the server (MCP 2026-07-28, basic/index, `_meta`).

use crate::json::{Json, Object};

/// Bare keys that the protocol reserves.
const RESERVED: &[&str] = &["progressToken", "traceparent", "tracestate", "baggage"];
/// Of these, the ones that pass where the host sets none: trace context (SEP-414).
const TRACE_CONTEXT: &[&str] = &["traceparent", "tracestate", "baggage"];
/// Bytes that a trace context value may have; W3C's own limits are 512 and 8192.
const MAX_TRACE_BYTES: usize = 8_192;

/// The members that may pass: those of a well-formed key that the protocol does not reserve, and a trace context.
pub(super) fn kept(meta: &Object) -> Object {
    let passes = |key: &str, value: &Json| {
        if TRACE_CONTEXT.contains(&key) {
            value.as_str().is_some_and(|text| text.len() <= MAX_TRACE_BYTES && text.bytes().all(|byte| (0x20..0x7F).contains(&byte)))
        } else {
            !RESERVED.contains(&key) && is_free(key)
        }
    };
    meta.iter().filter(|(key, value)| passes(key, value)).map(|(key, value)| (key.clone(), value.clone())).collect()
}

/// The caller's members and the host's; the host's win.
pub(super) fn merged(caller: &Object, host: Object) -> Object {
    let mut meta = kept(caller);
    meta.extend(host);
    meta
}

/// Whether a key is well-formed and not in a prefix whose second label is `modelcontextprotocol` or `mcp`; older revisions also
/// reserve those whose first label is.
fn is_free(key: &str) -> bool {
    let (prefix, name) = key.rsplit_once('/').map_or((None, key), |(prefix, name)| (Some(prefix), name));
    let labels: Vec<&str> = prefix.into_iter().flat_map(|prefix| prefix.split('.')).collect();
    let words = ["modelcontextprotocol", "mcp"];
    let reserved = labels.iter().take(2).any(|label| words.iter().any(|word| label.eq_ignore_ascii_case(word)));
    !reserved && labels.iter().all(|label| is_label(label)) && is_name(name)
}

fn is_label(label: &str) -> bool {
    label.starts_with(|first: char| first.is_ascii_alphabetic())
        && label.ends_with(|last: char| last.is_ascii_alphanumeric())
        && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphanumeric())
        && name.ends_with(|last: char| last.is_ascii_alphanumeric())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::{kept, merged};
    use crate::json::{Json, Object};

    fn object(text: &str) -> Object {
        Json::parse(text).unwrap().as_object().unwrap().clone()
    }

    #[test]
    fn reserved_keys_are_dropped_and_trace_context_passes() {
        for (key, passes) in [
            ("com.example/x", true),
            ("com.example.mcp/x", true),
            ("plain", true),
            ("io.modelcontextprotocol/protocolVersion", false),
            ("dev.mcp/x", false),
            ("mcp.dev/x", false),
            ("com.mcp.tools/x", false),
            ("com.MCP/x", false),
            ("progressToken", false),
            ("traceparent", true),
            ("", false),
            ("a b", false),
            ("x/", false),
            ("-x/y", false),
        ] {
            assert_eq!(kept(&object(&format!(r#"{{"{key}":"v"}}"#))).len(), usize::from(passes), "{key}");
        }
        assert!(kept(&object(r#"{"traceparent":1}"#)).is_empty());
    }

    #[test]
    fn the_host_wins() {
        let meta = merged(&object(r#"{"a":"1","traceparent":"caller"}"#), object(r#"{"traceparent":"host"}"#));
        assert_eq!(meta.get("traceparent"), Some(&Json::from("host")));
        assert_eq!(meta.len(), 2);
    }
}
