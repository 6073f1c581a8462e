// SPDX-License-Identifier: GPL-2.0
/* The smallest module, to test the build with. */
#define pr_fmt(text) KBUILD_MODNAME ": " text

#include <linux/module.h>

static int __init hello_init(void)
{
	pr_info("hello\n");
	return 0;
}

static void __exit hello_exit(void)
{
	pr_info("goodbye\n");
}

module_init(hello_init);
module_exit(hello_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Says hello");
