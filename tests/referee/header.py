"""Numbers of the register map, from the C header."""

import re

DEFINE = re.compile(r"^#define PEERLANE_(\w+?)(\(i\))? (.+)$")


def load(path):
    """The header's plain numbers, and for `NAME(i)` the number at i = 0."""
    numbers = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            match = DEFINE.match(line.strip())
            if not match:
                continue
            name, indexed, text = match.groups()
            text = text.split("/*")[0].strip()
            if indexed:
                text = text.strip("()").split("+")[0].strip()
            text = re.sub(r"^UINT64_C\((.*)\)$", r"\1", text).rstrip("uU")
            try:
                numbers[name] = int(text, 0)
            except ValueError:
                # A define that is not a number.
                continue
    return numbers
