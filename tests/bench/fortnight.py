"""A fortnight of conversations with the agent: what is kept of them, and what is brought up when it is asked for.

A file of conversations (`tests/memory/conversations/`) is lived through in a vault of its own, without a model and
with one that errs as good models do (`fast_model`); upkeep runs at the end of each day. Facts are asked for where the
file asks, and all of them once more at the end, most in other words; a general task is one that no memory helps. Then
ten facts are forgotten, in the history too (`kept_notes`).

    python -m tests.bench.fortnight CONVERSATIONS.yaml [GENERAL.yaml] [--keep FOLDER] [--keywords FILE.yaml]

`--keep`: the two vaults are copied to this folder before anything is forgotten in them. `--keywords`: those that the
stand-in gives, by sentence; they were written without sight of the questions.
"""

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from agent.app.agent import build_runs
from agent.app.open import open_workspace
from agent.events.runs import Speaker
from agent.loop.records import RunRequest
from agent.memory.entry import Entry, parse_entry
from agent.runs.service import RunService
from agent.runs.upkeep_jobs import Upkeeper
from agent.workspace.search_index import open_index
from tests.bench.fast_model import StandIn, in_place_of_models, tellings
from tests.bench.kept_notes import distinctive, duplicates, forget, guesses, places_with
from tests.fakes import FakeClock
from tests.vaults import make_vault

DAY, TURN = 86_400.0, 20.0


@dataclass(slots=True)
class Fortnight:
    """What came of the conversations. Names are those of the facts; texts are a person's."""

    facts: int = 0
    entries: list[Entry] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    """Facts that no entry states."""
    asked: int = 0
    low: list[str] = field(default_factory=list)
    """Questions whose fact was not among the first three given."""
    lost: list[str] = field(default_factory=list)
    """Questions whose fact was not given at all."""
    echoes: list[str] = field(default_factory=list)
    """Questions for which an earlier question was given above the fact."""
    stale: list[str] = field(default_factory=list)
    """Questions for which the value that was corrected came first."""
    corrected: int = 0
    needless: list[str] = field(default_factory=list)
    """General tasks for which a memory was given."""
    general: int = 0
    secrets: int = 0
    """Secrets found in a note."""
    twice: list[str] = field(default_factory=list)
    """Entries that state what a newer one states."""
    guesses: list[str] = field(default_factory=list)
    """Facts in MEMORY.md that the person did not say."""
    forgotten: int = 0
    remains: list[str] = field(default_factory=list)
    """Words of forgotten facts, and where they are still found."""


def live(
    conversations: Mapping[str, Any],
    general: Sequence[str] = (),
    model: StandIn | None = None,
    *,
    forgets: int = 10,
    keep: Path | None = None,
) -> Fortnight:
    """Live through the conversations, then ask for every fact, give every general task, and forget some facts.

    `keep`: a folder to which the vault is copied before that.
    """
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        stack.enter_context(_machine(folder))
        if model is not None:
            stack.enter_context(in_place_of_models(model))
        root = make_vault(folder / "vault").place.root
        clock = FakeClock()
        workspace = open_workspace(root, clock=clock)
        index = open_index(workspace)
        with closing(index), closing(build_runs(workspace, index)) as runs:
            found = _Lived(conversations, runs, clock).through()
            for task in general:
                found.general += 1
                if _given(runs, task):
                    found.needless.append(task)
        if keep is not None:
            shutil.copytree(root, keep)
        chosen = distinctive(conversations)[:forgets]
        forget(root, clock, chosen)
        found.forgotten = len(chosen)
        found.remains = [f"{word}: {place}" for word in chosen for place in places_with(word, root, folder)]
        return found


@dataclass(slots=True)
class _Lived:
    """The conversations, and what was said of them so far."""

    file: Mapping[str, Any]
    runs: RunService
    clock: FakeClock
    found: Fortnight = field(default_factory=Fortnight)

    def through(self) -> Fortnight:
        facts = {each["id"]: each for each in self.file["facts"]}
        now = dict(facts)
        fixes = {each["of"]: each for each in self.file["corrections"]}
        begin, day = self.clock.now(), 1
        for talk in self.file["conversations"]:
            if talk["day"] != day:
                self._end_day()
                day = talk["day"]
            hours, minutes = map(int, talk["time"].split(":"))
            at = (talk["day"] - 1) * DAY + hours * 3600 + minutes * 60
            self.clock.advance(max(at - (self.clock.now() - begin).total_seconds(), TURN))
            session = ""
            for turn in talk["turns"]:
                self.clock.advance(TURN)
                for each in turn.get("asks", ()):
                    self._ask(turn["text"], each, now[each], fixes)
                asked = RunRequest(turn["text"], Speaker("chat"))
                session = self.runs.ask(asked, session).session
                self.runs.capturing.settle()
                self.runs.recall.library.refresh()
                for each in turn.get("corrects", ()):
                    now[each] = {**facts[each], **fixes[each], "is_new": True}
            self.runs.close_conversations()
            self.runs.capturing.settle()
        self._end_day()
        for name, fact in now.items():
            self.found.facts += 1
            self._ask(fact["question"], name, fact, fixes)
        self._look(now)
        return self.found

    def _end_day(self) -> None:
        Upkeeper(self.runs.workspace).run()
        self.runs.recall.library.refresh()

    def _ask(self, question: str, name: str, fact: Mapping[str, Any], fixes: Mapping[str, Any]) -> None:
        found, given = self.found, _given(self.runs, question)
        found.asked += 1
        rank = next((at for at, text in enumerate(given) if _says(text, fact["answer"])), None)
        row = f"{name} {question} | wants {fact['answer']} | got {[text[:50] for text in given[:3]]}"
        if rank is None:
            found.lost.append(row)
        if rank is None or rank > 2:
            found.low.append(row)
        if any(" ".join(question.split()) in text for text in given[:rank]):
            found.echoes.append(row)
        if fact.get("is_new"):
            found.corrected += 1
            first = given[0] if given else ""
            if _says(first, fixes[name]["stale"]) and not _says(first, fact["answer"]):
                found.stale.append(row)

    def _look(self, now: Mapping[str, Any]) -> None:
        vault = self.runs.workspace.vault
        notes = {path: vault.read(path) or b"" for path in vault.note_paths()}
        entries = [
            entry for path, data in notes.items() if path.startswith("entries/") and (entry := parse_entry(data))
        ]
        self.found.entries = entries
        self.found.twice = duplicates(self.found.entries, self.file)
        self.found.guesses = guesses(notes, self.file)
        self.found.missed = [
            f"{name} {fact['says']}" for name, fact in now.items()
            if not any(_says(each.text, fact["answer"]) for each in entries)
        ]  # fmt: skip
        hidden = [turn["secret"] for talk in self.file["conversations"] for turn in talk["turns"] if "secret" in turn]
        self.found.secrets = sum(secret.encode() in data for secret in hidden for data in notes.values())


def _given(runs: RunService, question: str) -> list[str]:
    """The texts that a new conversation's run would be given for a question."""
    return [each.text for each in runs.passages(question).found]


def _says(text: str, answers: Sequence[str]) -> bool:
    return any(str(answer).casefold() in text.casefold() for answer in answers)


@contextmanager
def _machine(folder: Path) -> Iterator[None]:
    """This process with the settings of a machine of its own."""
    own = {"VAULT_AGENT_HOME": str(folder / "home"), "VAULT_AGENT_GIT__DURABLE": "false"}
    before = dict(os.environ)
    os.environ.update(own)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


_LISTS = ("missed", "low", "echoes", "stale", "needless", "twice", "guesses", "remains")


def details(found: Fortnight) -> str:
    """What lies behind the figures."""
    rows: list[str] = []
    for name in _LISTS:
        rows += [f"\n== {name}", *(f"  {row}" for row in getattr(found, name))]
    rows += ["\n== entries", *(f"  {each.type} {each.source} {each.text!r}" for each in found.entries)]
    return "\n".join(rows) + "\n"


def figures(found: Fortnight) -> dict[str, str]:
    """The figures, by name."""
    entries, facts, asked = len(found.entries), max(found.facts, 1), max(found.asked, 1)
    return {
        "entries for each fact": f"{entries / facts:.2f}",
        "facts not kept": f"{len(found.missed)} of {found.facts}",
        "asked: among the first three given": f"{1 - len(found.low) / asked:.3f}",
        "asked: given at all": f"{1 - len(found.lost) / asked:.3f}",
        "an echo above the fact": f"{len(found.echoes)} of {found.asked}",
        "the value of before comes first": f"{len(found.stale)} of {found.corrected}",
        "general tasks given something": f"{len(found.needless)} of {found.general}",
        "entries that state a fact once more": f"{len(found.twice)} of {entries}",
        "guesses in MEMORY.md": f"{len(found.guesses)}",
        "places with forgotten words": f"{len(found.remains)} of {found.forgotten} words",
        "secrets in notes": f"{found.secrets}",
    }


def main(words: Sequence[str]) -> None:
    """Print what was found without a model and with one, and the figures of both side by side."""
    parser = argparse.ArgumentParser("python -m tests.bench.fortnight")
    parser.add_argument("conversations", type=Path)
    parser.add_argument("general", type=Path, nargs="?")
    parser.add_argument("--keep", type=Path, help="the folder to which the two vaults are copied")
    parser.add_argument("--keywords", type=Path, help="the keywords of each sentence")
    asked = parser.parse_args(words)
    conversations = yaml.safe_load(asked.conversations.read_text("utf-8"))
    general = yaml.safe_load(asked.general.read_text("utf-8")) if asked.general else ()
    keywords = yaml.safe_load((asked.keywords or asked.conversations.with_name("keywords.yaml")).read_text("utf-8"))
    model = StandIn(tellings(conversations, keywords))
    runs = {"no model": None, "model": model}
    columns: dict[str, dict[str, str]] = {}
    for name, wanted in runs.items():
        keep = asked.keep / name.replace(" ", "-") if asked.keep else None
        found = live(conversations, general, wanted, keep=keep)
        columns[name] = figures(found)
        sys.stdout.write(f"\n# {name}\n{details(found)}")
        sys.stdout.flush()
    sys.stdout.write(f"\n{'':38}{''.join(f'{name:>16}' for name in columns)}\n")
    for figure in columns["model"]:
        sys.stdout.write(f"{figure:38}{''.join(f'{each[figure]:>16}' for each in columns.values())}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
