//! One Store: made for one invocation with every limit in place, dropped after it. What both ways of running share.

use std::time::Duration;

use callgate_core::model::{Failure, Limit, Metered};
use wasmtime::Store;

use crate::failure::{self, Phase};
use crate::limits::{Limits, TICK};
use crate::plugin::Loaded;
use crate::state::State;

/// Ticks of the longest deadline: as good as none.
const MAX_TICKS: u64 = 1 << 40;

/// What an answer of a plugin's function is: the contract's, or a text for why there is none.
pub(crate) type Answer<T> = (Result<T, String>,);

/// How an invocation went.
pub(crate) struct Ended<T> {
    pub(crate) answer: Result<T, Failure>,
    /// Fuel of the kind's own function. `configure` is not counted: it may have run once and been kept.
    pub(crate) fuel: Option<u64>,
    /// Gone with the Store where the host panicked.
    pub(crate) state: Option<State>,
}

/// Why an invocation stopped short of an answer.
pub(crate) enum Stop {
    /// The engine ended it.
    Engine { error: wasmtime::Error, phase: Phase, deadline: Limit },
    /// The plugin said that it could not answer.
    Said(String),
}

/// Time for a phase, and what it is called when it is over: the plugin's own deadline, or the budget that all plugins of a call share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Time {
    pub(crate) most: Duration,
    pub(crate) name: Limit,
}

impl Time {
    pub(crate) fn new(own: Duration, left: Duration) -> Self {
        if left < own { Self { most: left, name: Limit::CallBudget } } else { Self { most: own, name: Limit::Deadline } }
    }

    /// Ticks of the epoch that cover it: rounded up, and one for the tick that is under way. Bounded, because the engine adds it to
    /// the epoch of now.
    pub(crate) fn ticks(self) -> u64 {
        let ticks = self.most.as_nanos().div_ceil(TICK.as_nanos());
        u64::try_from(ticks).map_or(MAX_TICKS, |ticks| ticks.min(MAX_TICKS)) + 1
    }

    pub(crate) fn stop(self, phase: Phase) -> impl FnOnce(wasmtime::Error) -> Stop {
        move |error| Stop::Engine { error, phase, deadline: self.name }
    }
}

/// A new Store under its limits. It has neither fuel nor time yet, so it cannot run until it is given both.
pub(crate) fn store(loaded: &Loaded, limits: &Limits) -> wasmtime::Result<Store<State>> {
    let mut store = Store::try_new(&loaded.house.engine, State::new(limits))?;
    store.limiter(|state| &mut state.limiter);
    store.set_hostcall_fuel(limits.answer_bytes);
    // The contract has no resources; adapters inside a component may use a few.
    store.set_max_component_handles(256);
    Ok(store)
}

impl<T> Ended<T> {
    pub(crate) fn new(answer: Result<T, Stop>, fuel: Option<u64>, store: Store<State>) -> Self {
        let state = store.into_data();
        let answer = answer.map_err(|stop| match stop {
            Stop::Engine { error, phase, deadline } => failure::name(&error, phase, &state.limiter, deadline),
            Stop::Said(text) => failure::no_answer(&text),
        });
        Self { answer, fuel, state: Some(state) }
    }

    pub(crate) fn failed(failure: Failure) -> Self {
        Self { answer: Err(failure), fuel: None, state: None }
    }

    /// Passes the log on, and makes the answer that core knows.
    pub(crate) fn metered(self, loaded: &Loaded, call_id: Option<&str>) -> Metered<T> {
        let note = self.state.and_then(|state| state.log.deliver(loaded.log.as_ref(), &loaded.name, call_id));
        Metered { answer: self.answer, fuel: self.fuel, note }
    }
}
