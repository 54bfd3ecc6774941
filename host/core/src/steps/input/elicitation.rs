//! Elicitation: what a server may ask a person, and what goes back (MCP 2026-07-28, client/elicitation).

use url::{Host, Url};

use crate::handler::{ElicitAnswer, Elicitation};
use crate::json::{Json, Object};
use crate::schema::SchemaCache;
use crate::shape::clean_text;
use crate::upstream::InputKinds;

use super::Refused;

/// Characters of a message that a person is shown.
const MAX_MESSAGE_CHARS: usize = 4_000;
/// Fields that one form may have.
const MAX_FIELDS: usize = 50;
/// Words in a field's name or title that say that a secret is asked for. Secrets must not be asked for by form.
const SECRET_WORDS: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "secret",
    "api_key",
    "apikey",
    "api-key",
    "token",
    "credential",
    "private_key",
    "cvv",
    "pin_code",
];

/// Reads and checks an elicitation. A mode that is left out is a form.
pub(super) fn read(params: &Json, kinds: InputKinds) -> Result<Elicitation, Refused> {
    let text = |key| params.get(key).and_then(Json::as_str);
    let message = text("message").ok_or_else(|| unfit("it has no message"))?;
    let message: String = clean_text(message).text.chars().take(MAX_MESSAGE_CHARS).collect();
    let mode = params.get("mode").map_or("form", |mode| mode.as_str().unwrap_or_default());
    match mode {
        "form" if kinds.form => {
            let schema = params.get("requestedSchema").ok_or_else(|| unfit("it has no schema"))?;
            check_form(schema)?;
            Ok(Elicitation::Form { message, schema: schema.clone() })
        }
        "url" if kinds.url => {
            let url = text("url").ok_or_else(|| unfit("it has no URL"))?;
            check_url(url)?;
            Ok(Elicitation::Url { message, url: url.to_owned() })
        }
        _ => Err(Refused::Undeclared),
    }
}

/// A flat object of primitives, without fields for secrets, and without text that a person cannot see.
fn check_form(schema: &Json) -> Result<(), Refused> {
    let fields = schema.get("properties").and_then(Json::as_object);
    let (Some("object"), Some(fields)) = (schema.get("type").and_then(Json::as_str), fields) else {
        return Err(unfit("its schema is no flat object"));
    };
    if fields.len() > MAX_FIELDS {
        return Err(unfit("its form has too many fields"));
    }
    for (name, field) in fields {
        let title = field.get("title").and_then(Json::as_str).unwrap_or_default();
        let words = format!("{name} {title}").to_lowercase();
        if SECRET_WORDS.iter().any(|secret| words.contains(secret)) {
            return Err(unfit("its form asks for a secret"));
        }
        check_field(field)?;
    }
    if clean_text(&schema.to_string()).flags.is_empty() { Ok(()) } else { Err(unfit("its form has characters that cannot be seen")) }
}

fn check_field(field: &Json) -> Result<(), Refused> {
    let nested = || unfit("its form has a field that is no primitive");
    let field = field.as_object().ok_or_else(nested)?;
    if field.contains_key("properties") || field.contains_key("$ref") {
        return Err(nested());
    }
    match field.get("type").and_then(Json::as_str) {
        Some("string" | "number" | "integer" | "boolean") => Ok(()),
        Some("array") => {
            let choices = field.get("items").and_then(Json::as_object).ok_or_else(nested)?;
            if choices.contains_key("enum") || choices.contains_key("anyOf") { Ok(()) } else { Err(nested()) }
        }
        _ => Err(nested()),
    }
}

/// `https`, or `http` to this machine; no user name or password, nothing that cannot be seen.
fn check_url(text: &str) -> Result<(), Refused> {
    let url = Url::parse(text).map_err(|_| unfit("its URL is malformed"))?;
    let is_local = match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    let scheme = url.scheme() == "https" || url.scheme() == "http" && is_local;
    let plain = text.bytes().all(|byte| (0x21..0x7F).contains(&byte));
    if scheme && plain && url.has_host() && url.username().is_empty() && url.password().is_none() {
        Ok(())
    } else {
        Err(unfit("its URL is not a plain https one"))
    }
}

/// The answer for the server. Content must fit the form; a URL's consent has none.
pub(super) fn write(answer: ElicitAnswer, asked: &Elicitation, schemas: &SchemaCache) -> Result<Json, Refused> {
    let action = |action: &str| -> Json { [("action", action)].into_iter().collect() };
    match (answer, asked) {
        (ElicitAnswer::Decline, _) => Ok(action("decline")),
        (ElicitAnswer::Cancel, _) => Ok(action("cancel")),
        (ElicitAnswer::Accept(_), Elicitation::Url { .. }) => Ok(action("accept")),
        (ElicitAnswer::Accept(content), Elicitation::Form { schema, .. }) => {
            let content = fitting(content, schema, schemas)?;
            Ok([("action", Json::from("accept")), ("content", content)].into_iter().collect())
        }
    }
}

fn fitting(content: Object, schema: &Json, schemas: &SchemaCache) -> Result<Json, Refused> {
    let asked_for = |key: &str| schema.get("properties").is_some_and(|fields| fields.get(key).is_some());
    if let Some(unknown) = content.keys().find(|key| !asked_for(key)) {
        return Err(Refused::Unfit(format!("the answer has a field that was not asked for: `{unknown}`")));
    }
    let content = Json::from(content);
    let fits = schemas.get(schema).and_then(|schema| schema.check(&content));
    fits.map(|()| content).map_err(|error| Refused::Unfit(format!("the answer does not fit the form: {error}")))
}

fn unfit(why: &str) -> Refused {
    Refused::Unfit(why.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{check_url, read};
    use crate::json::Json;
    use crate::upstream::InputKinds;

    #[test]
    fn urls() {
        for (url, passes) in [
            ("https://example.com/x?y", true),
            ("http://localhost:8080/", true),
            ("http://127.0.0.1/", true),
            ("http://example.com/", false),
            ("https://user@example.com/", false),
            ("https://user:pass@example.com/", false),
            ("javascript:alert(1)", false),
            ("file:///etc/passwd", false),
            ("https://", false),
            ("https://exa\u{202e}mple.com/", false),
            ("https://example.com/ x", false),
        ] {
            assert_eq!(check_url(url).is_ok(), passes, "{url}");
        }
    }

    #[test]
    fn forms() {
        let kinds = InputKinds { form: true, ..InputKinds::default() };
        for (field, passes) in [
            (r#"{"type":"string"}"#, true),
            (r#"{"type":"array","items":{"enum":["a"]}}"#, true),
            (r#"{"type":"object","properties":{}}"#, false),
            (r#"{"type":"string","title":"Your Password"}"#, false),
            (r#"{"type":"array","items":{"type":"object"}}"#, false),
            (r#"{"type":"string","description":"a\u202eb"}"#, false),
            (r##"{"$ref":"#"}"##, false),
            (r#"true"#, false),
        ] {
            let params = format!(r#"{{"message":"m","requestedSchema":{{"type":"object","properties":{{"x":{field}}}}}}}"#);
            assert_eq!(read(&Json::parse(&params).unwrap(), kinds).is_ok(), passes, "{field}");
        }
    }

    #[test]
    fn undeclared_modes_are_refused() {
        let kinds = InputKinds { form: true, ..InputKinds::default() };
        for params in [
            r#"{"message":"m","mode":"url","url":"https://example.com"}"#,
            r#"{"message":"m","mode":"other"}"#,
            r#"{"message":"m","mode":1}"#,
        ] {
            assert_eq!(read(&Json::parse(params).unwrap(), kinds), Err(super::Refused::Undeclared));
        }
    }
}
