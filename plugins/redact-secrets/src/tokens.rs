//! Credentials that can be told by how they begin.

use crate::kinds::Kind;
use crate::scan::Found;

/// How far a rule looks for what makes a token likely.
const LOOK_AHEAD: usize = 64;

/// A prefix, what may follow it, and how much of that there must be.
struct Rule {
    prefix: &'static str,
    kind: Kind,
    follows: fn(u8) -> bool,
    least: usize,
}

const fn rule(prefix: &'static str, kind: Kind, follows: fn(u8) -> bool, least: usize) -> Rule {
    Rule { prefix, kind, follows, least }
}

fn word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn dashed(byte: u8) -> bool {
    word(byte) || byte == b'-'
}

/// Newer tokens of GitHub's apps carry a JWT after their prefix.
fn dotted(byte: u8) -> bool {
    dashed(byte) || byte == b'.'
}

fn path(byte: u8) -> bool {
    dashed(byte) || byte == b'/'
}

fn capital(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit()
}

/// In the order in which they are tried: a longer prefix before one that it begins with.
const RULES: &[Rule] = &[
    rule("ghp_", Kind::Github, dotted, 30),
    rule("gho_", Kind::Github, dotted, 30),
    rule("ghu_", Kind::Github, dotted, 30),
    rule("ghs_", Kind::Github, dotted, 30),
    rule("ghr_", Kind::Github, dotted, 30),
    rule("github_pat_", Kind::Github, word, 22),
    rule("glpat-", Kind::Gitlab, dotted, 20),
    rule("xoxb-", Kind::Slack, dashed, 10),
    rule("xoxp-", Kind::Slack, dashed, 10),
    rule("xoxa-", Kind::Slack, dashed, 10),
    rule("xoxr-", Kind::Slack, dashed, 10),
    rule("xoxs-", Kind::Slack, dashed, 10),
    rule("xoxc-", Kind::Slack, dashed, 10),
    rule("xoxd-", Kind::Slack, dashed, 10),
    rule("xoxe-", Kind::Slack, dashed, 10),
    rule("xoxe.xox", Kind::Slack, dashed, 10),
    rule("xapp-", Kind::Slack, dashed, 10),
    rule("hooks.slack.com/services/", Kind::Slack, path, 20),
    rule("AIza", Kind::Google, dashed, 35),
    rule("sk_live_", Kind::Stripe, word, 10),
    rule("sk_test_", Kind::Stripe, word, 10),
    rule("rk_live_", Kind::Stripe, word, 10),
    rule("rk_test_", Kind::Stripe, word, 10),
    rule("whsec_", Kind::Stripe, word, 20),
    rule("sk-ant-", Kind::Anthropic, dashed, 20),
    rule("sk-", Kind::Openai, dashed, 20),
    rule("npm_", Kind::Npm, word, 36),
    rule("pypi-", Kind::Pypi, dashed, 50),
];

/// The token that begins here, if one does. `no_jwt` is up to where none can begin: see [`jwt`].
pub(crate) fn at(text: &str, at: usize, no_jwt: &mut usize) -> Option<Found> {
    let rest = text.get(at..)?;
    match rest.as_bytes().first()? {
        b'A' => aws_access_key(rest).map(|end| Found { range: at..at + end, kind: Kind::Aws }),
        b'e' if at >= *no_jwt => match jwt(rest) {
            Ok(end) => Some(Found { range: at..at + end, kind: Kind::Jwt }),
            Err(length) => {
                *no_jwt = at + length;
                None
            }
        },
        b'-' => return private_key(rest).map(|end| Found { range: at..at + end, kind: Kind::PrivateKey }),
        _ => None,
    }
    .or_else(|| prefixed(rest, at))
}

fn prefixed(rest: &str, at: usize) -> Option<Found> {
    // Two bytes tell most rules off, without a call.
    let [first, second, ..] = rest.as_bytes() else { return None };
    let may_be = |rule: &&Rule| matches!(rule.prefix.as_bytes(), [a, b, ..] if a == first && b == second);
    let rule = RULES.iter().filter(may_be).find(|rule| rest.starts_with(rule.prefix))?;
    let body = rest.get(rule.prefix.len()..)?;
    // Words joined by dashes (`sk-learn-and-friends`) hold no digit; a key does.
    let beginning = || body.bytes().take(LOOK_AHEAD).take_while(|byte| (rule.follows)(*byte));
    if rule.kind == Kind::Openai && !beginning().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let length = run(body, rule.follows);
    // A sentence may end right after a token.
    let tail = body.get(..length)?.bytes().rev().take_while(|byte| matches!(byte, b'.' | b'-')).count();
    let length = length - tail;
    (length >= rule.least).then(|| Found { range: at..at + rule.prefix.len() + length, kind: rule.kind })
}

/// How many bytes at the beginning are of a kind.
pub(crate) fn run(text: &str, of: impl Fn(u8) -> bool) -> usize {
    text.bytes().take_while(|byte| of(*byte)).count()
}

fn aws_access_key(rest: &str) -> Option<usize> {
    const KINDS: [&str; 11] = ["AKIA", "ASIA", "AGPA", "AIDA", "AROA", "AIPA", "ANPA", "ANVA", "ABIA", "ACCA", "APKA"];
    let known = KINDS.iter().any(|kind| rest.starts_with(kind)) || rest.starts_with("A3T");
    (known && run(rest.get(..rest.len().min(LOOK_AHEAD)).unwrap_or(rest), capital) == 20)
        .then_some(20)
        .filter(|end| !rest.as_bytes().get(*end).is_some_and(u8::is_ascii_alphanumeric))
}

/// Three parts (or the five of an encrypted one), the first of which begins an encoded JSON object: its length, or how far
/// the letters go after which nothing follows, so that no place among them need be tried again.
fn jwt(rest: &str) -> Result<usize, usize> {
    if !rest.starts_with("eyJ") {
        return Err(0);
    }
    let first = run(rest, dashed);
    let mut end = first;
    let mut parts = 1;
    while parts < 5 && end >= 10 {
        let Some(after) = rest.get(end..).and_then(|tail| tail.strip_prefix('.')) else { break };
        let length = run(after, dashed);
        // The signature of an unsigned one is empty; nothing else may be.
        if length == 0 && parts != 2 {
            break;
        }
        end += 1 + length;
        parts += 1;
    }
    if parts >= 3 { Ok(end) } else { Err(first) }
}

/// From BEGIN to END, or all that is left where the end was cut off.
fn private_key(rest: &str) -> Option<usize> {
    let label = rest.strip_prefix("-----BEGIN ")?;
    let window = label.bytes().take(40).take_while(|byte| *byte != b'-').count();
    let label = label.get(..window)?;
    if !label.contains("PRIVATE KEY") {
        return None;
    }
    let end = format!("-----END {label}-----");
    Some(rest.find(&end).map_or(rest.len(), |start| start + end.len()))
}

/// The password in `scheme://user:password@host`; `at` is the colon before the slashes.
pub(crate) fn url_password(text: &str, at: usize) -> Option<Found> {
    let rest = text.get(at..)?.strip_prefix("://")?;
    let ends = |byte: u8| byte.is_ascii_whitespace() || matches!(byte, b'/' | b'?' | b'#' | b'"' | b'\'' | b'<' | b'>');
    let authority = rest.get(..rest.bytes().take(1024).take_while(|byte| !ends(*byte)).count())?;
    let (user, _host) = authority.rsplit_once('@')?;
    let (name, password) = user.split_once(':')?;
    let start = at + "://".len() + name.len() + 1;
    let placeholder = password.is_empty() || password.starts_with("${") || password.starts_with("[redacted");
    (!placeholder).then(|| Found { range: start..start + password.len(), kind: Kind::UrlPassword })
}
