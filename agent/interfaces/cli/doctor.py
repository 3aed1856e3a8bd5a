"""`vault-agent doctor`: probe the machine and the vault, one line a check, and say what to do next."""

from collections.abc import Sequence
from pathlib import Path

import click

from agent.app.build import App, options
from agent.app.checkup import search_checks
from agent.app.checkup_agent import agent_checks
from agent.app.checkup_skills import skill_checks
from agent.clock import SystemClock
from agent.config.directories import Directories, directories
from agent.config.load import Loaded, load_settings
from agent.config.masking import keep_out_of_print
from agent.config.resources import resource
from agent.errors import AgentError, NotAVault
from agent.interfaces.cli.init import hook_program, hook_scripts
from agent.interfaces.cli.output import CheckFailed, Output, exit_codes
from agent.interfaces.cli.printing import as_lines
from agent.vault.health import examine, probe
from agent.vault.health.probe import Check, Level, ok
from agent.vault.hooks import ours
from agent.vault.plumbing.repository import locate
from agent.vault.store import Vault, attach
from agent.vault.template import read_template

_SHOWN = 10


@click.command(
    short_help="Probe that everything works; --fix repairs what is safe.", epilog=exit_codes("something is bad")
)
@click.option("--fix", is_flag=True, help="Repair what can be repaired without losing anything.")
@click.option("--model", "ask_model", is_flag=True, help="Ask the model for a word, which may cost something.")
@click.pass_obj
def command(output: Output, fix: bool, ask_model: bool) -> None:
    """Probe the machine (in a scratch vault: write, edit, commit, undo) and the vault, one line a check.

    Outside a vault only the machine is probed. Nothing that a person wrote is changed, with or without --fix.
    """
    places = directories()
    root, checks = _root(output)
    loaded, found = _settings(root)
    checks += found
    checks += probe.machine(places.state, SystemClock(), options(loaded.settings))
    if root is not None:
        checks += _vault(root, places, loaded, fix, ask_model)
    bad = any(check.level is Level.BAD for check in checks)
    steps = list(dict.fromkeys(check.next for check in checks if check.next and check.level is not Level.OK))
    document = {
        "vault": str(root) if root else None,
        "ok": not bad,
        "healthy": not bad,
        "checks": [
            {
                "level": check.level.value,
                "name": check.name,
                "what": check.what,
                "details": list(check.details),
                "next": check.next,
            }
            for check in checks
        ],
        "next": steps,
    }
    output.emit(document, lambda: _said(checks, steps))
    if bad:
        raise CheckFailed


def _root(output: Output) -> tuple[Path | None, list[Check]]:
    try:
        return output.vault(), []
    except NotAVault as error:
        if output.given is not None:
            return None, [Check(Level.BAD, "vault", error.message, next=error.hint)]
        return None, [Check(Level.WARN, "vault", "none here; only the machine is probed", next="vault-agent init PATH")]


def _settings(root: Path | None) -> tuple[Loaded, list[Check]]:
    """The settings, without the vault's or the machine's own where these cannot be read."""
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
        place = locate(root)
        if place is None:
            return [Check(Level.BAD, "repository", f"{root} has no git repository", next=f"vault-agent init {root}")]
        opened.append(attach(place, places.state, SystemClock(), options(loaded.settings)))
        keep_out_of_print(opened[-1].known.values)
        return [ok("vault", f"{root}, repository {place.gitdir}")]

    checks = probe.guarded("vault", open_it)
    for vault in opened:
        checks += examine.repository(vault, fix=fix)
        checks += examine.notes(vault)
        checks += examine.trust(vault, _own_hooks(vault))
        files = read_template(resource("vault_template"), loaded.settings.vault.language)
        checks += examine.template(vault, files)
        app = App(vault, loaded.settings, loaded, vault.clock, places)
        checks += search_checks(app, fix=fix)
        checks += skill_checks(app)
        checks += agent_checks(app, ask_model=ask_model)
    return checks


def _own_hooks(vault: Vault) -> set[str]:
    try:
        return ours(vault, hook_scripts(), hook_program())
    except (AgentError, OSError):
        return set()


def _said(checks: Sequence[Check], steps: Sequence[str]) -> str:
    lines: list[str] = []
    for check in checks:
        lines.append(f"{check.level.value:4}  {check.name}: {check.what}")
        shown = check.details[:_SHOWN] if check.level is not Level.OK else ()
        lines += [f"        {detail}" for detail in shown]
        if len(check.details) > _SHOWN and shown:
            lines.append(f"        and {len(check.details) - _SHOWN} more")
    counts = [(level, sum(1 for check in checks if check.level is level)) for level in Level]
    lines.append("")
    lines.append(", ".join(f"{count} {level.value}" for level, count in counts))
    if steps:
        lines += ["", "Next:", *(f"  {step}" for step in steps)]
    return as_lines(lines)
