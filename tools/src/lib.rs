//! Pinned external tools in the user's cache directory.
