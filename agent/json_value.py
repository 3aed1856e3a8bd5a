"""JSON from outside this process, also from the program's own files, which anything may have damaged.

The standard library raises `RecursionError` for a text that is nested deeply, and returns numbers that are infinite or
have hundreds of digits, at which dates and counters fail later. Here each of these is invalid, as other broken JSON is.
"""

import json
from math import isfinite
from typing import Any, NoReturn

_MOST_DIGITS = 20
"""The characters of a whole number: 64 bits, with a sign."""


def parse_json(text: str | bytes) -> Any:
    """The value in `text`; raises only `ValueError`."""
    try:
        return json.loads(text, parse_float=_float, parse_int=_int, parse_constant=_refuse)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _float(text: str) -> float:
    value = float(text)
    if not isfinite(value):
        raise ValueError("a number out of range")
    return value


def _int(text: str) -> int:
    if len(text) > _MOST_DIGITS:
        raise ValueError("a number out of range")
    return int(text)


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")
