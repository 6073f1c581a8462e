// SPDX-License-Identifier: GPL-2.0

//! The smallest module, to test the build with.

use kernel::prelude::*;

module! {
    type: Hello,
    name: "hello",
    authors: ["Peerlane"],
    description: "Says hello",
    license: "GPL",
}

struct Hello;

impl kernel::Module for Hello {
    fn init(_module: &'static ThisModule) -> Result<Self> {
        pr_info!("hello\n");
        Ok(Self)
    }
}
