"""A few conversations are lived through with the stand-in for a model, and each figure is counted."""

import json
from typing import Any

from agent.llm.messages import Request, User
from agent.memory.entry import Entry, EntryType
from tests.bench.fast_model import GUESS, StandIn, tellings
from tests.bench.fortnight import figures, live
from tests.bench.kept_notes import duplicates, guesses
from tests.fakes import FakeClock


def fact(id: str, says: str, question: str, answer: str, kind: str = "person") -> dict[str, Any]:
    return {"id": id, "language": "en", "kind": kind, "says": says, "question": question, "answer": [answer]}


def talk(day: int, *turns: dict[str, Any]) -> dict[str, Any]:
    return {"day": day, "time": "09:00", "language": "en", "turns": list(turns)}


PARROT = "the Mahlers upstairs got a parrot"
FILE: dict[str, Any] = {
    "facts": [
        fact("f1", "My sister Mara lives in Porto", "Where does my sister Mara live?", "Porto"),
        fact("f2", PARROT, "Which pet do the Mahlers upstairs have?", "parrot"),
    ],
    "corrections": [
        {"of": "f1", "says": "Mara has moved to Braga", "answer": ["Braga"], "stale": ["Porto"]},
    ],
    "conversations": [
        talk(
            1,
            {"text": "My sister Mara lives in Porto.", "says": ["f1"]},
            {"text": f"You know, {PARROT}, is that legal?", "says": ["f2"]},
        ),
        talk(2, {"text": "By the way, Mara has moved to Braga.", "corrects": ["f1"]}, {"text": "thanks"}),
    ],
    "forget": [{"of": "f2", "words": ["parrot"]}],
}


def test_what_the_rules_miss_is_kept_and_what_is_forgotten_is_nowhere() -> None:
    model = StandIn(tellings(FILE))
    found = live(FILE, ["Write a haiku about snow"], model, forgets=1)
    assert (found.missed, found.twice, found.guesses, found.secrets, model.asked) == ([], [], [], 0, 2)
    assert any(PARROT in each.text for each in found.entries)
    assert (found.forgotten, found.remains) == (1, [])
    assert figures(found)["entries that state a fact once more"] == f"0 of {len(found.entries)}"


def test_the_stand_in_quotes_what_is_not_known_and_says_what_it_replaces() -> None:
    lines = [{"number": 3, "who": "person", "text": "Mara has moved to Braga. What is two plus two?"}]
    known = [{"key": "K1", "text": "My sister Mara lives in Porto"}]
    asked = [_read(seed, lines, known) for seed in range(200)]
    quoted = [each for each in asked if '"key": "K1"' in each and "Mara has moved to Braga" in each]
    assert 140 < len(quoted) < 195, "it errs now and then"
    assert not any("two plus two" in each for each in asked)
    assert _read(7, lines, known) == _read(7, lines, known)


def test_some_answers_end_in_a_guess_and_no_guess_counts_as_said() -> None:
    said = [_reply(StandIn(tellings(FILE), seed), "My sister Mara lives in Porto.") for seed in range(50)]
    assert 0 < sum(GUESS in each for each in said) < 25
    note = f"# Long-term memory\n\n- My sister Mara lives in Porto ([[a]])\n- {GUESS} ([[b]])\n"
    assert guesses({"MEMORY.md": note.encode()}, FILE) == [GUESS]


def test_a_fact_that_two_entries_state_counts_once_and_a_corrected_value_is_another() -> None:
    told = ("My sister Mara lives in Porto", "Mara lives in Porto.", "Mara has moved to Braga", "the Mahlers upstairs")
    when = FakeClock().now()
    entries = [Entry(f"01HZZZZZZZ{at:016d}", when, text, EntryType.FACT) for at, text in enumerate(told)]
    assert [row.split(":")[0].strip() for row in duplicates(entries, FILE)] == ["f1"]


def _read(seed: int, lines: list[dict[str, Any]], known: list[dict[str, str]]) -> str:
    shown = json.dumps({"lines": lines, "known": known}, ensure_ascii=False, indent=1)
    return _reply(StandIn(tellings(FILE), seed), f"You keep the memory of one person.\n\n{shown}\n")


def _reply(model: StandIn, text: str) -> str:
    return model.chat(Request((User(text),))).message.text
