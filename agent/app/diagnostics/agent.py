"""The agent's checks in `doctor`: the policy, the spend ledger, the forgotten notes and the model."""

from collections.abc import Iterator

from agent.context.tokens import estimate
from agent.errors import AgentError
from agent.llm.messages import Request, User
from agent.llm.offline import Offline
from agent.memory.forgetting.tombstones import foreign_tombstones
from agent.runs.accounts import open_accounts
from agent.runs.status import SPEND, ledger_of, model_name
from agent.tools.policy_file import load_policies
from agent.vault.folders import FORGOTTEN
from agent.vault.health.probe import Check, Level, guarded, ok
from agent.workspace.workspace import Workspace

_TOKENS = 64


def agent_checks(workspace: Workspace, *, ask_model: bool) -> list[Check]:
    """Check policy, ledger, forgotten notes and settings; `ask_model` sends a request, which may cost money."""
    return [
        *guarded("policy", lambda: _policy(workspace)),
        *guarded("spend", lambda: _spend(workspace)),
        *guarded("forgotten", lambda: _forgotten(workspace)),
        *guarded("model", lambda: _model(workspace, ask_model)),
    ]


def _policy(workspace: Workspace) -> Iterator[Check]:
    found = load_policies(workspace.directories.config)
    yield ok("policy", f"{len(found.profiles)} profiles: {', '.join(profile.name for profile in found.profiles)}")


def _spend(workspace: Workspace) -> Iterator[Check]:
    ledger = ledger_of(workspace)
    today = ledger.totals(ledger.today())
    if today.damaged:
        what = f"{today.damaged} calls of today cannot be read in the ledger; what they cost is not counted"
        yield Check(Level.WARN, "spend", what, next=f"look at {workspace.directories.state / SPEND}")
    yield ok("spend", f"{today.calls} calls today, ${today.money:.2f} of ${workspace.settings.spend.daily:g}")


def _forgotten(workspace: Workspace) -> Iterator[Check]:
    foreign = foreign_tombstones(workspace.vault)
    if foreign:
        what = f"{len(foreign)} notes in {FORGOTTEN} do not count: neither you nor `vault-agent forget` wrote them"
        yield Check(Level.WARN, "forgotten", what, foreign, "look at them: delete them, or edit and save what you want")


def _model(workspace: Workspace, ask: bool) -> Iterator[Check]:
    name = model_name(workspace)
    if not name:
        yield ok("model", "none is configured: answers quote your notes")
        return
    if not ask:
        yield ok("model", f"{name} is configured; --model asks it for a word")
        return
    clock = workspace.clock
    began = clock.monotonic()
    try:
        model = open_accounts(workspace, estimate, Offline()).of_run(clock.new_id(), "").main
        model.chat(Request((User("Answer with the one word: ready"),), max_output=_TOKENS))
    except AgentError as error:
        yield Check(Level.BAD, "model", f"{name}: {error.message}", next=error.hint)
        return
    yield ok("model", f"{name} answers, in {clock.monotonic() - began:.1f} s")
