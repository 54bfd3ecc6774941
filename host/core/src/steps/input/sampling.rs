//! Sampling: a server asks for a model's completion (MCP, client/sampling). Its answer is data that leaves for that server.

use crate::json::{Json, Number};

use super::Refused;

/// Tokens that one completion may ask for.
const MAX_TOKENS: u64 = 32_768;

/// Bounded, without tools and without other servers' context: neither is declared.
pub(super) fn check(params: &Json) -> Result<(), Refused> {
    let unfit = |why: &str| Err(Refused::Unfit(why.to_owned()));
    if params.get("messages").and_then(Json::as_array).is_none() {
        return unfit("it has no messages");
    }
    if params.get("maxTokens").and_then(Json::as_number).and_then(Number::as_u64).is_none_or(|tokens| tokens > MAX_TOKENS) {
        return unfit("its token limit is missing or too large");
    }
    if !matches!(params.get("includeContext").map(Json::as_str), None | Some(Some("none"))) {
        return unfit("it wants context, which was not declared");
    }
    if params.get("tools").is_some() || params.get("toolChoice").is_some() {
        return unfit("it wants tools, which were not declared");
    }
    Ok(())
}
