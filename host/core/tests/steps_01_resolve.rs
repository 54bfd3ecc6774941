//! Step 1: the tool, from the live listing of the live connection.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test that cannot go on must fail where it stands")]

mod support;

use std::sync::Arc;
use std::time::Duration;

use callgate_core::ListingLimits;
use callgate_core::extension::Visibility;
use callgate_core::model::{CallOptions, Era, Error, Kind, ListingId, Reason, ToolCall};
use support::*;

fn page(tools: &[&str], rest: &str) -> callgate_core::json::Json {
    let tools: callgate_core::json::Json = tools.iter().map(|name| definition(name, "")).collect::<Vec<_>>().into();
    json(&format!(r#"{{"tools":{tools},"ttlMs":600000{rest}}}"#))
}

#[tokio::test]
async fn unknown_tool_is_not_found() {
    let world = Setup::policy(Server::new(), allowing()).build();
    let error = world.error(call("wriggle", "{}")).await;
    assert_eq!((error.kind, error.reason), (Kind::NotFound, Reason::UnknownTool));
    assert_eq!(error.to_string(), "there is no tool `wriggle` (not_found, unknown_tool)");
    assert!(world.server.rounds().is_empty());
}

#[tokio::test]
async fn lists_first_if_the_cache_has_none_and_only_then() {
    let world = Setup::policy(Server::new(), allowing()).build();
    for _ in 0..3 {
        assert_eq!(world.said().await, "ok");
    }
    assert_eq!(world.server.listings(), 1);
}

#[tokio::test]
async fn a_miss_in_a_live_cache_does_not_list_again() {
    let world = Setup::policy(Server::new(), allowing()).build();
    world.said().await;
    for _ in 0..3 {
        world.error(call("other", "{}")).await;
    }
    assert_eq!(world.server.listings(), 1);
}

#[tokio::test]
async fn list_changed_empties_the_cache() {
    let world = Setup::policy(Server::new(), allowing()).with(|revision| revision.pins.allow_new_tools = true).build();
    assert_eq!(world.said().await, "ok");
    world.server.lists([definition("read", ""), definition("write", "")]);
    assert_eq!(said(&world.run(call("write", "{}")).await), "not_found/unknown_tool/no", "nobody said that it changed");
    world.server.list_changed();
    assert_eq!(said(&world.run(call("write", "{}")).await), "ok");
    assert_eq!(world.server.listings(), 2);
}

#[tokio::test]
async fn a_reconnection_empties_the_cache() {
    let world = Setup::policy(Server::new(), allowing()).build();
    world.said().await;
    world.server.reconnect();
    assert_eq!(world.said().await, "ok");
    assert_eq!(world.server.listings(), 2);
}

#[tokio::test]
async fn a_list_that_changes_while_it_is_read_is_read_again() {
    let server = Server::new();
    let (changing, times) = (server.clone(), std::sync::atomic::AtomicUsize::new(0));
    server.on_list(move || {
        if times.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == 0 {
            changing.list_changed();
        }
    });
    let world = Setup::policy(server, allowing()).build();
    assert_eq!(world.said().await, "ok");
    assert_eq!(world.server.listings(), 2);
    assert_eq!(world.said().await, "ok");
    assert_eq!(world.server.listings(), 2, "the second reading was quiet, so it is kept");
}

#[tokio::test]
async fn a_list_that_never_stops_changing_is_no_list() {
    let server = Server::new();
    let changing = server.clone();
    server.on_list(move || changing.list_changed());
    let world = Setup::policy(server, allowing()).build();
    assert_eq!(world.said().await, "upstream/protocol/no");
    assert_eq!(world.server.listings(), 4);
    assert!(world.server.rounds().is_empty());
}

/// One time bounds the connection, the listing and the call together; without a policy just as well.
#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_connect_or_list_in_the_calls_time_is_a_timeout() {
    for (name, stuck) in [("connect", Server::new().never_connects()), ("list", Server::new().never_lists())] {
        let begun = tokio::time::Instant::now();
        let world = Setup::policy(stuck, allowing()).with(|revision| revision.send.timeout = Duration::from_secs(7)).build();
        assert_eq!(world.said().await, "transport/timeout/no", "{name}");
        assert!(begun.elapsed() < Duration::from_secs(8), "{name}: {:?}", begun.elapsed());
    }
    let world = Setup::new(Server::new().never_connects()).build();
    assert_eq!(world.said().await, "transport/timeout/no");
}

#[tokio::test(start_paused = true)]
async fn ttl_ends_a_listing_after_at_least_five_seconds() {
    for (name, era, ttl, lives, dies) in [
        ("said", Era::Modern, r#","ttlMs":20000"#, 19, 21),
        ("zero is five seconds", Era::Modern, r#","ttlMs":0"#, 4, 6),
        ("negative is five seconds", Era::Modern, r#","ttlMs":-7"#, 4, 6),
        ("nothing said, modern", Era::Modern, "", 4, 6),
        ("nothing said, legacy: no expiry", Era::Legacy, "", 100_000, 0),
        ("a day at most", Era::Modern, r#","ttlMs":1e300"#, 86_399, 86_401),
    ] {
        let server = Server::new().era(era);
        server.pages([json(&format!(r#"{{"tools":[{}]{ttl}}}"#, definition("read", "")))]);
        let world = Setup::policy(server, allowing()).build();
        world.said().await;
        tokio::time::advance(Duration::from_secs(lives)).await;
        world.said().await;
        assert_eq!(world.server.listings(), 1, "{name}");
        if dies > 0 {
            tokio::time::advance(Duration::from_secs(dies - lives)).await;
            world.said().await;
            assert_eq!(world.server.listings(), 2, "{name}");
        }
    }
}

#[tokio::test]
async fn lists_page_by_page() {
    let server = Server::new();
    server.pages([page(&["a"], r#","nextCursor":"2""#), page(&["b"], r#","nextCursor":"3""#), page(&["c"], "")]);
    let world = Setup::policy(server, allowing()).build();
    for name in ["a", "b", "c"] {
        assert_eq!(said(&world.run(call(name, "{}")).await), "ok", "{name}");
    }
    assert_eq!(world.server.cursors(), [None, Some("2".to_owned()), Some("3".to_owned())]);
}

#[tokio::test]
async fn an_empty_cursor_is_a_cursor() {
    let server = Server::new();
    server.pages([page(&["a"], r#","nextCursor":"""#), page(&["b"], "")]);
    let world = Setup::policy(server, allowing()).build();
    assert_eq!(said(&world.run(call("b", "{}")).await), "ok");
    assert_eq!(world.server.cursors(), [None, Some(String::new())]);
}

#[tokio::test]
async fn a_broken_listing_is_an_error_and_never_a_partial_list() {
    for (name, pages, reason) in [
        (
            "repeats a cursor at once",
            vec![page(&["read"], r#","nextCursor":"x""#), page(&["b"], r#","nextCursor":"x""#)],
            "upstream/repeated_cursor/no",
        ),
        (
            "goes in a circle",
            vec![page(&["read"], r#","nextCursor":"x""#), page(&["b"], r#","nextCursor":"y""#), page(&["c"], r#","nextCursor":"x""#)],
            "upstream/repeated_cursor/no",
        ),
        (
            "repeats the empty cursor",
            vec![page(&["read"], r#","nextCursor":"""#), page(&["b"], r#","nextCursor":"""#)],
            "upstream/repeated_cursor/no",
        ),
        ("a cursor that is no string", vec![page(&["read"], r#","nextCursor":7"#)], "upstream/protocol/no"),
        ("no tools", vec![json("{}")], "upstream/protocol/no"),
        ("tools that are no array", vec![json(r#"{"tools":{}}"#)], "upstream/protocol/no"),
        ("no object", vec![json("[]")], "upstream/protocol/no"),
    ] {
        let server = Server::new();
        server.pages(pages);
        let world = Setup::policy(server, allowing()).build();
        assert_eq!(world.said().await, reason, "{name}");
        assert!(world.server.rounds().is_empty() && world.events().iter().all(|event| !event.starts_with("baseline")), "{name}");
    }
}

#[tokio::test]
async fn caps_hold_on_pages_tools_and_bytes() {
    let two_pages = || vec![page(&["read"], r#","nextCursor":"2""#), page(&["b"], "")];
    let three_pages = || vec![page(&["read"], r#","nextCursor":"2""#), page(&["b"], r#","nextCursor":"3""#), page(&["c"], "")];
    let bytes = page(&["read"], "").to_string().len();
    let wide = ListingLimits::default();
    for (name, pages, limits, passes) in [
        ("one page of one", vec![page(&["read"], "")], ListingLimits { pages: 1, ..wide }, true),
        ("two pages of one", two_pages(), ListingLimits { pages: 1, ..wide }, false),
        ("two pages of two", two_pages(), ListingLimits { pages: 2, ..wide }, true),
        ("three pages of two", three_pages(), ListingLimits { pages: 2, ..wide }, false),
        ("three pages of three", three_pages(), ListingLimits { pages: 3, ..wide }, true),
        ("two tools of two", vec![page(&["read", "b"], "")], ListingLimits { tools: 2, ..wide }, true),
        ("two tools of one", vec![page(&["read", "b"], "")], ListingLimits { tools: 1, ..wide }, false),
        ("tools over two pages", two_pages(), ListingLimits { tools: 1, ..wide }, false),
        ("bytes", vec![page(&["read"], "")], ListingLimits { bytes, ..wide }, true),
        ("a byte more", vec![page(&["read"], "")], ListingLimits { bytes: bytes - 1, ..wide }, false),
    ] {
        let server = Server::new();
        server.pages(pages);
        let world = Setup { limits, ..Setup::policy(server, allowing()) }.build();
        assert_eq!(world.said().await, if passes { "ok" } else { "upstream/listing_too_large/no" }, "{name}");
    }
}

#[tokio::test]
async fn endless_pages_end() {
    let server = Server::new();
    let (paging, count) = (server.clone(), std::sync::atomic::AtomicUsize::new(0));
    server.on_list(move || {
        let next = count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        paging.pages([page(&[], &format!(r#","nextCursor":"{next}""#))]);
    });
    let world = Setup::policy(server, allowing()).build();
    assert_eq!(world.said().await, "upstream/listing_too_large/no");
    assert!(world.server.cursors().len() <= 101);
}

#[tokio::test]
async fn a_malformed_tool_is_dropped_alone_and_with_a_reason() {
    let long = "x".repeat(129);
    let huge = format!(r#""description":"{}""#, "x".repeat(256 << 10));
    for (name, tool) in [
        ("no object", json("7")),
        ("no name", json(r#"{"inputSchema":{"type":"object"}}"#)),
        ("a name that is no string", json(r#"{"name":1,"inputSchema":{"type":"object"}}"#)),
        ("an empty name", definition("", "")),
        ("a long name", definition(&long, "")),
        ("an invisible character", definition("read\u{200b}", "")),
        ("another letter", definition("réad", "")),
        ("a space", definition("re ad", "")),
        ("a slash", definition("a/b", "")),
        ("no schema", json(r#"{"name":"x"}"#)),
        ("a schema of another type", json(r#"{"name":"x","inputSchema":{"type":"array"}}"#)),
        ("a schema that is true", json(r#"{"name":"x","inputSchema":true}"#)),
        ("an output schema that is no object", definition("x", r#""outputSchema":[]"#)),
        ("too large", definition("x", &huge)),
    ] {
        let world = Setup::policy(Server::with([tool, definition("read", "")]), allowing()).build();
        assert_eq!(world.said().await, "ok", "{name}");
        let dropped: Vec<_> = world.events().into_iter().filter(|event| event.starts_with("dropped")).collect();
        assert_eq!(dropped.len(), 1, "{name}");
        assert!(dropped[0].starts_with("dropped 0: its "), "{name}: {}", dropped[0]);
        let listed = world.pipeline.list_tools(&CallOptions::default()).await.unwrap();
        assert_eq!(listed.iter().map(|tool| tool.name().to_owned()).collect::<Vec<_>>(), ["read"], "{name}");
    }
    let longest = "x".repeat(128);
    let world = Setup::policy(Server::with([definition(&longest, "")]), allowing()).build();
    assert_eq!(said(&world.run(call(&longest, "{}")).await), "ok");
}

#[tokio::test]
async fn of_twins_neither_is_offered() {
    for (name, first, second) in [
        ("equal", definition("twin", ""), definition("twin", "")),
        ("other definition", definition("twin", ""), definition("twin", r#""description":"x""#)),
        ("other case", definition("twin", ""), definition("TWIN", "")),
        ("one of them malformed", definition("twin", ""), json(r#"{"name":"twin"}"#)),
    ] {
        for pair in [[first.clone(), second.clone()], [second, first]] {
            let world = Setup::policy(Server::with(pair.into_iter().chain([definition("read", "")])), allowing()).build();
            for twin in ["twin", "TWIN"] {
                assert_eq!(said(&world.run(call(twin, "{}")).await), "not_found/unknown_tool/no", "{name}");
            }
            assert_eq!(world.said().await, "ok", "{name}");
            assert_eq!(world.events().iter().filter(|event| event.starts_with("dropped")).count(), 2, "{name}");
        }
    }
}

#[tokio::test]
async fn a_server_that_cannot_be_reached_is_its_own_error() {
    let server = Server::new();
    server.refuse(Error::new(Kind::Transport, Reason::NotConnected, "no such command"));
    let world = Setup::policy(server, allowing()).build();
    assert_eq!(world.said().await, "transport/not_connected/no");
}

#[tokio::test]
async fn a_resolved_tool_replaces_this_step_alone() {
    let world = Setup::policy(Server::new(), allowing()).build();
    let resolved = world.pipeline.list_tools(&CallOptions::default()).await.unwrap().remove(0);
    assert_eq!(said(&world.run(ToolCall::of(resolved, args("{}"))).await), "ok");
    let listed = ListingId { connection: 1, generation: 0 };
    for (name, tool, outcome) in [
        ("of another server", tool_of("other", definition("read", ""), listed), "not_found/unknown_tool/no"),
        (
            "of an earlier connection",
            tool_of("files", definition("read", ""), ListingId { connection: 0, generation: 0 }),
            "transport/reconnected/no",
        ),
        ("with a definition that nobody approved", tool_of("files", definition("read", r#""x":1"#), listed), "denied/tool_changed/no"),
        ("with a name that nobody approved", tool_of("files", definition("new", ""), listed), "denied/tool_new/no"),
    ] {
        assert_eq!(said(&world.run(ToolCall::of(tool, args("{}"))).await), outcome, "{name}");
    }
}

#[tokio::test]
async fn a_resolved_tool_under_another_name_is_unknown() {
    let world = Setup::policy(Server::new(), allowing()).build();
    let resolved = world.pipeline.list_tools(&CallOptions::default()).await.unwrap().remove(0);
    let lying = ToolCall { name: "harmless".to_owned(), ..ToolCall::of(resolved, args("{}")) };
    assert_eq!(said(&world.run(lying).await), "not_found/unknown_tool/no");
    assert!(world.server.rounds().is_empty());
}

#[tokio::test]
async fn a_resolved_tool_whose_definition_changed_since_is_not_sent() {
    for governed in ["policy", "hooks"] {
        let setup = Setup::new(Server::new()).with(|revision| match governed {
            "policy" => revision.policy = Some(allowing()),
            _ => revision.filters.push(filter("all", |_| Ok(Visibility::Visible))),
        });
        let world = setup.build();
        let resolved = world.pipeline.list_tools(&CallOptions::default()).await.unwrap().remove(0);
        world.server.lists([definition("read", r#""description":"now deletes""#)]);
        world.server.list_changed();
        let outcome = said(&world.run(ToolCall::of(resolved.clone(), args("{}"))).await);
        assert_eq!(outcome, "denied/tool_changed/no", "{governed}");
        world.server.lists([]);
        world.server.list_changed();
        assert_eq!(said(&world.run(ToolCall::of(resolved, args("{}"))).await), "denied/tool_changed/no", "{governed}: gone");
        assert!(world.server.rounds().is_empty(), "{governed}");
    }
}

#[tokio::test]
async fn a_call_that_was_cancelled_before_lists_nothing() {
    let world = Setup::policy(Server::new(), allowing()).build();
    let cancelled = call("read", "{}");
    cancelled.options.cancel.cancel();
    assert_eq!(said(&world.run(cancelled).await), "transport/cancelled/no");
    assert_eq!(world.server.listings(), 0);
}

#[tokio::test]
async fn instructions_are_cleaned_and_capped() {
    let world = Setup::new(Server::new().instruct(&format!("be\u{200b} good {}", "x".repeat(10_000)))).build();
    let text = world.pipeline.instructions_for_llm().await.unwrap().unwrap();
    assert!(text.starts_with("be good x") && text.chars().count() == 8_000);
    assert_eq!(Setup::new(Server::new()).build().pipeline.instructions_for_llm().await.unwrap(), None);
}

/// Brackets take much more memory than text: all pages together have one bound for that, too.
#[tokio::test]
async fn a_listing_is_bounded_in_memory() {
    let brackets = vec!["[]"; 40_000].join(",");
    for (count, outcome) in [(2, "ok"), (60, "upstream/listing_too_large/no")] {
        let page = |n: usize| {
            let next = if n + 1 < count { format!(r#","nextCursor":"{n}""#) } else { String::new() };
            let tool = definition(if n == 0 { "read" } else { "other" }, &format!(r#""x-{n}":[{brackets}]"#));
            json(&format!(r#"{{"tools":[{tool}],"ttlMs":600000{next}}}"#))
        };
        let server = Server::new();
        server.pages((0..count).map(page));
        assert_eq!(Setup::policy(server, allowing()).build().said().await, outcome, "{count}");
    }
}

#[tokio::test]
async fn a_list_is_read_anew_and_a_cached_one_is_not() {
    let world = Setup::policy(Server::new(), allowing()).build();
    let options = CallOptions::default();
    assert_eq!(world.pipeline.cached_tools(&options).await.unwrap().len(), 1, "there is none yet");
    world.pipeline.cached_tools(&options).await.unwrap();
    assert_eq!(world.server.listings(), 1);
    world.pipeline.list_tools(&options).await.unwrap();
    assert_eq!(world.server.listings(), 2);
    assert_eq!(world.said().await, "ok");
    assert_eq!(world.server.listings(), 2);
}

#[tokio::test]
async fn concurrent_first_calls_share_one_listing_and_one_baseline() {
    let world = Arc::new(Setup::policy(Server::new(), allowing()).build());
    let calls: Vec<_> = (0..8)
        .map(|_| {
            let world = world.clone();
            tokio::spawn(async move { world.said().await })
        })
        .collect();
    for call in calls {
        assert_eq!(call.await.unwrap(), "ok");
    }
    assert_eq!(world.server.listings(), 1);
}
