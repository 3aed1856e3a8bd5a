"""All checks of `doctor`: this machine, its settings, and one vault; the interfaces print them."""

from pathlib import Path

from agent.app.diagnostics.agent import agent_checks
from agent.app.diagnostics.search import search_checks
from agent.app.diagnostics.skills import skill_checks
from agent.app.setup import hook_program, hook_scripts
from agent.clock import SystemClock
from agent.config.directories import Directories, directories
from agent.config.load import Loaded, load_settings
from agent.config.masking import keep_out_of_print
from agent.config.resources import resource
from agent.errors import AgentError
from agent.vault.health import examine, probe
from agent.vault.health.probe import Check, Level, ok
from agent.vault.hooks import ours
from agent.vault.store import Vault, open_repository
from agent.vault.template import read_template
from agent.workspace.workspace import Workspace, options


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
