//! Finding out how a server speaks, and reading its listings, through the public interface.

#[cfg(test)]
mod connect {
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    use callgate_core::json::Json;
    use callgate_core::model::{Era, Error, Kind, Reason, Sent};
    use callgate_core::upstream::{Connection, InputKinds, Upstream};
    use callgate_mcp::{StdioConfig, StdioServer};

    const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/scripted.py");

    fn config(words: &[&str]) -> StdioConfig {
        let mut config = StdioConfig::new("scripted".parse().unwrap(), ["python3", SCRIPT].iter().chain(words).copied());
        config.limits.probe = Duration::from_secs(3);
        config.limits.start = Duration::from_secs(6);
        config.limits.line_bytes = 1 << 20;
        config.limits.not_json_grace = Duration::from_millis(300);
        config
    }

    async fn connect(words: &[&str]) -> Result<(StdioServer, Arc<dyn Connection>), Error> {
        let server = StdioServer::new(config(words));
        let connection = server.connect().await?;
        Ok((server, connection))
    }

    async fn list(connection: &Arc<dyn Connection>, cursor: Option<&str>) -> Result<Json, Error> {
        connection.list_page(cursor, Instant::now() + Duration::from_secs(5)).await
    }

    #[tokio::test]
    async fn each_era_is_found() {
        for (words, era) in [
            (&["modern"][..], Era::Modern),
            (&["modern-error"], Era::Modern),
            (&[], Era::Legacy),
            (&["dies-on-discover"], Era::Legacy),
            (&["null-id"], Era::Legacy),
            (&["text-on-discover"], Era::Legacy),
            (&["banner"], Era::Legacy),
            (&["banner", "modern"], Era::Modern),
            (&["noise=90"], Era::Legacy),
            (&["ping-first"], Era::Legacy),
            (&["stderr=1000000"], Era::Legacy),
            (&["version=2024-11-05"], Era::Legacy),
            (&["version=2025-03-26"], Era::Legacy),
            (&["version=2025-06-18"], Era::Legacy),
        ] {
            let (_server, connection) = connect(words).await.unwrap_or_else(|error| panic!("{words:?}: {error}"));
            assert_eq!((connection.era(), connection.id(), connection.is_open()), (era, 1, true), "{words:?}");
            assert_eq!(connection.host_meta().is_empty(), era == Era::Legacy, "{words:?}");
            list(&connection, None).await.unwrap_or_else(|error| panic!("{words:?}: {error}"));
        }
    }

    #[tokio::test]
    async fn silence_means_legacy_and_slowness_is_given_a_second_chance() {
        let mut silent = config(&["silent"]);
        silent.limits.probe = Duration::from_millis(300);
        assert_eq!(StdioServer::new(silent).connect().await.unwrap().era(), Era::Legacy);
        let mut slow = config(&["modern", "start-delay=1"]);
        slow.limits.probe = Duration::from_millis(300);
        assert_eq!(StdioServer::new(slow).connect().await.unwrap().era(), Era::Modern);
    }

    #[tokio::test]
    async fn what_cannot_be_used_says_why() {
        for (words, expected) in [
            (&["version=1999-01-01"][..], "wants version `1999-01-01`"),
            (&["modern=2099-01-01"], "it offers `2099-01-01`"),
            (&["dies-on-initialize"], "exit status: 3), and its last words are: `no \\u{1b}[31msuch\\u{1b}[0m file`"),
            (&["never-initializes"], "did not answer in time"),
            (&["noise=200"], "more than 100 lines"),
        ] {
            let Err(error) = connect(words).await else { panic!("{words:?}") };
            assert_eq!((error.kind, error.reason, error.sent), (Kind::Transport, Reason::NotConnected, Sent::No), "{words:?}");
            assert_eq!(error.message.matches("cannot be used").count(), 1, "{error}");
            assert!(error.message.starts_with("`scripted` cannot be used: ") && error.message.contains(expected), "{words:?}: {error}");
        }
        for command in [vec![], vec!["/no/such/program".to_owned()]] {
            let Err(error) = StdioServer::new(StdioConfig { command, ..config(&[]) }).connect().await else { panic!("no program") };
            assert_eq!(error.reason, Reason::NotConnected);
            assert!(error.message.contains("`command`"), "{error}");
        }
    }

    #[tokio::test]
    async fn capabilities_are_declared_in_both_eras() {
        let declared = InputKinds { form: true, ..InputKinds::default() };
        let server = StdioServer::new(StdioConfig { declared, ..config(&["modern"]) });
        let connection = server.connect().await.unwrap();
        assert_eq!(connection.declared(), declared);
        assert_eq!(connection.instructions().as_deref(), Some("be kind"));
        let seen = list(&connection, Some("")).await.unwrap();
        let meta = format!(
            "{{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\",\
             \"io.modelcontextprotocol/clientInfo\":{{\"name\":\"callgate\",\"version\":\"{}\"}},\
             \"io.modelcontextprotocol/clientCapabilities\":{{\"elicitation\":{{\"form\":{{}}}}}}}}",
            env!("CARGO_PKG_VERSION")
        );
        assert_eq!(seen.get("seen").unwrap().to_string(), format!(r#"{{"cursor":"","_meta":{meta}}}"#));
        assert_eq!(Json::Object(connection.host_meta()).to_string(), meta);

        let (_server, connection) = connect(&[]).await.unwrap();
        assert_eq!(connection.instructions().unwrap().len(), 64 << 10);
        let seen = list(&connection, None).await.unwrap();
        assert_eq!(seen.get("seen").unwrap().to_string(), "{}");
        assert_eq!(seen.get("n").unwrap().to_string(), "1.0", "as it came");
    }

    #[tokio::test]
    async fn listings_are_read_strictly() {
        let (_server, connection) = connect(&["twin-keys"]).await.unwrap();
        assert_eq!(list(&connection, None).await.unwrap().to_string(), r#"{"tools":[{"name":"a"},{"name":"b"},{"name":"ok"}]}"#);
        let (_server, connection) = connect(&["repeats"]).await.unwrap();
        for cursor in [None, Some("again")] {
            assert_eq!(list(&connection, cursor).await.unwrap().get("nextCursor").unwrap().as_str(), Some("again"));
        }
        for (word, kind, reason, open) in [
            ("twin-results", Kind::Upstream, Reason::Protocol, true),
            ("no-object", Kind::Upstream, Reason::Protocol, true),
            ("batch", Kind::Upstream, Reason::Protocol, true),
            ("garbled", Kind::Transport, Reason::NotJson, true),
            ("text", Kind::Transport, Reason::NotJson, true),
            ("oversized", Kind::Transport, Reason::TooLarge, false),
        ] {
            let (_server, connection) = connect(&[word]).await.unwrap();
            let begun = Instant::now();
            let error = list(&connection, None).await.unwrap_err();
            assert_eq!((error.kind, error.reason), (kind, reason), "{word}: {error}");
            assert!(begun.elapsed() < Duration::from_secs(60), "{word}");
            assert_eq!(connection.is_open(), open, "{word}");
        }
        let (_server, connection) = connect(&["never-lists"]).await.unwrap();
        let error = connection.list_page(None, Instant::now() + Duration::from_millis(200)).await.unwrap_err();
        assert_eq!((error.kind, error.reason), (Kind::Transport, Reason::Timeout));
    }

    #[tokio::test]
    async fn one_child_serves_all_and_is_replaced_when_it_dies() {
        let server = Arc::new(StdioServer::new(config(&["oversized"])));
        let (one, other) = tokio::join!(server.connect(), server.connect());
        assert_eq!((one.unwrap().id(), other.as_ref().unwrap().id(), server.connections()), (1, 1, 1));
        list(&other.unwrap(), None).await.unwrap_err();
        let next = server.connect().await.unwrap();
        assert_eq!((next.id(), next.era()), (2, Era::Legacy));
    }

    #[tokio::test]
    async fn modern_change_notices_are_asked_for() {
        let (_server, connection) = connect(&["modern", "listen"]).await.unwrap();
        list(&connection, None).await.unwrap();
        assert_eq!(connection.generation(), 1);
        let (_server, connection) = connect(&["modern"]).await.unwrap();
        list(&connection, None).await.unwrap();
        assert_eq!(connection.generation(), 0);
    }
}
