"""One look of the agent's curiosity: what was answered is taken in, what is over is closed, and one question at most is
asked, if the settings want it and the moment is good."""

from collections.abc import Callable
from datetime import datetime

from agent.attention.quiet import parse_quiet
from agent.growth.beliefs.learn import person_model
from agent.growth.curiosity.asking import MOST_OPEN, AskingHours, choose_gap
from agent.growth.curiosity.find import find_gaps
from agent.growth.curiosity.question_notes import asked_before, question_note, settle_questions
from agent.growth.patterns.busy_hours import find_busy_hours
from agent.growth.patterns.gather import gather
from agent.growth.patterns.pattern import LEAST
from agent.vault.change import Stamp
from agent.vault.store import Vault
from agent.workspace.workspace import Workspace

TOOL = "curiosity"
_DAYS = {"mon-fri": range(5), "sat-sun": range(5, 7)}


def look(workspace: Workspace, tell: Callable[[object], object]) -> str:
    """Settle what is over, and ask at most one question; returns the note of a new question, empty for none.

    `tell` publishes what the person has answered.
    """
    settings, vault, now = workspace.settings, workspace.vault, workspace.clock.now()
    language = settings.vault.language
    settled = settle_questions(vault, now, language)
    if settled.requests:
        with vault.transaction("question(settle): what was answered or is over", _STAMP, masked=True) as change:
            change.requests += settled.requests
        for each in settled.answers:
            tell(each)
    if not (settings.growth.enabled and settings.growth.curiosity.unprompted):
        return ""
    before, quiet = asked_before(vault), parse_quiet(settings.attention.quiet)
    if before.open >= MOST_OPEN or not AskingHours(quiet).is_good(now):
        return ""
    hours = AskingHours(quiet, busy_cells(vault, now, settings.attention.quiet))
    gap = choose_gap(tuple(find_gaps(vault, person_model(workspace).beliefs, now, language)), before, hours, now)
    if gap is None:
        return ""
    made = question_note(vault, gap, now, settings.growth.curiosity.days, language)
    with vault.transaction(f"question(ask): {gap.question}", _STAMP, body=gap.why, masked=True) as change:
        change.requests.append(made)
    return made.path


_STAMP = Stamp("agent", tool=TOOL)


def busy_cells(vault: Vault, now: datetime, quiet: str) -> frozenset[tuple[int, int]]:
    """The hours (weekday, hour) in which the person usually works, as the patterns know them."""
    remarks = [each for each in gather(vault, now).of_kinds("asked", "edited") if each.is_timed]
    found = find_busy_hours(remarks, now, parse_quiet(quiet))
    sure = [each for each in found if each.confidence >= LEAST]
    return frozenset((day, each.hour) for each in sure for day in _DAYS[each.group])
