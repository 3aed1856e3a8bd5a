"""What is in a vault after a fortnight of conversations: duplicates, guesses, and words that were to be forgotten."""

import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from agent.app.open import open_workspace
from agent.clock import Clock
from agent.errors import NoteGone
from agent.memory.entry import Entry, without_before
from agent.memory.forgetting.purge import Forgetter
from agent.memory.memory_note import parse_facts
from agent.vault.folders import MEMORY_NOTE

_SHORTEST = {"en": 6, "zh": 2}
"""The characters of a word that stands for one fact only."""


def duplicates(entries: Sequence[Entry], file: Mapping[str, Any]) -> list[str]:
    """The entries that state what a newer one states: the same fact with the same value, by the labels of the file."""
    values = {(each["id"], ""): each["answer"] for each in file["facts"]}
    values |= {(each["of"], "corrected"): each["answer"] for each in file["corrections"]}
    first: dict[tuple[str, str], str] = {}
    found: list[str] = []
    for entry in sorted(entries, key=lambda each: each.id, reverse=True):
        if entry.superseded_by:
            continue
        for value in _stated(without_before(entry.text), file):
            if not any(str(word).casefold() in entry.text.casefold() for word in values[value]):
                continue
            if value in first:
                found.append(f"{' '.join(value)}: {entry.text!r} beside {first[value]!r}")
            first.setdefault(value, entry.text)
    return found


def guesses(notes: Mapping[str, bytes], file: Mapping[str, Any]) -> list[str]:
    """The facts in MEMORY.md that no message of the person contains."""
    said = [_plain(turn["text"]) for talk in file["conversations"] for turn in talk["turns"]]
    facts = parse_facts(notes.get(MEMORY_NOTE, b"").decode("utf-8"))
    return [fact.text for fact in facts if not any(_plain(fact.text) in message for message in said)]


def distinctive(file: Mapping[str, Any]) -> list[str]:
    """Words that only the messages with one fact contain, of the file's own choice first, then of every fifth fact."""
    chosen = {each["of"]: [str(word) for word in each["words"]] for each in file.get("forget", ())}
    others = [each for each in file["facts"] if each["id"] not in chosen]
    words = [word for some in chosen.values() for word in some]
    words += [
        str(fact["answer"][0]) for at in range(5) for fact in others[at::5]
        if len(str(fact["answer"][0])) >= _SHORTEST[fact["language"]] and _is_of_one(str(fact["answer"][0]), fact, file)
    ]  # fmt: skip
    return words


def forget(root: Path, clock: Clock, words: Sequence[str]) -> None:
    """Forget texts in the notes and in the history, for good."""
    for word in words:
        workspace = open_workspace(root, clock=clock)
        forgetter = Forgetter(workspace.vault, workspace.settings.vault.language, workspace.cache)
        try:
            path, forgetting = forgetter.plan(word, lambda done, total: None)
        except NoteGone:
            continue  # nothing that the program wrote has it
        forgetter.carry_out(path, forgetting, remote=True, confirmed=True, for_good=True)


def places_with(word: str, root: Path, folder: Path) -> Iterator[str]:
    """The files below `folder` whose name or content has a word, and the history of the vault if that has it."""
    wanted = word.casefold()
    for path in sorted(folder.rglob("*")):
        if wanted in path.name.casefold():
            yield f"name {path.relative_to(folder)}"
        elif path.is_file() and wanted in path.read_bytes().decode("utf-8", "ignore").casefold():
            yield str(path.relative_to(folder))
    every = ["git", "cat-file", "--batch-all-objects", "--batch"]
    if wanted.encode() in subprocess.run(every, cwd=root, check=True, capture_output=True).stdout.lower():
        yield "the history"


def _stated(text: str, file: Mapping[str, Any]) -> set[tuple[str, str]]:
    """The facts, or their corrected values, of the messages that contain a text."""
    found: set[tuple[str, str]] = set()
    corrected: set[str] = set()
    for talk in file["conversations"]:
        for turn in talk["turns"]:
            corrected |= set(turn.get("corrects", ()))
            if _plain(text) in _plain(turn["text"]):
                told = (*turn.get("says", ()), *turn.get("again", ()), *turn.get("corrects", ()))
                found |= {(each, "corrected" if each in corrected else "") for each in told}
    return found


def _is_of_one(word: str, fact: Mapping[str, Any], file: Mapping[str, Any]) -> bool:
    """True if only messages that state this fact contain the word."""
    with_word = [
        turn for talk in file["conversations"] for turn in talk["turns"] if word.casefold() in turn["text"].casefold()
    ]
    labels = ("says", "again", "corrects")
    return bool(with_word) and all(any(fact["id"] in turn.get(label, ()) for label in labels) for turn in with_word)


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold().rstrip(".。!！")
