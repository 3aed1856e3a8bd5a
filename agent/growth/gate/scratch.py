"""A small vault with what steers the person's agent, in which past tasks are done again; it is deleted afterwards.

It has the notes of the folders that steer each run, the profile and the skills that were reviewed on this machine, and
the change. What arrived from elsewhere, and that the person has not looked at, is not in it, nor are the person's own
notes: the tools of a replay read none. It lies in the cache, in a folder that only this user may read.
"""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from agent.clock import SetClock, in_machine_seconds
from agent.config.directories import VAULT_FILE
from agent.config.private import make_folder
from agent.config.settings import Settings
from agent.growth.gate.change import ChangedNote
from agent.runs.skill_set import skill_library
from agent.skills.loading.files import LARGEST, BadFolder, read_file
from agent.skills.loading.pins import pins_of
from agent.skills.reading.skill import FILE, SkillSource
from agent.vault.folders import AGENT_NOTE, MEMORY_NOTE, PROFILE, PROMPTS, RULES
from agent.vault.initialise import initialise
from agent.vault.store import Vault
from agent.workspace.workspace import Workspace

_STEERING = (PROMPTS, RULES, PROFILE)
_NOTES = (AGENT_NOTE, MEMORY_NOTE)
_FOLDER = "replays"


@contextmanager
def scratch_workspace(workspace: Workspace, notes: Sequence[ChangedNote], at: datetime) -> Iterator[Workspace]:
    """A workspace over a scratch vault with these notes laid over the person's, whose clock begins `at`.

    Its private files, caches and commits are its own; skills in `notes` count as reviewed there. Raises what making a
    vault raises.
    """
    above = workspace.cache / _FOLDER
    make_folder(above)
    with TemporaryDirectory(dir=above, ignore_cleanup_errors=True) as name:
        folder = Path(name)
        clock = SetClock.from_now(at, 1.0)
        files = {VAULT_FILE: b"", **_steering(workspace.vault), **_skills(workspace)}
        files |= {note.path: note.text.encode() for note in notes}
        options = replace(workspace.vault.options, durable=False)
        made = initialise(folder / "vault", files, folder / "state", in_machine_seconds(clock), options)
        directories = replace(workspace.directories, cache=folder / "cache")
        quiet = _without_side_effects(workspace.settings)
        scratch = replace(workspace, vault=made.vault, settings=quiet, clock=clock, directories=directories)
        _review(workspace, scratch, [note.path for note in notes])
        yield scratch


def drop_left_over(workspace: Workspace) -> None:
    """Delete the scratch vaults of processes that were killed; call it while no replay goes on."""
    shutil.rmtree(workspace.cache / _FOLDER, ignore_errors=True)


def _steering(vault: Vault) -> dict[str, bytes]:
    """The notes that steer each run, as far as they count as the person's."""
    home = vault.home
    paths = [home.at(name) for name in _NOTES]
    paths += [path for folder in _STEERING for path in vault.note_paths(home.at(folder))]
    return {path: data for path in paths if (data := vault.own_version(path)) is not None}


def _skills(workspace: Workspace) -> dict[str, bytes]:
    """All files of the vault's skills that were reviewed on this machine, by their paths in it."""
    library = skill_library(workspace)
    found: dict[str, bytes] = {}
    for skill in library.snapshot().skills:
        if not skill.reviewed or skill.source is SkillSource.PACKAGE:
            continue
        place = next(each for each in library.locations if each.source is skill.source)
        folder = place.folder_of(skill.name)
        try:
            found |= {f"{folder}/{path}": read_file(place.root, folder, path, LARGEST) for path in (FILE, *skill.files)}
        except (BadFolder, OSError):
            continue  # it changes at this moment: a run would not have it either
    return found


def _review(workspace: Workspace, scratch: Workspace, changed: Sequence[str]) -> None:
    """Trust in the scratch vault the skills that are trusted in the person's, and those that are to be measured."""
    known, pins = skill_library(workspace).pins, pins_of(scratch.vault)
    library = skill_library(scratch)
    for skill in library.snapshot().skills:
        pin = known.get(skill.key)
        if skill.path in changed:
            library.review(skill, scratch.clock.now(), "to be measured")
        elif pin is not None:
            pins.put(pin)


def _without_side_effects(settings: Settings) -> Settings:
    """The settings without what looks for memories, learns, or asks another program; the model and limits stay."""
    memory = replace(
        settings.memory, auto_recall=False, auto_capture=False, capture="off", refresh=False, ask_for_words=False
    )
    return settings.with_sections(
        memory=memory,
        context=replace(settings.context, memories=0),
        skills=replace(settings.skills, learn=False, corrections=False),
        growth=replace(settings.growth, enabled=False),
        node=replace(settings.node, enabled=False),
    )
