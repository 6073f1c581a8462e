//! cargo xtask: tools, demo, test.
