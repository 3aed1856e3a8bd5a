"""Writes what becomes of a trial: kept, discarded, undecided, stopped or rolled back; one commit each, with its reason.

What is about to be written into the skill is in the trial's record first, so that a crash between the commit and the
record is seen for what it is.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from agent.dataclass import dataclass
from agent.errors import BadNote
from agent.growth.lessons.lesson_log import By
from agent.growth.lessons.trial_begin import STAMP, day_line, logged, sha, skill_path
from agent.growth.lessons.verdict import TrialCount, success_rate
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


@dataclass(frozen=True, slots=True)
class Trial:
    """A trial that may end: its record, and the variant in its note."""

    workspace: Workspace
    library: SkillLibrary
    record: TrialRecord
    variant: Variant

    def keep(self, count: TrialCount) -> TrialRecord:
        """Make the variant the skill: its instructions, and one more version in its header."""
        change, link = clipped(self.variant.change, _VERSION), self.variant.path.removesuffix(".md")
        made = self._said("version_kept", link=link, change=change, **_numbers(count))
        return self._replaced(self.variant.body, made, count.variant, "kept", self._said("kept_why", **_numbers(count)))

    def roll_back(self, count: TrialCount) -> TrialRecord:
        """Give the skill the instructions that it had before the variant was kept, as one more version."""
        vault, good, uses = self.workspace.vault, sum(count.kept), len(count.kept)
        (base,) = vault.read_blobs([self.record.base_blob])
        if base is None:
            return self.stop("no_base")
        why = self._said("rolled_back_why", kept_good=good, kept_uses=uses, **_numbers(count))
        made = self._said("version_back", link=self.variant.path.removesuffix(".md"), good=good, uses=uses)
        reset = Use(self.record.skill, self.workspace.clock.now(), "", activated="rolled_back")
        history = [
            Append(vault.home.at(name), rows, head)
            for name, head, rows in history_rows([reset], self.workspace.settings.vault.language)
        ]
        return self._replaced(Note.parse(base).body, made, count.original, "rolled_back", why, history)

    def drop(self, status: VariantStatus, count: TrialCount) -> TrialRecord:
        """End a trial after which the skill stays as it is; its reason is kept in the variant's note."""
        return self.end(status, self._said(f"{status}_why", **_numbers(count)))

    def settle(self, uses: int) -> TrialRecord:
        """End the watch over a kept variant that has not become worse; nobody is told."""
        return self.end("settled", self._said("settled_why", uses=uses))

    def stop(self, reason: str, by: By = "agent") -> TrialRecord:
        """End a trial without a verdict; `reason` names the sentence that says why."""
        return self.end("stopped", self._said(f"stopped_{reason}"), by)

    def take_back(self) -> TrialRecord:
        """Note that the person has taken a kept variant back: the skill is as it was, and as trusted as it was."""
        done = self.end("rolled_back", self._said("taken_back"), "person")
        self._trust()
        return done

    def end(self, status: VariantStatus, why: str, by: By = "agent") -> TrialRecord:
        """End it with this status, for this reason."""
        self._write(self._with(status, why), [], by)
        return save_trial(self.workspace.vault, replace(self.record, status=status, planned=""))

    def finish_planned(self) -> TrialRecord:
        """Finish what a crash has left between the commit and the record."""
        record = self.record
        if record.planned_status == "kept":
            record = replace(record, kept=record.planned)
        self._trust()
        return save_trial(self.workspace.vault, replace(record, status=record.planned_status, planned=""))

    def _replaced(
        self,
        body: str,
        made: str,
        outcomes: Sequence[bool],
        status: VariantStatus,
        why: str,
        more: Sequence[Append] = (),
    ) -> TrialRecord:
        """Write other instructions into the skill, with the end of its trial; then the record and the trust."""
        path = skill_path(self.workspace, self.record.skill)
        before = self.workspace.vault.read(path) or b""
        after = self._next_version(before, body, made, outcomes)
        planned = replace(self.record, planned=sha(after), planned_status=status)
        trial = replace(self, record=save_trial(self.workspace.vault, planned))
        trial._write(self._with(status, why), [Edit(path, before, after), *more])
        return trial.finish_planned()

    def _with(self, status: VariantStatus, why: str) -> Variant:
        return with_status(self.variant, status, self.workspace.clock.now(), why)

    def _write(self, variant: Variant, requests: list[Request], by: By = "agent") -> None:
        """Write the end of a trial in one commit: the skill, the variant's note, the log, and a line in the day's
        note."""
        vault, record, event = self.workspace.vault, self.record, variant.status
        note = vault.read(record.path)
        if note is not None:
            with suppress(BadNote):  # its header was broken by hand: the log has the reason
                after = with_end(note, variant, variant.why, self.workspace.settings.vault.language)
                requests.append(Edit(record.path, note, after))
        there = replace(variant, path=record.path)
        requests.append(logged(self.workspace, there, event, by, variant.why))
        if event != "settled":
            requests.append(day_line(self.workspace, event, there))
        subject = f"skills({event.replace('_', '-')}): {record.skill}, variant {record.number}"
        with vault.transaction(subject, STAMP, body=variant.why) as change:
            change.requests += requests

    def _next_version(self, before: bytes, body: str, made: str, outcomes: Sequence[bool]) -> bytes:
        """The skill's file with other instructions, its success rate, and one more version with what was made of it."""
        note = Note.parse(before)
        known = note.header.get("version_history")
        versions: list[Value] = list(known) if is_list(known) else []
        versions.append({f"v{len(versions) + 1}": f"{self.workspace.clock.now():%Y-%m-%d}: {made}"})
        changed = note.with_key("version_history", versions).with_key("success_rate", round(success_rate(outcomes), 2))
        return changed.with_body(f"{body.strip()}\n").data

    def _trust(self) -> None:
        """Trust the skill as it is now: what this program has written, or what was trusted before."""
        self.library.changed([skill_path(self.workspace, self.record.skill)])
        found = self.library.snapshot().get(self.record.skill)
        with suppress(BadFolder, OSError):  # else it is asked about in a note
            if found is not None:
                self.library.review(found, self.workspace.clock.now(), "a variant of it was tried")

    def _said(self, key: str, **values: object) -> str:
        return text(f"variant.{key}", self.workspace.settings.vault.language, **values)


def _numbers(count: TrialCount) -> dict[str, int]:
    """The counts of both sides of a trial, as the texts name them."""
    return {
        "good": sum(count.original),
        "uses": len(count.original),
        "better": sum(count.variant),
        "tried": len(count.variant),
    }
