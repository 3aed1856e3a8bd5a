"""Joins old commits of this program that follow each other on one day into one commit: on request only.

People's commits, merges, undos and what they undid stay as they are, with their times and messages; their ids change if
an older commit changes. The files of the last commit stay equal, so that files and index are not touched. The history
as it was is kept twice: in a bundle outside the vault, and under a rescue reference. No object is deleted here.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from datetime import date, datetime
from pathlib import Path

from agent.clock import in_clock_zone
from agent.config import durable
from agent.config.private import make_folder
from agent.dataclass import dataclass
from agent.errors import Permanent, UserError
from agent.git.identities import AGENT, at_seconds
from agent.git.objects import Pack, made_again, parents_in, tree_in, with_new_ids
from agent.git.runner import Git
from agent.texts import joined
from agent.vault.change import Stamp
from agent.vault.history.commit_index import HUMAN, CommitIndex, IndexedCommit, drop_index, load_index, parse_message
from agent.vault.history.commits import resolve
from agent.vault.history.holders import holders
from agent.vault.history.purge import BUNDLES, RESCUES, backups, check_possible, recorded
from agent.vault.history.purged import record_rewritten
from agent.vault.history.squashed import Squashed, record_squashed
from agent.vault.message import compose
from agent.vault.provenance.new_commits import new_commits
from agent.vault.provenance.remotes import addresses
from agent.vault.store import Vault

TOOL = "squash"
SECONDS = 3_600.0
"""The time limit of one git command that reads the whole history."""
_TOGETHER = 1_000
_LISTED = 40
"""The most subjects in the message of a squashed commit."""


@dataclass(frozen=True, slots=True)
class SquashPlan:
    """What a squash would do: `groups` of commits (ids, oldest first) that become one each.

    `rewritten` counts the commits that get a new id, `total` all commits before. `other_refs` are other references of
    this repository with old commits, `remote_refs` those of other repositories.
    """

    head: str
    total: int
    groups: tuple[tuple[str, ...], ...]
    rewritten: int
    other_refs: tuple[str, ...] = ()
    remote_refs: tuple[str, ...] = ()

    @property
    def joined(self) -> int:
        """The number of commits that are joined."""
        return sum(map(len, self.groups))


@dataclass(frozen=True, slots=True)
class SquashResult:
    """What was done: the new tip of the branch, and where the history as it was is kept."""

    plan: SquashPlan
    head: str
    rescue: str
    bundle: Path


def plan_squash(vault: Vault, before: datetime) -> SquashPlan:
    """What a squash of the commits before a time would do.

    Raises `UserError` while the repository is not free, or if a part of the history is missing here.
    """
    check_possible(vault)
    head = resolve(vault, "HEAD")
    index = load_index(vault)
    groups = tuple(tuple(group) for group in _groups(vault, index, before))
    rows = _rewritten(index, groups)
    found = holders(vault.git, vault.place, rows, (), lambda ids: {}, backups(vault)) if rows else None
    others, remotes = (found.here, found.remote) if found is not None else ((), ())
    return SquashPlan(head, len(index.rows), groups, len(rows), others, remotes)


def squash(vault: Vault, before: datetime, *, token: str, remote: bool = False) -> SquashResult:
    """Carry out what `plan_squash` says; killed half-way, nothing has changed and it can be called again.

    `remote`: also if a repository has the commits to which only the person writes. Raises `UserError` if others write
    there, or if there is nothing to join.
    """
    bundle = _bundle(vault, token)
    try:
        with vault.writer.exclusive():
            made = plan_squash(vault, before)
            _check(vault, made, remote)
            head = _carry_out(vault, made, token)
    except BaseException:
        if vault.git.objects([RESCUES + token])[0] is None:
            bundle.unlink(missing_ok=True)
        raise
    drop_index(vault)
    with suppress(Exception):  # a cache: the next command makes it as well
        load_index(vault)
    return SquashResult(made, head, RESCUES + token, bundle)


def _check(vault: Vault, made: SquashPlan, remote: bool) -> None:
    if not made.groups:
        raise UserError("there is nothing to join", hint="vault-agent log -n 0 lists the commits with their times")
    if not made.remote_refs:
        return
    answers, known = vault.provenance.answers.load(), addresses(vault.git)
    names = {name.split("/")[2] for name in made.remote_refs}
    if not all(answers.is_mine(known.get(name, "")) for name in names):
        raise UserError(
            "others write to a repository that has these commits: {remote}; with new ids here, they could not go on",
            hint="leave the history as it is, or say that only you write there: vault-agent trust REMOTE --only-me",
            remote=joined(made.remote_refs, ", "),
        )
    if not remote:
        raise UserError(
            "another repository has these commits: {remote}",
            hint="repeat with --yes-remote; then replace the branch there, and make every other clone anew",
            remote=joined(made.remote_refs, ", "),
        )


def _bundle(vault: Vault, token: str) -> Path:
    """Write the whole history of the branch to a file outside the vault, durably."""
    folder = vault.private_folder / BUNDLES
    make_folder(folder)
    for left in folder.glob("*.new"):
        left.unlink(missing_ok=True)  # of a squash that was killed
    path = folder / f"{vault.clock.now():%Y-%m-%d}-{token}.bundle"
    draft = path.with_suffix(".new")
    slow = Git(vault.git.gitdir, vault.git.worktree, durable=vault.options.durable, timeout=SECONDS)
    slow.run("bundle", "create", "--quiet", str(draft), "HEAD")
    slow.run("bundle", "verify", "--quiet", str(draft))
    draft.chmod(0o600)
    draft.replace(path)
    durable.flush_folder(folder)
    return path


def _groups(vault: Vault, index: CommitIndex, before: datetime) -> list[list[str]]:
    """The commits to join: this program's own, of one day, each the only child of the one before."""
    commits = list(index.all())
    children = Counter(parent for each in commits for parent in each.parents)
    undos = [each for each in commits if each.undoes]
    apart = {each.id for each in undos} | {name for each in undos for name in each.undoes}
    ours = _ours(vault, [each for each in commits if each.seconds < before.timestamp() and each.id not in apart])
    found: dict[str, list[IndexedCommit]] = {}
    for each in reversed(commits):
        if each.id not in ours or len(each.parents) > 1:
            continue
        parent = each.parents[0] if each.parents else ""
        group = found.get(parent, [])
        if group and children[parent] == 1 and _day(group[-1], before) == _day(each, before):
            found[each.id] = found.pop(parent)
            group.append(each)
        else:
            found[each.id] = [each]
    return [[each.id for each in group] for group in found.values() if len(group) > 1]


def _day(commit: IndexedCommit, like: datetime) -> date:
    return in_clock_zone(at_seconds(commit.seconds), like).date()


def _ours(vault: Vault, commits: Sequence[IndexedCommit]) -> set[str]:
    """Those that this program made on this machine, in its own name and not for a person's command."""
    vault.provenance.look()
    signed = [each.id for each in commits if each.is_signed and each.actor != HUMAN]
    made = vault.provenance.recorder.program_commits(signed)
    authors = {each.id: each.author for each in new_commits(vault.git, [vault.head or "HEAD"], ())}
    return {each for each in made if authors.get(each) == (AGENT.name, AGENT.email)}


def _rewritten(index: CommitIndex, groups: Sequence[Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """The commits that are joined or get another parent, with their parents, oldest first."""
    dirty = {commit for group in groups for commit in group}
    found: dict[str, tuple[str, ...]] = {}
    for each in reversed(list(index.all()) if dirty else []):
        if each.id in dirty or not dirty.isdisjoint(each.parents):
            dirty.add(each.id)
            found[each.id] = each.parents
    return found


def _carry_out(vault: Vault, made: SquashPlan, token: str) -> str:
    rows = list(_rewritten(load_index(vault), made.groups))
    new, squashed = _rewrite(vault, made, rows)
    head = new[made.head]
    if _tree_of(vault, head) != _tree_of(vault, made.head):
        raise Permanent("the last commit would have other files; the history was left as it is")
    vault.provenance.rewrite(new)
    record_rewritten(vault, new)
    record_squashed(vault, squashed)
    with recorded(vault.writer.journal, token, head):
        vault.git.run("update-ref", RESCUES + token, made.head)
        # no `REFLOG_MARK`: the commit that HEAD moves to may be a person's, and provenance knows who made it
        vault.git.run("update-ref", "-m", "squash by vault-agent", "HEAD", head, made.head)
    return head


def _tree_of(vault: Vault, commit: str) -> str:
    found = vault.git.objects([commit])[0]
    return tree_in(found.data) if found is not None else ""


def _rewrite(vault: Vault, plan: SquashPlan, rows: Sequence[str]) -> tuple[dict[str, str], Squashed]:
    """Make the commits again; returns the new id of each that stays or is the last of its group, and what is joined."""
    group_of = {group[-1]: group for group in plan.groups}
    inner = {commit for group in plan.groups for commit in group[:-1]}
    made: dict[str, str] = {}
    joined_commits: dict[str, str] = {}
    joined_runs: dict[str, list[str]] = {}
    with closing(Pack(len(plan.head))) as pack:
        for start in range(0, len(rows), _TOGETHER):
            some = [row for row in rows[start : start + _TOGETHER] if row not in inner]
            members = [commit for row in some for commit in group_of.get(row, (row,))]
            read = zip(members, vault.git.objects(members), strict=True)
            raw = {commit: item.data for commit, item in read if item is not None}
            if len(raw) < len(members):
                raise Permanent("a commit is missing", hint="git fsck shows what is missing")
            for row in some:
                group = group_of.get(row, (row,))
                parents = [made.get(each, each) for each in parents_in(raw[group[0]])]
                if row not in group_of:
                    message = with_new_ids(raw[row].partition(b"\n\n")[2], made)
                    made[row] = pack.add("commit", made_again(raw[row], tree_in(raw[row]), parents, message))
                    continue
                message, runs = _message(vault, [raw[commit] for commit in group])
                made[row] = pack.add("commit", made_again(raw[row], tree_in(raw[row]), parents, message))
                joined_commits |= dict.fromkeys(group, made[row])
                for run in runs:
                    joined_runs.setdefault(run, []).append(made[row])
        with pack.stream() as stream:
            slow = Git(vault.git.gitdir, vault.git.worktree, durable=vault.options.durable, timeout=SECONDS)
            slow.run("index-pack", "--stdin", stdin=stream)
    return made, Squashed(joined_commits, {run: tuple(each) for run, each in joined_runs.items()})


def _message(vault: Vault, raw: Sequence[bytes]) -> tuple[bytes, set[str]]:
    """The message of the commit that these become, and the runs that are no longer by themselves."""
    parts = [parse_message(each.partition(b"\n\n")[2].decode("utf-8", "replace")) for each in raw]
    trailers = [dict(reversed(each[2])) for each in parts]
    runs = {each.get("vault-run", "") for each in trailers}
    actors = {each.get("vault-actor", "") for each in trailers}
    is_one_run = len(runs) == 1
    subjects = [f"- {subject}" for subject, _, _ in parts]
    more = [f"- and {len(subjects) - _LISTED} more"] if len(subjects) > _LISTED else []
    stamp = Stamp(
        actors.pop() if len(actors) == 1 else "agent",
        run=next(iter(runs)) if is_one_run else "",
        tool=TOOL,
        session=_common(trailers, "vault-session") if is_one_run else "",
        untrusted=max(each.get("vault-untrusted", "") for each in trailers),  # who knows the last knows the others
    )
    subject = f"squash(history): {len(raw)} commits in one"
    text = compose(subject, stamp, "\n".join([*subjects[:_LISTED], *more]), known=vault.known)
    return text.encode("utf-8", "surrogateescape"), set() if is_one_run else runs - {""}


def _common(trailers: Sequence[Mapping[str, str]], name: str) -> str:
    found = {each.get(name, "") for each in trailers}
    return found.pop() if len(found) == 1 else ""
