"""`vault-agent sync sign`: signs what is committed on this machine, so that the person's other machines know it."""

import click

from agent.app.open import open_workspace
from agent.interfaces.cli.language import said
from agent.interfaces.cli.output import Output
from agent.interfaces.cli.printing import as_lines
from agent.runs.machines import note_machine
from agent.workspace.daemon_lock import is_watched
from agent.workspace.machine import this_machine


@click.command("sign", short_help="Sign what is committed on this machine.")
@click.option("--off", is_flag=True, help="Sign no more; the key is kept.")
@click.pass_obj
def sign(output: Output, off: bool) -> None:
    """Sign the commits that this program makes on this machine, so that your other machines know them for yours.

    For a remote to which others write as well. The key is made here and stays here. Its public half is shown, and
    stands in this machine's note; it counts on another machine when you have approved it there.
    """
    workspace = open_workspace(output.vault())
    key, name = workspace.vault.signing_key, this_machine(workspace).name
    if off:
        key.turn_off()
        note_machine(workspace, has_daemon=is_watched(workspace))
        output.emit({"machine": name, "signs": False}, said("commits made here are not signed from now on"))
        return
    public = key.turn_on()
    note_machine(workspace, has_daemon=is_watched(workspace))
    document = {"machine": name, "signs": True, "public_key": public.line, "fingerprint": public.fingerprint}
    lines = [
        said("commits made here are signed from now on, with the key of this machine, {name}:", name=name),
        f"  {public.line}",
        said("on each of your other machines: vault-agent trust --key {key}", key=public.fingerprint),
    ]
    output.emit(document, as_lines(lines))
