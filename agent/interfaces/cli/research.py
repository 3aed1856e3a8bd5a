"""`vault-agent research`: looks something up and writes a note with numbered sources.

A research that is whole exits with 0. One that was stopped, or that a limit cut, exits with 1: its note says so, and
the same command goes on with it.
"""

import sys
from contextlib import closing

import click

from agent.app.agent import build_runs
from agent.app.open import open_workspace
from agent.errors import UserError
from agent.events.growth import ResearchStep
from agent.growth.research.findings import KINDS, Research, ResearchCall, ResearchKind
from agent.growth.research.own_sources import FolderSource, named_folder
from agent.growth.research.reading import Reading
from agent.growth.research.research import commit_research, research
from agent.interfaces.cli.declare import words_argument
from agent.interfaces.cli.foreground import foreground, stopped_by_ctrl_c, update_index
from agent.interfaces.cli.language import tr
from agent.interfaces.cli.output import CheckFailed, Output, exit_codes, fields
from agent.interfaces.cli.screen import Screen
from agent.llm.messages import Cancelled
from agent.runs.arrivals import arrivals_before_a_run
from agent.runs.crash_recovery import close_cut_off
from agent.runs.service import RunService
from agent.texts import text
from agent.workspace.search_index import open_index

_SHOWN = 100
"""Characters of a step's subject."""


@click.command(epilog=exit_codes("it was stopped, or a limit cut it: the note has what was found"))
@words_argument("topic")
@click.option(
    "--kind", type=click.Choice(KINDS), default="topic", show_default=True, help="What kind of research it is."
)
@click.option("--deep", is_flag=True, help="The same as --kind deep.")
@click.option("--folder", "folders", metavar="PATH", multiple=True, help="Read this folder, too; may be repeated.")
@click.pass_obj
def command(output: Output, topic: str, kind: ResearchKind, deep: bool, folders: tuple[str, ...]) -> None:
    """Look TOPIC up, and write what is found to a note in research/: each sentence with the number of its source.

    A fact is judged by two or three sources, in at most 5 searches and readings. A topic gets an outline and at most
    20; of a repository, TOPIC is the folder, and at most 15; a deep research has several researchers at once, a critic,
    and at most 50.

    The vault is searched, folders that you name, addresses that stand in TOPIC, and the web if a search engine is set
    (research.searxng.base_url, research.brave.api_key or research.tavily.api_key). Nothing but the note is written.
    Ctrl-C keeps what was found.
    """
    if deep and kind not in {"deep", "topic"}:
        raise click.UsageError(tr("either --deep or --kind"))
    workspace, topic, kind = open_workspace(output.vault()), topic.strip(), "deep" if deep else kind
    named = _folders(topic, kind, folders)
    if not topic:
        raise UserError("say what is to be looked up", hint='vault-agent research "green tea"')
    topic = named[0].name if kind == "repository" and not folders else topic
    with closing(open_index(workspace)) as index:
        close_cut_off(workspace)
        update_index(workspace, index, output)
        if arrived := arrivals_before_a_run(workspace):
            output.note(arrived)
        agent = build_runs(workspace, index)
        here = foreground(agent, output)
        with here.closing(), stopped_by_ctrl_c() as cancelled:
            call = ResearchCall(topic, kind, named, cancelled=cancelled)
            found = _do(agent, here.screen, call, cancelled)
            commits = commit_research(agent, found, call)
    output.emit(_document(found, call, commits), lambda: _format(found))
    output.note(_remark(found))
    if found.end in ("stopped", "limit", "no_model"):
        raise CheckFailed


def _folders(topic: str, kind: ResearchKind, folders: tuple[str, ...]) -> tuple[FolderSource, ...]:
    """The folders that are named; of a repository, TOPIC itself if there is no other."""
    if kind == "repository" and not folders:
        if "://" in topic:
            raise UserError(
                "a repository is read from a folder on this machine",
                hint="git clone {address}, then: vault-agent research FOLDER --kind repository",
                address=topic,
            )
        return (named_folder(topic),)
    return tuple(map(named_folder, folders))


def _do(agent: RunService, screen: Screen, call: ResearchCall, cancelled: Cancelled) -> Research:
    """Do the research, with its steps on the terminal."""
    language = screen.language

    def show(step: ResearchStep) -> None:
        subject = " ".join(step.subject.split())[:_SHOWN]
        money = f"{agent.account.spent(step.run).money:.4f}"
        screen.line(f"· {text(f'research.step_{step.what}', language, subject=subject)}")
        progress = text(
            "research.progress", language, calls=step.calls, most=step.most, sources=step.sources, money=money
        )
        screen.activity.wait_for(progress)

    if screen.live:
        agent.bus.subscribe(show, ResearchStep, name="research screen", priority=-50)
    with screen.running(cancelled):
        return research(agent, call)


def _document(found: Research, call: ResearchCall, commits: tuple[str, ...]) -> dict[str, object]:
    findings, report = found.findings, found.findings.report
    return fields(
        found, "path end calls confidence run", kind=call.kind, sources=[*map(_source, found.sources)],
        calls_at_most=found.most, answers=found.asked, money=round(found.money, 6), verdict=findings.verdict,
        summary=found.short, disputed=len(findings.disputes), open=[each.words for each in findings.gaps],
        sentences=len(report.sentences) if report is not None else 0,
        unsourced=report.flawed if report is not None else 0, plain=found.is_plain,
        commits=commits, why=found.why or None,
    )  # fmt: skip


def _source(found: Reading) -> dict[str, object]:
    about = {"kind": found.authority, "date": found.date or None, "excerpt": found.is_excerpt}
    return fields(found, "number title address", **about, untrusted=bool(found.origin))


def _format(found: Research) -> str:
    """What is printed: the report in a few sentences on a terminal, all of it in a pipe."""
    return (found.short or found.text) if sys.stdout.isatty() else found.text


def _remark(found: Research) -> str:
    remark = tr(
        "{path} · sources: {count} · {calls} of {most} calls · ${money:.4f}",
        path=found.path,
        count=len(found.sources),
        calls=found.calls,
        most=found.most,
        money=found.money,
    )
    missing = "" if found.sources else tr("nothing was found; the note says where it was looked for")
    return "\n".join(filter(None, (found.why, missing, remark)))
