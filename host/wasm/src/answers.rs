//! From what a plugin answers to what core understands. JSON is read strictly here, once; what cannot be read is no answer.

use callgate_core::extension as core;
use callgate_core::json::Json;
use callgate_core::model::{Failure, GrantTerms};

use crate::contract::callgate::plugin::types;
use crate::failure::bad_return;
use crate::limits::MAX_DETAILS_CHARS;

pub(crate) fn visibility(answer: types::Visibility) -> core::Visibility {
    match answer {
        types::Visibility::Hidden => core::Visibility::Hidden,
        types::Visibility::Visible => core::Visibility::Visible,
    }
}

pub(crate) fn finding(answer: types::Finding) -> core::Finding {
    match answer {
        types::Finding::Undecided => core::Finding::Undecided,
        types::Finding::NoMatch => core::Finding::NoMatch,
        types::Finding::Match => core::Finding::Match,
    }
}

pub(crate) fn pre_outcome(answer: types::PreOutcome) -> Result<core::PreOutcome, Failure> {
    Ok(match answer {
        types::PreOutcome::Deny(no) => core::PreOutcome::Deny(refusal(no)?),
        types::PreOutcome::Ask(no) => core::PreOutcome::Ask(refusal(no)?),
        types::PreOutcome::Proceed => core::PreOutcome::Proceed,
        types::PreOutcome::Rewrite(text) => core::PreOutcome::Rewrite(object(&text)?),
        types::PreOutcome::Halt(text) => core::PreOutcome::Halt(object(&text)?),
    })
}

pub(crate) fn post_outcome(answer: types::PostOutcome) -> Result<core::PostOutcome, Failure> {
    Ok(match answer {
        types::PostOutcome::Withhold(no) => core::PostOutcome::Withhold(refusal(no)?),
        types::PostOutcome::Keep => core::PostOutcome::Keep,
        types::PostOutcome::Replace(text) => core::PostOutcome::Replace(object(&text)?),
    })
}

pub(crate) fn failure_outcome(answer: types::FailureOutcome) -> Result<core::FailureOutcome, Failure> {
    Ok(match answer {
        types::FailureOutcome::Keep => core::FailureOutcome::Keep,
        types::FailureOutcome::Replace(text) => core::FailureOutcome::Replace(core::FailureText {
            message: text.message.chars().take(MAX_DETAILS_CHARS).collect(),
            data: data(text.data)?,
        }),
    })
}

pub(crate) fn verdict(answer: types::Verdict) -> Result<core::Verdict, Failure> {
    Ok(match answer {
        types::Verdict::Deny(no) => core::Verdict::Deny(refusal(no)?),
        types::Verdict::DenyAndHalt(no) => core::Verdict::DenyAndHalt(refusal(no)?),
        types::Verdict::AllowOnce => core::Verdict::AllowOnce,
        types::Verdict::AllowAlways(text) => core::Verdict::AllowAlways(match data(text)? {
            None => GrantTerms::default(),
            Some(terms) => GrantTerms::from_json(&terms).map_err(bad_return)?,
        }),
    })
}

fn refusal(no: types::Refusal) -> Result<core::Refusal, Failure> {
    Ok(core::Refusal::new(&no.reason, &no.message).with_data(data(no.data)?))
}

fn data(text: Option<String>) -> Result<Option<Json>, Failure> {
    text.map(|text| Json::parse(&text).map_err(bad_return)).transpose()
}

fn object(text: &str) -> Result<Json, Failure> {
    let value = Json::parse(text).map_err(bad_return)?;
    if value.as_object().is_some() {
        Ok(value)
    } else {
        Err(bad_return(format!("an object is expected, and this is {}", value.type_name())))
    }
}
