# SPDX-License-Identifier: MIT OR Apache-2.0
"""A plugin of pytest: a line for each test on its way, `OUTCOME name`, in the file that OUTCOMES names."""

import os
import re


def write(word, name):
    with open(os.environ["OUTCOMES"], "a", encoding="utf-8") as file:
        # Names have addresses of devices.
        print(word, re.sub("0x[0-9a-f]+", "0x", name), file=file)


def pytest_runtest_logstart(nodeid):
    write("started", nodeid)


def pytest_runtest_logreport(report):
    if report.when == "call" or report.outcome != "passed":
        write("xfailed" if hasattr(report, "wasxfail") else report.outcome, report.nodeid)
