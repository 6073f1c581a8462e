//! Lines of the interrupts in the block diagram.

use super::{HEIGHT, Layout, Line, ROW, TOP, class};
use crate::diagram::Diagram;

/// Distance between two lines that arrive at the same side.
const BESIDE: i32 = 14;

impl Layout<'_> {
    /// Returns the lines from senders to receivers, if both boxes are shown.
    pub(super) fn interrupts(&self, diagram: &Diagram) -> Vec<Line> {
        let by_end = |end: &str| {
            let name = end.split('.').next().unwrap_or(end);
            self.nodes.iter().position(|node| node.name == name)
        };
        let shown = diagram.interrupts.iter().filter_map(|interrupt| {
            let (from, to) = (by_end(&interrupt.sender)?, by_end(&interrupt.receiver)?);
            (from != to).then_some((from, to, class(interrupt.state)))
        });
        let ways = (0..).zip(shown).map(|(number, (from, to, state))| Line {
            path: self.way(from, to, number * BESIDE),
            state,
        });
        ways.collect()
    }

    /// Returns the path of a line: past the top if the boxes are in the same row; up on the right if the sender is in
    /// the receiver's column; otherwise through the gap below the sender's row.
    fn way(&self, from: usize, to: usize, beside: i32) -> String {
        let bottom = |at: usize| self.top_of(at) + self.height_of(at);
        let (x, to_x) = (self.left_of(from) + 24, self.left_of(to) + 24 + beside);
        if self.top_of(from) == self.top_of(to) {
            let top = self.top_of(from);
            return format!("M{x},{top} V{} H{to_x} V{}", top - 9, self.top_of(to));
        }
        let gap = (ROW - HEIGHT) / 2;
        if self.left_of(from) == self.left_of(to) {
            let side = self.left_of(from) + self.width;
            let middle = self.top_of(from) + self.height_of(from) / 2;
            let below = bottom(to) + gap - 3;
            return format!(
                "M{side},{middle} H{} V{below} H{to_x} V{}",
                side + 8 + beside / 2,
                bottom(to)
            );
        }
        // Never above the receiver's bottom, and never in the block's rows.
        let lane = (bottom(from) + gap - 4).max(bottom(to) + gap).max(TOP);
        format!("M{x},{} V{lane} H{to_x} V{}", bottom(from), bottom(to))
    }
}
