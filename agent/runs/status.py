"""The agent's status: the model, today's spend, and what waits for the person. Read from files, without a request."""

from dataclasses import dataclass

from agent.errors import AgentError
from agent.llm.ledger import Ledger, SpendTotals
from agent.llm.presets import endpoint
from agent.runs.decisions import approvals, open_questions
from agent.runs.registry import run_registry
from agent.skills.learning.offer_records import offer_records_folder
from agent.skills.learning.offer_records import waiting_offers as offers_waiting
from agent.skills.loading.pins import pins_of
from agent.skills.trust.review_records import waiting_reviews as reviews_waiting
from agent.workspace.workspace import Workspace

SPEND = "spend"
"""The folder of the ledger, in the machine's state: the daily limits are per person, not per vault."""


@dataclass(frozen=True, slots=True)
class AgentStatus:
    """The agent's status. `model` is empty if none is configured; `problem` is an error of the settings or the ledger.

    `reviews` and `suggestions` are the notes in approvals/ that ask to trust, and to learn, a skill.
    `waiting` are the sessions whose run waits for a person, `working` those with an active run.
    """

    model: str
    today: SpendTotals | None
    approvals: int
    questions: int
    reviews: tuple[str, ...]
    suggestions: tuple[str, ...]
    waiting: tuple[str, ...]
    working: tuple[str, ...]
    problem: str = ""


def ledger_of(workspace: Workspace) -> Ledger:
    """The ledger of the cost of models on this machine."""
    return Ledger(workspace.directories.state / SPEND, workspace.clock)


def agent_status(workspace: Workspace) -> AgentStatus:
    """The agent's status; opens no connection and changes nothing."""
    problems: list[str] = []
    model, today = "", None
    try:
        model = model_name(workspace)
    except AgentError as error:
        problems.append(error.message)
    try:
        ledger = ledger_of(workspace)
        today = ledger.totals(ledger.today())
        problems += [f"{today.damaged} calls of today cannot be read in the spend ledger"] if today.damaged else []
    except AgentError as error:
        problems.append(error.message)
    marks = run_registry(workspace.vault)
    waiting = tuple(mark.session for mark in marks.waiting())
    working = tuple(mark.session for mark in marks.all() if marks.is_held(mark.id))
    asked, questions = approvals(workspace).pending(), open_questions(workspace)
    reviews = reviews_waiting(workspace.vault, pins_of(workspace.vault))
    offered = tuple(offer.path for offer in offers_waiting(workspace.vault, offer_records_folder(workspace.vault)))
    problem = "; ".join(problems)
    return AgentStatus(model, today, len(asked), len(questions), reviews, offered, waiting, working, problem)


def model_name(workspace: Workspace) -> str:
    """The configured model, empty for none; raises `ConfigError` for an incomplete configuration."""
    if workspace.settings.llm.wire == "scripted":
        return "scripted"
    found = endpoint(workspace.settings.llm)
    return found[1].model.name if found else ""
