"""A fortnight of conversations with the agent: what is kept of them, and what is brought up when it is asked for.

A file of conversations (`tests/memory/conversations/`) is lived through in a vault of its own, without a model or with
one that always gives the same answer. Facts are asked for where the file asks, and all of them once more at the end,
most in other words; a general task is one that no memory helps.

    python -m tests.bench.fortnight CONVERSATIONS.yaml [GENERAL.yaml]
"""

import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from agent.app.agent import build_runs
from agent.app.open import open_workspace
from agent.events.runs import Speaker
from agent.loop.run import RunRequest
from agent.memory.entry import Entry, EntryType, parse_entry
from agent.memory.recall.asker import Asker
from agent.runs.service import RunService
from agent.workspace.search_index import open_index
from tests.fakes import FakeClock
from tests.vaults import make_vault

DAY, TURN = 86_400.0, 20.0
LIMIT = 8


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
    commits: int = 0


def live(conversations: Mapping[str, Any], general: Sequence[str] = (), model: bool = False) -> Fortnight:
    """Live through the conversations, then ask for every fact, and give every general task."""
    with tempfile.TemporaryDirectory() as folder, _machine(Path(folder), model=model):
        vault = make_vault(Path(folder) / "vault")
        clock = FakeClock()
        workspace = open_workspace(vault.place.root, clock=clock)
        index = open_index(workspace)
        with closing(index), closing(build_runs(workspace, index)) as runs:
            found = _Lived(conversations, runs, clock).through()
            for task in general:
                found.general += 1
                if _given(runs, task):
                    found.needless.append(task)
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
        begin = self.clock.now()
        for talk in self.file["conversations"]:
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
        for name, fact in now.items():
            self.found.facts += 1
            self._ask(fact["question"], name, fact, fixes)
        self._look(now)
        return self.found

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
        self.found.entries = [each for each in entries if each.type is not EntryType.WORKFLOW_TRACE]
        self.found.missed = [
            f"{name} {fact['says']}" for name, fact in now.items()
            if not any(_says(each.text, fact["answer"]) for each in entries)
        ]  # fmt: skip
        hidden = [turn["secret"] for talk in self.file["conversations"] for turn in talk["turns"] if "secret" in turn]
        self.found.secrets = sum(secret.encode() in data for secret in hidden for data in notes.values())


def _given(runs: RunService, question: str) -> list[str]:
    """The texts that a new conversation's run would be given for a question."""
    given = runs.recall.recaller.recall(question, Asker(), LIMIT, unasked=True)
    return [each.text for each in given.above(runs.workspace.settings.memory.floor).found]


def _says(text: str, answers: Sequence[str]) -> bool:
    return any(str(answer).casefold() in text.casefold() for answer in answers)


@contextmanager
def _machine(folder: Path, *, model: bool) -> Iterator[None]:
    """This process with the settings of a machine of its own."""
    own = {"VAULT_AGENT_HOME": str(folder / "home"), "VAULT_AGENT_GIT__DURABLE": "false"}
    if model:
        script = folder / "script.json"
        script.write_text('{"replies": [], "after": "Understood."}', "utf-8")
        own |= {"VAULT_AGENT_LLM__WIRE": "scripted", "VAULT_AGENT_LLM__SCRIPT": str(script)}
    before = dict(os.environ)
    os.environ.update(own)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def report(found: Fortnight) -> str:
    """The figures, and what lies behind them."""
    rows: list[str] = []
    for name in ("missed", "low", "echoes", "stale", "needless"):
        rows += [f"\n== {name}", *(f"  {row}" for row in getattr(found, name))]
    rows += ["\n== entries", *(f"  {each.type} {each.text!r}" for each in found.entries)]
    rows += [
        f"\nfacts {found.facts}, entries {len(found.entries)}, not kept {len(found.missed)}, secrets {found.secrets}",
        f"asked {found.asked}: not in the first three {len(found.low)}, not given {len(found.lost)}",
        f"echoes above the fact {len(found.echoes)}; stale first {len(found.stale)} of {found.corrected}",
        f"general tasks given something {len(found.needless)} of {found.general}",
    ]
    return "\n".join(rows) + "\n"


def main(words: Sequence[str]) -> None:
    """Print the report on the files."""
    conversations = yaml.safe_load(Path(words[0]).read_text("utf-8"))
    general = yaml.safe_load(Path(words[1]).read_text("utf-8")) if len(words) > 1 else ()
    sys.stdout.write(report(live(conversations, general)))


if __name__ == "__main__":
    main(sys.argv[1:])
