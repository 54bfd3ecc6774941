//! One invocation of anything but an approver: on the caller's thread, with functions that never wait.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use callgate_core::model::{Failure, FailureKind, Limit, Metered};
use wasmtime::Store;
use wasmtime::component::{Instance, InstancePre, Lift};

use crate::contract::callgate::plugin::types::{FailureOutcome, Finding, PostOutcome, PreOutcome, Verdict, Visibility};
use crate::failure::{self, Phase};
use crate::kind::Kind;
use crate::limits::Limits;
use crate::loader::LoadError;
use crate::plugin::{Bound, Loaded};
use crate::sandbox::{Answer, Ended, Stop, Time, store};
use crate::state::{State, Subject};

impl Loaded {
    /// Runs the plugin as one of its kinds, about one subject, in a sandbox of its own.
    pub(crate) fn run<T: Lift + 'static>(&self, bound: &Bound, subject: Subject) -> Metered<T> {
        let Some(context) = subject.context.clone() else { return Err(Failure::new(FailureKind::NotLoaded)).into() };
        let left = context.budget.left();
        if left.is_zero() {
            return Err(Failure::timeout(Limit::CallBudget)).into();
        }
        let Some(_permit) = self.house.running.acquire(self.house.patience) else {
            return Err(Failure::timeout(Limit::Queue)).into();
        };
        let start = Instant::now();
        // A panic of the engine or of a host function ends this invocation. Nothing that it touched is used again: the Store is
        // inside, and what is outside is only read.
        let ended =
            catch_unwind(AssertUnwindSafe(|| self.attempt(bound, subject, left))).unwrap_or_else(|_| Ended::failed(failure::panicked()));
        context.budget.spend(start.elapsed());
        ended.metered(self, context.call_id.as_ref().map(|id| id.as_str()))
    }

    fn attempt<T: Lift + 'static>(&self, bound: &Bound, subject: Subject, left: Duration) -> Ended<T> {
        let mut store = match store(self, &bound.limits) {
            Ok(store) => store,
            Err(_) => return Ended::failed(Failure::new(FailureKind::Memory)),
        };
        let instance = match self.start(&mut store, &bound.pre, &bound.limits, left) {
            Ok(instance) => instance,
            Err(stop) => return Ended::new(Err(stop), None, store),
        };
        let time = Time::new(bound.limits.deadline, left.saturating_sub(store.data().clock.running()));
        let answer = answer(&mut store, &instance, bound, subject, time);
        let fuel = store.get_fuel().ok().map(|left| bound.limits.fuel.saturating_sub(left));
        Ended::new(answer, fuel, store)
    }

    /// Makes an instance and lets it take its settings.
    fn start(&self, store: &mut Store<State>, pre: &InstancePre<State>, limits: &Limits, left: Duration) -> Result<Instance, Stop> {
        let time = Time::new(limits.setup_deadline, left);
        store.set_fuel(limits.setup_fuel).map_err(time.stop(Phase::Start))?;
        store.set_epoch_deadline(time.ticks());
        let instance = pre.instantiate(&mut *store).map_err(time.stop(Phase::Start))?;
        let configure = instance.get_typed_func::<(&str,), Answer<()>>(&mut *store, &self.setup).map_err(time.stop(Phase::Start))?;
        let (taken,) = configure.call(&mut *store, (self.settings.as_str(),)).map_err(time.stop(Phase::Call))?;
        taken.map_err(Stop::Said)?;
        Ok(instance)
    }

    /// Takes the settings for the first time: what fails here stops the load.
    pub(crate) fn configure_once(&self, pre: &InstancePre<State>) -> Result<(), LoadError> {
        let Some(bound) = self.bound.first() else { return Err(LoadError::NoKind) };
        let mut store = store(self, &bound.limits).map_err(|error| LoadError::Compile(error.to_string()))?;
        let started = self.start(&mut store, pre, &bound.limits, Duration::MAX);
        let refused = match &started {
            Err(Stop::Said(text)) => Some(LoadError::SettingsRefused(crate::log::one_line(text, crate::limits::MAX_TEXT_CHARS))),
            _ => None,
        };
        let typed = started.as_ref().ok().map_or(Ok(()), |instance| self.check_types(&mut store, instance));
        let ended = Ended::new(started.map(drop), None, store);
        let metered = ended.metered(self, None);
        refused.map_or(Ok(()), Err)?;
        metered.answer.map_err(LoadError::Setup)?;
        typed
    }

    /// Every kind's function must have the contract's type: better known now than in the first call.
    fn check_types(&self, store: &mut Store<State>, instance: &Instance) -> Result<(), LoadError> {
        for bound in &self.bound {
            let function = &bound.function;
            let typed = match bound.kind {
                Kind::Filter => instance.get_typed_func::<(), Answer<Visibility>>(&mut *store, function).map(drop),
                Kind::Predicate => instance.get_typed_func::<(), Answer<Finding>>(&mut *store, function).map(drop),
                Kind::PreHook => instance.get_typed_func::<(), Answer<PreOutcome>>(&mut *store, function).map(drop),
                Kind::PostHook => instance.get_typed_func::<(), Answer<PostOutcome>>(&mut *store, function).map(drop),
                Kind::FailureHook => instance.get_typed_func::<(), Answer<FailureOutcome>>(&mut *store, function).map(drop),
                Kind::Approver => instance.get_typed_func::<(), Answer<Verdict>>(&mut *store, function).map(drop),
            };
            typed.map_err(|error| {
                LoadError::Contract(format!("`{}` of `{}` has another type: {error:#}", bound.kind.function(), bound.kind))
            })?;
        }
        Ok(())
    }
}

fn answer<T: Lift + 'static>(
    store: &mut Store<State>,
    instance: &Instance,
    bound: &Bound,
    subject: Subject,
    time: Time,
) -> Result<T, Stop> {
    store.set_fuel(bound.limits.fuel).map_err(time.stop(Phase::Start))?;
    store.set_epoch_deadline(time.ticks());
    // INVARIANT: nothing of the call is in the Store before this line.
    store.data_mut().begin(subject);
    let function = instance.get_typed_func::<(), Answer<T>>(&mut *store, &bound.function).map_err(time.stop(Phase::Start))?;
    let (answer,) = function.call(&mut *store, ()).map_err(time.stop(Phase::Call))?;
    answer.map_err(Stop::Said)
}
