"""The agent's status: the model, today's spend, and what waits for the person. Read from files, without a request."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from importlib import import_module
from typing import cast

from agent.config.secrets import Secret
from agent.dataclass import dataclass
from agent.errors import AgentError
from agent.llm.ledger import Ledger, SpendTotals
from agent.llm.model_key import missing_key
from agent.llm.presets import KINDS, ModelKind, endpoint
from agent.llm.spend_elsewhere import spent_elsewhere
from agent.runs.decisions import approvals, arrived_decisions
from agent.runs.growth_spend import GrowthPart, growth_parts_today, growth_today
from agent.runs.machines import MachineNote, SessionElsewhere, other_machines
from agent.runs.registry import run_registry
from agent.runs.waiting_questions import waiting_questions
from agent.skills.learning.offer_records import offer_records_folder
from agent.skills.learning.offer_records import waiting_offers as offers_waiting
from agent.skills.loading.pins import pins_of
from agent.skills.trust.review_records import waiting_reviews as reviews_waiting
from agent.texts import Sentence, joined
from agent.workspace.workspace import Workspace

SPEND = "spend"
"""The folder of the ledger, in the machine's state: the daily limits are per person, not per vault."""


@dataclass(frozen=True, slots=True)
class AgentStatus:
    """The agent's status. `models` are the names of the models by kind of work, empty if none is configured.
    `misconfigured` is an error of the model's settings, and what helps; `problem` a missing key, or an error of the
    ledger.

    `reviews` and `suggestions` are the notes in approvals/ that ask to trust, and to learn, a skill.
    `waiting` are the sessions whose run waits for a person, `working` those with an active run. `arrived` are the notes
    in which a decision arrived that counts only if it is made here. `machines` are the other ones with this vault,
    `elsewhere` the sessions in progress there, `today_elsewhere` what they have spent as far as it is known. `growth`
    is the part of today's spend that went into what the agent does to itself, `growth_parts` the same by its parts.
    """

    models: Mapping[ModelKind, str]
    today: SpendTotals | None
    approvals: int
    questions: int
    reviews: tuple[str, ...]
    suggestions: tuple[str, ...]
    waiting: tuple[str, ...]
    working: tuple[str, ...]
    problem: str = ""
    misconfigured: tuple[str, ...] = ()
    arrived: tuple[str, ...] = ()
    machines: tuple[MachineNote, ...] = ()
    elsewhere: tuple[SessionElsewhere, ...] = ()
    today_elsewhere: SpendTotals = SpendTotals()
    growth: SpendTotals = SpendTotals()
    growth_parts: Mapping[GrowthPart, SpendTotals] = field(default_factory=dict)

    @property
    def model(self) -> str:
        """The main model, empty for none."""
        return self.models.get("main", "")


def ledger_of(workspace: Workspace) -> Ledger:
    """The ledger of the cost of models on this machine."""
    return Ledger(workspace.directories.state / SPEND, workspace.vault.clock)


def agent_status(workspace: Workspace) -> AgentStatus:
    """The agent's status; opens no connection and changes nothing."""
    problems: list[str] = []
    models: Mapping[ModelKind, str] = {}
    today, growth, misconfigured = None, SpendTotals(), tuple[str, ...]()
    parts: Mapping[GrowthPart, SpendTotals] = {}
    try:
        models = {kind: model.name for model, kinds in configured_models(workspace).items() for kind in kinds}
    except AgentError as error:
        misconfigured = (error.message, *filter(None, [error.hint]))
    missing = missing_key(workspace.settings.llm)
    if missing is not None:
        fix = f"vault-agent config set {missing.setting} --prompt"
        problems.append(Sentence("no model can be asked from here: {why}; {fix}", why=missing.why, fix=fix))
    try:
        ledger = ledger_of(workspace)
        today, growth = ledger.totals(ledger.today()), growth_today(ledger)
        parts = growth_parts_today(ledger) if growth.calls else parts
        problems += (
            [Sentence("{count} calls of today cannot be read in the spend ledger", count=today.damaged)]
            if today.damaged
            else []
        )
    except AgentError as error:
        problems.append(error.message)
    marks = run_registry(workspace.vault)
    waiting = tuple(mark.session for mark in marks.waiting())
    working = tuple(mark.session for mark in marks.all() if marks.is_held(mark.id))
    asked, questions = approvals(workspace).pending(), waiting_questions(workspace)
    reviews = reviews_waiting(workspace.vault, pins_of(workspace.vault))
    offered = tuple(offer.path for offer in offers_waiting(workspace.vault, offer_records_folder(workspace.vault)))
    problem = joined(problems, "; ")
    return AgentStatus(
        models,
        today,
        len(asked),
        len(questions),
        reviews,
        offered,
        waiting,
        working,
        problem,
        misconfigured,
        arrived_decisions(workspace),
        other_machines(workspace.vault),
        _sessions_elsewhere(workspace),
        spent_elsewhere(workspace.directories.state / SPEND, ledger_of(workspace).today()),
        growth,
        parts,
    )


def _sessions_elsewhere(workspace: Workspace) -> tuple[SessionElsewhere, ...]:
    """The sessions in progress on other machines; reading one is slow to load, and most vaults are on one machine."""
    provenance = workspace.vault.provenance
    provenance.look()
    if provenance.database.is_empty():
        return ()
    module = import_module("agent.runs.sessions_elsewhere")
    return cast("tuple[SessionElsewhere, ...]", module.sessions_elsewhere(workspace))


@dataclass(frozen=True, slots=True)
class ConfiguredModel:
    """A model as the settings name it, on the server at `base_url`."""

    name: str
    base_url: str = ""
    key: Secret = Secret("")


def configured_models(workspace: Workspace) -> Mapping[ConfiguredModel, Sequence[ModelKind]]:
    """The configured models with the kinds of work that each does, the main one first; empty for none.

    Raises `ConfigError` for an incomplete configuration.
    """
    if workspace.settings.llm.wire == "scripted":
        return {ConfiguredModel("scripted"): KINDS}
    found: dict[ConfiguredModel, list[ModelKind]] = {}
    for kind in KINDS:
        named = endpoint(workspace.settings.llm, kind)
        if named is not None:
            place = named[1]
            found.setdefault(ConfiguredModel(place.model.name, place.base_url, place.key), []).append(kind)
    return found


def has_model(workspace: Workspace) -> bool:
    """True if a model is configured that can be asked."""
    return bool(configured_models(workspace)) and missing_key(workspace.settings.llm) is None
