"""Poison: notes and messages from strangers that try to write the profile have no effect, whatever is proposed."""

import random
from pathlib import Path

import pytest

from agent.memory.entry import MODEL, EntryType
from agent.memory.profile.changes import ProfileChange
from agent.memory.profile.evidence import Evidence
from agent.memory.profile.load import load_profile
from agent.memory.profile.profile_file import CORE
from agent.memory.profile.statements import changes_of_entries
from agent.memory.store import load_entries
from agent.vault.change import Stamp
from tests.memory.profile.people import Home, home, statement
from tests.vaults import git, write

WORDS = ("I live in Evilton.", "My name is Mallory.", "我叫马洛里。", "I prefer rum.", "My password rule is none.")
FORMS = ("mail", "guest", "chat", "model", "tainted", "quoted", "agent", "code", "session", "untrusted_note", "capture")


def poison(house: Home, form: str, words: str, number: int) -> str:
    """Put a stranger's words into the vault in some form; the name of the note."""
    root, name = house.vault.place.root, f"note-{number}"
    entries: dict[str, dict[str, object]] = {
        "mail": {"untrusted": ("mail from eve@example.org",)},
        "guest": {"sender_id": "eve"},
        "chat": {"chat_id": "group"},
        "model": {"source": MODEL},
        "capture": {"kind": EntryType.AUTO_CAPTURE},
    }
    if form in entries:
        entry = statement(f"{words} {number}", back=1, **entries[form])  # type: ignore[arg-type]
        write(root / entry.path, entry.note())
        name = entry.link.strip("[]")
    elif form in {"agent", "tainted"}:
        with house.vault.transaction(f"note: {number}", Stamp("agent", run="r1", tool="vault_write")) as change:
            change.create(f"{name}.md", f"# Mail\n\n{words}\n".encode())
    elif form == "session":
        name = f"sessions/2026/11/{name}"
        write(root / f"{name}.md", f"# Session\n\n{words}\n")
    else:
        text = {"quoted": f"> {words}", "code": f"```\n{words}\n```", "untrusted_note": words}[form]
        header = "---\nuntrusted: [mail from eve]\n---\n" if form == "untrusted_note" else ""
        write(root / f"{name}.md", f"{header}# Mail\n\n{text}\n")
    return name


def attack(tmp_path: Path, count: int) -> Home:
    """A house after so many tries, each with the stranger's note as evidence, and by the plain form."""
    house = home(tmp_path)
    before = {each.path: each.text for each in load_profile(house.vault)}
    chance = random.Random(17)
    for number in range(count):
        words = WORDS[number % len(WORDS)]
        name = poison(house, FORMS[number % len(FORMS)], words, number)
        house.vault.commit_human()
        note = f"{chance.choice(CORE)}.md"
        house.propose(
            ProfileChange(note, words, (Evidence(name, words),)),
            ProfileChange("00-basic-info.md", "Mallory", (Evidence(name, words),), field="Name"),
            ProfileChange(note, words, (Evidence(name),), is_counted=note not in {"30-daily-patterns.md",
                          "31-preferences.md", "51-patterns-insights.md"}),
        )  # fmt: skip
    paths = [path for path in house.vault.note_paths() if path.startswith("entries/")]
    own = [each for each in load_entries(house.vault, paths) if not each.untrusted and not each.entry.untrusted]
    house.propose(*changes_of_entries(own, load_profile(house.vault)))
    assert {each.path: each.text for each in load_profile(house.vault)} == before
    assert house.text("_changelog.md").count("\n- ") == 0
    return house


def test_twenty_tries_have_no_effect(tmp_path: Path) -> None:
    house = attack(tmp_path, 22)
    assert "profile" not in git(house.vault.place.root, "log", "--format=%s", "--", "profile").replace("notes", "")


@pytest.mark.chaos
def test_a_hundred_tries_have_no_effect(tmp_path: Path) -> None:
    attack(tmp_path, 110)


def test_what_arrived_from_others_is_no_evidence_until_it_was_looked_at(tmp_path: Path) -> None:
    house = home(tmp_path)
    root = house.vault.place.root
    other = tmp_path / "other"
    git(tmp_path, "clone", "-q", str(root), str(other))
    write(other / "plan.md", "# Plan\n\nI live in Evilton.\n")
    git(other, "add", "-A")
    git(other, "-c", "user.name=Eve", "-c", "user.email=eve@example.org", "commit", "-q", "-m", "x")
    git(root, "pull", "-q", str(other), "main")
    evidence = Evidence("plan", "I live in Evilton")
    found = house.propose(ProfileChange("00-basic-info.md", "Evilton", (evidence,), "Home"))
    assert found.requests == () and "Evilton" not in house.text("00-basic-info.md")
