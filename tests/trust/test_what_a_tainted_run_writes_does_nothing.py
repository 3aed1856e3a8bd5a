"""What a run writes once it has read a stranger's text loads and runs nothing when it is shown, or asks first."""

import random
from datetime import UTC, datetime

import pytest

from agent.llm.messages import Assistant
from agent.loop.record_format import format_records
from agent.loop.records import SessionRecord, Spoken
from agent.markdown.blocks import parse_body
from agent.markdown.inertness import active, readings
from agent.markdown.inertness.active import inert, inert_blocks, inert_line
from agent.memory import daily
from agent.tools.taint import reason_to_ask
from agent.tools.tool import Draft, Effect, RunContext, Taint, Tool, ToolOutput
from agent.vault.folders import AT_ROOT
from tests.trust.compositions import composed, harmless
from tests.trust.rendered import loading

TAINTED = RunContext("run-1", "sessions/s.md", taint=Taint(["https://evil.example"]))
AT = datetime(2026, 11, 21, 14, 12, tzinfo=UTC)
COUNT = pytest.mark.parametrize("count", [300, pytest.param(5_000, marks=pytest.mark.chaos)])


def asks(before: str | None, after: str, path: str = "notes/tea.md") -> bool:
    """True if a tainted run that makes one text of the other asks first."""
    draft = Draft(path, None if before is None else before.encode(), after.encode())
    effect = Effect(lambda arguments: (path,), lambda arguments, context: (draft,), lambda context: None)
    tool = Tool("vault_write", "", {}, lambda arguments, context: ToolOutput(""), frozenset({"fs"}), effect=effect)
    return bool(reason_to_ask(tool, {}, TAINTED, AT_ROOT))


def check(count: int, seed: str) -> int:
    """Every random note, and every random addition to the person's own: what is new in it loads nothing, or asks. The
    number of those that did not ask."""
    chance, passed = random.Random(seed), 0
    for number in range(count):
        before = composed(chance) if number % 3 == 0 else None
        added = composed(chance)
        after = added if before is None else f"{before}{chance.choice(('', chr(10), chr(10) * 2))}{added}"
        if not asks(before, after):
            passed += 1
            new = loading(after.encode()) - (loading(before.encode()) if before is not None else set())
            assert not new, (number, before, after, new)
    return passed


@COUNT
def test_nothing_that_loads_or_runs_is_written_without_a_yes(count: int) -> None:
    assert check(count, "inert") > count // 12, "it asks about everything, so this shows nothing"


@COUNT
def test_what_does_nothing_is_written_without_a_question(count: int) -> None:
    chance = random.Random("harmless")
    for _ in range(count):
        text = harmless(chance)
        assert not asks(None, text), text
        assert not loading(text.encode()), text


def in_session(text: str) -> str:
    """What a session's note has of an answer, without the line of its mark, which a reader does not see."""
    (record,) = format_records([SessionRecord(AT, Spoken(Assistant(text)))]).split("%% vault-agent: agent ")[1:]
    return record.partition("\n")[2].partition("\n\n")[2]


def in_the_log(text: str) -> str:
    """What the log of a day has of a text, on a line."""
    return daily.inert(" ".join(text.split()))


DOORS = (in_session, inert_blocks, inert_line, in_the_log)
"""What an answer, a session, a report and a line of the day's log are put through, whoever's words they are."""


@COUNT
def test_what_a_model_says_does_nothing_in_the_notes_that_the_program_writes(count: int) -> None:
    chance = random.Random("doors")
    for number in range(count):
        one, two = (DOORS[(number + each) % len(DOORS)](composed(chance)) for each in range(2))
        note = f"# Tea\n\n{one}\n\n## More\n\n{two}\n\nBelow.\n"
        assert not loading(note.encode()), note
        assert parse_body(note).kinds[-2] == "text", note


@pytest.mark.parametrize(
    "plain", ["# A\n\n- [ ] b `c` [[d|e]]\n\n```python\n![x](//y)\n```", "50 $ < 60 $, a_b <br> c"]
)
def test_what_does_nothing_is_shown_as_it_is(plain: str) -> None:
    assert inert(plain) == inert_blocks(plain) == plain


def test_of_an_answer_only_the_blocks_that_act_become_code() -> None:
    answer = "See [[Tea]].\n\n```mermaid\ngraph TD\n\nA-->B\n```\n\nSo *far*."
    made = "See [[Tea]].\n\n````text\n```mermaid\ngraph TD\n\nA-->B\n```\n````\n\nSo *far*."
    assert inert_blocks(answer) == made


@COUNT
def test_what_stood_there_before_is_not_asked_about(count: int) -> None:
    chance = random.Random("before")
    for _ in range(count):
        own = composed(chance).replace("\r", "\n")
        closed = "" if any(mark in own for mark in ("```", "~~~", "%%", "$$", "<!--")) else f"{own}\n"
        assert not asks(closed, f"{closed}\n\nA plain line.\n"), own


def by_prefix(target: str) -> bool:
    return not target.startswith("http")


PLANTED = {
    "pictures by a list of the bad": (active, "is_picture", by_prefix),
    "a language too many": (active, "LANGUAGES", active.LANGUAGES | {"dataview", "leaflet"}),
    "headers are not looked at": (active, "_header_parts", lambda note: ()),
    "markup is believed": (active, "is_plain_html", lambda markup: True),
    "one reading alone": (active, "parsed", lambda text, wanted: readings.parsed(text, wanted)[-1:]),
}


@pytest.mark.parametrize("bug", PLANTED)
def test_a_planted_bug_is_noticed(monkeypatch: pytest.MonkeyPatch, bug: str) -> None:
    place, name, wrong = PLANTED[bug]
    active.active_parts.cache_clear()
    monkeypatch.setattr(place, name, wrong)
    with pytest.raises(AssertionError):
        check(2_000, "inert")
    active.active_parts.cache_clear()
