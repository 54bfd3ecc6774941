//! Finding out whose a message is that the strict reader refused, and keeping the good tools of a listing that holds a bad one.
//!
//! Nothing read here reaches a caller unchecked: members found by this scanner only say which call fails, and every tool that is
//! kept has been read strictly by itself. The unit that is refused is the result or the tool, not the connection (T16).
//!
//! Of two tools with one name neither is offered (T23), so a bad tool must not hide that it is a twin. In its place stand its
//! names, each as an object with nothing else: that is no definition and is dropped where tools are resolved, but its twins are
//! dropped with it. All its names count, where it has several. A page with a bad tool whose names cannot be told is refused whole.

use callgate_core::json::{Json, MAX_TREE_BYTES, Object, ParseErrorKind};

/// Members of the object that `text` seems to be, equal keys included, values as raw text; none where it is no object.
pub(crate) fn members(text: &str) -> Option<Vec<(String, &str)>> {
    let parts = elements(text.trim().strip_prefix('{')?.strip_suffix('}')?)?;
    parts.into_iter().map(member).collect()
}

/// The result of a `tools/list` reply in which only tools are not strict JSON: of those only their names are left. None where
/// anything else is wrong, or a name cannot be told.
pub(crate) fn listing(reply: &str) -> Option<Json> {
    let result = only(members(reply)?)?.into_iter().find(|(key, _)| key == "result")?.1;
    let mut kept = Object::new();
    for (key, raw) in only(members(result)?)? {
        let value = if key == "tools" { tools(raw)? } else { Json::parse(raw).ok()? };
        kept.insert(key, value);
    }
    Some(Json::Object(kept))
}

/// All tools share the memory that one text may take: what was refused for its size is not let in piece by piece.
fn tools(text: &str) -> Option<Json> {
    let (mut kept, mut budget) = (Vec::new(), MAX_TREE_BYTES);
    for item in elements(text.trim().strip_prefix('[')?.strip_suffix(']')?)? {
        match Json::parse_within(item, &mut budget) {
            Ok(tool) => kept.push(tool),
            Err(error) if error.kind == ParseErrorKind::Size => return None,
            Err(_) => kept.extend(names(item)?),
        }
    }
    Some(Json::Array(kept))
}

/// What is left of a bad tool.
fn names(item: &str) -> Option<Vec<Json>> {
    let named = members(item)?.into_iter().filter(|(key, _)| key == "name");
    let names: Vec<Json> = named.map(|(key, raw)| Some([(key, Json::parse(raw).ok()?)].into_iter().collect())).collect::<Option<_>>()?;
    // What seems to have no name is no tool that this scanner knows how to read.
    (!names.is_empty()).then_some(names)
}

/// The members, unless two have one key.
fn only(members: Vec<(String, &str)>) -> Option<Vec<(String, &str)>> {
    let mut keys: Vec<&String> = members.iter().map(|(key, _)| key).collect();
    keys.sort();
    let twins = keys.windows(2).any(|pair| pair.first() == pair.last());
    (!twins).then_some(members)
}

fn member(text: &str) -> Option<(String, &str)> {
    let text = text.trim();
    let end = string_end(text)?;
    let (key, rest) = text.split_at_checked(end)?;
    let Ok(Json::String(key)) = Json::parse(key) else { return None };
    Some((key, rest.trim_start().strip_prefix(':')?.trim()))
}

/// What commas separate outside of strings and brackets; none for brackets that do not match, and for signs that JSON does not have.
fn elements(text: &str) -> Option<Vec<&str>> {
    if text.trim().is_empty() {
        return Some(Vec::new());
    }
    let (mut parts, mut depth, mut start, mut at) = (Vec::new(), 0_usize, 0, 0);
    while let Some(byte) = text.as_bytes().get(at) {
        match byte {
            b'"' => at += string_end(text.get(at..)?)? - 1,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.checked_sub(1)?,
            b',' if depth == 0 => {
                parts.push(text.get(start..at)?);
                start = at + 1;
            }
            b',' | b':' | b'.' | b'+' | b'-' | b' ' | b'\t' | b'\r' | b'\n' => {}
            byte if byte.is_ascii_alphanumeric() => {}
            // No JSON: it could begin a comment or another kind of string, and then commas and quotes mean something else.
            _ => return None,
        }
        at += 1;
    }
    parts.push(text.get(start..)?);
    (depth == 0).then_some(parts)
}

/// Where the string ends that `text` begins with.
fn string_end(text: &str) -> Option<usize> {
    let mut bytes = text.bytes().enumerate();
    let (_, b'"') = bytes.next()? else { return None };
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'"' => return Some(at + 1),
            b'\\' => drop(bytes.next()),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{listing, members};

    #[test]
    fn members_are_found_in_what_is_not_strict() {
        let found = members(r#" {"id": 7, "result":{"a":1,"a":"},\"{"} ,"x":[{},[]]} "#).unwrap();
        let found: Vec<_> = found.iter().map(|(key, raw)| (key.as_str(), *raw)).collect();
        assert_eq!(found, [("id", "7"), ("result", r#"{"a":1,"a":"},\"{"}"#), ("x", "[{},[]]")]);
        for text in ["", "{", "[1]", r#"{"a":{}"#, r#"{"a}"#, "{1:2}", r#"{"a":1}}"#, r#"{"a":]}"#, r#"{"a":'b'}"#, r#"{"a":1/**/}"#] {
            assert_eq!(members(text), None, "{text}");
        }
    }

    #[test]
    fn a_bad_tool_costs_itself_and_its_twins_only() {
        let kept =
            |tools: &str| Some(listing(&format!(r#"{{"id":1,"result":{{"tools":[{tools}],"ttlMs":5}}}}"#))?.get("tools")?.to_string());
        for (bad, left) in [
            (r#"{"name":"b","x":1,"x":2}"#, r#"{"name":"b"}"#),
            (r#"{"n\u0061me":"\u0062","title":"\ud800"}"#, r#"{"name":"b"}"#),
            (r#"{"name":"b","name":"c","inputSchema":{"name":"d"}}"#, r#"{"name":"b"},{"name":"c"}"#),
            (r#"{"name":"b","name":7}"#, r#"{"name":"b"},{"name":7}"#),
        ] {
            assert_eq!(kept(&format!(r#"{bad},{{"name":"a"}}"#)).unwrap(), format!(r#"[{left},{{"name":"a"}}]"#), "{bad}");
        }
        for unnamed in [
            r#"{"name":"b\ud800"}"#,
            r#"{"name":"b","name":"\x62"}"#,
            r#"{"x":1,"x":2}"#,
            r#"{"x\ud800":1,"name":"b"}"#,
            r#"[{"name":"b","name":"b"}]"#,
            r#"{"name":"b","x":'"',"name":"c","y":'"'}"#,
            r#"{"name":"b","x":1/*"*/,"name":"c"/*"*/}"#,
            "",
        ] {
            assert_eq!(kept(&format!(r#"{{"name":"a"}},{unnamed}"#)), None, "{unnamed}");
        }
    }

    #[test]
    fn what_is_too_large_as_a_whole_is_not_let_in_piece_by_piece() {
        let brackets = |count: usize| format!(r#"{{"name":"a","x":[{}]}}"#, vec!["[]"; count].join(","));
        let page = |count: usize| {
            format!(r#"{{"id":1,"result":{{"tools":[{},{{"n":1,"name":"b","n":1}}]}}}}"#, vec![brackets(count); 64].join(","))
        };
        assert!(listing(&page(1_000)).is_some());
        assert!(listing(&page(80_000)).is_none());
    }

    #[test]
    fn what_is_wrong_outside_of_tools_costs_the_page() {
        let reply = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","name":"a"}],"ttlMs":5}}"#;
        assert_eq!(listing(reply).unwrap().to_string(), r#"{"tools":[{"name":"a"},{"name":"a"}],"ttlMs":5}"#);
        for reply in [
            r#"{"id":1,"result":{"tools":[],"tools":[]}}"#,
            r#"{"id":1,"result":{"tools":[]},"result":{"tools":[]}}"#,
            r#"{"id":1,"result":{"tools":[],"x":{"a":1,"a":2}}}"#,
        ] {
            assert_eq!(listing(reply), None, "{reply}");
        }
    }
}
