"""What a ceiling or a person has brought about is said in the vault's language; what failed, as it was raised."""

import re
from pathlib import Path

import pytest

from agent.errors import Interrupted, LimitReached, Permanent
from agent.llm.spend import OF_ONE_JOB
from agent.loop.limits import Repeated, stop_hint, stop_reason
from agent.texts import LANGUAGES, Language

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


def test_what_one_job_may_cost_is_raised_in_the_job() -> None:
    stop = LimitReached("the job has cost $1 of $1 today", limit=OF_ONE_JOB, hint="raise it there")
    assert "定时任务" in stop_reason(stop, "zh")
    assert "定时任务" in stop_hint(stop, "zh") and "config set" not in stop_hint(stop, "zh")


def test_what_failed_speaks_for_itself() -> None:
    assert stop_reason(Permanent("no such model", hint="name another"), "zh") == "no such model"
    assert stop_hint(Permanent("no such model", hint="name another"), "zh") == "name another"
    assert (
        stop_reason(OSError("disk full"), "zh") == "OSError: disk full" and stop_hint(OSError("disk full"), "zh") == ""
    )


@pytest.mark.parametrize(("language", "said"), [("en", "stopped by you"), ("zh", "已停下")])
def test_a_persons_stop_is_told_as_theirs_wherever_the_run_was(language: Language, said: str) -> None:
    assert stop_reason(Interrupted("the call of the model was cancelled"), language) == said


@pytest.mark.parametrize("failed", [True, False])
def test_repetition_says_what_was_repeated_in_every_language(failed: bool) -> None:
    stop = Repeated("vault_read", {"path": "茶.md"}, 3, failed=failed)
    assert stop_reason(stop, "en") == stop.message and stop_hint(stop, "en") == stop.hint
    for language in LANGUAGES:
        said = stop_reason(stop, language)
        assert said.startswith('vault_read "茶.md" ') and "3" in said and "{" not in said and "\n" not in said
    assert "换一种说法" in stop_hint(stop, "zh")


def test_a_long_argument_of_a_repeated_call_is_not_shown() -> None:
    assert len(Repeated("vault_write", {"content": "x" * 9_000}, 8, failed=False).message) < 400
