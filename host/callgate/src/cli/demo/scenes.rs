//! The scenes, and the configuration that they are played under.

use std::path::Path;

use super::{Expected, Line, Scene, always, no};

const READ: Line = line("read_note", r#"{"path":"todo.txt"}"#, sent(r#"\"path\":\"/notes/todo.txt\""#));
const WRITE: Line = line("write_note", r#"{"path":"todo.txt","text":"milk"}"#, sent(r#"\"text\":\"milk\""#));

pub(super) fn all() -> Vec<Scene> {
    vec![
        scene("A call is allowed, and its argument rewritten into the allowed folder.", vec![READ]),
        scene("A call is denied by a rule.", vec![line("read_note", r#"{"path":"/notes/.keys"}"#, error("denied", "deny_rule"))]),
        scene(
            "A hidden tool is answered exactly like one that does not exist.",
            vec![
                line("delete_notes", "{}", error("not_found", "unknown_tool")),
                line("no_such_tool", "{}", error("not_found", "unknown_tool")),
            ],
        ),
        scene(
            "A call ends with a canned answer; nothing is sent.",
            vec![line("weather", r#"{"city":"Oslo"}"#, Expected::Result { holds: "Take a coat", lacks: None })],
        ),
        Scene {
            answers: vec![always()],
            ..scene("A person is asked once and says always; the second call is settled by the grant.", vec![WRITE, WRITE])
        },
        Scene {
            changed: true,
            answers: vec![no("I did not agree to copies")],
            ..scene(
                "The tool's definition has changed since: the grant does not count, and a person is asked again.",
                vec![line("write_note", r#"{"path":"todo.txt","text":"milk"}"#, error("denied", "ask_denied"))],
            )
        },
        Scene {
            answers: vec![no("not with a web page in the turn")],
            ..scene(
                "With a web page in the turn, a call that reaches outside is asked about.",
                vec![Line { taint: &["web"], ..line("send_mail", r#"{"to":"x@example.com"}"#, error("denied", "ask_denied")) }],
            )
        },
        scene(
            "A plugin loops for ever: the call is denied, and the host goes on.",
            vec![line("translate", r#"{"text":"hello"}"#, error("hook", "hook_failed")), READ],
        ),
        scene(
            "A result's invisible characters are gone before a model reads it.",
            vec![Line {
                llm: true,
                ..line("read_page", r#"{"url":"hours"}"#, Expected::Result { holds: "tag_chars", lacks: Some('\u{202e}') })
            }],
        ),
    ]
}

pub(super) fn configuration(program: &Path, plugins: &Path, folder: &Path) -> String {
    let (program, plugins, folder) = (program.display(), plugins.display(), folder.display());
    format!(
        r#"
[server.notebook]
command = ['{program}', 'demo-server', '--changed-while', '{folder}/changed']
trust_annotations = true

[plugin.hide-destructive]
path = '{plugins}/hide-destructive.wasm'
[plugin.path-guard]
path = '{plugins}/path-guard.wasm'
settings = {{ roots = ["/notes"], arguments = ["/path"] }}
[plugin.canned-answer]
path = '{plugins}/canned-answer.wasm'
settings = {{ answers = [{{ tool = "weather", text = "Take a coat." }}] }}
[plugin.looper]
path = '{plugins}/looper.wasm'
[plugin.ask-person]
path = '{plugins}/ask-person.wasm'

[pipeline]
filters = ["hide-destructive"]
pre_hooks = [
    {{ plugin = "path-guard", may = ["deny", {{ rewrite = ["/path"] }}], match = {{ tool = "*_note" }} }},
    {{ plugin = "canned-answer", may = ["halt"], match = {{ tool = "weather" }} }},
    {{ plugin = "looper", match = {{ tool = "translate" }} }},
]
approver = {{ plugin = "ask-person", may = ["always"] }}

[policy]
deny  = [{{ name = "no-dotfiles", all = [{{ argument = {{ pointer = "/path", exists = true }} }}, {{ argument = {{ pointer = "/path", regex = "(^|/)[.]" }} }}] }}]
ask   = [{{ name = "exfiltration", all = [{{ annotation = {{ open_world = true }} }}, {{ tainted = {{}} }}] }}]
allow = [{{ name = "read-only", annotation = {{ read_only = true }} }}]

[store]
path = '{folder}/state.db'
"#
    )
}

fn scene(title: &'static str, calls: Vec<Line>) -> Scene {
    Scene { title, answers: Vec::new(), changed: false, calls }
}

const fn line(tool: &'static str, arguments: &'static str, expected: Expected) -> Line {
    Line { tool, arguments, taint: &[], llm: false, expected }
}

/// The server says what arrived: this, inside its own text.
const fn sent(arguments: &'static str) -> Expected {
    Expected::Result { holds: arguments, lacks: None }
}

const fn error(kind: &'static str, reason: &'static str) -> Expected {
    Expected::Error { kind, reason }
}
