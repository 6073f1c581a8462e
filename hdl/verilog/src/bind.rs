//! Connections that need no wire: clocks, and inputs and outputs of children connected directly.

use std::collections::{BTreeMap, BTreeSet};

use crate::collect::Node;
use crate::error::{EmitError, Problem};
use crate::ir::{Expr, SignalId};
use crate::lower::Lowered;
use crate::schedule::Schedule;
use crate::signals::{Role, Signals, reads};

/// The connections of children, taken out of the schedule.
#[derive(Default)]
pub(crate) struct Bindings {
    /// Inputs of children connected to an expression.
    pub inputs: BTreeMap<SignalId, Expr>,
    /// Outputs of children connected to an output of the module.
    pub outputs: BTreeMap<SignalId, SignalId>,
    /// The clock of each register, by the number of its child.
    pub clocks: BTreeMap<usize, SignalId>,
}

/// Finds the direct connections, and removes their assignments from the schedule.
pub(crate) fn bind(
    node: &Node,
    lowered: &Lowered,
    schedule: &mut Schedule,
) -> Result<Bindings, EmitError> {
    let signals = &lowered.signals;
    let mut bindings = Bindings::default();
    let aliases = clock_aliases(signals, schedule);

    let mut read = BTreeSet::new();
    schedule.for_each_expr(&mut |e| read.extend(reads(signals, e)));

    let mut comments = Vec::new();
    for mut item in std::mem::take(&mut schedule.continuous) {
        comments.append(&mut item.comments);
        let target = &signals[item.target];
        let Role::ChildInput(child) = target.role else {
            item.comments = std::mem::take(&mut comments);
            schedule.continuous.push(item);
            continue;
        };
        let is_register = node.children[child].register.is_some();
        let source = signals.as_whole(&item.value).map(|id| follow(&aliases, id));
        if target.clock && is_register {
            let Some(source) = source else {
                return Err(node.error(target.name.replace('$', "."), Problem::ClockExpression));
            };
            bindings.clocks.insert(child, source);
        } else if target.clock && source.is_some() {
            bindings
                .inputs
                .insert(item.target, signals.whole(source.unwrap_or(item.target)));
        } else if !read.contains(&item.target) && (is_register || is_simple(&item.value)) {
            bindings.inputs.insert(item.target, item.value);
        } else {
            item.comments = std::mem::take(&mut comments);
            schedule.continuous.push(item);
        }
    }
    if let Some(last) = schedule.continuous.last_mut() {
        last.comments.append(&mut comments);
    }
    for (number, child) in node.children.iter().enumerate() {
        if child.register.is_some() && !bindings.clocks.contains_key(&number) {
            return Err(node.error(format!("{}.clock", child.name), Problem::ClockExpression));
        }
    }
    drop_unused_names(signals, schedule, &bindings, &aliases);
    bind_outputs(node, signals, schedule, &mut bindings);
    Ok(bindings)
}

/// Drops local clocks that only registers and children used.
fn drop_unused_names(
    signals: &Signals,
    schedule: &mut Schedule,
    bindings: &Bindings,
    aliases: &BTreeMap<SignalId, SignalId>,
) {
    let mut read = BTreeSet::new();
    let (names, others): (Vec<_>, Vec<_>) = std::mem::take(&mut schedule.continuous)
        .into_iter()
        .partition(|item| aliases.contains_key(&item.target));
    schedule.continuous = others;
    schedule.for_each_expr(&mut |e| read.extend(reads(signals, e)));
    bindings
        .inputs
        .values()
        .for_each(|e| read.extend(reads(signals, e)));
    // A name that a used name refers to is used, too.
    let mut used: Vec<SignalId> = read.into_iter().collect();
    let mut kept = BTreeSet::new();
    while let Some(id) = used.pop() {
        if let Some(&source) = aliases.get(&id)
            && kept.insert(id)
        {
            used.push(source);
        }
    }
    let names = names.into_iter().filter(|item| kept.contains(&item.target));
    schedule.continuous.splice(0..0, names);
}

/// Finds outputs of children that are, unchanged, outputs of the module.
fn bind_outputs(node: &Node, signals: &Signals, schedule: &mut Schedule, bindings: &mut Bindings) {
    schedule.continuous.retain(|item| {
        let Some(source) = signals.as_whole(&item.value) else {
            return true;
        };
        let (Role::Output, Role::ChildOutput(child)) =
            (&signals[item.target].role, &signals[source].role)
        else {
            return true;
        };
        if node.children[*child].register.is_some() || bindings.outputs.contains_key(&source) {
            return true;
        }
        bindings.outputs.insert(source, item.target);
        false
    });
}

/// Local clocks that are another clock by another name: a simulator that saw
/// the `assign` between them would see their edges one after the other.
fn clock_aliases(signals: &Signals, schedule: &Schedule) -> BTreeMap<SignalId, SignalId> {
    let mut aliases = BTreeMap::new();
    for item in &schedule.continuous {
        let target = &signals[item.target];
        if target.clock
            && target.role == Role::Local
            && let Some(source) = signals.as_whole(&item.value)
        {
            aliases.insert(item.target, source);
        }
    }
    aliases
}

fn follow(aliases: &BTreeMap<SignalId, SignalId>, mut id: SignalId) -> SignalId {
    // A chain cannot be longer than the number of its links.
    for _ in 0..aliases.len() {
        match aliases.get(&id) {
            Some(&next) => id = next,
            None => break,
        }
    }
    id
}

/// Short enough for a port connection.
fn is_simple(expr: &Expr) -> bool {
    match expr {
        Expr::Select { .. } | Expr::Const { .. } => true,
        Expr::Concat(parts) => parts.iter().all(is_simple),
        _ => false,
    }
}
