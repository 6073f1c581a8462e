//! Which statements become `assign`, and which share an `always @*` block.
//!
//! rust-hdl runs `update` from top to bottom, again and again until nothing
//! changes. A signal that is assigned once needs no order: it becomes an
//! `assign`. Others get blocks, as small as the order allows, so that no
//! signal seems to depend on another only because they share a block.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use num_bigint::BigUint;

use crate::collect::Node;
use crate::error::{EmitError, Problem};
use crate::ir::{Expr, SignalId, Stmt, ones};
use crate::lower::Lowered;
use crate::signals::{Role, Signals, reads};

/// A statement of the top level of `update`, with the comments before it.
pub(crate) struct Item {
    pub comments: Vec<String>,
    pub statement: Stmt,
    /// Signals that it reads before the first assignment in `update`: rust-hdl
    /// then runs `update` again, so that it sees their final values.
    early: BTreeSet<SignalId>,
}

/// An `assign`.
pub(crate) struct Continuous {
    pub comments: Vec<String>,
    pub target: SignalId,
    pub value: Expr,
}

#[derive(Default)]
pub(crate) struct Schedule {
    pub continuous: Vec<Continuous>,
    /// One list of statements an `always @*` block.
    pub blocks: Vec<Vec<Item>>,
}

impl Schedule {
    /// Calls `visit` with every expression that is evaluated.
    pub fn for_each_expr(&self, visit: &mut dyn FnMut(&Expr)) {
        self.continuous.iter().for_each(|c| visit(&c.value));
        self.blocks
            .iter()
            .flatten()
            .for_each(|item| item.statement.for_each_expr(visit));
    }

    /// The targets of the blocks.
    pub fn block_targets(&self) -> BTreeSet<SignalId> {
        let mut targets = BTreeSet::new();
        let items = self.blocks.iter().flatten();
        items.for_each(|item| {
            item.statement
                .for_each_target(&mut |t| _ = targets.insert(t))
        });
        targets
    }
}

/// Orders the statements of a block.
pub(crate) fn schedule(node: &Node, lowered: &mut Lowered) -> Result<Schedule, EmitError> {
    let statements = std::mem::take(&mut lowered.statements);
    let signals = &lowered.signals;
    check_driven(node, signals, &statements)?;
    let mut items = without_dead_stores(signals, with_comments(statements));
    let ordered = ordered_signals(signals, &mut items);
    check_hoists(node, lowered, &ordered)?;

    let mut writes: HashMap<SignalId, usize> = HashMap::new();
    for item in &items {
        item.statement
            .for_each_target(&mut |t| *writes.entry(t).or_default() += 1);
    }
    let last_writes = last_writes(&items, &ordered);
    let mut schedule = Schedule::default();
    let mut rest = Vec::new();
    for (number, item) in items.into_iter().enumerate() {
        match item.statement {
            Stmt::Assign {
                target,
                low: 0,
                width,
                ref value,
            } if width == signals[target].width
                && writes[&target] == 1
                && !reads(signals, value)
                    .iter()
                    .any(|id| last_writes.get(id).is_some_and(|&last| number <= last)) =>
            {
                let Stmt::Assign { target, value, .. } = item.statement else {
                    unreachable!()
                };
                schedule.continuous.push(Continuous {
                    comments: item.comments,
                    target,
                    value,
                });
            }
            _ => rest.push((number, item)),
        }
    }
    schedule.blocks = group(signals, rest, &last_writes);
    for block in &schedule.blocks {
        check_own_reads(node, signals, block)?;
    }
    Ok(schedule)
}

fn with_comments(statements: Vec<Stmt>) -> Vec<Item> {
    let mut comments = Vec::new();
    let mut items = Vec::new();
    for statement in statements {
        match statement {
            Stmt::Comment(text) => comments.push(text),
            statement => items.push(Item {
                comments: std::mem::take(&mut comments),
                statement,
                early: BTreeSet::new(),
            }),
        }
    }
    items
}

/// Checks that every driven signal is assigned in all its bits on all paths.
fn check_driven(node: &Node, signals: &Signals, statements: &[Stmt]) -> Result<(), EmitError> {
    let always = assigned(statements);
    let mut ever = BTreeSet::new();
    statements
        .iter()
        .for_each(|s| s.for_each_target(&mut |t| _ = ever.insert(t)));
    for id in signals.ids().filter(|&id| signals[id].is_assignable()) {
        let complete = always
            .get(&id)
            .is_some_and(|bits| *bits == ones(signals[id].width));
        if !complete {
            let problem = if ever.contains(&id) {
                Problem::Latch
            } else {
                Problem::Undriven
            };
            return Err(node.error(signals[id].name.replace('$', "."), problem));
        }
    }
    Ok(())
}

/// Returns the bits that the statements assign on all paths.
fn assigned(statements: &[Stmt]) -> BTreeMap<SignalId, BigUint> {
    let mut bits: BTreeMap<SignalId, BigUint> = BTreeMap::new();
    for statement in statements {
        let more = match statement {
            Stmt::Assign {
                target, low, width, ..
            } => BTreeMap::from([(*target, ones(*width) << *low)]),
            Stmt::If {
                then, otherwise, ..
            } => common(assigned(then), &assigned(otherwise)),
            Stmt::Case { arms, default, .. } => {
                arms.iter().fold(assigned(default), |all, (_, body)| {
                    common(all, &assigned(body))
                })
            }
            Stmt::Comment(_) => BTreeMap::new(),
        };
        for (id, mask) in more {
            *bits.entry(id).or_default() |= mask;
        }
    }
    bits
}

fn common(
    mut a: BTreeMap<SignalId, BigUint>,
    b: &BTreeMap<SignalId, BigUint>,
) -> BTreeMap<SignalId, BigUint> {
    a.retain(|id, bits| match b.get(id) {
        Some(other) => {
            *bits &= other;
            true
        }
        None => false,
    });
    a
}

/// Leaves out assignments which a later one replaces before anything reads them.
fn without_dead_stores(signals: &Signals, items: Vec<Item>) -> Vec<Item> {
    let mut replaced: BTreeSet<SignalId> = BTreeSet::new();
    let mut kept: Vec<Item> = Vec::new();
    for item in items.into_iter().rev() {
        if let Stmt::Assign {
            target, low, width, ..
        } = &item.statement
        {
            if replaced.contains(target) {
                // Its comments move to the statement that follows.
                if let Some(next) = kept.last_mut() {
                    next.comments.splice(0..0, item.comments);
                }
                continue;
            }
            if *low == 0 && *width == signals[*target].width {
                replaced.insert(*target);
            }
        }
        item.statement.for_each_expr(&mut |e| {
            for id in reads(signals, e) {
                replaced.remove(&id);
            }
        });
        kept.push(item);
    }
    kept.reverse();
    kept
}

/// Returns signals that are read between two assignments: there the order counts.
fn ordered_signals(signals: &Signals, items: &mut [Item]) -> BTreeSet<SignalId> {
    let mut order = Order {
        signals,
        written: BTreeSet::new(),
        seen: BTreeSet::new(),
        early: BTreeSet::new(),
        ordered: BTreeSet::new(),
    };
    for item in items {
        order.walk(std::slice::from_ref(&item.statement));
        item.early = std::mem::take(&mut order.early);
    }
    order.ordered
}

struct Order<'a> {
    signals: &'a Signals,
    /// Assigned so far.
    written: BTreeSet<SignalId>,
    /// Read after an assignment.
    seen: BTreeSet<SignalId>,
    /// Read before any, by the current item.
    early: BTreeSet<SignalId>,
    ordered: BTreeSet<SignalId>,
}

impl Order<'_> {
    fn read(&mut self, expr: &Expr) {
        for id in reads(self.signals, expr) {
            if !self.signals[id].reads_in_order() {
                continue;
            }
            if self.written.contains(&id) {
                self.seen.insert(id);
            } else {
                self.early.insert(id);
            }
        }
    }

    fn walk(&mut self, statements: &[Stmt]) {
        for statement in statements {
            match statement {
                Stmt::Assign { target, value, .. } => {
                    self.read(value);
                    self.written.insert(*target);
                    if self.seen.contains(target) {
                        self.ordered.insert(*target);
                    }
                }
                Stmt::If {
                    test,
                    then,
                    otherwise,
                } => {
                    self.read(test);
                    self.walk(then);
                    self.walk(otherwise);
                }
                Stmt::Case {
                    test,
                    arms,
                    default,
                    ..
                } => {
                    self.read(test);
                    arms.iter().for_each(|(_, body)| self.walk(body));
                    self.walk(default);
                }
                Stmt::Comment(_) => {}
            }
        }
    }
}

/// Returns the last statement that assigns each ordered signal: later statements see the final value.
fn last_writes(items: &[Item], ordered: &BTreeSet<SignalId>) -> BTreeMap<SignalId, usize> {
    let mut last = BTreeMap::new();
    for (number, item) in items.iter().enumerate() {
        item.statement.for_each_target(&mut |id| {
            if ordered.contains(&id) {
                last.insert(id, number);
            }
        });
    }
    last
}

/// Checks wires: a wire shows the last value of a signal, never one between two assignments.
fn check_hoists(
    node: &Node,
    lowered: &Lowered,
    ordered: &BTreeSet<SignalId>,
) -> Result<(), EmitError> {
    let signals = &lowered.signals;
    for &wire in &lowered.hoisted {
        let Role::Hoisted { source, .. } = &signals[wire].role else {
            continue;
        };
        if let Some(&id) = reads(signals, source).intersection(ordered).next() {
            return Err(node.error(signals[id].name.replace('$', "."), Problem::OrderedHoist));
        }
    }
    Ok(())
}

/// Groups statements: they share a block if they drive, or read in order, a common signal.
fn group(
    signals: &Signals,
    items: Vec<(usize, Item)>,
    last_writes: &BTreeMap<SignalId, usize>,
) -> Vec<Vec<Item>> {
    let mut leader: Vec<usize> = (0..items.len()).collect();
    let mut first: HashMap<SignalId, usize> = HashMap::new();
    for (at, (number, item)) in items.iter().enumerate() {
        let mut shared = BTreeSet::new();
        item.statement
            .for_each_target(&mut |t| _ = shared.insert(t));
        item.statement.for_each_expr(&mut |e| {
            let in_order = |id: &SignalId| last_writes.get(id).is_some_and(|last| number <= last);
            shared.extend(reads(signals, e).into_iter().filter(in_order));
        });
        for id in shared {
            let other = *first.entry(id).or_insert(at);
            let (a, b) = (find(&mut leader, other), find(&mut leader, at));
            leader[a.max(b)] = a.min(b);
        }
    }
    let mut blocks: BTreeMap<usize, Vec<Item>> = BTreeMap::new();
    for (at, (_, item)) in items.into_iter().enumerate() {
        blocks.entry(find(&mut leader, at)).or_default().push(item);
    }
    blocks.into_values().collect()
}

/// Returns the first statement of the set that `at` belongs to.
fn find(leader: &mut [usize], mut at: usize) -> usize {
    while leader[at] != at {
        leader[at] = leader[leader[at]];
        at = leader[at];
    }
    at
}

/// Checks that a block reads the signals that it drives in order only: rust-hdl shows a child's input, and a signal
/// before its first assignment, with their final values.
fn check_own_reads(node: &Node, signals: &Signals, block: &[Item]) -> Result<(), EmitError> {
    let mut driven = BTreeSet::new();
    for item in block {
        item.statement
            .for_each_target(&mut |t| _ = driven.insert(t));
    }
    for item in block {
        let mut read = BTreeSet::new();
        item.statement
            .for_each_expr(&mut |e| read.extend(reads(signals, e)));
        let is_input = |id: &&SignalId| matches!(signals[**id].role, Role::ChildInput(_));
        let early = item
            .early
            .intersection(&driven)
            .map(|&id| (id, Problem::LogicLoop));
        let own = driven
            .intersection(&read)
            .filter(is_input)
            .map(|&id| (id, Problem::ReadsOwnInput));
        if let Some((id, problem)) = early.chain(own).next() {
            return Err(node.error(signals[id].name.replace('$', "."), problem));
        }
    }
    Ok(())
}
