"""One look of the agent's curiosity: what was answered is taken in, what is over is closed, and one question at most is
asked, if the settings want it and the moment is good: at most one a day, never in quiet hours, and never while as many
are open as the law in `asking.questions.law` allows."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta

from agent.asking.questions.law import ASKS, CURIOSITY, MOST_OPEN, asking_body, waits_for_answer
from agent.asking.questions.notes import AskedQuestion, asked_questions
from agent.attention.quiet import QuietHours, parse_quiet
from agent.dataclass import dataclass
from agent.growth.beliefs.learn import person_model
from agent.growth.curiosity.find import find_gaps
from agent.growth.curiosity.gap import CuriousGap, question_note
from agent.growth.curiosity.known import KnownAlready
from agent.growth.curiosity.settle import SettledQuestions, settle_questions
from agent.runs.configured_models import has_model
from agent.runs.status import growth_account
from agent.texts import Sentence
from agent.vault.change import Stamp, actor_of
from agent.workspace.workspace import Workspace

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
