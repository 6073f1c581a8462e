"""Says what a simulator needs to load cocotb: one NAME=VALUE a line.

Run by the interpreter that the simulation is to embed.
"""

import sys

import cocotb_tools.config
import find_libpython

library = find_libpython.find_libpython()
if library is None:
    sys.exit(
        f"{sys.executable} comes without its shared library, which a simulator must load: "
        "set PEERLANE_PYTHON to a Python that has one (on Debian and Ubuntu: libpython3-dev)"
    )
print(f"GPI_USERS={library};{cocotb_tools.config.pygpi_entry_point()}")
print(f"PYGPI_PYTHON_BIN={sys.executable}")
