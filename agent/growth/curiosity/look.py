"""One look of the agent's curiosity: what was answered is taken in, what is over is closed, and one question at most is
asked, if the settings want it and the moment is good: at most one a day, never in quiet hours, and never while as many
are open as the law in `asking.questions.law` allows.

Which gaps are none any more: what was asked before, in the same or in like words, also in a note that the person has
thrown away; and what the person has said meanwhile.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from functools import cached_property

from agent.asking.questions.law import ASKS, MOST_OPEN, EverAsked, asking_body, ever_asked, waits_for_answer
from agent.asking.questions.notes import AskedQuestion, asked_questions
from agent.attention.quiet import QuietHours, parse_quiet
from agent.dataclass import dataclass
from agent.growth.beliefs.learn import person_model
from agent.growth.curiosity.find import find_gaps
from agent.growth.curiosity.gap import CuriousGap, question_note
from agent.growth.curiosity.settle import STAMP, settle
from agent.growth.patterns.gather import notes_of_days
from agent.growth.patterns.likeness import words_in
from agent.memory.store import load_entries
from agent.runs.configured_models import has_model
from agent.runs.owner import is_stated_by_owner
from agent.tools.text_origin import text_origin_of
from agent.vault.folders import ENTRIES
from agent.vault.store import Vault
from agent.workspace.workspace import Workspace

ASKED, SAID = 0.8, 0.75
"""The share of the words of a gap that an earlier question, or a statement, has when it is about the same."""
_FEWEST = 2
"""The fewest words by which a gap is known; fewer say too little."""
RECENT = timedelta(days=7)
"""The time in which a question that a run has asked is not asked beside it."""
_DAYS = 60
"""The days in which what was said is looked through."""
APART = timedelta(hours=20)
"""The least time between two questions: one a day, also for who sits down a little earlier."""


@dataclass
class KnownAlready:
    """What is known already in one vault, with the questions of its notes; looked up when it is asked for first."""

    vault: Vault
    now: datetime
    asked: Sequence[AskedQuestion]

    @cached_property
    def ever(self) -> EverAsked:
        """What was ever asked about."""
        return ever_asked(self.vault)

    @cached_property
    def statements(self) -> tuple[frozenset[str], ...]:
        """The words of each statement of the person's own."""
        days = (self.now.date() - timedelta(days=back) for back in range(_DAYS))
        origin, found = text_origin_of(self.vault), load_entries(self.vault, notes_of_days(self.vault, ENTRIES, days))
        return tuple(words_in(each.entry.text) for each in found if is_stated_by_owner(each, origin))

    def is_known(self, gap: CuriousGap) -> bool:
        """True if the gap was asked about, or its words have been said since. The same about other work is another
        gap, unless it was asked in the last days, also by a run."""
        titles, words, question = self._titles(gap), words_in(gap.about), gap.question.partition("\n")[0]
        if self.ever.has(gap.key) or _plain(question) in map(_plain, titles):
            return True
        if len(words) < _FEWEST or gap.is_of_work:
            return False
        if max((_share(words, words_in(title)) for title in titles), default=0.0) >= ASKED:
            return True
        return gap.kind == "knowledge" and any(_share(words, statement) >= SAID for statement in self.statements)

    def _titles(self, gap: CuriousGap) -> Sequence[str]:
        """The questions that may be the same as this gap: all that were ever asked, or those of the last days."""
        if not gap.is_of_work:
            return self.ever.titles
        return [each.title for each in self.asked if (at := each.moment("created")) and self.now - at <= RECENT]


def _plain(title: str) -> str:
    return " ".join(title.casefold().split())


def _share(words: frozenset[str], among: frozenset[str]) -> float:
    return len(words & among) / len(words)


def may_ask(open_questions: int, asked_at: Iterable[datetime], quiet: QuietHours, now: datetime) -> bool:
    """True if a question that nothing waits for may be put now, where so many are open and others were put then."""
    is_free = open_questions < MOST_OPEN and not quiet.holds(quiet.on_the_wall(now))
    return is_free and all(abs(now - at) >= APART for at in asked_at)


def most_urgent(gaps: Sequence[CuriousGap]) -> CuriousGap | None:
    """The first urgent one of these gaps, else the first one; None without any."""
    return next((each for each in gaps if each.urgency == "high"), next(iter(gaps), None))


def gap_to_ask(workspace: Workspace) -> CuriousGap | None:
    """What is to be asked now; None for nothing. What was ever asked is looked up last, as that reads the history."""
    settings, vault, now = workspace.settings, workspace.vault, workspace.clock.now()
    is_on = settings.growth.enabled and settings.growth.curiosity.unprompted and has_model(workspace)
    if not is_on or not is_good_moment(workspace):
        return None
    known = KnownAlready(vault, now, tuple(asked_questions(vault)))
    gaps = find_gaps(vault, person_model(workspace).beliefs, now, settings.vault.language)
    new = [each for each in gaps if not known.is_known(each)]
    return most_urgent(new) if new and is_good_moment(workspace, known.ever.times) else None


def is_good_moment(workspace: Workspace, gone: Iterable[datetime] = ()) -> bool:
    """True if a question that nothing waits for may be put now, by the notes that are there, and by the times of
    questions whose notes are `gone`: who throws one away wants no other for it."""
    asked, now = tuple(asked_questions(workspace.vault)), workspace.clock.now()
    times = (each.moment("created") for each in asked if each.is_unprompted)
    quiet = parse_quiet(workspace.settings.attention.quiet)
    return may_ask(sum(map(waits_for_answer, asked)), (*filter(None, times), *gone), quiet, now)


def ask(workspace: Workspace, gap: CuriousGap) -> str:
    """Ask about a gap; returns the note of the question."""
    vault, settings = workspace.vault, workspace.settings
    made = question_note(vault, gap, workspace.clock.now(), settings.growth.curiosity.days, settings.vault.language)
    title = gap.question.partition("\n")[0]
    with vault.transaction(f"{ASKS}{title}", STAMP, body=asking_body(title, gap.why), masked=True) as change:
        change.requests.append(made)
    return made.path


def look(workspace: Workspace, tell: Callable[[object], object]) -> str:
    """Settle what is over, and ask at most one question; returns the note of a new question, empty for none."""
    settle(workspace, tell)
    gap = gap_to_ask(workspace)
    return ask(workspace, gap) if gap is not None else ""
