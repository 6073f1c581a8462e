# SPDX-License-Identifier: MIT OR Apache-2.0
"""Devices of the simulated board, which only a build with the feature ``simulated`` has."""

import pytest
from peerlane import _peerlane


@pytest.fixture
def device():
    with _peerlane.simulated() as device:
        yield device
