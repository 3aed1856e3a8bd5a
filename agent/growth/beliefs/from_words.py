"""The preferences that the person has stated: in entries of memory, and in lines of their own in the profile's note."""

from collections.abc import Iterable, Iterator
from datetime import date

from agent.clock import clock_zone
from agent.growth.beliefs.blocks import NOTE
from agent.growth.beliefs.sign import Sign
from agent.growth.beliefs.stated import Shown, shown_by, styles_in
from agent.memory.blame import person_lines
from agent.memory.profile.evidence import Evidence, evidence_of
from agent.memory.profile.profile_file import field_in, said_in
from agent.memory.profile.task_kind import named_kinds
from agent.memory.store import StoredEntry
from agent.memory.understanding.statements import sentences_in
from agent.vault.history.blame import blame
from agent.vault.history.commits import read_commits
from agent.vault.store import Vault


def signals_of_entries(entries: Iterable[StoredEntry]) -> Iterator[Sign]:
    """The signals of statements of the person's; one that was said again on another day counts twice.

    The caller gives only what the owner of the vault has stated, and what still holds.
    """
    for each in entries:
        whole, entry = evidence_of(each), each.entry
        days = dict.fromkeys((entry.created.date(), entry.last_said.date()))
        for sentence in sentences_in(entry.text):
            for dimension, value in shown_by(sentence):
                for day in days:
                    evidence = Evidence(whole.note, " ".join(sentence.split()), day.isoformat())
                    yield Sign("stated", dimension, value, day, evidence, tasks=named_kinds(sentence))


def signals_of_note(vault: Vault, today: date) -> tuple[Sign, ...]:
    """What the lines say that the person has written into the note of their preferences themselves; as long as such a
    line stands there, it is what they prefer."""
    path = vault.home.at(NOTE)
    data = vault.own_version(path)
    if data is None:
        return ()
    rows = data.decode("utf-8", "replace").splitlines()
    theirs = person_lines(vault, path, data)
    own = [
        row for at, row in enumerate(rows) if at < len(theirs) and theirs[at] and row.lstrip().startswith(("-", "*"))
    ]
    found = [(row, shown) for row in own for shown in _shown_in(row)]
    if not found:
        return ()
    days = _days(vault, path)
    signals: list[Sign] = []
    for row, (dimension, value) in found:
        day = days.get(row, today)
        evidence = Evidence(path.removesuffix(".md"), day=day.isoformat())
        signals.append(Sign("stated", dimension, value, day, evidence, tasks=named_kinds(row)))
    return tuple(signals)


def _shown_in(row: str) -> Iterator[Shown]:
    field = field_in(row)
    if field is not None:
        yield from styles_in(field[2]) if field[2] else ()
    else:
        yield from shown_by(said_in(row))


def _days(vault: Vault, path: str) -> dict[str, date]:
    """The day on which each line was committed."""
    blamed = dict(blame(vault, path, any_space=True))
    zone = clock_zone(vault.clock.now())
    whens = {each.id: each.when.astimezone(zone).date() for each in read_commits(vault, sorted(set(blamed.values())))}
    return {row: whens[commit] for row, commit in blamed.items() if commit in whens}
