# SPDX-License-Identifier: MIT OR Apache-2.0
"""Devices of the simulated board."""

import peerlane
import pytest


@pytest.fixture
def device():
    with peerlane.Device("simulated") as device:
        yield device
