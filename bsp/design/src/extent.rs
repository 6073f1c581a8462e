//! Spans of slaves.

/// Bytes of a slave's span in its master's address space.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extent {
    /// Least bytes of the span.
    pub least: u128,
    /// Most bytes of the span, if known.
    pub most: Option<u128>,
    /// Source of the figure.
    pub source: String,
}

impl Extent {
    pub(crate) fn exact(bytes: u128, source: impl Into<String>) -> Self {
        Self {
            least: bytes,
            most: Some(bytes),
            source: source.into(),
        }
    }

    pub(crate) fn unknown(kind: &str) -> Self {
        Self {
            least: 4,
            most: None,
            source: format!("kind {kind}: unknown span"),
        }
    }
}
