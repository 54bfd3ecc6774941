//! Gives a component its functions: those of one row, and for everything else that it imports a function that traps as refused.
//!
//! A component of several kinds is linked once for each, so that its filter cannot read what only its hook may (T17).

use std::collections::BTreeSet;

use wasmtime::Result;
use wasmtime::component::types::ComponentItem;
use wasmtime::component::{Component, HasSelf, InstancePre, Linker};

use crate::contract::callgate::plugin::{call_arguments, context, failure, log, prompt, question, tool, tool_result};
use crate::kind::{ContractName, Interface};
use crate::state::{Halt, State};

/// Links a component for one row.
pub(crate) fn link(component: &Component, row: &[Interface]) -> Result<InstancePre<State>> {
    let mut linker = Linker::new(component.engine());
    let imported = imported(component);
    // Only what is imported: a component that reads nothing costs nothing to link.
    for interface in row.iter().filter(|interface| imported.contains(interface)) {
        offer(&mut linker, *interface)?;
    }
    refuse_rest(&mut linker, component, row)?;
    linker.instantiate_pre(component)
}

fn offer(linker: &mut Linker<State>, interface: Interface) -> Result<()> {
    type Own = HasSelf<State>;
    match interface {
        Interface::Types => Ok(()),
        Interface::Tool => tool::add_to_linker::<State, Own>(linker, |state| state),
        Interface::CallArguments => call_arguments::add_to_linker::<State, Own>(linker, |state| state),
        Interface::Context => context::add_to_linker::<State, Own>(linker, |state| state),
        Interface::ToolResult => tool_result::add_to_linker::<State, Own>(linker, |state| state),
        Interface::Failure => failure::add_to_linker::<State, Own>(linker, |state| state),
        Interface::Question => question::add_to_linker::<State, Own>(linker, |state| state),
        Interface::Prompt => prompt::add_to_linker::<State, Own>(linker, |state| state),
        Interface::Log => log::add_to_linker::<State, Own>(linker, |state| state),
    }
}

fn imported(component: &Component) -> BTreeSet<Interface> {
    let ty = component.component_type();
    ty.imports(component.engine()).filter_map(|(name, _)| ContractName::parse(name)?.imported()).collect()
}

fn refuse_rest(linker: &mut Linker<State>, component: &Component, row: &[Interface]) -> Result<()> {
    let engine = component.engine();
    for (full, item) in component.component_type().imports(engine) {
        let interface = ContractName::parse(full).and_then(ContractName::imported);
        if interface.is_some_and(|interface| row.contains(&interface)) {
            continue;
        }
        // Whatever else a component imports was refused by name before it came here.
        let ComponentItem::ComponentInstance(instance) = item.ty else { continue };
        let mut stubs = linker.instance(full)?;
        for (function, item) in instance.exports(engine) {
            if let ComponentItem::ComponentFunc(_) = item.ty {
                let name = format!("{}.{function}", interface.map_or(full, |interface| interface.as_str()));
                stubs.func_new(function, move |_, _, _, _| Err(Halt::Refused(name.clone()).into()))?;
            }
        }
    }
    Ok(())
}
