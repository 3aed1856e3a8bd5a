"""Writes what becomes of a trial: kept, discarded, undecided, stopped or rolled back; one commit each, with its reason.

What is about to be written into the skill is in the trial's record first, so that a crash between the commit and the
record is seen for what it is.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from typing import Literal

from agent.errors import BadNote
from agent.growth.mutations.day_line import DayEvent, day_line
from agent.growth.mutations.mutation_log import ByWhom, append_log
from agent.growth.mutations.start import STAMP, log_row, skill_path
from agent.growth.mutations.verdict import TrialCount, success_rate
from agent.markdown.note import Note
from agent.markdown.title import clipped
from agent.markdown.yaml_write import Value, is_list
from agent.skills.history.usage import Use, history_rows
from agent.skills.loading.files import BadFolder
from agent.skills.loading.library import SkillLibrary
from agent.skills.variants.trial_shelf import TrialRecord, save_trial, with_end, with_status
from agent.skills.variants.variant import Variant, VariantStatus
from agent.texts import text
from agent.vault.change import Append, Edit, Request
from agent.workspace.workspace import Workspace

_VERSION = 200
"""The most characters of a variant's words in the history of versions."""


def keep(
    workspace: Workspace, library: SkillLibrary, record: TrialRecord, variant: Variant, count: TrialCount
) -> TrialRecord:
    """Make the variant the skill: its instructions, and one more version in its header."""
    path = skill_path(workspace, record.skill)
    before = workspace.vault.read(path) or b""
    numbers, change = _numbers(count), clipped(variant.change, _VERSION)
    why = _said(workspace, "kept_why", **numbers)
    made = _said(workspace, "version_kept", link=variant.path.removesuffix(".md"), change=change, **numbers)
    after = _next_version(before, variant.body, made, count.variant, workspace)
    return _replaced(workspace, library, record, variant, (path, before, after), "kept", why)


def roll_back(
    workspace: Workspace, library: SkillLibrary, record: TrialRecord, variant: Variant, count: TrialCount
) -> TrialRecord:
    """Give the skill the instructions that it had before the variant was kept, as one more version."""
    path = skill_path(workspace, record.skill)
    before = workspace.vault.read(path) or b""
    (base,) = workspace.vault.read_blobs([record.base_blob])
    if base is None:
        return stop(workspace, record, variant, "no_base")
    good, uses = sum(count.kept), len(count.kept)
    why = _said(workspace, "rolled_back_why", kept_good=good, kept_uses=uses, **_numbers(count))
    made = _said(workspace, "version_back", link=variant.path.removesuffix(".md"), good=good, uses=uses)
    after = _next_version(before, Note.parse(base).body, made, count.original, workspace)
    reset = Use(record.skill, workspace.clock.now(), "", activated="rolled_back")
    history = [
        Append(workspace.vault.home.at(name), rows, head)
        for name, head, rows in history_rows([reset], workspace.settings.vault.language)
    ]
    return _replaced(workspace, library, record, variant, (path, before, after), "rolled_back", why, history)


def drop(
    workspace: Workspace,
    record: TrialRecord,
    variant: Variant,
    count: TrialCount,
    verdict: Literal["discarded", "inconclusive"],
) -> TrialRecord:
    """End a trial after which the skill stays as it is; its reason is kept in the variant's note."""
    return _ended(workspace, record, variant, verdict, _said(workspace, f"{verdict}_why", **_numbers(count)))


def settle_kept(workspace: Workspace, record: TrialRecord, variant: Variant, uses: int) -> TrialRecord:
    """End the watch over a kept variant that has not become worse; nobody is told."""
    return _ended(workspace, record, variant, "settled", _said(workspace, "settled_why", uses=uses))


def stop(workspace: Workspace, record: TrialRecord, variant: Variant, reason: str, by: ByWhom = "agent") -> TrialRecord:
    """End a trial without a verdict; `reason` names the sentence that says why."""
    return _ended(workspace, record, variant, "stopped", _said(workspace, f"stopped_{reason}"), by=by)


def take_back(workspace: Workspace, library: SkillLibrary, record: TrialRecord, variant: Variant) -> TrialRecord:
    """Note that the person has taken a kept variant back: the skill is as it was, and as trusted as it was."""
    done = _ended(workspace, record, variant, "rolled_back", _said(workspace, "taken_back"), by="person")
    _trust(workspace, library, record.skill)
    return done


def finish_planned(workspace: Workspace, library: SkillLibrary, record: TrialRecord) -> TrialRecord:
    """Finish what a crash has left between the commit and the record."""
    if record.planned_status == "kept":
        record = replace(record, kept=record.planned)
    _trust(workspace, library, record.skill)
    return save_trial(workspace.vault, replace(record, status=record.planned_status, planned=""))


def _replaced(
    workspace: Workspace,
    library: SkillLibrary,
    record: TrialRecord,
    variant: Variant,
    change: tuple[str, bytes, bytes],
    status: VariantStatus,
    why: str,
    more: list[Append] | None = None,
) -> TrialRecord:
    """Write new bytes into the skill, with the end of its trial; then the record and the trust."""
    path, before, after = change
    planned = save_trial(workspace.vault, replace(record, planned=_sha(after), planned_status=status))
    requests: list[Request] = [Edit(path, before, after), *(more or [])]
    _write(workspace, planned, with_status(variant, status, workspace.clock.now(), why), requests)
    return finish_planned(workspace, library, planned)


def _ended(
    workspace: Workspace,
    record: TrialRecord,
    variant: Variant,
    status: VariantStatus,
    why: str,
    *,
    by: ByWhom = "agent",
) -> TrialRecord:
    _write(workspace, record, with_status(variant, status, workspace.clock.now(), why), [], by)
    return save_trial(workspace.vault, replace(record, status=status, planned=""))


def _write(
    workspace: Workspace, record: TrialRecord, variant: Variant, requests: list[Request], by: ByWhom = "agent"
) -> None:
    """Write the end of a trial in one commit: the skill, the variant's note, the log, and a line in the day's note."""
    vault, language = workspace.vault, workspace.settings.vault.language
    note = vault.read(record.path)
    if note is not None:
        with suppress(BadNote):  # its header was broken by hand: the log has the reason
            requests.append(Edit(record.path, note, with_end(note, variant, variant.why, language)))
    event = variant.status
    if event == "trial":
        raise ValueError("a trial that goes on has no end")
    path = record.path if note is not None else ""
    requests.append(append_log(vault.home, [log_row(workspace, variant, path, event, by, variant.why)], language))
    if event != "settled":
        day: DayEvent = event
        requests.append(day_line(workspace, day, variant, record.path))
    subject = f"skills({event.replace('_', '-')}): {record.skill}, variant {record.number}"
    with vault.transaction(subject, STAMP, body=variant.why) as change:
        change.requests += requests


def _next_version(before: bytes, body: str, made: str, outcomes: Sequence[bool], workspace: Workspace) -> bytes:
    """The skill's file with other instructions, its success rate, and one more version with what was made of it."""
    note = Note.parse(before)
    known = note.header.get("version_history")
    versions: list[Value] = list(known) if is_list(known) else []
    today = f"{workspace.clock.now():%Y-%m-%d}"
    versions.append({f"v{len(versions) + 1}": f"{today}: {made}"})
    changed = note.with_key("version_history", versions).with_key("success_rate", round(success_rate(outcomes), 2))
    return changed.with_body(f"{body.strip()}\n").data


def _trust(workspace: Workspace, library: SkillLibrary, skill: str) -> None:
    """Trust the skill as it is now: what this program has written, or what was trusted before."""
    library.changed([skill_path(workspace, skill)])
    found = library.snapshot().get(skill)
    try:
        if found is not None:
            library.review(found, workspace.clock.now(), "a variant of it was tried")
    except (BadFolder, OSError):
        return  # it is asked about in a note


def _numbers(count: TrialCount) -> dict[str, int]:
    """The counts of both sides of a trial, as the texts name them."""
    return {
        "good": sum(count.original),
        "uses": len(count.original),
        "better": sum(count.variant),
        "tried": len(count.variant),
    }


def _said(workspace: Workspace, key: str, **values: object) -> str:
    return text(f"variant.{key}", workspace.settings.vault.language, **values)


def _sha(data: bytes) -> str:
    return sha256(data).hexdigest()
