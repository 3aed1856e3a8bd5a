"""One look of the agent's curiosity: what was answered is taken in, what is over is closed, and one question at most is
asked, if the settings want it and the moment is good: at most one a day, never in quiet hours, and never while as many
are open as the law in `asking.questions.law` allows.

Which gaps are none any more: what was asked before, in the same or in like words, also in a note that the person has
thrown away; and what the person has said meanwhile.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from functools import cached_property

from agent.asking.questions.law import ASKS, CURIOSITY, MOST_OPEN, EverAsked, asking_body, ever_asked, waits_for_answer
from agent.asking.questions.notes import AskedQuestion, asked_questions
from agent.attention.quiet import QuietHours, parse_quiet
from agent.dataclass import dataclass
from agent.growth.beliefs.learn import person_model
from agent.growth.curiosity.find import find_gaps
from agent.growth.curiosity.gap import CuriousGap, question_note
from agent.growth.curiosity.settle import SettledQuestions, settle_questions
from agent.growth.patterns.gather import notes_of_days
from agent.growth.patterns.likeness import words_in
from agent.memory.store import load_entries
from agent.runs.configured_models import has_model
from agent.runs.owner import is_stated_by_owner
from agent.runs.status import growth_account
from agent.texts import Sentence
from agent.tools.text_origin import text_origin_of
from agent.vault.change import Stamp, actor_of
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
    def recent(self) -> tuple[str, ...]:
        """The questions of the last days, also of runs."""
        since = self.now - RECENT
        found = ((each.moment("created"), each.title) for each in self.asked)
        return tuple(title for at, title in found if at is not None and at >= since)

    @cached_property
    def statements(self) -> tuple[frozenset[str], ...]:
        """The words of each statement of the person's own."""
        days = (self.now.date() - timedelta(days=back) for back in range(_DAYS))
        origin, found = text_origin_of(self.vault), load_entries(self.vault, notes_of_days(self.vault, ENTRIES, days))
        return tuple(words_in(each.entry.text) for each in found if is_stated_by_owner(each, origin))

    def left_out_of(self, gaps: Iterable[CuriousGap]) -> Iterator[CuriousGap]:
        """The gaps that are still worth a question."""
        return (each for each in gaps if not self.is_known(each))

    def is_known(self, gap: CuriousGap) -> bool:
        """True if the gap was asked about, or its words have been said since."""
        titles = self.recent if gap.is_of_work else self.ever.titles
        if self.ever.has(gap.key) or _plain(gap.question.partition("\n")[0]) in map(_plain, titles):
            return True
        words = words_in(gap.about)
        if len(words) < _FEWEST or gap.is_of_work:
            return False
        if any(_share(words, words_in(title)) >= ASKED for title in self.ever.titles):
            return True
        return gap.kind == "knowledge" and any(_share(words, said) >= SAID for said in self.statements)


def _plain(title: str) -> str:
    return " ".join(title.casefold().split())


def _share(words: frozenset[str], among: frozenset[str]) -> float:
    return len(words & among) / len(words)


ACCOUNT = growth_account("questions")
"""The account of what questions cost, and the job of their commits: `undo --job growth/questions` takes them back."""
_STAMP = Stamp(actor_of(ACCOUNT), tool=CURIOSITY)


APART = timedelta(hours=20)
"""The least time between two questions: one a day, also for who sits down a little earlier."""


@dataclass(frozen=True, slots=True)
class AskedBefore:
    """What was asked before: the number of open questions, and when those were put that nothing waits for."""

    open: int = 0
    at: tuple[datetime, ...] = ()

    @classmethod
    def of(cls, asked: Iterable[AskedQuestion], gone: Iterable[datetime] = ()) -> "AskedBefore":
        """What these notes say, with the times of questions whose notes are `gone`: who throws one away wants no other
        for it."""
        found = tuple(asked)
        times = (each.moment("created") for each in found if each.is_unprompted)
        return cls(sum(map(waits_for_answer, found)), tuple(sorted({*filter(None, times), *gone})))


def may_ask_now(before: AskedBefore, quiet: QuietHours, now: datetime) -> bool:
    """True if a question may be put now."""
    if before.open >= MOST_OPEN or quiet.holds(quiet.on_the_wall(now)):
        return False
    return all(abs(now - at) >= APART for at in before.at)


def choose_gap(gaps: Sequence[CuriousGap], before: AskedBefore, quiet: QuietHours, now: datetime) -> CuriousGap | None:
    """The one of these gaps to ask about now, an urgent one first; None if nothing is to be asked, or not now. They are
    new: none of them was asked about before."""
    if not may_ask_now(before, quiet, now):
        return None
    return next((each for each in gaps if each.urgency == "high"), next(iter(gaps), None))


def is_something_over(workspace: Workspace) -> bool:
    """True if there is an answer to take in, or a question to close."""
    return bool(settle_questions(workspace.vault, workspace.clock.now(), workspace.settings.vault.language).requests)


def settle(workspace: Workspace, tell: Callable[[object], object]) -> SettledQuestions:
    """Take in what was answered, and close what is over; `tell` publishes what the person has answered."""
    vault, language = workspace.vault, workspace.settings.vault.language
    found = settle_questions(vault, workspace.clock.now(), language)
    if not found.requests:
        return found
    with vault.transaction(Sentence("question(settle): what was answered or is over"), _STAMP, masked=True) as change:
        change.requests += found.requests
    for answer in found.answers:
        tell(answer)
    return found


def gap_to_ask(workspace: Workspace) -> CuriousGap | None:
    """The gap to ask about now; None if nothing is to be asked, or not now, or not by the settings, or without a model.
    Writes nothing."""
    settings, vault, now = workspace.settings, workspace.vault, workspace.clock.now()
    if not (settings.growth.enabled and settings.growth.curiosity.unprompted and has_model(workspace)):
        return None
    quiet, asked = parse_quiet(settings.attention.quiet), tuple(asked_questions(vault))
    if not may_ask_now(AskedBefore.of(asked), quiet, now):
        return None
    known = KnownAlready(vault, now, asked)
    new = tuple(known.left_out_of(find_gaps(vault, person_model(workspace).beliefs, now, settings.vault.language)))
    return choose_gap(new, AskedBefore.of(asked, known.ever.times), quiet, now) if new else None


def is_good_moment(workspace: Workspace) -> bool:
    """True if a question that nothing waits for may be put now, by the notes that are there."""
    quiet = parse_quiet(workspace.settings.attention.quiet)
    return may_ask_now(AskedBefore.of(asked_questions(workspace.vault)), quiet, workspace.clock.now())


def ask(workspace: Workspace, gap: CuriousGap) -> str:
    """Ask about a gap; returns the note of the question."""
    vault, settings = workspace.vault, workspace.settings
    made = question_note(vault, gap, workspace.clock.now(), settings.growth.curiosity.days, settings.vault.language)
    title = gap.question.partition("\n")[0]
    with vault.transaction(f"{ASKS}{title}", _STAMP, body=asking_body(title, gap.why), masked=True) as change:
        change.requests.append(made)
    return made.path


def look(workspace: Workspace, tell: Callable[[object], object]) -> str:
    """Settle what is over, and ask at most one question; returns the note of a new question, empty for none."""
    settle(workspace, tell)
    gap = gap_to_ask(workspace)
    return ask(workspace, gap) if gap is not None else ""
