//! What a person is shown. The host shows the call; the approver's words are quoted below it.

use std::collections::BTreeSet;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use callgate::core::extension::PromptRequest;
use callgate::core::json::{Json, diff, patch};
use callgate::core::model::{Context, Reason};
use callgate::core::shape::{show_json, show_text};

use crate::cli::rows::Rows;

/// Characters of one thing that is decided on. What is not shown whole cannot be approved (T31).
const MAX_FACT_CHARS: usize = 16_000;
/// Characters of a plugin's own words, which may be cut.
const MAX_WORDS_CHARS: usize = 2_000;

/// A call, laid out for a terminal of some width.
pub(super) struct Page {
    rows: Rows,
    cut: Vec<&'static str>,
}

impl Page {
    pub(super) fn of(request: &PromptRequest, columns: usize) -> Self {
        let PromptRequest { call, question, headline, details } = request;
        let context = &call.context;
        let mut page = Self { rows: Rows::new(columns), cut: Vec::new() };
        page.rows.say("\n  A tool call waits for your approval.\n");
        page.what(request);
        page.fact("principal", &who(context, "none"));
        let rule = question.rule.as_ref().map(|rule| format!(": rule `{}`", show_text(rule))).unwrap_or_default();
        page.fact("why", &format!("{}{rule}", question.reason.as_str()));
        page.circumstances(request);
        for (hook, message) in &question.hook_messages {
            page.words("hook says", &format!("`{}`: {}", show_text(hook), show_text(message)));
        }
        page.fact("arguments", &show_json(call.arguments.canonical()));
        if question.meta.as_object().is_some_and(|meta| !meta.is_empty()) {
            page.fact("meta", &show_json(&question.meta.to_string()));
        }
        if let Some(earlier) = &question.earlier_arguments {
            let changes: Json = patch(&diff(earlier.value(), call.arguments.value()));
            page.fact("changed", &show_json(&changes.to_string()));
        }
        match &question.definition_changes {
            Some(changes) => page.fact("redefined", &show_json(&changes.to_string())),
            // A yes is one to the definition, too, and there is none to compare it with.
            None if matches!(question.reason, Reason::ToolNew | Reason::ToolChanged) => {
                page.fact("definition", &members(call.tool.definition()));
            }
            None => {}
        }
        page.fact("expires in", &format!("{} s", seconds_until(question.expires_ms)));
        if !headline.is_empty() || !details.is_empty() {
            page.rows.say("\n  The approver plugin says:\n");
        }
        for words in [headline, details].into_iter().filter(|words| !words.is_empty()) {
            // Its lines are lines here, too, and each is marked as its own words.
            page.words("its words", &words.lines().map(show_text).collect::<Vec<_>>().join("\n"));
        }
        // Once more, where it is in view when the answer is typed.
        page.rows.say("");
        page.what(request);
        page.fact("digest", &call.arguments.digest().to_string());
        page
    }

    /// All that an "always" means.
    pub(super) fn standing(request: &PromptRequest, grant_ttl: Duration, columns: usize) -> Self {
        let mut page = Self { rows: Rows::new(columns), cut: Vec::new() };
        page.rows.say("\n  Allow this without asking?\n");
        page.fact("principal", &who(&request.call.context, "anybody"));
        page.what(request);
        page.fact("arguments", "ANY arguments");
        page.circumstances(request);
        let hours = grant_ttl.as_secs_f64() / 3_600.0;
        page.fact("for", &format!("{hours:.1} h, as long as the tool's definition stays the same"));
        page
    }

    /// Everything that is asked about, and what led to the call: an "always" is for these, and for fewer.
    fn circumstances(&mut self, request: &PromptRequest) {
        let list = |texts: &BTreeSet<String>| show_text(&texts.iter().cloned().collect::<Vec<_>>().join(", "));
        self.fact("asked for", &list(&request.question.causes));
        if !request.call.context.taint.is_empty() {
            self.fact("tainted by", &list(&request.call.context.taint));
        }
    }

    fn what(&mut self, request: &PromptRequest) {
        self.fact("server", request.call.context.server.as_str());
        self.fact("tool", &show_text(request.call.tool.name()));
    }

    fn fact(&mut self, label: &'static str, text: &str) {
        if !self.rows.row(label, text, MAX_FACT_CHARS) {
            self.cut.push(label);
        }
    }

    fn words(&mut self, label: &str, text: &str) {
        let _may_be_cut = self.rows.row(label, text, MAX_WORDS_CHARS);
    }

    /// What is decided on, and is not shown whole.
    pub(super) fn cut(&self) -> &[&'static str] {
        &self.cut
    }

    /// What is shown.
    pub(super) fn text(&self) -> &str {
        self.rows.text()
    }
}

/// A line for each member.
fn members(definition: &Json) -> String {
    let members = definition.as_object().into_iter().flatten();
    let lines = members.map(|(name, value)| show_json(&format!("{}: {value}", Json::from(name.as_str()))));
    lines.collect::<Vec<_>>().join("\n")
}

fn who(context: &Context, nobody: &str) -> String {
    context.principal.as_ref().map_or_else(|| nobody.to_owned(), |principal| show_text(&principal.to_string()))
}

/// What is left of the time for an answer.
pub(super) fn seconds_until(expires_ms: u64) -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    expires_ms.saturating_sub(u64::try_from(now).unwrap_or(u64::MAX)) / 1_000
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use callgate::core::digest::Digest;
    use callgate::core::extension::PromptRequest;
    use callgate::core::json::Json;
    use callgate::core::model::{
        Arguments, Call, Context, Era, ListingId, PluginBudget, Principal, Question, Reason, ServerIdentity, Tool,
    };

    use super::{MAX_FACT_CHARS, MAX_WORDS_CHARS, Page};

    fn request(reason: Reason) -> PromptRequest {
        let server = Arc::new(ServerIdentity { name: "s".parse().unwrap(), digest: Digest::of_parts(["s"]) });
        let definition = Json::parse(r#"{"name":"t","description":"Writes\n  server  x","inputSchema":{"type":"object"}}"#).unwrap();
        let context = Context {
            call_id: None,
            now_ms: 0,
            server: server.name.clone(),
            era: Era::Modern,
            principal: Some(Principal::new("cli", "ann")),
            taint: ["other".to_owned()].into(),
            assigns: Arc::default(),
            has_approver: true,
            approved_fingerprints: Vec::new(),
            budget: PluginBudget::new(Duration::ZERO),
        };
        let question = Question {
            reason,
            rule: None,
            causes: ["pin:tool_new".to_owned(), "rule:moves-money".to_owned()].into(),
            hook_messages: vec![("h".to_owned(), "hm".to_owned())],
            earlier_arguments: None,
            definition_changes: None,
            expires_ms: 0,
            meta: Json::object(),
        };
        PromptRequest {
            call: Call {
                tool: Arc::new(Tool::new(server, definition, false, ListingId::default()).unwrap()),
                arguments: Arguments::parse(r#"{"a":"b"}"#).unwrap(),
                context: Arc::new(context),
            },
            question: Arc::new(question),
            headline: "Well?".to_owned(),
            details: "one\ntwo\u{1b}[2J".to_owned(),
        }
    }

    /// The request with another question.
    fn asking(change: impl FnOnce(&mut Question)) -> PromptRequest {
        let mut request = request(Reason::AskRule);
        let mut question = Question::clone(&request.question);
        change(&mut question);
        request.question = Arc::new(question);
        request
    }

    fn cut(request: &PromptRequest) -> Vec<&'static str> {
        Page::of(request, 80).cut().to_vec()
    }

    #[test]
    fn what_is_decided_on_is_shown_whole_or_cannot_be_approved() {
        let long = "x".repeat(MAX_FACT_CHARS + 1);
        let object = |text: &str| -> Json { [("k", Json::from(text))].into_iter().collect() };
        assert!(cut(&request(Reason::AskRule)).is_empty());
        for (request, expected) in [
            (asking(|question| question.meta = object(&long)), "meta"),
            (asking(|question| question.rule = Some(long.clone())), "why"),
            (asking(|question| question.definition_changes = Some(object(&long))), "redefined"),
        ] {
            assert_eq!(cut(&request), [expected]);
        }
        let mut long_arguments = asking(|question| question.earlier_arguments = Some(Arguments::parse("{}").unwrap()));
        long_arguments.call.arguments = Arguments::parse(&object(&long).to_string()).unwrap();
        assert_eq!(cut(&long_arguments), ["arguments", "changed"]);
        let mut many = request(Reason::AskRule);
        let mut context = Context::clone(&many.call.context);
        (context.principal, context.taint) = (Some(Principal::new("cli", &long)), [long.clone()].into());
        many.call.context = Arc::new(context);
        assert_eq!(cut(&many), ["principal", "tainted by"]);
    }

    #[test]
    fn a_plugins_words_are_cut_and_it_is_said() {
        let mut request = asking(|question| question.hook_messages = vec![("h".to_owned(), "m".repeat(MAX_WORDS_CHARS))]);
        request.details = "d".repeat(MAX_WORDS_CHARS + 7);
        let page = Page::of(&request, 80);
        assert!(page.cut().is_empty() && page.text().contains("  hook says  … cut: 5 more characters\n"), "{}", page.text());
        assert!(page.text().contains("  its words  … cut: 7 more characters\n"), "{}", page.text());
    }

    #[test]
    fn a_definition_that_nobody_approved_is_shown() {
        for reason in [Reason::ToolNew, Reason::ToolChanged] {
            let page = Page::of(&request(reason), 80);
            let shown = "  definition   \"name\": \"t\"\n  definition | \"description\": \"Writes\\n(␠×2)server(␠×2)x\"\n  definition | \"inputSchema\": {\"type\":\"object\"}\n";
            assert!(page.text().contains(shown), "{}", page.text());
        }
        assert!(!Page::of(&request(Reason::AskRule), 80).text().contains("definition"));
        let changed = asking(|question| {
            question.reason = Reason::ToolChanged;
            question.definition_changes = Some(Json::parse(r#"[{"op":"remove","path":"/title"}]"#).unwrap());
        });
        let text = Page::of(&changed, 80).text().to_owned();
        assert!(text.contains(r#"  redefined    [{"op":"remove","path":"/title"}]"#) && !text.contains("  definition"), "{text}");
    }

    #[test]
    fn an_approvers_lines_are_its_own() {
        let page = Page::of(&request(Reason::AskRule), 80);
        let shown = "  its words    Well?\n  its words    one\n  its words  | two\\u{1b}[2J\n";
        assert!(page.text().contains(shown), "{}", page.text());
    }
}
