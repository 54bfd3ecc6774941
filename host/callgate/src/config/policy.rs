//! Rules, from their written form. Predicates stay names until the plugins are loaded.

use std::collections::BTreeSet;

use callgate_core::json::{Json, Number, Pointer};
use callgate_core::model::{Effect, Era, Hint};
use callgate_core::policy::{Condition, Glob, Pattern, PredicateEntry, Rule, ValueTest};

use super::{PolicyTemplate, raw, units};

/// A rule whose predicates are names.
#[derive(Clone, Debug)]
pub struct RuleTemplate {
    /// The rule's name.
    pub name: String,
    /// Its condition.
    pub condition: ConditionTemplate,
    /// Whether a grant may settle its ask.
    pub grantable: bool,
}

/// A condition whose predicates are names.
#[derive(Clone, Debug)]
pub enum ConditionTemplate {
    /// A condition without predicates in it.
    Ready(Condition),
    /// A predicate plugin's name.
    Predicate(String),
    /// All of these.
    All(Vec<ConditionTemplate>),
    /// One of these.
    Any(Vec<ConditionTemplate>),
    /// Not this.
    Not(Box<ConditionTemplate>),
}

impl RuleTemplate {
    /// The rule, with its predicates looked up.
    ///
    /// # Errors
    /// What `predicate` says of a name that it cannot give.
    pub fn resolve<E>(&self, predicate: &dyn Fn(&str) -> Result<PredicateEntry, E>) -> Result<Rule, E> {
        Ok(Rule { name: self.name.clone(), condition: self.condition.resolve(predicate)?, grantable: self.grantable })
    }
}

impl ConditionTemplate {
    fn resolve<E>(&self, predicate: &dyn Fn(&str) -> Result<PredicateEntry, E>) -> Result<Condition, E> {
        let each = |conditions: &[ConditionTemplate]| {
            conditions.iter().map(|condition| condition.resolve(predicate)).collect::<Result<Vec<_>, E>>()
        };
        Ok(match self {
            ConditionTemplate::Ready(condition) => condition.clone(),
            ConditionTemplate::Predicate(name) => Condition::Predicate(predicate(name)?),
            ConditionTemplate::All(conditions) => Condition::All(each(conditions)?),
            ConditionTemplate::Any(conditions) => Condition::Any(each(conditions)?),
            ConditionTemplate::Not(condition) => Condition::Not(Box::new(condition.resolve(predicate)?)),
        })
    }

    /// Every predicate's name in it.
    pub(super) fn predicates(&self) -> Vec<&str> {
        self.leaves()
            .into_iter()
            .filter_map(|leaf| if let ConditionTemplate::Predicate(name) = leaf { Some(name.as_str()) } else { None })
            .collect()
    }

    /// Every condition in it that has no other inside.
    pub(super) fn leaves(&self) -> Vec<&ConditionTemplate> {
        match self {
            ConditionTemplate::Ready(_) | ConditionTemplate::Predicate(_) => vec![self],
            ConditionTemplate::All(conditions) | ConditionTemplate::Any(conditions) => {
                conditions.iter().flat_map(ConditionTemplate::leaves).collect()
            }
            ConditionTemplate::Not(condition) => condition.leaves(),
        }
    }
}

pub(super) fn template(raw: raw::Policy) -> Result<PolicyTemplate, String> {
    let rules = |rules: Vec<raw::Rule>| rules.into_iter().map(rule).collect::<Result<Vec<_>, _>>();
    let template = PolicyTemplate {
        deny: rules(raw.deny)?,
        ask: rules(raw.ask)?,
        allow: rules(raw.allow)?,
        default: raw.default.map(|effect| match effect {
            raw::DefaultEffect::Deny => Effect::Deny,
            raw::DefaultEffect::Ask => Effect::Ask,
            raw::DefaultEffect::Allow => Effect::Allow,
        }),
    };
    let mut names = BTreeSet::new();
    for rule in [&template.deny, &template.ask, &template.allow].into_iter().flatten() {
        if !names.insert(&rule.name) {
            return Err(format!("two rules are named `{}`; records could not tell them apart", rule.name));
        }
    }
    Ok(template)
}

fn rule(raw: raw::Rule) -> Result<RuleTemplate, String> {
    let (name, grantable, raw) = raw.condition();
    let condition = condition(raw).map_err(|what| format!("rule `{name}`: {what}"))?;
    Ok(RuleTemplate { name, condition, grantable: grantable.unwrap_or(true) })
}

fn condition(raw: raw::Condition) -> Result<ConditionTemplate, String> {
    let each = |conditions: Vec<raw::Condition>| conditions.into_iter().map(condition).collect::<Result<Vec<_>, _>>();
    let ready = |condition: Result<Condition, String>| condition.map(ConditionTemplate::Ready);
    let written = [
        raw.tool.map(|text| ready(name_glob(&text).map(Condition::Tool))),
        raw.server.map(|text| ready(name_glob(&text).map(Condition::Server))),
        raw.annotation.map(|annotation| ready(hint(&annotation).map(|(hint, value)| Condition::Annotation(hint, value)))),
        raw.argument.map(|mut argument| {
            let pointer = argument.pointer.parse::<Pointer>().map_err(|error| error.to_string());
            ready(pointer.and_then(|pointer| Ok(Condition::Argument(pointer, value_test(argument.test())?))))
        }),
        raw.principal.map(|text| ready(principal_glob(&text).map(Condition::Principal))),
        raw.era.map(|era| ready(Ok(Condition::Era(if matches!(era, raw::Era::Legacy) { Era::Legacy } else { Era::Modern })))),
        raw.assign.map(|mut assign| {
            let test = value_test(assign.test());
            ready(test.map(|test| Condition::Assign(assign.key, test)))
        }),
        raw.tainted.map(|tainted| ready(Ok(Condition::Tainted(tainted.ignore.into_iter().collect())))),
        raw.predicate.map(|name| Ok(ConditionTemplate::Predicate(name))),
        raw.all.map(|conditions| nonempty(each(conditions)?).map(ConditionTemplate::All)),
        raw.any.map(|conditions| nonempty(each(conditions)?).map(ConditionTemplate::Any)),
        raw.not.map(|inner| condition(*inner).map(|inner| ConditionTemplate::Not(Box::new(inner)))),
    ];
    one(written.into_iter().flatten(), "one condition is needed; join several with `all = [...]`")?
}

fn nonempty(conditions: Vec<ConditionTemplate>) -> Result<Vec<ConditionTemplate>, String> {
    if conditions.is_empty() { Err("an empty list of conditions says nothing".to_owned()) } else { Ok(conditions) }
}

fn hint(raw: &raw::Annotation) -> Result<(Hint, bool), String> {
    let written = [
        raw.read_only.map(|value| (Hint::ReadOnly, value)),
        raw.destructive.map(|value| (Hint::Destructive, value)),
        raw.idempotent.map(|value| (Hint::Idempotent, value)),
        raw.open_world.map(|value| (Hint::OpenWorld, value)),
    ];
    one(written.into_iter().flatten(), "`annotation` needs one of read_only, destructive, idempotent and open_world")
}

fn value_test(raw: raw::ValueTest) -> Result<ValueTest, String> {
    let written = [
        raw.equals.map(|value| units::json(value).map(ValueTest::Equals)),
        raw.one_of.map(|values| values.into_iter().map(units::json).collect::<Result<_, _>>().map(ValueTest::OneOf)),
        raw.glob.map(|text| glob(&text).map(ValueTest::Glob)),
        raw.regex.map(|text| Pattern::new(&text).map(ValueTest::Regex).map_err(|error| one_clause(&error.to_string()))),
        raw.range.map(|range| Ok(ValueTest::Range { min: number(range.min)?, max: number(range.max)? })),
        raw.exists.map(|exists| Ok(ValueTest::Exists(exists))),
        raw.length.map(|length| Ok(ValueTest::Length { min: length.min, max: length.max })),
    ];
    one(written.into_iter().flatten(), "one test is needed: equals, one_of, glob, regex, range, exists or length")?
}

/// The head and the cause of an error that draws a picture between them.
fn one_clause(text: &str) -> String {
    match (text.split_once('\n'), text.rsplit_once("\nerror: ")) {
        (Some((head, _)), Some((_, cause))) => format!("{}{cause}", head.trim_end_matches("regex parse error:")),
        _ => text.replace('\n', " "),
    }
}

fn number(raw: Option<toml::Value>) -> Result<Option<Number>, String> {
    match raw.map(units::json).transpose()? {
        None => Ok(None),
        Some(Json::Number(number)) => Ok(Some(number)),
        Some(_) => Err("a bound of `range` must be a number".to_owned()),
    }
}

fn glob(text: &str) -> Result<Glob, String> {
    Glob::new(text).map_err(|error| error.to_string())
}

/// A glob for names. What other tools read as a pattern, and names never hold, would match nothing here: in a deny rule that is an
/// open door.
pub(super) fn name_glob(text: &str) -> Result<Glob, String> {
    if text.is_empty() || text.contains(['{', '}', '[', ']', '\\']) || text.contains("**") {
        return Err(format!(
            "`{text}` is no pattern for a name: `*` is any text and `?` one character, there is nothing else; write a condition for each \
             name and join them with `any = [...]`"
        ));
    }
    glob(text)
}

/// A principal's text begins with who vouches for it.
fn principal_glob(text: &str) -> Result<Glob, String> {
    if !text.contains([':', '*']) {
        return Err(format!(
            "`{text}` matches no principal: their names are `AUTHENTICATOR:NAME`, as `cli:{text}` is for `--principal {text}`"
        ));
    }
    name_glob(text)
}

fn one<T>(mut written: impl Iterator<Item = T>, otherwise: &str) -> Result<T, String> {
    match (written.next(), written.next()) {
        (Some(only), None) => Ok(only),
        _ => Err(otherwise.to_owned()),
    }
}
