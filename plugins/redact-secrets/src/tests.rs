//! The shapes of tokens are put together here, so that no scanner takes this file for a leak.

use super::*;
use callgate_sdk::{serde_json, testing};

callgate_sdk::fixtures!("fixtures");

fn redacted(text: &str) -> String {
    let settings = Settings::default();
    Redaction::new(&settings).text(text).unwrap_or_else(|| text.to_owned())
}

fn body(length: usize) -> String {
    "a1B2c3D4e5F6g7H8i9J0".chars().cycle().take(length).collect()
}

#[test]
fn every_kind_is_found_and_nothing_around_it_goes() {
    let pem = format!("-----BEGIN RSA {0}-----\nMIIE{1}\n-----END RSA {0}-----", "PRIVATE KEY", body(40));
    for (secret, kind) in [
        (format!("AKIA{}", "ABCDEFGH12345678"), "aws"),
        (format!("ASIA{}", "ABCDEFGH12345678"), "aws"),
        (format!("ghp_{}", body(36)), "github"),
        (format!("ghs_{}", body(36)), "github"),
        (format!("ghs_123_eyJ{0}.eyJ{0}.{0}", body(30)), "github"),
        (format!("github_pat_{}", body(60)), "github"),
        (format!("glpat-{}", body(20)), "gitlab"),
        (format!("xoxb-123456789012-{}", body(24)), "slack"),
        (format!("xapp-1-{}", body(24)), "slack"),
        (format!("hooks.slack.com/services/T0000/B0000/{}", body(24)), "slack"),
        (format!("AIza{}", body(35)), "google"),
        (format!("sk_live_{}", body(24)), "stripe"),
        (format!("rk_test_{}", body(24)), "stripe"),
        (format!("sk-ant-api03-{}", body(60)), "anthropic"),
        (format!("sk-proj-{}", body(60)), "openai"),
        (format!("sk-{}", body(48)), "openai"),
        (format!("npm_{}", body(36)), "npm"),
        (format!("pypi-AgEIcHlwaS5vcmc{}", body(60)), "pypi"),
        (format!("eyJ{0}.eyJ{0}.{0}", body(30)), "jwt"),
        (format!("eyJ{0}.eyJ{0}.", body(30)), "jwt"),
        (pem, "private-key"),
    ] {
        for (before, after) in [("", ""), ("see ", " here"), ("(", ")"), ("é", "é"), ("_", ",")] {
            assert_eq!(redacted(&format!("{before}{secret}{after}")), format!("{before}[redacted:{kind}]{after}"), "{secret}");
        }
    }
    assert_eq!(redacted(&format!("It is ghp_{}.", body(36))), "It is [redacted:github].");
}

#[test]
fn values_are_found_by_their_names() {
    for (text, wanted) in [
        ("password=hunter22 next", "password=[redacted:assignment] next"),
        ("DB_PASSWORD: 'hunter 22'", "DB_PASSWORD: '[redacted:assignment]'"),
        (r#"{"api_key": "abcd1234"}"#, r#"{"api_key": "[redacted:assignment]"}"#),
        (r#"{\"client_secret\": \"abcd1234\"}"#, r#"{\"client_secret\": \"[redacted:assignment]\"}"#),
        ("x?access_token=abcd&y=1", "x?access_token=[redacted:assignment]&y=1"),
        ("Authorization: Bearer abcd.efgh", "Authorization: Bearer [redacted:assignment]"),
        ("secret => abcd", "secret => [redacted:assignment]"),
        ("postgres://ann:s3cr3t@db/x", "postgres://ann:[redacted:url-password]@db/x"),
        ("https://ann:p@ss@host", "https://ann:[redacted:url-password]@host"),
        ("aws_secret_access_key = abcd1234", "aws_secret_access_key = [redacted:aws]"),
    ] {
        assert_eq!(redacted(text), wanted);
    }
}

#[test]
fn what_is_no_credential_stays() {
    for text in [
        "password: no",
        "next_page_token=abcdefgh",
        "PWD=/home/ann",
        "max_tokens=1024",
        "password=${DB_PASSWORD}",
        "token",
        "the secret of success",
        "sk-learn-is-a-name-of-a-library",
        "https://host:8080/a@b",
        "AKIA",
        "eyJhbGciOi",
        "npm_config_cache",
        "password: <your password>",
        "xoxb",
        "a == b",
        "://",
        ":",
        "=",
        "password=",
        "-----BEGIN CERTIFICATE-----",
        "skaAKIAABCDEFGH12345678",
    ] {
        assert_eq!(redacted(text), text);
    }
}

#[test]
fn a_secret_key_counts_beside_an_access_key() {
    let (access, secret) = ("AKIAABCDEFGH12345678", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzzzKEY".replace("zzzzzzz", "EXAMPL1"));
    assert_eq!(redacted(&format!("{access},{secret}")), "[redacted:aws],[redacted:aws]");
    assert_eq!(redacted(&secret), secret);
}

#[test]
fn untouched_bytes_stay_and_repetitions_go() {
    testing::configured(Settings::default());
    let json =
        r#"{"content": [{"type":"text","text":"use hunter2222 now"}],  "structuredContent":{"n":1.50e+400,"password":"hunter2222"}}"#;
    let wanted = r#"{"content": [{"type":"text","text":"use [redacted:assignment] now"}],  "structuredContent":{"n":1.50e+400,"password":"[redacted:assignment]"}}"#;
    let outcome = redact_result(&testing::call("x", json!({})), &testing::result_text(json), &testing::context());
    assert_eq!(outcome.unwrap(), replace_text(wanted));
    assert_eq!(testing::notes(), ["redacted: 2 assignment"]);
}

#[test]
fn media_stay_unless_they_are_no_media() {
    testing::configured(Settings::default());
    let image = format!("{}AKIAABCDEFGH12345678+/==", body(40));
    let hidden = format!("{} ghp_{}", body(63), body(36));
    let value = json!({ "content": [{ "type": "image", "data": image }, { "type": "text", "text": "", "data": hidden }] });
    let outcome = redact_result(&testing::call("x", json!({})), &testing::result(value), &testing::context()).unwrap();
    let PostOutcome::Replace(json) = outcome else { panic!("{outcome:?}") };
    let now: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(now["content"][0]["data"], json!(image));
    assert_eq!(now["content"][1]["data"], json!(format!("{} [redacted:github]", body(63))));
}

#[test]
fn no_text_is_slow() {
    let start = std::time::Instant::now();
    for part in ["eyJ-", "sk-", "password:", "://", "-----BEGIN ", "a:b@", "ghp_", "AKIA", "token=${", "\"", "eyJaaaaaaaa."] {
        redacted(&part.repeat(200_000 / part.len()));
    }
    assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
}
