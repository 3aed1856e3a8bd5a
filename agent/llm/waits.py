"""When a server that is too busy may be asked again: what its headers and its words say of it."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime

LONGEST_WAIT = 60.0
"""The longest pause in seconds that a server may ask for."""

_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|h(?:ours?)?|m(?:in(?:ute)?s?)?|s(?:ec(?:ond)?s?)?)(?![a-z])", re.I)
_UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0}
_IN_WORDS = re.compile(
    r"(?:try again|retry|retry after|wait)\D{0,24}?((?:\d+(?:\.\d+)?\s*(?:ms|h|m|s|min|sec)[a-z]*[\s,]*(?:and\s+)?)+)"
    r"|\"?retryDelay\"?\W{1,4}(\d+(?:\.\d+)?s)|(\d+)\s*秒(?:钟)?(?:之)?后",
    re.I,
)
_EPOCH, _EPOCH_MS = 1e9, 1e12
"""A number of seconds, or of milliseconds, that is a time since 1970 and no duration."""


def wait_asked(header: str, now: datetime, most: float = LONGEST_WAIT) -> float:
    """The seconds in a Retry-After header (a number or a date), at most `most`; 0 without a valid one."""
    try:
        seconds = float(header)
    except ValueError:
        from email.utils import parsedate_to_datetime  # takes 10 ms, which a successful call does not need

        try:
            seconds = _until(parsedate_to_datetime(header), now)
        except ValueError:
            return 0.0
    return _within(seconds, most)


def wait_until_reset(limits: Mapping[str, str], now: datetime, most: float = LONGEST_WAIT) -> float:
    """The seconds until a used-up limit is reset, by headers such as `x-ratelimit-reset-tokens: 6m0s`; 0 for none.

    Where headers say what remains, only limits of which nothing remains count.
    """
    resets = {name: _reset(value, now) for name, value in limits.items() if "reset" in name}
    empty = [each for name, each in resets.items() if limits.get(name.replace("reset", "remaining")) == "0"]
    return _within(max(empty or list(resets.values()), default=0.0), most)


def wait_in_words(body: str, most: float = LONGEST_WAIT) -> float:
    """The seconds that an error's text asks for, as in `try again in 1m20.5s` or `"retryDelay": "34s"`; 0 for none."""
    found = _IN_WORDS.search(body)
    if found is None:
        return 0.0
    return _within(float(found[3]) if found[3] else _duration(found[1] or found[2]), most)


def _reset(value: str, now: datetime) -> float:
    try:
        number = float(value)
    except ValueError:
        try:
            return _until(datetime.fromisoformat(value), now)
        except ValueError:
            return _duration(value)
    if number > _EPOCH:
        number = number / 1000 if number > _EPOCH_MS else number
        return number - now.timestamp()
    return number


def _duration(text: str) -> float:
    found = ((float(number), unit.lower()) for number, unit in _DURATION.findall(text))
    return sum(number * (0.001 if unit == "ms" else _UNITS[unit[0]]) for number, unit in found)


def _until(when: datetime, now: datetime) -> float:
    return ((when if when.tzinfo else when.replace(tzinfo=UTC)) - now).total_seconds()


def _within(seconds: float, most: float) -> float:
    return min(seconds, most) if seconds > 0 else 0.0  # also refuses nan
