//! Step 9: sending, once, with all rounds in which the server asks for input.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test that cannot go on must fail where it stands")]

mod support;

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use callgate_core::handler::{ElicitAnswer, Elicitation, Handler, Root};
use callgate_core::json::Json;
use callgate_core::model::{CallOptions, Era, Error, Kind, Reason, Sent, ServerName};
use callgate_core::upstream::InputRefusal;
use support::*;

const ALL: Kinds = Kinds { form: true, url: true, sampling: true, roots: true };
const FORM: &str = r#""method":"elicitation/create","params":{"message":"Who?","requestedSchema":{"type":"object","properties":{"n":{"type":"string"}},"required":["n"]}}"#;
const URL: &str =
    r#""method":"elicitation/create","params":{"mode":"url","message":"Go","url":"https://example.com/x","elicitationId":"e"}"#;
const SAMPLE: &str = r#""method":"sampling/createMessage","params":{"messages":[],"maxTokens":10}"#;
const ROOTS: &str = r#""method":"roots/list""#;

/// Answers everything, and writes down what it saw.
struct Answering {
    kinds: Kinds,
    elicit: ElicitAnswer,
    sample: Option<Json>,
    roots: Option<Vec<Root>>,
    saw: Arc<Mutex<Vec<String>>>,
}

impl Answering {
    fn everything() -> Self {
        Self {
            kinds: ALL,
            elicit: ElicitAnswer::Accept(object(r#"{"n":"me"}"#)),
            sample: Some(json(r#"{"role":"assistant"}"#)),
            roots: Some(vec![Root { uri: "file:///srv".to_owned(), name: Some("srv".to_owned()) }]),
            saw: Arc::default(),
        }
    }
}

#[async_trait]
impl Handler for Answering {
    fn kinds(&self) -> Kinds {
        self.kinds
    }

    async fn elicit(&self, server: &ServerName, elicitation: Elicitation) -> ElicitAnswer {
        self.saw.lock().unwrap().push(format!("{server} {elicitation:?}"));
        self.elicit.clone()
    }

    async fn sample(&self, server: &ServerName, params: Json) -> Option<Json> {
        self.saw.lock().unwrap().push(format!("{server} {params}"));
        self.sample.clone()
    }

    async fn roots(&self, server: &ServerName) -> Option<Vec<Root>> {
        self.saw.lock().unwrap().push(format!("{server} roots"));
        self.roots.clone()
    }
}

fn asks(request: &str) -> Json {
    input_required(&format!(r#""inputRequests":{{"k":{{{request}}}}},"requestState":"s""#))
}

fn world(server: Server, handler: Answering) -> World {
    Setup::policy(server.declare(ALL), allowing()).handler(handler).build()
}

/// What the second round carries besides the call itself.
fn second(world: &World) -> String {
    let mut params = json(&world.server.rounds()[1]).as_object().unwrap().clone();
    params.shift_remove("name");
    params.shift_remove("arguments");
    Json::from(params).to_string()
}

#[tokio::test]
async fn each_kind_of_input_is_answered() {
    for (name, request, answer) in [
        ("form", FORM, r#"{"action":"accept","content":{"n":"me"}}"#),
        ("url", URL, r#"{"action":"accept"}"#),
        ("sampling", SAMPLE, r#"{"role":"assistant"}"#),
        ("roots", ROOTS, r#"{"roots":[{"uri":"file:///srv","name":"srv"}]}"#),
    ] {
        let world = world(Server::new().replies([asks(request)]), Answering::everything());
        assert_eq!(world.said().await, "ok", "{name}");
        assert_eq!(second(&world), format!(r#"{{"inputResponses":{{"k":{answer}}},"requestState":"s"}}"#), "{name}");
    }
}

#[tokio::test]
async fn the_handler_sees_cleaned_text() {
    let handler = Answering::everything();
    let saw = handler.saw.clone();
    let request = FORM.replace("Who?", "Who\u{202e}?");
    let world = world(Server::new().replies([asks(&request)]), handler);
    world.said().await;
    assert!(saw.lock().unwrap()[0].starts_with(r#"files Form { message: "Who?""#));
}

#[tokio::test]
async fn answers_of_a_person() {
    for (name, answer, outcome) in [
        ("decline", ElicitAnswer::Decline, r#"{"action":"decline"}"#),
        ("cancel", ElicitAnswer::Cancel, r#"{"action":"cancel"}"#),
        ("does not fit", ElicitAnswer::Accept(object(r#"{"n":1}"#)), "upstream/input_refused/unknown"),
        ("lacks a field", ElicitAnswer::Accept(object("{}")), "upstream/input_refused/unknown"),
        ("has a field too many", ElicitAnswer::Accept(object(r#"{"n":"me","more":"x"}"#)), "upstream/input_refused/unknown"),
    ] {
        let world = world(Server::new().replies([asks(FORM)]), Answering { elicit: answer, ..Answering::everything() });
        let said = world.said().await;
        if said == "ok" {
            assert_eq!(second(&world), format!(r#"{{"inputResponses":{{"k":{outcome}}},"requestState":"s"}}"#), "{name}");
        } else {
            assert_eq!(said, outcome, "{name}");
            assert_eq!(world.server.rounds().len(), 1, "{name}");
        }
    }
}

#[tokio::test]
async fn what_was_not_declared_is_refused_before_anyone_sees_it() {
    let without = |change: fn(&mut Kinds)| {
        let mut kinds = ALL;
        change(&mut kinds);
        kinds
    };
    for (name, request, kinds) in [
        ("form", FORM, without(|kinds| kinds.form = false)),
        ("url", URL, without(|kinds| kinds.url = false)),
        ("sampling", SAMPLE, without(|kinds| kinds.sampling = false)),
        ("roots", ROOTS, without(|kinds| kinds.roots = false)),
        ("another method", r#""method":"tools/list""#, ALL),
        ("no method", r#""params":{}"#, ALL),
    ] {
        for (declared, handled) in [(kinds, ALL), (ALL, kinds)] {
            if declared == ALL && handled == ALL && kinds != ALL {
                continue;
            }
            let handler = Answering { kinds: handled, ..Answering::everything() };
            let saw = handler.saw.clone();
            let server = Server::new().declare(declared).replies([asks(request)]);
            let world = Setup::policy(server, allowing()).handler(handler).build();
            assert_eq!(world.said().await, "upstream/input_refused/unknown", "{name}");
            assert!(saw.lock().unwrap().is_empty(), "{name}");
            assert_eq!(world.server.rounds().len(), 1, "{name}");
        }
    }
    let world = Setup::policy(Server::new().declare(ALL).replies([asks(ROOTS)]), allowing()).build();
    assert_eq!(world.said().await, "upstream/input_refused/unknown", "without a handler");
}

#[tokio::test]
async fn requests_that_fail_a_check_are_refused() {
    let form = |schema: &str| format!(r#""method":"elicitation/create","params":{{"message":"m","requestedSchema":{schema}}}"#);
    let field = |field: &str| form(&format!(r#"{{"type":"object","properties":{{{field}}}}}"#));
    let url = |url: &str| format!(r#""method":"elicitation/create","params":{{"mode":"url","message":"m","url":"{url}"}}"#);
    let sample = |members: &str| format!(r#""method":"sampling/createMessage","params":{{{members}}}"#);
    for (name, request) in [
        ("a password", field(r#""password":{"type":"string"}"#)),
        ("a token by its title", field(r#""x":{"type":"string","title":"API Token"}"#)),
        ("a nested object", field(r#""x":{"type":"object","properties":{}}"#)),
        ("no schema", r#""method":"elicitation/create","params":{"message":"m"}"#.to_owned()),
        ("no message", r#""method":"elicitation/create","params":{"requestedSchema":{"type":"object","properties":{}}}"#.to_owned()),
        ("too many fields", field(&(0..51).map(|n| format!(r#""f{n}":{{"type":"string"}}"#)).collect::<Vec<_>>().join(","))),
        ("what cannot be seen", field(r#""x":{"type":"string","description":"a\u200bb"}"#)),
        ("plain http", url("http://example.com/")),
        ("a password in a URL", url("https://me:pw@example.com/")),
        ("a script", url("javascript:alert(1)")),
        ("no messages", sample(r#""maxTokens":1"#)),
        ("no limit", sample(r#""messages":[]"#)),
        ("too many tokens", sample(r#""messages":[],"maxTokens":99999999"#)),
        ("other servers' context", sample(r#""messages":[],"maxTokens":1,"includeContext":"allServers""#)),
        ("tools", sample(r#""messages":[],"maxTokens":1,"tools":[]"#)),
        ("a request that is no object", String::new()),
    ] {
        let handler = Answering::everything();
        let saw = handler.saw.clone();
        let world = world(Server::new().replies([asks(&request)]), handler);
        assert_eq!(world.said().await, "upstream/input_refused/unknown", "{name}");
        assert!(saw.lock().unwrap().is_empty(), "{name}");
    }
}

#[tokio::test]
async fn nobody_answers() {
    for (name, request, handler) in [
        ("sampling", SAMPLE, Answering { sample: None, ..Answering::everything() }),
        ("roots", ROOTS, Answering { roots: None, ..Answering::everything() }),
        (
            "a root that is no file",
            ROOTS,
            Answering { roots: Some(vec![Root { uri: "https://x".to_owned(), name: None }]), ..Answering::everything() },
        ),
    ] {
        let world = world(Server::new().replies([asks(request)]), handler);
        assert_eq!(world.said().await, "upstream/input_failed/unknown", "{name}");
    }
}

#[tokio::test]
async fn state_is_echoed_byte_for_byte_and_rounds_repeat_the_call() {
    let state = "\u{e9}\u{0}\\\"\u{2028} e30=";
    let reply: Json = [("resultType", Json::from("input_required")), ("requestState", state.into())].into_iter().collect();
    let server = Server::new().host_meta(object(r#"{"h":1}"#)).replies([reply, input_required(r#""requestState":"second""#)]);
    let world = world(server, Answering::everything());
    let with_meta = call("read", r#"{"b":2,"a":1}"#).with(CallOptions { meta: object(r#"{"m":1}"#), ..CallOptions::default() });
    assert_eq!(said(&world.run(with_meta).await), "ok");
    let rounds: Vec<Json> = world.server.rounds().iter().map(|round| json(round)).collect();
    assert_eq!(rounds[0].get("requestState"), None);
    assert_eq!(rounds[1].get("requestState").unwrap().as_str(), Some(state));
    assert_eq!(rounds[2].get("requestState").unwrap().as_str(), Some("second"));
    for round in &rounds {
        assert_eq!(round.get("arguments").unwrap().to_string(), r#"{"a":1,"b":2}"#);
        assert_eq!(round.get("_meta").unwrap().to_string(), r#"{"m":1,"h":1}"#);
        assert_eq!(round.get("inputResponses"), None);
    }
    assert_eq!(world.server.call_ids().iter().collect::<std::collections::BTreeSet<_>>().len(), 1, "one logical call");
}

#[tokio::test]
async fn state_that_is_gone_is_not_sent_again() {
    let server = Server::new().replies([asks(ROOTS), input_required(&format!(r#""inputRequests":{{"k":{{{ROOTS}}}}}"#))]);
    let world = world(server, Answering::everything());
    assert_eq!(world.said().await, "ok");
    assert_eq!(json(&world.server.rounds()[2]).get("requestState"), None);
}

#[tokio::test]
async fn a_broken_round_is_an_error() {
    for (name, reply, outcome) in [
        ("asks for nothing", input_required(r#""x":1"#), "upstream/protocol/unknown"),
        ("asks for nothing, with an empty map", input_required(r#""inputRequests":{}"#), "upstream/protocol/unknown"),
        ("requests that are no object", input_required(r#""inputRequests":[]"#), "upstream/protocol/unknown"),
        ("state that is no string", input_required(r#""requestState":{"a":1}"#), "upstream/protocol/unknown"),
        ("another type", json(r#"{"resultType":"task"}"#), "invalid_result/unknown_result_type/yes"),
        ("a type that is no string", json(r#"{"resultType":7}"#), "invalid_result/unknown_result_type/yes"),
        ("no object", json("[]"), "invalid_result/not_an_object/yes"),
    ] {
        let world = world(Server::new().replies([reply]), Answering::everything());
        assert_eq!(world.said().await, outcome, "{name}");
        assert_eq!(world.server.rounds().len(), 1, "{name}: never sent twice by itself");
    }
}

#[tokio::test]
async fn rounds_requests_and_bytes_are_capped() {
    let endless = |reply: Json| Server::new().replies(std::iter::repeat_n(reply, 40));
    let many = |count: usize| {
        let requests: Vec<_> = (0..count).map(|n| format!(r#""k{n}":{{{ROOTS}}}"#)).collect();
        input_required(&format!(r#""inputRequests":{{{}}}"#, requests.join(",")))
    };
    let long_form = FORM.replace("Who?", &"x".repeat(2_000));
    for (name, server, rounds, requests, bytes, outcome, arrived) in [
        ("rounds", endless(asks(ROOTS)), 3, 32, 1_000, "upstream/too_many_rounds/unknown", 4),
        ("no rounds at all", endless(asks(ROOTS)), 0, 32, 1_000, "upstream/too_many_rounds/unknown", 1),
        ("requests of one round", endless(many(5)), 3, 4, 1_000, "upstream/input_refused/unknown", 1),
        ("requests of all rounds", endless(many(2)), 10, 5, 1_000, "upstream/input_refused/unknown", 3),
        ("bytes of a request", endless(asks(&long_form)), 3, 32, 1_000, "upstream/input_refused/unknown", 1),
        (
            "bytes of a state",
            endless(input_required(&format!(r#""requestState":"{}""#, "s".repeat(1_001)))),
            3,
            32,
            1_000,
            "upstream/input_refused/unknown",
            1,
        ),
    ] {
        let world = Setup::policy(server.declare(ALL), allowing())
            .with(|revision| {
                revision.send.max_rounds = rounds;
                revision.send.max_input_requests = requests;
                revision.send.max_input_bytes = bytes;
            })
            .handler(Answering::everything())
            .build();
        assert_eq!(world.said().await, outcome, "{name}");
        assert_eq!(world.server.rounds().len(), arrived, "{name}");
    }
}

#[tokio::test]
async fn one_deadline_for_all_rounds_also_while_a_person_is_asked() {
    struct Slow;
    #[async_trait]
    impl Handler for Slow {
        fn kinds(&self) -> Kinds {
            ALL
        }
        async fn roots(&self, _: &ServerName) -> Option<Vec<Root>> {
            std::future::pending().await
        }
    }
    let options = || CallOptions { timeout: Some(Duration::from_millis(60)), ..CallOptions::default() };
    let begun = Instant::now();
    let world = Setup::policy(Server::new().declare(ALL).replies([asks(ROOTS)]), allowing()).handler(Slow).build();
    assert_eq!(said(&world.run(call("read", "{}").with(options())).await), "upstream/input_failed/unknown");
    let world = Setup::policy(Server::new().turns([Turn::Hang]), allowing()).build();
    assert_eq!(said(&world.run(call("read", "{}").with(options())).await), "transport/timeout/unknown");
    assert!(begun.elapsed() < Duration::from_secs(60));
}

#[tokio::test]
async fn a_caller_that_cancels_ends_the_wait() {
    let world = Setup::policy(Server::new().turns([Turn::Hang]), allowing()).build();
    let cancelled = call("read", "{}");
    let token = cancelled.options.cancel.clone();
    let (outcome, ()) = tokio::join!(world.run(cancelled), async {
        while world.server.rounds().is_empty() {
            tokio::task::yield_now().await;
        }
        token.cancel();
    });
    let outcome = said(&outcome);
    assert!(outcome == "transport/cancelled/unknown", "{outcome}");
}

#[tokio::test]
async fn errors_say_whether_the_call_was_sent() {
    let error = |kind, reason, sent| Turn::Fail(Error::new(kind, reason, "x").with_sent(sent));
    for (kind, reason, sent, first, later) in [
        (Kind::Transport, Reason::Closed, Sent::No, "transport/closed/no", "transport/closed/unknown"),
        (Kind::Transport, Reason::Closed, Sent::Unknown, "transport/closed/unknown", "transport/closed/unknown"),
        (Kind::Upstream, Reason::ErrorReply, Sent::Yes, "upstream/error_reply/yes", "upstream/error_reply/yes"),
    ] {
        let world = Setup::policy(Server::new().turns([error(kind, reason, sent)]), allowing()).build();
        assert_eq!(world.said().await, first);
        assert_eq!(world.server.rounds().len(), 1, "never sent twice by itself");
        let state = Turn::Reply(input_required(r#""requestState":"s""#));
        let world = Setup::policy(Server::new().turns([state, error(kind, reason, sent)]), allowing()).build();
        assert_eq!(world.said().await, later, "in a later round");
    }
}

#[tokio::test]
async fn nothing_above_runs_again_for_a_round() {
    let count = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let counting = count.clone();
    let world = Setup::policy(Server::new().declare(ALL).replies([asks(ROOTS), asks(FORM)]), asking())
        .with(|revision| {
            revision.pre_hooks.push(pre("p", move |_| {
                counting.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                Ok(callgate_core::extension::PreOutcome::Proceed)
            }));
            revision.approver = Some(approver(callgate_core::extension::Verdict::AllowOnce));
        })
        .handler(Answering::everything())
        .build();
    assert_eq!(world.said().await, "ok");
    assert_eq!(count.load(std::sync::atomic::Ordering::Relaxed), 1);
    assert_eq!(world.events().iter().filter(|event| event.starts_with("policy")).count(), 1);
    assert_eq!(world.events().iter().filter(|event| event.starts_with("ask")).count(), 1);
}

#[tokio::test]
async fn a_legacy_servers_request_takes_the_same_gate() {
    let form = json(&format!("{{{FORM}}}")).get("params").unwrap().clone();
    let secret = json(r#"{"message":"m","requestedSchema":{"type":"object","properties":{"password":{"type":"string"}}}}"#);
    let refused = |code: i64| move |heard: &Result<Json, InputRefusal>| heard.as_ref().is_err_and(|refusal| refusal.code == code);
    type Check = Box<dyn Fn(&Result<Json, InputRefusal>) -> bool>;
    let cases: [(&str, &'static str, Json, Kinds, Check); 5] = [
        (
            "answered",
            "elicitation/create",
            form.clone(),
            ALL,
            Box::new(|heard| heard.as_ref().is_ok_and(|answer| answer.to_string() == r#"{"action":"accept","content":{"n":"me"}}"#)),
        ),
        ("undeclared", "elicitation/create", form, Kinds { form: false, ..ALL }, Box::new(refused(-32_601))),
        ("unfit", "elicitation/create", secret, ALL, Box::new(refused(-32_602))),
        ("unknown", "tools/call", json("{}"), ALL, Box::new(refused(-32_601))),
        ("roots", "roots/list", json("{}"), ALL, Box::new(|heard| heard.is_ok())),
    ];
    for (name, method, params, declared, check) in cases {
        let server = Server::new().era(Era::Legacy).declare(declared).turns([Turn::Ask(method, params, done("ok"))]);
        let world = Setup::policy(server, allowing()).handler(Answering::everything()).build();
        assert_eq!(world.said().await, "ok", "{name}");
        assert!(check(&world.server.heard()[0]), "{name}: {:?}", world.server.heard());
    }
}

#[tokio::test]
async fn the_legacy_era_has_no_rounds() {
    let world = world(Server::new().era(Era::Legacy).replies([asks(ROOTS)]), Answering::everything());
    assert_eq!(world.said().await, "invalid_result/unknown_result_type/yes");
    assert_eq!(world.server.rounds().len(), 1);
}

#[tokio::test]
async fn results_leave_as_they_came() {
    let raw = json(r#"{"content":[{"type":"odd","x":1.50}],"z":1e5,"a":[18446744073709551616],"_meta":{"k":"v"},"resultType":"complete"}"#);
    let world = Setup::policy(Server::new().replies([raw.clone()]), allowing()).build();
    let reply = world.reply(call("read", "{}")).await;
    assert_eq!(reply.to_string(), raw.to_string(), "number tokens and member order, too");
}
