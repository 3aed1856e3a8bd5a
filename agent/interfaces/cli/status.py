"""`vault-agent status`: the state of commits, waiting changes, index, daemon and agent; changes nothing."""

from importlib import import_module

import click

from agent.index.fingerprint import fingerprint
from agent.interfaces.cli.host import workspace_for
from agent.interfaces.cli.language import tr
from agent.interfaces.cli.output import Output
from agent.prefetch import Prefetch
from agent.vault.health.status import status


@click.command()
@click.option("--notes", is_flag=True, help="Name every note that search does not find in full, and why.")
@click.option("--metrics", is_flag=True, help="Show how well memory works, and what happened.")
@click.option("--since", metavar="TIME", help="With --metrics: only since then: 7d, today, 2026-11-21.")
@click.option("--prometheus", is_flag=True, help="With --metrics: all counters in Prometheus' text format.")
@click.pass_obj
def command(output: Output, notes: bool, metrics: bool, since: str | None, prometheus: bool) -> None:
    """Show the last commit, uncommitted and waiting changes with reasons, conflicts, the daemon, index, agent and
    day."""
    if metrics:
        import_module("agent.interfaces.cli.metrics").show_metrics(output, since, prometheus)
        return
    if since or prometheus:
        option = "--since" if since else "--prometheus"
        raise click.UsageError(tr("{option} goes with --metrics", option=option))
    workspace = workspace_for(output)
    looked = Prefetch(lambda: status(workspace.vault, fingerprint))
    page = import_module("agent.interfaces.cli.status_page")  # takes as long to load as git to look at all files
    page.show(output, workspace, looked, notes)
