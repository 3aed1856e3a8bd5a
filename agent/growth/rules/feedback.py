"""The person's opinions of runs that had rules: boxes ticked in the notes of runs, edits of what the runs wrote, what
they took back, and their next words: of thanks, that it is not what they wanted, or the same question again.

Read from the notes and the history on demand; once an opinion is in the month's note, it is not searched for again.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from agent.growth.rules.rule_boxes import ticked_rules
from agent.growth.rules.rule_work import RuleWork
from agent.growth.rules.uses import RuleRun, append_runs, load_runs, opinion_row
from agent.loop.record_parse import run_ends
from agent.runs.reactions import LOOKED_BACK, opinions_on_runs
from agent.texts import Sentence
from agent.vault.change import Stamp
from agent.vault.folders import SESSIONS

_TOOL = "rule_feedback"


def gather_opinions(work: RuleWork) -> tuple[RuleRun, ...]:
    """Record what the person has said or shown of the runs of the last two days, in one commit; returns the rows."""
    now = work.now
    rows = [row for row in load_runs(work.vault) if row.at >= now - LOOKED_BACK]
    opined = {(row.run, each.path) for row in rows if row.opinion for each in row.rules}
    left = [row for row in (_without(each, opined) for each in rows if not each.opinion) if row.rules]
    found = [*_by_boxes(work, left, now)]
    opined |= {(row.run, each.path) for row in found for each in row.rules}
    left = [row for row in (_without(each, opined) for each in left) if row.rules]
    shown = opinions_on_runs(work.vault, {row.run: row.session for row in left}) if work.corrections and left else {}
    found += [opinion_row(now, row.run, row.rules, shown[row.run], row.session) for row in left if row.run in shown]
    if found:
        with work.vault.transaction(
            Sentence("rules(history): what you think of runs"), Stamp("agent", tool=_TOOL)
        ) as change:
            change.requests += append_runs(work.vault.home, found, work.language)
    return tuple(found)


def _without(row: RuleRun, opined: Collection[tuple[str, str]]) -> RuleRun:
    """The row with the rules about which nothing was said yet."""
    return replace(row, rules=tuple(each for each in row.rules if (row.run, each.path) not in opined))


def _by_boxes(work: RuleWork, rows: Sequence[RuleRun], now: datetime) -> Iterator[RuleRun]:
    read = _reader(work)
    for row in rows:
        for path, opinion in ticked_rules(read(row.session).get(row.run, "")):
            if about := [replace(each, came_up=True) for each in row.rules if each.path == path]:
                yield opinion_row(now, row.run, about, opinion, row.session)


def _reader(work: RuleWork) -> Callable[[str], dict[str, str]]:
    """A function from a session's path to the texts at the ends of its runs; each note is read once."""
    known: dict[str, dict[str, str]] = {}

    def read(path: str) -> dict[str, str]:
        if path not in known:
            vault = work.vault
            data = vault.own_version(path) if vault.home.holds(path, SESSIONS) else None
            known[path] = dict(run_ends((data or b"").decode("utf-8", "replace")))
        return known[path]

    return read
