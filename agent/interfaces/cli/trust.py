"""`vault-agent trust`: records the authors of each remote, and accepts arrived notes with instructions for the
agent."""

import shlex
from collections.abc import Sequence

import click

from agent.app.open import open_workspace
from agent.config.ssh_key import PREFIX, parse_public_key
from agent.errors import UserError
from agent.interfaces.cli.language import counted, tr
from agent.interfaces.cli.notes import path_with_changes
from agent.interfaces.cli.output import Output
from agent.interfaces.cli.printing import as_lines, patch_line, show_framed
from agent.interfaces.cli.prompt import confirm
from agent.interfaces.cli.screen import is_terminal
from agent.interfaces.cli.status_sections import arrived_document, format_held
from agent.runs.arrivals import ArrivalState, RemoteState, arrival_state, tend_arrivals
from agent.runs.machines import KnownKey, known_keys
from agent.vault.held_back import HeldFile
from agent.vault.history.line_diff import line_diff
from agent.vault.provenance.remotes import Writers, is_fingerprint, plain_address
from agent.vault.receiving.held_now import diff_of, held_files, listed
from agent.vault.receiving.release import release
from agent.vault.signing_key import program
from agent.workspace.workspace import Workspace

_WRITERS = {
    None: "not answered: counts as others",
    Writers.ME: "only you write there",
    Writers.OTHERS: "others write there too",
}


@click.command()
@click.argument("name", required=False, metavar="[REMOTE|NOTE]")
@click.option("--only-me", "mine", is_flag=True, help="Only you write to this remote, from your other devices.")
@click.option("--others", is_flag=True, help="Others write to this remote, too.")
@click.option(
    "--key", metavar="FINGERPRINT", help="Commits signed by this key are yours, by whatever remote they come."
)
@click.option("--forget-key", "former", metavar="FINGERPRINT", help="Commits signed by this key are anybody's again.")
@click.option("--yes", is_flag=True, help="You have looked at the note: do not ask.")
@click.pass_obj
def command(
    output: Output, name: str | None, mine: bool, others: bool, key: str | None, former: str | None, yes: bool
) -> None:
    """List the remotes and the arrived notes; record who writes to REMOTE (its name or address), or accept NOTE.

    Text from a remote where others write is never an order: it cannot approve, answer or steer anything. Your answers
    stay on this machine. A note with instructions for the agent, such as AGENT.md, counts when you have looked at it,
    or if only you write there; a job only when you have looked at it on each machine.
    """
    workspace = open_workspace(output.vault()).whole
    if key is not None and former is not None:
        raise UserError("either --key or --forget-key", hint="vault-agent trust lists the keys")
    if key is not None:
        _add_key(workspace, output, key)
    elif former is not None:
        _forget_key(workspace, output, former)
    elif name is None:
        if mine or others:
            raise UserError("which remote?", hint="vault-agent trust origin --only-me")
        state = arrival_state(workspace)
        keys = known_keys(workspace.vault)
        document = {
            **arrived_document(state),
            "from_nowhere": state.from_nowhere,
            "keys": [
                {"key": each.fingerprint, "machines": list(each.machines), "approved": each.is_approved}
                for each in keys
            ],
        }
        output.emit(document, lambda: _format(state, keys))
    elif mine or others:
        _answer(workspace, output, name, mine, others)
    else:
        _accept(workspace, output, name, yes)


def _add_key(workspace: Workspace, output: Output, key: str) -> None:
    public = parse_public_key(key)
    key = public.fingerprint if public is not None else key
    if not is_fingerprint(key):
        raise UserError(
            "{key} is no fingerprint of a key",
            hint="on the machine that signs, it is shown by: vault-agent sync sign",
            key=key,
        )
    if key.startswith(PREFIX):
        program()
    earlier = workspace.vault.provenance.add_key(key)
    tend_arrivals(workspace)
    words = tr("commits signed by {key} count as yours from now on", key=key)
    more = counted(earlier, "; 1 that came before, too", "; {count} that came before, too") if earlier else ""
    output.emit({"key": key, "earlier": earlier}, words + more)


def _forget_key(workspace: Workspace, output: Output, key: str) -> None:
    if key not in workspace.vault.provenance.answers.load().keys:
        raise UserError("no key {key} is approved here", hint="vault-agent trust lists the keys", key=key)
    workspace.vault.provenance.forget_key(key)
    words = tr("commits signed by {key} count as anybody's from now on; those that came before stay yours", key=key)
    output.emit({"forgotten": key}, words)


def _answer(workspace: Workspace, output: Output, name: str, mine: bool, others: bool) -> None:
    if mine and others:
        raise UserError("either --only-me or --others", hint="vault-agent trust lists the remotes")
    remotes = arrival_state(workspace).remotes
    plain = plain_address(name)
    found = next((each for each in remotes if name == each.name or plain == each.address), None)
    if found is None:
        raise UserError(
            "there is no remote {name}", hint="vault-agent trust lists the remotes; git remote add makes one", name=name
        )
    writers = Writers.ME if mine else Writers.OTHERS
    workspace.vault.provenance.answers.answer(found.address, writers)
    tend_arrivals(workspace)
    document = {"remote": found.name, "address": found.address, "writers": str(writers)}
    output.emit(
        document,
        tr("{problem}: {words}", problem=found.name or found.address, words=tr(_WRITERS[writers])),
    )


def _accept(workspace: Workspace, output: Output, name: str, yes: bool) -> None:
    path = path_with_changes(name, workspace.vault)
    if held := [each for each in held_files(workspace.vault) if each.path == path]:
        _take(workspace, output, name, held[0], yes)
        return
    own, now = workspace.vault.own_version(path), workspace.vault.read(path)
    if own is None and now is None:
        raise UserError(
            "there is no note {name}, and no remote of this name", hint="vault-agent trust lists both", name=name
        )
    diff = line_diff(own, now)
    if not diff and not workspace.vault.provenance.strangers(path, now or b""):
        output.emit(
            {"note": path, "accepted": False},
            tr("nothing has arrived in {path} that you have not looked at", path=path),
        )
        return
    if not yes:
        if output.json or not is_terminal():
            raise UserError(
                "look at {path} first",
                hint="vault-agent trust {name} --yes, when you have",
                path=path,
                name=shlex.quote(path),
            )
        show_framed([patch_line(line) for line in diff] or (now or b"").decode("utf-8", "replace").splitlines())
        confirm(tr("take all of this in {path} for your own?", path=path), abort=True)
    workspace.vault.provenance.has_seen(path)
    tend_arrivals(workspace)
    output.emit({"note": path, "accepted": True}, tr("{path} counts as yours now, as it stands", path=path))


def _take(workspace: Workspace, output: Output, name: str, held: HeldFile, yes: bool) -> None:
    """Bring a file to the disk that was held back."""
    vault, path = workspace.vault, held.path
    if not yes:
        if output.json or not is_terminal():
            hint = "vault-agent trust {name} --yes, when you have; it is shown by: git show HEAD:{name}"
            raise UserError("look at {path} first", hint=hint, path=path, name=shlex.quote(name))
        show_framed([patch_line(line) for line in diff_of(vault, [held]).splitlines()] or [listed(vault, [held])])
        confirm(tr("shall this version of {path} be on this disk?", path=path), abort=True)
    release(vault, [held])
    tend_arrivals(workspace)
    output.emit({"note": path, "accepted": True}, tr("{path} is on this disk now", path=path))


def _format(state: ArrivalState, keys: Sequence[KnownKey]) -> str:
    lines = [*(_remote(each) for each in state.remotes), *map(_key, keys)]
    lines += (
        [tr("elsewhere  {from_nowhere} came by no remote that git knows", from_nowhere=_notes(state.from_nowhere))]
        if state.from_nowhere
        else []
    )
    lines += [
        tr("waits      {path}: vault-agent trust {name}", path=path, name=shlex.quote(path)) for path in state.steering
    ]
    lines += [tr("held back  {line}", line=line) for line in format_held(state.held)]
    if any(each.writers is None and each.notes for each in state.remotes):
        lines += ["", tr("vault-agent trust REMOTE --only-me, or --others")]
    return as_lines(lines) or tr("there is no remote, and nothing has arrived from elsewhere")


def _key(each: KnownKey) -> str:
    names = ", ".join(each.machines) or "-"
    if each.is_approved:
        words = "key        {key}  {machines}; commits signed by it are yours"
        return tr(words, key=each.fingerprint, machines=names)
    asked = "key        {key}  {machines}; not approved. If that machine shows it, too: vault-agent trust --key {key}"
    return tr(asked, key=each.fingerprint, machines=names)


def _notes(number: int) -> str:
    return counted(number, "1 note", "{count} notes")


def _remote(each: RemoteState) -> str:
    writers = Writers(each.writers) if each.writers else None
    came = tr("{notes} came by it", notes=_notes(each.notes)) if each.notes else tr("nothing has come by it")
    return tr(
        "remote     {name}  {address}  {writers}; {came}",
        name=each.name or "-",
        address=each.address,
        writers=tr(_WRITERS[writers]),
        came=came,
    )
