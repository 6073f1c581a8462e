//! Members of LogicLock regions before and after an extension: instances of the system with the DMA, by their paths.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::compare::{self, Faults};
use super::design::Design;
use super::system::{self, New};

/// The expected changes of members.
pub struct Regions {
    /// The instance of the system with the DMA.
    board: String,
    dma: String,
    /// The block's entity.
    entity: &'static str,
    gone: BTreeSet<String>,
    come: Vec<New>,
}

/// A line that makes an instance of the system with the DMA a member.
struct Member<'a> {
    /// The text before the last element of its path.
    before: &'a str,
    instance: &'a str,
    after: &'a str,
}

impl Regions {
    /// Derives the changes; `after` returns the text of a file after the extension.
    pub fn new(
        design: &Design,
        before: &BTreeMap<PathBuf, Vec<u8>>,
        after: &dyn Fn(&Path) -> Option<String>,
    ) -> Self {
        let mut design = design.clone();
        let (kind, path) = (design.main().kind(), design.main().path.clone());
        let path = design.hardware.join(path);
        let board = design.top().modules().find(|m| m.get("kind") == kind);
        let board = board.unwrap().get("name").to_string();
        let old = compare::text(&before[&path]);
        // Another test reports a missing system.
        let new = after(&path).unwrap_or_else(|| old.clone());
        Self {
            board,
            dma: design.dma(),
            entity: match design.msix {
                true => "peerlane_dma_msix",
                false => "peerlane_dma",
            },
            come: system::inserted(&old, &new),
            gone: design.idle,
        }
    }

    /// Reads a member by a path `…|entity:board|entity:instance`.
    fn member<'a>(&self, line: &'a str) -> Option<Member<'a>> {
        if line.trim().starts_with('#') || !line.contains(" LL_MEMBER_OF ") {
            return None;
        }
        let begin = line.find(" -to \"")? + " -to \"".len();
        let end = begin + line[begin..].find('"')?;
        let (way, last) = line[begin..end].rsplit_once('|')?;
        let (_, board) = way.rsplit('|').next()?.split_once(':')?;
        let (_, instance) = last.split_once(':')?;
        (board == self.board).then_some(Member {
            before: &line[..end - last.len()],
            instance,
            after: &line[end..],
        })
    }

    /// Returns the old settings with the members that they must have in the end, and new bridges that are not members
    /// although all their slaves are.
    pub fn follow(&self, old: &str, new: &str) -> (String, Faults) {
        let mut lines = Vec::new();
        let (mut all, mut added) = (BTreeSet::new(), BTreeSet::new());
        let there: BTreeSet<&str> = new.lines().collect();
        for line in old.lines() {
            let Some(member) = self.member(line) else {
                lines.push(line.to_string());
                continue;
            };
            let Member {
                before,
                instance,
                after,
            } = member;
            // A bridge may take the place of a removed one.
            let gone = self.gone.contains(instance);
            if !gone {
                all.insert(instance);
            }
            match instance == self.dma {
                _ if gone => {}
                true => lines.push(format!("{before}{}:{instance}{after}", self.entity)),
                false => lines.push(line.to_string()),
            }
            for bridge in &self.come {
                let New { name, kind, behind } = bridge;
                let line = format!("{before}{kind}:{name}{after}");
                if (gone || behind.contains(instance))
                    && there.contains(line.as_str())
                    && added.insert(name.as_str())
                {
                    lines.push(line);
                }
            }
        }
        let mut faults = Faults::new();
        for New { name, behind, .. } in &self.come {
            let inside = behind
                .iter()
                .all(|b| all.contains(b.as_str()) && *b != self.dma);
            if inside && !added.contains(name.as_str()) {
                faults.push(format!(
                    "{name} is not a member of the region of {behind:?}"
                ));
            }
        }
        let end = if old.ends_with('\n') { "\n" } else { "" };
        (lines.join("\n") + end, faults)
    }
}
