"""Answers that an editor took out of a note, without knowing it, by saving the text that it had loaded before.

They are put back where they stood, with all that the person has written since kept: below them or elsewhere. What was
undone stays away, and so does an answer whose question has changed.
"""

from dataclasses import replace

from agent.app.answers import DAY, RESTORES, Answers, Given
from agent.app.build import App
from agent.app.requests import put
from agent.errors import AgentError
from agent.markdown import requests
from agent.vault.write.change import Stamp


def restore(app: App, path: str, answers: Answers) -> tuple[Given, ...] | None:
    """Put back, in one commit, the answers that the note has lost; None when it has lost none.

    Those that were taken out more than `RESTORES` times are let go, and an empty tuple says so. Raises what a
    transaction does.
    """
    data = app.vault.read(path)
    now = app.clock.now().timestamp()
    recent = tuple(each for each in answers.of(path) if abs(now - each.at) < DAY)
    lost = _lost(app, data, recent) if data is not None else []
    if not lost:
        return None
    tired = [each for each in lost if len(each.commits) > RESTORES]
    for each in tired:
        answers.swap(each, replace(each, commits=()))
    if tired:
        return ()

    def healed(data: bytes) -> bytes:
        for each in lost:
            data = _with(app, data, each) or data
        return data

    stamp = Stamp("agent", run=lost[-1].run, tool="inbox")
    outcome = put(app, path, healed, "inbox(restore): an answer that an older version had replaced", stamp)
    for each in lost:
        brought = (*each.commits, outcome.commit or each.commits[-1])
        answers.swap(each, replace(each, commits=brought, name=path if outcome.commit else each.name))
    return tuple(lost)


def _lost(app: App, data: bytes, given: tuple[Given, ...]) -> list[Given]:
    """Those of the answers that can be put back, in this order."""
    found = []
    for each in given:
        after = _with(app, data, each)
        if after is not None and not _is_undone(app, each.commits):
            data = after
            found.append(each)
    return found


def _with(app: App, data: bytes, given: Given) -> bytes | None:
    """The note with this answer put back; None when there is no place for it, or it is there."""
    if not given.commits or requests.is_answered(data, given.run):
        return None
    try:
        held = app.vault.read_at(given.commits[-1], given.name)
    except AgentError:
        return None
    return (
        requests.restore_answer(data, held, given.run, given.status, given.key if given.task else "") if held else None
    )


def _is_undone(app: App, commits: tuple[str, ...]) -> bool:
    """Whether a later commit has taken one of these back."""
    command = ["log", "--format=%(trailers:key=Vault-Undoes,valueonly)", f"{commits[0]}..HEAD", "--"]
    undone = app.vault.git.run(*command, ok=(0, 128)).decode("ascii", "replace").split()
    return not set(commits).isdisjoint(undone)
