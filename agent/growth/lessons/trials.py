"""The trial of a variant: begins it or asks for the yes of the person, and writes what becomes of it: kept, discarded,
undecided, stopped or rolled back; one commit each, with its reason.

The record that makes a trial valid on this machine is written before its note, and what is about to be written into the
skill before it is: so a crash between the commit and the record is seen for what it is.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256

from agent.asking.answers import propose
from agent.asking.proposal import Proposal, ProposalDraft, ProposedNote
from agent.dataclass import dataclass
from agent.errors import AgentError, BadNote
from agent.growth.lessons.lesson_log import By, LessonEvent, LogRow, append_rows
from agent.growth.lessons.variant_candidates import SkillCandidate
from agent.growth.lessons.verdict import TrialCount, success_rate
from agent.markdown.links import note_link
from agent.markdown.note import Note
from agent.markdown.title import clipped
from agent.memory import daily
from agent.runs.status import growth_account
from agent.skills.history.usage import Use, history_path, history_rows, history_with_trials
from agent.skills.learning.suggestion import with_version
from agent.skills.loading.files import BadFolder
from agent.skills.loading.library import SkillLibrary
from agent.skills.reading.skill import FILE
from agent.skills.variants.trial_shelf import (
    TrialRecord,
    compose_variant,
    parse_variant,
    save_trial,
    trial_records,
    variant_path,
    with_end,
)
from agent.skills.variants.variant import TRIAL_USES, Variant, VariantStatus
from agent.texts import text
from agent.vault.change import Append, Edit, Request, Stamp, actor_of
from agent.vault.folders import LEARNED
from agent.workspace.workspace import Workspace

STAMP = Stamp(actor_of(growth_account("mutations")), tool="mutations")
DIGEST = "digest"
"""The fact of a proposal by which its instructions are known again."""
_VERSION = 200
"""The most characters of a variant's words in the history of versions."""


def begin_trial(workspace: Workspace, candidate: SkillCandidate, proposed: Variant) -> str:
    """Put a variant that was proposed on trial; returns the path of its note. Raises what a transaction raises, and
    then changes nothing."""
    vault = workspace.vault
    variant, note = _composed(workspace, candidate, proposed)
    record = save_trial(vault, _record(workspace, variant, candidate.data))
    try:
        with vault.transaction(f"skills(trial): {variant.skill}, variant {variant.number}", STAMP) as change:
            change.create(variant.path, note)
            history = vault.home.at(history_path(variant.skill))
            before = vault.read(history)
            if before is not None and (after := history_with_trials(before)) != before:
                change.edit(history, before, after)
            change.requests.append(logged(workspace, variant.skill, "trial", variant.change, path=variant.path))
            change.requests.append(_day_line(workspace, "begun", record, variant.change))
    except AgentError:
        trial_records(vault).drop(record.key)
        raise
    return variant.path


def ask_about(workspace: Workspace, candidate: SkillCandidate, proposed: Variant) -> str:
    """Ask for the person's yes to the trial of a variant; returns the path of the note that asks. Raises what a
    transaction raises."""
    language, skill = workspace.settings.vault.language, candidate.skill
    variant, note = _composed(workspace, candidate, proposed)
    why = text(
        "variant.ask_why", language, skill=f"[[{skill.path.removesuffix('.md')}|{skill.name}]]", change=variant.change,
        reason=variant.reason, risk=variant.risk, uses=TRIAL_USES, gain=variant.plan.gain,
    )  # fmt: skip
    facts = {"skill": skill.name, DIGEST: variant.digest, "base": sha(candidate.data)}
    draft = ProposalDraft(
        "mutation",
        f"{skill.name} {variant.number}",
        text("variant.ask", language, skill=skill.name),
        why,
        (ProposedNote(variant.path, note.decode()),),
        (),
        tuple(note_link(use.session) for use in candidate.uses[-5:]),
        facts,
        STAMP.actor,
    )
    row = logged(workspace, skill.name, "proposed", variant.change)
    return propose(workspace.vault, draft, language, also=(row,)).path


def begin_approved(workspace: Workspace, proposal: Proposal) -> None:
    """Make the trial valid whose note the person's yes has written."""
    vault = workspace.vault
    path = next((note.path for note in proposal.notes), "")
    variant = parse_variant(path, vault.read(path) or b"") if path else None
    if variant is None or variant.digest != proposal.facts.get(DIGEST):
        return
    record = _record(workspace, variant, vault.read(skill_path(workspace, variant.skill)) or b"")
    if trial_records(vault).get(record.key):
        return
    # with another base than the skill has, the next look stops the trial and says why
    save_trial(vault, replace(record, base=proposal.facts.get("base", "")))
    row = logged(workspace, variant.skill, "trial", variant.change, "person", path)
    write_log(workspace, row, f"trial, {variant.skill}")


def logged(workspace: Workspace, skill: str, event: LessonEvent, why: str, by: By = "agent", path: str = "") -> Append:
    """The request that adds a row about the variant of a skill in the note at `path` to the log; without a note of its
    own it is about the skill."""
    target = (path or skill_path(workspace, skill)).removesuffix(".md")
    row = LogRow(workspace.clock.now(), target, skill, event, by, why)
    return append_rows(workspace.vault.home, [row], workspace.settings.vault.language)


def write_log(workspace: Workspace, row: Append, subject: str) -> None:
    """Write a row into the log, in a commit of its own."""
    with workspace.vault.transaction(f"skills(mutations): {subject}", STAMP, masked=True) as change:
        change.requests.append(row)


def _day_line(workspace: Workspace, event: str, record: TrialRecord, words: str) -> Append:
    """The request that adds a line about a variant to the note of the day: more notice than that is not given."""
    language, now, home = workspace.settings.vault.language, workspace.clock.now(), workspace.vault.home
    where = text("variant.day_where", language, link=record.path.removesuffix(".md"))
    title = text(f"variant.day_{event}", language, skill=record.skill, number=record.number)
    line = daily.block(now, title, [where, daily.inert(words)]).encode()
    beginning, section = daily.beginning(workspace.vault, now.date()), daily.section("upkeep", language).encode()
    return Append(home.day_note(now.date()), line, beginning, section)


def skill_path(workspace: Workspace, skill: str) -> str:
    """The path of a learned skill's note."""
    return workspace.vault.home.at(f"{LEARNED}{skill}/{FILE}")


def sha(data: bytes) -> str:
    """The SHA-256 by which a record knows the bytes of a skill."""
    return sha256(data).hexdigest()


def _composed(workspace: Workspace, candidate: SkillCandidate, proposed: Variant) -> tuple[Variant, bytes]:
    """The variant with its number (none that a note or a record has) and its path, and its note."""
    vault, skill, number = workspace.vault, candidate.skill, 1
    taken = {record.number for record in trial_records(vault).all() if record.skill == skill.name}
    while number in taken or vault.read(vault.home.at(variant_path(skill.name, number))) is not None:
        number += 1
    path, history = (vault.home.at(each) for each in (variant_path(skill.name, number), history_path(skill.name)))
    variant = replace(proposed, number=number, path=path, started=workspace.clock.now())
    return variant, compose_variant(variant, skill.body, skill.path, history, workspace.settings.vault.language)


def _record(workspace: Workspace, variant: Variant, data: bytes) -> TrialRecord:
    blob = workspace.vault.content_id(data)
    return TrialRecord(variant.skill, variant.number, variant.path, variant.digest, sha(data), blob)


@dataclass(frozen=True, slots=True)
class Trial:
    """A trial that may end, by its record; its note may be gone, or broken by hand."""

    workspace: Workspace
    library: SkillLibrary
    record: TrialRecord

    def keep(self, variant: Variant, count: TrialCount) -> TrialRecord:
        """Make the variant the skill: its instructions, and one more version in its header."""
        change, link = clipped(variant.change, _VERSION), self.record.path.removesuffix(".md")
        made = self._text("version_kept", link=link, change=change, **_numbers(count))
        return self._replaced(variant.body, made, count.variant, "kept", self._text("kept_why", **_numbers(count)))

    def roll_back(self, count: TrialCount) -> TrialRecord:
        """Give the skill the instructions that it had before the variant was kept, as one more version."""
        vault, good, uses = self.workspace.vault, sum(count.adopted), len(count.adopted)
        (base,) = vault.read_blobs([self.record.base_blob])
        if base is None:
            return self.stop("no_base")
        why = self._text("rolled_back_why", kept_good=good, kept_uses=uses, **_numbers(count))
        made = self._text("version_back", link=self.record.path.removesuffix(".md"), good=good, uses=uses)
        reset = Use(self.record.skill, self.workspace.clock.now(), "", activated="rolled_back")
        rows = history_rows([reset], self.workspace.settings.vault.language)
        history = [Append(vault.home.at(name), row, head) for name, head, row in rows]
        return self._replaced(Note.parse(base).body, made, count.original, "rolled_back", why, history)

    def drop(self, status: VariantStatus, count: TrialCount) -> TrialRecord:
        """End a trial after which the skill stays as it is; its reason is kept in the variant's note."""
        return self.end(status, self._text(f"{status}_why", **_numbers(count)))

    def settle(self, uses: int) -> TrialRecord:
        """End the watch over a kept variant that has not become worse; nobody is told."""
        return self.end("settled", self._text("settled_why", uses=uses))

    def stop(self, reason: str, by: By = "agent") -> TrialRecord:
        """End a trial without a verdict; `reason` names the sentence that says why."""
        return self.end("stopped", self._text(f"stopped_{reason}"), by)

    def take_back(self) -> TrialRecord:
        """Note that the person has taken a kept variant back: the skill is as it was, and as trusted as it was."""
        done = self.end("rolled_back", self._text("taken_back"), "person")
        self._trust()
        return done

    def end(self, status: VariantStatus, why: str, by: By = "agent") -> TrialRecord:
        """End it with this status, for this reason."""
        self._write(status, why, [], by)
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
        trial._write(status, why, [Edit(path, before, after), *more])
        return trial.finish_planned()

    def _write(self, status: VariantStatus, why: str, requests: list[Request], by: By = "agent") -> None:
        """Write the end of a trial in one commit: the skill, the variant's note, the log, and a line in the day's
        note."""
        workspace, record = self.workspace, self.record
        note = workspace.vault.read(record.path)
        if note is not None:
            with suppress(BadNote):  # its header was broken by hand: the log has the reason
                after = with_end(note, status, workspace.clock.now(), why, workspace.settings.vault.language)
                requests.append(Edit(record.path, note, after))
        requests.append(logged(workspace, record.skill, status, why, by, record.path))
        if status != "settled":
            requests.append(_day_line(workspace, status, record, why))
        subject = f"skills({status.replace('_', '-')}): {record.skill}, variant {record.number}"
        with workspace.vault.transaction(subject, STAMP, body=why) as change:
            change.requests += requests

    def _next_version(self, before: bytes, body: str, made: str, outcomes: Sequence[bool]) -> bytes:
        """The skill's file with other instructions, its success rate, and one more version with what was made of it."""
        note = with_version(Note.parse(before), made, self.workspace.clock.now())
        return note.with_key("success_rate", round(success_rate(outcomes), 2)).with_body(f"{body.strip()}\n").data

    def _trust(self) -> None:
        """Trust the skill as it is now: what this program has written, or what was trusted before."""
        self.library.changed([skill_path(self.workspace, self.record.skill)])
        found = self.library.snapshot().get(self.record.skill)
        with suppress(BadFolder, OSError):  # else it is asked about in a note
            if found is not None:
                self.library.review(found, self.workspace.clock.now(), "a variant of it was tried")

    def _text(self, key: str, **values: object) -> str:
        return text(f"variant.{key}", self.workspace.settings.vault.language, **values)


def _numbers(count: TrialCount) -> dict[str, int]:
    """The counts of both sides of a trial, as the texts name them."""
    return {
        "good": sum(count.original),
        "uses": len(count.original),
        "better": sum(count.variant),
        "tried": len(count.variant),
    }
