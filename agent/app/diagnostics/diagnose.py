"""All checks of `doctor`: this machine, its settings, and one vault; the interfaces print them.

The check of the node host in `doctor`: whether the agent reaches it, where it is switched on.

The checks of jobs in `doctor`: what is wrong with their notes, and which ones their failures have stopped.
"""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from agent.app.diagnostics.outside import calendar_checks, server_checks
from agent.app.diagnostics.search import search_checks
from agent.app.setup import hook_program, hook_scripts
from agent.config.directories import Directories, directories, process_clock
from agent.config.load import Loaded, load_settings, load_vault_settings
from agent.config.masking import keep_out_of_print
from agent.config.resources import resource
from agent.config.secrets import reveal
from agent.context.budget import estimate
from agent.errors import AgentError, ConfigError, MissingKey
from agent.llm.messages import Request, User
from agent.llm.presets import ModelKind
from agent.memory.forgetting.tombstones import foreign_tombstones
from agent.records.database import DAMAGED
from agent.runs.accounts import open_accounts
from agent.runs.configured_models import ConfiguredModel, configured_models
from agent.runs.job_upkeep import job_record, job_shelf
from agent.runs.node_host import node_link
from agent.runs.skill_set import skill_library
from agent.runs.status import SPEND, ledger_of
from agent.texts import Sentence, joined
from agent.tools.policy import load_policies
from agent.vault.folders import FORGOTTEN
from agent.vault.health import examine, note_checks, probe
from agent.vault.health.probe import Check, Level, bad, guarded, ok
from agent.vault.health.trust import Executable
from agent.vault.hooks import ours
from agent.vault.merge_driver_setup import is_ours
from agent.vault.store import Vault, open_repository
from agent.vault.template import laid_first, read_template
from agent.workspace.schedule_switch import schedule_switch
from agent.workspace.workspace import Workspace, load_daemon_state, options


def node_checks(workspace: Workspace) -> list[Check]:
    """Look for the node host of the settings; no check where `node.enabled` is false."""
    return guarded("node host", lambda: _node(workspace)) if workspace.settings.node.enabled else []


def _node(workspace: Workspace) -> Iterator[Check]:
    link = node_link(workspace)
    tools = link.tools()
    if link.problem:
        yield Check(
            Level.WARN, "node host", link.problem, next="vault-agent config get node.base_url shows its address"
        )
    else:
        yield ok("node host", "{count} tools at {url}", count=len(tools), url=workspace.settings.node.base_url)


def job_checks(workspace: Workspace) -> list[Check]:
    """Check every job; a note that cannot run is named with the reason."""
    return guarded("jobs", lambda: _jobs(workspace))


def _jobs(workspace: Workspace) -> Iterator[Check]:
    shelf = job_shelf(workspace).load()
    active = [job for job in shelf.jobs if job.status == "active"]
    stopped = tuple(job.id for job in active if job_record(workspace, job).is_stopped)
    switch = schedule_switch(workspace)
    if switch.problem is not None:
        yield Check(Level.WARN, "jobs", switch.problem, next=switch.hint)
    if shelf.problems:
        lines = tuple(
            Sentence("{path}: {problem}; {fix}", path=each.path, problem=each.message, fix=each.hint)
            for each in shelf.problems
        )
        what = Sentence("{count} notes cannot run", count=len(lines))
        yield Check(Level.WARN, "jobs", what, lines, "mend their headers; vault-agent jobs list shows what is left")
    odd = tuple(
        Sentence("{path}: {problem}", path=job.path, problem=each) for job in shelf.jobs for each in job.warnings
    )
    if odd:
        yield Check(Level.WARN, "jobs", "some settings of jobs are likely misspelt", odd, "mend their headers")
    if stopped:
        what = Sentence("stopped by their failures: {names}", names=joined(stopped, ", "))
        yield Check(Level.WARN, "jobs", what, next="vault-agent jobs history ID says why, vault-agent jobs resume ID")
    if not (shelf.problems or stopped or odd):
        yield ok("jobs", "{active} active, of {count}", count=len(shelf.jobs), active=len(active))


_NEXT = "mend what is named under skills; then see whether they are there: vault-agent skills list"
_TOKENS = 64


def diagnose(root: Path | None, *, fix: bool, ask_model: bool, announce: Callable[[Check], object]) -> list[Check]:
    """Check the settings, the machine in a scratch vault, and the vault at `root` if it is given.

    `fix` makes the repairs that lose no data; `announce` is given each, before it is made. `ask_model` sends the model
    one question, which may cost money.
    """
    places = directories()
    loaded, checks = settings_at_hand(root)
    checks += probe.machine(places.state, process_clock(), options(loaded.settings))
    return checks + (_vault(root, places, loaded, announce if fix else None, ask_model) if root is not None else [])


def settings_at_hand(root: Path | None) -> tuple[Loaded, list[Check]]:
    """The settings, without the vault's or the machine's own if these cannot be read, and the checks of them."""
    checks: list[Check] = []
    tries: list[Callable[[], Loaded]] = [lambda: load_vault_settings(root, options), lambda: load_settings(environ={})]
    for load in tries:
        try:
            loaded = load()
        except AgentError as error:
            checks.append(Check(Level.BAD, "settings", error.message, next=error.hint))
            continue
        ignored = tuple(each for each in loaded.warnings if each not in loaded.unfollowed)
        checks += [Check(Level.BAD, "settings", each) for each in loaded.unfollowed]
        if ignored:
            what = Sentence("{count} lines in the vault's settings are ignored", count=len(ignored))
            checks.append(Check(Level.WARN, "settings", what, ignored))
        return loaded, list(dict.fromkeys(checks)) or [ok("settings", "can be read")]
    raise AgentError("no settings can be read", hint="install vault-agent again")


def _vault(
    root: Path, places: Directories, loaded: Loaded, announce: Callable[[Check], object] | None, ask_model: bool
) -> list[Check]:
    opened: list[Vault] = []
    fix = announce is not None

    def open_it() -> list[Check]:
        vault = open_repository(root, places.state, process_clock(), options(loaded.settings))
        if vault is None:
            return [
                Check(
                    Level.BAD,
                    "repository",
                    Sentence("{root} has no git repository", root=root),
                    next=Sentence("vault-agent init {root}", root=root),
                )
            ]
        opened.append(vault)
        keep_out_of_print(vault.known.values)
        return [ok("vault", "{root}, repository {gitdir}", root=root, gitdir=vault.place.gitdir)]

    checks = probe.guarded("vault", open_it)
    for vault in opened:
        if announce is not None:
            for check in examine.repairs(vault):
                announce(check)
        checks += examine.repository(vault, fix=fix)
        checks += note_checks.notes(vault.whole)
        checks += examine.held(vault)
        checks += examine.trust(vault, _own_hooks(vault), partial(_is_own_driver, vault))
        files = read_template(resource("vault_template"), loaded.settings.vault.language)
        checks += examine.template(vault, laid_first(files, vault.home))
        workspace = Workspace(vault, loaded.settings, loaded, vault.clock, places)
        checks += search_checks(workspace, fix=fix)
        checks += skill_checks(workspace)
        checks += job_checks(workspace)
        checks += node_checks(workspace)
        checks += server_checks(workspace) + calendar_checks(workspace)
        checks += agent_checks(workspace, ask_model=ask_model)
    return checks


def _own_hooks(vault: Vault) -> set[str]:
    try:
        return ours(vault, hook_scripts(), hook_program())
    except (AgentError, OSError):
        return set()


def _is_own_driver(vault: Vault, item: Executable) -> bool:
    return is_ours(vault, item, hook_program())


def skill_checks(workspace: Workspace) -> list[Check]:
    """Check every skill; a skill or part that cannot be used is named, with its file, line and reason."""
    return guarded("skills", lambda: _skills(workspace))


def _skills(workspace: Workspace) -> Iterator[Check]:
    shelf = skill_library(workspace).snapshot()
    if not shelf.problems:
        yield ok("skills", "{count} can be used", count=len(shelf.named))
        return
    out, odd = ({each.path for each in found} for found in (shelf.errors, shelf.warnings))
    parts = [Sentence("{count} can be used", count=len(shelf.named))]
    parts += [Sentence("{count} cannot be used", count=len(out))] if out else []
    if odd:
        parts.append(Sentence("1 has a warning" if len(odd) == 1 else "{count} have warnings", count=len(odd)))
    lines = tuple(f"{each.path}:{each.line}: {each.reason}" for each in shelf.problems)
    yield Check(
        Level.WARN,
        "skills",
        joined(parts, ", "),
        lines,
        _NEXT,
    )


def agent_checks(workspace: Workspace, *, ask_model: bool) -> list[Check]:
    """Check policy, ledger, forgotten notes, model and daemon; `ask_model` sends a request, which may cost money."""
    return [
        *guarded("policy", lambda: _policy(workspace)),
        *guarded("spend", lambda: _spend(workspace)),
        *guarded("records", lambda: _records(workspace.vault)),
        *guarded("forgotten", lambda: _forgotten(workspace)),
        *guarded("model", lambda: _models(workspace, ask_model)),
        *guarded("daemon", lambda: _daemon(workspace)),
    ]


def _policy(workspace: Workspace) -> Iterator[Check]:
    found = load_policies(workspace.directories.config)
    names = joined((profile.name for profile in found.profiles), ", ")
    yield ok("policy", "{count} profiles: {names}", count=len(found.profiles), names=names)


def _spend(workspace: Workspace) -> Iterator[Check]:
    ledger = ledger_of(workspace)
    today = ledger.totals(ledger.today())
    if today.damaged:
        what = Sentence(
            "{count} calls of today cannot be read in the ledger; what they cost is not counted",
            count=today.damaged,
        )
        yield Check(
            Level.WARN, "spend", what, next=Sentence("look at {path}", path=workspace.directories.state / SPEND)
        )
    yield ok(
        "spend",
        "{count} calls today, ${money:.2f} of ${daily:g}",
        count=today.calls,
        money=today.money,
        daily=workspace.settings.spend.daily,
    )


def _records(vault: Vault) -> Iterator[Check]:
    """A file of records that was damaged and moved aside; whole again, nothing is said."""
    vault.records.rows("SELECT 1")
    aside = vault.private_folder / DAMAGED
    if aside.exists():
        what = Sentence("what this machine remembers was damaged, and was begun anew with what could be read")
        yield Check(Level.WARN, "records", what, next=Sentence("rm {path} once you do not need it", path=aside))


def _forgotten(workspace: Workspace) -> Iterator[Check]:
    foreign = foreign_tombstones(workspace.vault)
    if foreign:
        where = workspace.vault.home.at(FORGOTTEN)
        what = f"{len(foreign)} notes in {where} do not count: neither you nor `vault-agent forget` wrote them"
        yield Check(Level.WARN, "forgotten", what, foreign, "look at them: delete them, or edit and save what you want")


def _models(workspace: Workspace, ask: bool) -> Iterator[Check]:
    """A check of each model, with the kinds of work that it does."""
    models = configured_models(workspace)
    if not models:
        yield ok("model", "none is configured: answers quote your notes")
    for model, kinds in models.items():
        where = (
            model.name
            if len(models) == 1
            else Sentence("{name} (for {kinds})", name=model.name, kinds=joined(kinds, ", "))
        )
        yield _answer(workspace, kinds[0], where) if ask else _key(model, where)


def _key(model: ConfiguredModel, where: str) -> Check:
    """Check that the model's key is there; the system's keyring is not looked at, as it may ask for a password."""
    reference = model.key.reference
    if reference and not reference.startswith("keyring:"):
        try:
            reveal(model.key)
        except (ConfigError, MissingKey) as error:
            return bad("model", "{model} has no key: {problem}", next=error.hint, model=where, problem=error)
    if reference.startswith("env:"):
        needs = (
            "{model} is configured; `vault-agent doctor --model` asks it for a word; a daemon needs {key} in its "
            "environment, too"
        )
        return ok("model", needs, model=where, key=reference.removeprefix("env:"))
    return ok("model", "{model} is configured; `vault-agent doctor --model` asks it for a word", model=where)


def _daemon(workspace: Workspace) -> Iterator[Check]:
    """The check of what the daemon lacks, such as the model's key, which this terminal may have."""
    state = load_daemon_state(workspace)
    if state is None:
        yield ok("daemon", "not running")
    elif state.get("problem"):
        yield Check(Level.WARN, "daemon", "it runs, and reports a problem", (str(state["problem"]),))
    else:
        yield ok("daemon", "runs, and reports no problem")


def _answer(workspace: Workspace, kind: ModelKind, where: str) -> Check:
    clock = workspace.vault.clock
    began = clock.monotonic()
    try:
        model = open_accounts(workspace, estimate).of_run(clock.new_id(), "").of(kind)
        reply = model.chat(Request((User("Answer with the one word: ready"),), max_output=_TOKENS))
    except AgentError as error:
        return Check(Level.BAD, "model", Sentence("{model}: {problem}", model=where, problem=error), next=error.hint)
    if reply.remarks:
        return Check(Level.WARN, "model", Sentence("{model}: {problem}", model=where, problem=reply.remarks[0]))
    return ok("model", "{model} answers, in {seconds:.1f} s", model=where, seconds=clock.monotonic() - began)
