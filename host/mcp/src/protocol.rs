//! Words and numbers of MCP, and how its messages are written. Sources: MCP specification 2026-07-28 and 2025-11-25.

use callgate_core::json::{Json, Object};
use callgate_core::upstream::InputKinds;

/// The version of the modern era that is spoken.
pub(crate) const MODERN: &str = "2026-07-28";
/// Versions of the legacy era that are spoken; the first is asked for.
pub(crate) const LEGACY: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// No such method (JSON-RPC 2.0).
pub(crate) const METHOD_NOT_FOUND: i64 = -32601;
/// A refusal of this host's own. -32000 to -32019 has no meaning in MCP.
pub(crate) const REFUSED: i64 = -32000;
/// Errors that only servers of the modern era give: header mismatch, missing capability, unsupported version.
pub(crate) const MODERN_ERRORS: [i64; 3] = [-32020, -32021, UNSUPPORTED_VERSION];
/// `data.supported` lists the versions that the server speaks.
pub(crate) const UNSUPPORTED_VERSION: i64 = -32022;

/// How this host names itself. Self-reported: servers must not rely on it.
pub(crate) fn client_info() -> Json {
    [("name", "callgate"), ("version", env!("CARGO_PKG_VERSION"))].into_iter().collect()
}

/// The `_meta` of each request in the modern era.
pub(crate) fn host_meta(declared: InputKinds) -> Object {
    [
        ("io.modelcontextprotocol/protocolVersion", Json::from(MODERN)),
        ("io.modelcontextprotocol/clientInfo", client_info()),
        ("io.modelcontextprotocol/clientCapabilities", declared.capabilities()),
    ]
    .into_iter()
    .map(|(key, value)| (key.to_owned(), value))
    .collect()
}

/// A request; `params` is JSON text and is written as it is.
pub(crate) fn request(id: u64, method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":{},"params":{params}}}"#, Json::from(method))
}

/// A notification.
pub(crate) fn notice(method: &str, params: &Json) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":{},"params":{params}}}"#, Json::from(method))
}

/// The answer to a server's request. The id goes back as it came.
pub(crate) fn answer(id: &Json, result: &Json) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
}

/// An error in answer to a server's request.
pub(crate) fn refusal(id: &Json, code: i64, message: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":{}}}}}"#, Json::from(message))
}

/// Tells a server that nobody waits for a request any more.
pub(crate) fn cancelled(id: u64) -> String {
    let params = [("requestId", Json::from(id)), ("reason", "the call was given up".into())].into_iter().collect();
    notice("notifications/cancelled", &params)
}
