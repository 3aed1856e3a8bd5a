"""One look of the agent's curiosity: what was answered is taken in, what is over is closed, and one question at most is
asked, if the settings want it and the moment is good."""

from collections.abc import Callable

from agent.asking.questions.law import ASKS, CURIOSITY, asking_body
from agent.asking.questions.notes import asked_questions
from agent.attention.quiet import parse_quiet
from agent.growth.beliefs.learn import person_model
from agent.growth.curiosity.asking import AskedBefore, choose_gap, may_ask_now
from agent.growth.curiosity.find import find_gaps
from agent.growth.curiosity.gap import CuriousGap, question_note
from agent.growth.curiosity.known import KnownAlready
from agent.growth.curiosity.settle import SettledQuestions, fill_note, settle_questions
from agent.runs.configured_models import has_model
from agent.runs.owner import profile_writing
from agent.runs.status import growth_account
from agent.texts import Sentence
from agent.vault.change import Stamp, actor_of
from agent.workspace.workspace import Workspace

ACCOUNT = growth_account("questions")
"""The account of what questions cost, and the job of their commits: `undo --job growth/questions` takes them back."""
_STAMP = Stamp(actor_of(ACCOUNT), tool=CURIOSITY)


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
    for each in found.filled:
        proposed = fill_note(profile_writing(workspace), each)
        if proposed.requests:
            with vault.transaction(f"question(fill): {each.note}", _STAMP, masked=True) as change:
                change.requests += proposed.requests
    for answer in found.answers:
        tell(answer)
    return found


def gap_to_ask(workspace: Workspace) -> CuriousGap | None:
    """The gap to ask about now; None if nothing is to be asked, or not now, or not by the settings, or without a model.
    Writes nothing."""
    settings, vault, now = workspace.settings, workspace.vault, workspace.clock.now()
    if not (settings.growth.enabled and settings.growth.curiosity.unprompted and has_model(workspace)):
        return None
    if not is_good_moment(workspace):
        return None
    found = find_gaps(vault, person_model(workspace).beliefs, now, settings.vault.language)
    known = KnownAlready(vault, now)
    new = tuple(known.left_out_of(found))
    if not new:
        return None
    before = AskedBefore.of(asked_questions(vault), known.ever.times)
    return choose_gap(new, before, parse_quiet(settings.attention.quiet), now)


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
