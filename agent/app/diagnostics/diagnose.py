"""All checks of `doctor`: this machine, its settings, and one vault; the interfaces print them."""

from collections.abc import Iterator
from pathlib import Path

from agent.app.diagnostics.search import search_checks
from agent.app.setup import hook_program, hook_scripts
from agent.clock import SystemClock
from agent.config.directories import Directories, directories
from agent.config.load import Loaded, load_settings
from agent.config.masking import keep_out_of_print
from agent.config.resources import resource
from agent.config.secrets import reveal
from agent.context.tokens import estimate
from agent.errors import AgentError, MissingKey
from agent.llm.messages import Request, User
from agent.llm.offline import Offline
from agent.llm.presets import ModelKind
from agent.memory.forgetting.tombstones import foreign_tombstones
from agent.runs.accounts import open_accounts
from agent.runs.skill_set import skill_library
from agent.runs.status import SPEND, ConfiguredModel, configured_models, ledger_of
from agent.tools.policy_file import load_policies
from agent.vault.folders import FORGOTTEN
from agent.vault.health import examine, probe
from agent.vault.health.probe import Check, Level, guarded, ok
from agent.vault.hooks import ours
from agent.vault.store import Vault, open_repository
from agent.vault.template import read_template
from agent.workspace.workspace import Workspace, options

_NEXT = "mend what is named under skills; then see whether they are there: vault-agent skills list"
_TOKENS = 64


def diagnose(root: Path | None, *, fix: bool, ask_model: bool) -> list[Check]:
    """Check the settings, the machine in a scratch vault, and the vault at `root` if it is given.

    `fix` makes the repairs that lose no data; `ask_model` sends the model one question, which may cost money.
    """
    places = directories()
    loaded, checks = _settings(root)
    checks += probe.machine(places.state, SystemClock(), options(loaded.settings))
    return checks + (_vault(root, places, loaded, fix, ask_model) if root is not None else [])


def _settings(root: Path | None) -> tuple[Loaded, list[Check]]:
    """The settings, without the vault's or the machine's own if these cannot be read, and the checks of them."""
    checks: list[Check] = []
    tries: list[tuple[Path | None, dict[str, str] | None]] = [(root, None), (None, None), (None, {})]
    for vault, environ in tries:
        try:
            loaded = load_settings(vault, environ=environ)
        except AgentError as error:
            checks.append(Check(Level.BAD, "settings", error.message, next=error.hint))
            continue
        if loaded.warnings:
            what = f"{len(loaded.warnings)} lines in the vault's settings are ignored"
            checks.append(Check(Level.WARN, "settings", what, loaded.warnings))
        return loaded, list(dict.fromkeys(checks)) or [ok("settings", "can be read")]
    raise AgentError("no settings can be read", hint="install vault-agent again")


def _vault(root: Path, places: Directories, loaded: Loaded, fix: bool, ask_model: bool) -> list[Check]:
    opened: list[Vault] = []

    def open_it() -> list[Check]:
        vault = open_repository(root, places.state, SystemClock(), options(loaded.settings))
        if vault is None:
            return [Check(Level.BAD, "repository", f"{root} has no git repository", next=f"vault-agent init {root}")]
        opened.append(vault)
        keep_out_of_print(vault.known.values)
        return [ok("vault", f"{root}, repository {vault.place.gitdir}")]

    checks = probe.guarded("vault", open_it)
    for vault in opened:
        checks += examine.repository(vault, fix=fix)
        checks += examine.notes(vault)
        checks += examine.trust(vault, _own_hooks(vault))
        files = read_template(resource("vault_template"), loaded.settings.vault.language)
        checks += examine.template(vault, files)
        workspace = Workspace(vault, loaded.settings, loaded, vault.clock, places)
        checks += search_checks(workspace, fix=fix)
        checks += skill_checks(workspace)
        checks += agent_checks(workspace, ask_model=ask_model)
    return checks


def _own_hooks(vault: Vault) -> set[str]:
    try:
        return ours(vault, hook_scripts(), hook_program())
    except (AgentError, OSError):
        return set()


def skill_checks(workspace: Workspace) -> list[Check]:
    """Check every skill; a skill or part that cannot be used is named, with its file, line and reason."""
    return guarded("skills", lambda: _skills(workspace))


def _skills(workspace: Workspace) -> Iterator[Check]:
    shelf = skill_library(workspace).snapshot()
    if not shelf.problems:
        yield ok("skills", f"{len(shelf.named)} can be used")
        return
    out, odd = ({each.path for each in found} for found in (shelf.errors, shelf.warnings))
    said = [f"{len(out)} cannot be used"] if out else []
    said += [f"{len(odd)} {'has a warning' if len(odd) == 1 else 'have warnings'}"] if odd else []
    lines = tuple(f"{each.path}:{each.line}: {each.reason}" for each in shelf.problems)
    yield Check(Level.WARN, "skills", f"{len(shelf.named)} can be used, {', '.join(said)}", lines, _NEXT)


def agent_checks(workspace: Workspace, *, ask_model: bool) -> list[Check]:
    """Check policy, ledger, forgotten notes and settings; `ask_model` sends a request, which may cost money."""
    return [
        *guarded("policy", lambda: _policy(workspace)),
        *guarded("spend", lambda: _spend(workspace)),
        *guarded("forgotten", lambda: _forgotten(workspace)),
        *guarded("model", lambda: _models(workspace, ask_model)),
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


def _models(workspace: Workspace, ask: bool) -> Iterator[Check]:
    """A check of each model, with the kinds of work that it does."""
    models = configured_models(workspace)
    if not models:
        yield ok("model", "none is configured: answers quote your notes")
    for model, kinds in models.items():
        where = model.name if len(models) == 1 else f"{model.name} (for {', '.join(kinds)})"
        yield _answer(workspace, kinds[0], where) if ask else _key(model, where)


def _key(model: ConfiguredModel, where: str) -> Check:
    """Check that the model's key is there; the system's keyring is not looked at, as it may ask for a password."""
    if model.key.reference.startswith("env:"):
        try:
            reveal(model.key)
        except MissingKey as error:
            return Check(Level.BAD, "model", f"{where} has no key: {error.message}", next=error.hint)
    return ok("model", f"{where} is configured; `vault-agent doctor --model` asks it for a word")


def _answer(workspace: Workspace, kind: ModelKind, where: str) -> Check:
    clock = workspace.clock
    began = clock.monotonic()
    try:
        model = open_accounts(workspace, estimate, Offline()).of_run(clock.new_id(), "").of(kind)
        model.chat(Request((User("Answer with the one word: ready"),), max_output=_TOKENS))
    except AgentError as error:
        return Check(Level.BAD, "model", f"{where}: {error.message}", next=error.hint)
    return ok("model", f"{where} answers, in {clock.monotonic() - began:.1f} s")
