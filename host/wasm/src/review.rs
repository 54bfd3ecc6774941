//! One invocation of an approver: on a fiber, because it may wait for a person. Its running time is measured by a clock that stops
//! while it waits; the wait ends with the ask, when core drops the future.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use callgate_core::model::{Failure, FailureKind, Limit, Metered};
use futures_util::FutureExt;
use wasmtime::component::Instance;
use wasmtime::{Store, UpdateDeadline};

use crate::contract::callgate::plugin::types::Verdict;
use crate::failure::{self, Phase};
use crate::plugin::{Bound, Loaded};
use crate::sandbox::{Answer, Ended, Stop, Time, store};
use crate::state::{Halt, State, Subject};

impl Loaded {
    /// Runs the plugin as an approver.
    pub(crate) async fn review(&self, bound: &Bound, subject: Subject) -> Metered<Verdict> {
        let Some(context) = subject.context.clone() else { return Err(Failure::new(FailureKind::NotLoaded)).into() };
        let left = context.budget.left();
        if left.is_zero() {
            return Err(Failure::timeout(Limit::CallBudget)).into();
        }
        let Ok(Ok(_permit)) = tokio::time::timeout(self.house.patience, self.house.reviewing.acquire()).await else {
            return Err(Failure::timeout(Limit::Queue)).into();
        };
        let ended = AssertUnwindSafe(self.attempt_review(bound, subject, left))
            .catch_unwind()
            .await
            .unwrap_or_else(|_| Ended::failed(failure::panicked()));
        if let Some(state) = &ended.state {
            context.budget.spend(state.clock.running());
        }
        ended.metered(self, context.call_id.as_ref().map(|id| id.as_str()))
    }

    async fn attempt_review(&self, bound: &Bound, subject: Subject, left: Duration) -> Ended<Verdict> {
        let mut store = match store(self, &bound.limits) {
            Ok(store) => store,
            Err(_) => return Ended::failed(Failure::new(FailureKind::Memory)),
        };
        let instance = match self.start_review(&mut store, bound, left).await {
            Ok(instance) => instance,
            Err(stop) => return Ended::new(Err(stop), None, store),
        };
        let time = Time::new(bound.limits.deadline, left.saturating_sub(store.data().clock.running()));
        let answer = review(&mut store, &instance, bound, subject, time).await;
        let fuel = store.get_fuel().ok().map(|left| bound.limits.fuel.saturating_sub(left));
        Ended::new(answer, fuel, store)
    }

    async fn start_review(&self, store: &mut Store<State>, bound: &Bound, left: Duration) -> Result<Instance, Stop> {
        let time = Time::new(bound.limits.setup_deadline, left);
        store.set_fuel(bound.limits.setup_fuel).map_err(time.stop(Phase::Start))?;
        arm(store, time);
        let instance = bound.pre.instantiate_async(&mut *store).await.map_err(time.stop(Phase::Start))?;
        let configure = instance.get_typed_func::<(&str,), Answer<()>>(&mut *store, &self.setup).map_err(time.stop(Phase::Start))?;
        let (taken,) = configure.call_async(&mut *store, (self.settings.as_str(),)).await.map_err(time.stop(Phase::Call))?;
        taken.map_err(Stop::Said)?;
        Ok(instance)
    }
}

async fn review(store: &mut Store<State>, instance: &Instance, bound: &Bound, subject: Subject, time: Time) -> Result<Verdict, Stop> {
    store.set_fuel(bound.limits.fuel).map_err(time.stop(Phase::Start))?;
    arm(store, time);
    // INVARIANT: nothing of the call is in the Store before this line.
    store.data_mut().begin(subject);
    let function = instance.get_typed_func::<(), Answer<Verdict>>(&mut *store, &bound.function).map_err(time.stop(Phase::Start))?;
    let (answer,) = function.call_async(&mut *store, ()).await.map_err(time.stop(Phase::Call))?;
    answer.map_err(Stop::Said)
}

/// Lets a guest run for that long from now on. An epoch deadline is absolute and would run on while a person thinks, so each tick
/// asks the clock instead, and gives way to other tasks.
fn arm(store: &mut Store<State>, time: Time) {
    let most = store.data().clock.running().saturating_add(time.most);
    store.epoch_deadline_callback(move |store| {
        if store.data().clock.running() > most { Err(Halt::Deadline.into()) } else { Ok(UpdateDeadline::Yield(1)) }
    });
    store.set_epoch_deadline(1);
}
