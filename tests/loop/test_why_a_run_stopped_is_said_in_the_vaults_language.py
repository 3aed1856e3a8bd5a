"""What a ceiling or a person has brought about is said in the vault's language; what failed, as it was raised."""

import re
from pathlib import Path

import pytest

from agent.errors import Interrupted, LimitReached, Permanent
from agent.loop.stop_messages import stop_hint, stop_reason

AGENT = Path(__file__).parents[2] / "agent"


def limits() -> set[str]:
    """The keys of every ceiling that a run can meet, as the code names them."""
    text = "".join(path.read_text("utf-8") for path in AGENT.glob("l*/*.py"))
    return set(re.findall(r'"((?:run|spend)\.[a-z_]+)"', text)) - {"spend.same_failure"}


@pytest.mark.parametrize("key", sorted(limits()))
def test_every_ceiling_is_told_in_chinese(key: str) -> None:
    stop = LimitReached("the run has used its 50 steps", limit=key, hint="raise it")
    assert stop_reason(stop, "en") == stop.message and stop_hint(stop, "en") == "raise it"
    assert stop_reason(stop, "zh") != stop.message and f"config set {key} " in stop_hint(stop, "zh")


def test_what_failed_speaks_for_itself() -> None:
    assert stop_reason(Permanent("no such model", hint="name another"), "zh") == "no such model"
    assert stop_hint(Permanent("no such model", hint="name another"), "zh") == "name another"
    assert (
        stop_reason(OSError("disk full"), "zh") == "OSError: disk full" and stop_hint(OSError("disk full"), "zh") == ""
    )
    assert stop_reason(Interrupted("stopped by you"), "zh") == "已停下"
    odd = LimitReached("the model failed 3 times in the same way", limit="spend.same_failure")
    assert stop_reason(odd, "zh") == odd.message
