"""`vault-agent log --pack` and `--squash`: packs the history of a vault, and joins old commits of the program."""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta

import click

from agent.dataclass import dataclass
from agent.errors import UserError
from agent.interfaces.cli.declare import in_vault
from agent.interfaces.cli.language import listed, tr
from agent.interfaces.cli.output import Output, fields
from agent.interfaces.cli.printing import as_lines
from agent.interfaces.cli.prompt import agree
from agent.texts import Sentence
from agent.vault.health.packing import pack
from agent.vault.history.squash import SquashPlan, SquashResult, plan_squash, squash
from agent.workspace.workspace import Workspace

_DAYS = {"d": 1, "w": 7, "mo": 30, "y": 365}
_AGE = re.compile(r"(\d{1,4})\s*(d|w|mo|y)")
_EXAMPLES = "90d, 12w, 6mo, 1y"
_NAMED = 5


@click.group()
def command() -> None:
    """Keep a long history quick and small. The daemon packs by itself; squash is done only on request."""


@command.command("pack", short_help="Pack the history now, as the daemon does.")
@in_vault
def pack_command(output: Output, workspace: Workspace) -> None:
    """Fold loose objects into packs and write git's commit graph. Nothing is deleted."""
    pack_now(output, workspace)


def pack_now(output: Output, workspace: Workspace) -> None:
    """Pack the history, and print how many loose objects there were and are."""
    done = pack(workspace.vault)
    document = {"loose_before": done.before, "loose_after": done.after, "graph": done.graph}
    output.emit(document, tr("loose objects: {before} before, {after} now", before=done.before, after=done.after))


@command.command("squash", short_help="Join the agent's old commits of a day into one.")
@click.option("--older-than", "age", metavar="AGE", required=True, help="Only older commits: 90d, 12w, 6mo, 1y.")
@click.option("--dry-run", is_flag=True, help="Only say what would happen.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--yes-remote", is_flag=True, help="Also when a repository has the commits to which only you write.")
@in_vault
def squash_command(output: Output, workspace: Workspace, age: str, dry_run: bool, yes: bool, yes_remote: bool) -> None:
    """Join the agent's old commits that follow each other on one day into one commit.

    Your own commits, merges and undos stay, with their times and messages; ids change from the first joined commit on.
    The notes stay as they are. A run that was joined with others cannot be undone by itself any more. The history as it
    was is kept in a bundle outside the vault and under a rescue ref; to get space back, remove both and run git gc.
    """
    squash_now(output, workspace, SquashWish(age, dry_run, yes, yes_remote))


@dataclass(frozen=True, slots=True)
class SquashWish:
    """What is to be joined: commits older than `age`. `yes`: without asking; `yes_remote`: also where another
    repository has them; `dry_run`: only say what would happen."""

    age: str
    dry_run: bool
    yes: bool
    yes_remote: bool


def squash_now(output: Output, workspace: Workspace, wish: SquashWish) -> None:
    """Join old commits of the agent after a yes, and print what was done; raises `UserError` without one."""
    vault = workspace.vault
    before = _time(wish.age, workspace.clock.now())
    plan = plan_squash(vault, before)
    if wish.dry_run or not plan.groups:
        output.emit(_document(plan, None), lambda: as_lines(_planned(plan)))
        return
    if not wish.yes:
        refusal = Sentence("a squash writes the history anew, so it needs a yes")
        agree(output, list(_planned(plan)), "join these commits?", refusal)
    done = squash(vault, before, token=workspace.clock.new_id(), remote=wish.yes_remote)
    output.emit(_document(done.plan, done), lambda: as_lines(_done(done)))


def _time(age: str, now: datetime) -> datetime:
    found = _AGE.fullmatch(age.strip().lower())
    if found is None:
        raise UserError("{age!r} is no age", hint="an age looks like: {examples}", age=age, examples=_EXAMPLES)
    return now - timedelta(days=int(found[1]) * _DAYS[found[2]])


def _document(plan: SquashPlan, done: SquashResult | None) -> Mapping[str, object]:
    found = fields(plan, "joined rewritten other_refs remote_refs", commits=plan.total, into=len(plan.groups))
    after = fields(done, "head rescue bundle") if done else dict.fromkeys(("head", "rescue", "bundle"))
    return {"dry_run": done is None, **found, **after}


def _planned(plan: SquashPlan) -> Iterator[str]:
    if not plan.groups:
        yield tr("there is nothing to join")
        return
    into, would = len(plan.groups), "would join {joined} of {total} commits into {into}; nothing is changed yet"
    yield tr(would, joined=plan.joined, total=plan.total, into=into)
    yield from _effects(plan)


def _effects(plan: SquashPlan) -> Iterator[str]:
    yield tr("  {count} commits are joined or get a new id", count=plan.rewritten)
    yield tr("  your own commits, merges and undos stay, and so do the notes")
    yield tr("  a run that is joined with others cannot be undone by itself any more")
    if plan.other_refs:
        yield tr("  these keep the old commits: {names}", names=listed(plan.other_refs, _NAMED))
    if plan.remote_refs:
        yield tr("  other repositories have the old commits: {names}", names=listed(plan.remote_refs, _NAMED))


def _done(done: SquashResult) -> Iterator[str]:
    plan, did = done.plan, "joined {joined} commits into {into}; the branch is at {head}"
    yield tr(did, joined=plan.joined, into=len(plan.groups), head=done.head[:10])
    yield tr("the history as it was: {bundle}", bundle=done.bundle)
    yield tr("and under the ref {rescue}; to get space back, when you are sure:", rescue=done.rescue)
    yield f"  git update-ref -d {done.rescue}"
    yield "  git gc"
    if plan.remote_refs:
        yield tr("before anything is synced, replace the branch there, and make every other clone anew")
