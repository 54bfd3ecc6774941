//! `${VAR}` and `${VAR:-default}` in string values, after parsing. A bare `$VAR` stays as it is; `$${` is a literal `${`.

use callgate_core::json::Json;

/// Expands one text.
pub(super) fn text(text: &str, variables: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut expanded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        if let Some(literal) = before.strip_suffix('$') {
            expanded.push_str(literal);
            expanded.push_str("${");
            rest = after;
            continue;
        }
        let (reference, after) = after.split_once('}').ok_or_else(|| format!("`{text}` has a `${{` without its `}}`"))?;
        let (name, default) = reference.split_once(":-").map_or((reference, None), |(name, default)| (name, Some(default)));
        let value = variables(name).filter(|value| !(value.is_empty() && default.is_some())).or_else(|| default.map(str::to_owned));
        let value =
            value.ok_or_else(|| format!("the environment variable `{name}` is not set; set it, or write `${{{name}:-default}}`"))?;
        expanded.push_str(before);
        expanded.push_str(&value);
        rest = after;
    }
    expanded.push_str(rest);
    Ok(expanded)
}

/// Expands every string in a value, keys excepted, and says whether anything was.
pub(super) fn json(value: &mut Json, variables: &dyn Fn(&str) -> Option<String>) -> Result<bool, String> {
    match value {
        Json::String(string) => {
            let expanded = text(string, variables)?;
            let changed = expanded != *string;
            *string = expanded;
            Ok(changed)
        }
        Json::Array(items) => items.iter_mut().try_fold(false, |changed, item| Ok(json(item, variables)? | changed)),
        Json::Object(object) => object.values_mut().try_fold(false, |changed, item| Ok(json(item, variables)? | changed)),
        _ => Ok(false),
    }
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn references() {
        let variables = |name: &str| match name {
            "HOME" => Some("/home/me".to_owned()),
            "EMPTY" => Some(String::new()),
            "TRICK" => Some("${HOME}".to_owned()),
            _ => None,
        };
        for (written, read) in [
            ("${HOME}/x", Ok("/home/me/x")),
            ("$HOME and $$ and }", Ok("$HOME and $$ and }")),
            ("$${HOME}", Ok("${HOME}")),
            ("${NONE:-a}${EMPTY:-b}", Ok("ab")),
            ("${EMPTY}", Ok("")),
            ("${TRICK}", Ok("${HOME}")),
            ("${NONE}", Err("`NONE`")),
            ("${HOME", Err("without")),
        ] {
            match (text(written, &variables), read) {
                (Ok(got), Ok(read)) => assert_eq!(got, read, "{written}"),
                (Err(got), Err(read)) => assert!(got.contains(read), "{written}: {got}"),
                (got, read) => panic!("{written}: {got:?}, not {read:?}"),
            }
        }
    }
}
