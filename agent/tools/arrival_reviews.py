"""Reviews of what arrived: the person is asked once about each steering note, each remote, and the files of an arrival
that are held back.

A steering note is shown with its diff, and so is what is held back (`receiving.held_now`). The form of the question
and answer is left to `asking.answers`, arrivals and their authors to `vault.provenance`.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from hashlib import sha256
from typing import Literal, TypeAlias

from agent.asking.answers import post, settle, unanswered, undecided
from agent.asking.note import compose_question
from agent.asking.proposal import Proposal, ProposalStatus
from agent.asking.records import records_of, save
from agent.config.resources import resource
from agent.dataclass import dataclass
from agent.markdown.blocks import format_fenced
from agent.markdown.yaml_write import Value
from agent.texts import LANGUAGES, Language, text
from agent.vault.change import Request, Stamp
from agent.vault.folders import APPROVALS
from agent.vault.history.line_diff import line_diff
from agent.vault.provenance.database import ArrivedBlob
from agent.vault.provenance.remotes import Writers
from agent.vault.receiving.held_now import HeldGroup, diff_of, held_groups, listed, source_of
from agent.vault.receiving.release import refuse, release, release_own, settle_held
from agent.vault.store import Vault
from agent.vault.template import read_template

TYPE = "arrival-review"
MOST_AT_ONCE = 5
"""The most notes without an answer: more would be noise."""
ArrivalKind: TypeAlias = Literal["arrived_note", "arrived_files", "remote"]
"""May this steering note take effect (`Proposal.subject` is its blob, empty for a deleted one), may these files come to
the disk (the hash of their group), is this remote written only by the person?"""
ARRIVALS: tuple[ArrivalKind, ...] = ("arrived_note", "arrived_files", "remote")
_TEXTS: dict[ArrivalKind, str] = {"arrived_note": "note", "arrived_files": "files", "remote": "remote"}
_LONGEST_DIFF = 20_000
_STAMP = Stamp("agent", tool="arrivals")


@dataclass(frozen=True, slots=True)
class ArrivalConsequence:
    """A yes lets a note steer, files come to the disk, or a remote count as the person's."""

    vault: Vault

    def judge(self, asked: Proposal, answer: bool | None) -> ProposalStatus | None:
        """The new status of a question: a command may have answered it."""
        vault = self.vault
        if asked.kind == "arrived_files" and _group(vault, asked) is None:
            return "outdated"
        if asked.kind == "remote" and (known := vault.provenance.answers.load().writers.get(asked.name)) is not None:
            return "approved" if known is Writers.ME else "rejected"
        if asked.kind == "arrived_note" and vault.own_version(asked.name) == vault.read(asked.name):
            return "approved"
        if answer is None or (
            answer and asked.kind == "arrived_note" and vault.current_id(asked.name) != asked.subject
        ):
            return None  # what has changed since is asked about anew
        return "approved" if answer else "rejected"

    def carry_out(self, decided: Proposal) -> Sequence[Request]:
        """Record what the person has said about what arrived."""
        is_yes, vault = decided.status == "approved", self.vault
        if decided.kind == "remote":
            vault.provenance.answers.answer(decided.name, Writers.ME if is_yes else Writers.OTHERS)
        elif (group := _group(vault, decided)) is not None:
            (release if is_yes else refuse)(vault, group.files)
        elif is_yes and decided.kind == "arrived_note":
            vault.provenance.has_seen(decided.name)
        return ()


def _key(kind: ArrivalKind, subject: str) -> str:
    return sha256(f"{_TEXTS[kind]} {subject}".encode("utf-8", "surrogateescape")).hexdigest()[:32]


def unseen_steering(vault: Vault) -> list[ArrivedBlob]:
    """The last arrival in each steering note whose new text is not in effect yet."""
    own = _as_shipped(vault)
    return [each for each in _steering(vault) if each.path not in own]


def _steering(vault: Vault) -> list[ArrivedBlob]:
    waiting = vault.provenance.unseen(lambda path: vault.home.row(path).steers)
    return [each for each in waiting if vault.own_version(each.path) != vault.read(each.path)]


def _as_shipped(vault: Vault) -> list[str]:
    """The steering notes that arrived as this program ships them: it does not ask about its own text."""
    arrived = [each.path for each in _steering(vault)]
    if not arrived:
        return []
    folder = resource("vault_template")
    shipped = [read_template(folder, language) for language in LANGUAGES]
    names = {path: vault.home.name_of(path) for path in arrived}
    notes = ((path, vault.read(path)) for path in arrived)
    return [path for path, data in notes if data and data in [each.get(names[path]) for each in shipped]]


def ask_about_arrivals(vault: Vault, when: datetime, new_id: str, language: Language) -> tuple[str, ...]:
    """Ask about new steering notes and remotes, in one commit; returns the notes' paths."""
    for path in _as_shipped(vault):
        vault.provenance.has_seen(path)
    settle_held(vault)
    release_own(vault)
    waiting = len(tuple(undecided(vault, *ARRIVALS)))
    notes: dict[str, tuple[Proposal, bytes]] = {}
    for kind, subject, content, arrivals in _open_matters(vault):
        if waiting + len(notes) >= MOST_AT_ONCE:
            break
        path, key = vault.home.at(_note_path(kind, subject)), _key(kind, subject)
        question = text(f"arrival.{_TEXTS[kind]}", language, subject=_without_markup(subject))
        id = f"{new_id}-{len(notes)}"
        asked = Proposal(kind, subject, path, id, when.replace(microsecond=0), question, key, content)
        notes[path] = asked, _compose(vault, asked, arrivals, language)
    if notes:
        for asked, _ in notes.values():
            save(vault, asked)
        subjects = ", ".join(each.name for each, _ in notes.values())
        post(vault, {path: data for path, (_, data) in notes.items()}, f"arrivals(ask): {subjects}", _STAMP)
        for asked, _ in notes.values():
            save(vault, replace(asked, status="pending"))
    return tuple(notes)


def pending_reviews(vault: Vault) -> tuple[Proposal, ...]:
    """The questions asked on this machine that have no answer yet, by a tick or by a command."""
    consequence = ArrivalConsequence(vault)
    return tuple(each for each in unanswered(vault, *ARRIVALS) if consequence.judge(each, None) is None)


def settle_arrivals(vault: Vault) -> tuple[Proposal, ...]:
    """Apply the ticked answers, and close the questions answered by command; returns the questions settled now."""
    return settle(vault, ARRIVALS, ArrivalConsequence(vault), _STAMP)


def _open_matters(vault: Vault) -> Iterator[tuple[ArrivalKind, str, str, list[ArrivedBlob]]]:
    """The questions not yet asked about the current state: kind, subject and content, each with its arrivals."""
    answers = vault.provenance.answers.load()
    for address, arrivals in _by_address(vault.provenance.unseen()).items():
        if address not in answers.writers and _is_new(vault, "remote", address):
            yield "remote", address, "", arrivals
    for arrival in unseen_steering(vault):
        content = vault.current_id(arrival.path)
        if _is_new(vault, "arrived_note", arrival.path, content):
            yield "arrived_note", arrival.path, content, [arrival]
    for group in held_groups(vault):
        if _is_new(vault, "arrived_files", group.subject, group.content):
            yield "arrived_files", group.subject, group.content, []


def _is_new(vault: Vault, kind: ArrivalKind, subject: str, content: str = "") -> bool:
    """True if this was not asked about; a note that was never written, because of a crash, has asked nothing."""
    known = records_of(vault, kind).get(_key(kind, subject))
    if known is None or known.subject != content:
        return True
    return known.status == "asking" and vault.read(known.path) is None and not vault.queued


def _by_address(arrivals: Iterable[ArrivedBlob]) -> dict[str, list[ArrivedBlob]]:
    found: dict[str, list[ArrivedBlob]] = {}
    for arrival in arrivals:
        for address in arrival.addresses:
            found.setdefault(address, []).append(arrival)
    return found


def _note_path(kind: ArrivalKind, subject: str) -> str:
    name = "".join(c if c.isalnum() or c in "-_" else "-" for c in subject).strip("-")[-60:].strip("-") or _TEXTS[kind]
    begin = "remote" if kind == "remote" else "arrived"
    digest = sha256(subject.encode("utf-8", "surrogateescape")).hexdigest()
    return f"{APPROVALS}{begin}-{name}-{digest[:6]}.md"


def _compose(vault: Vault, asked: Proposal, arrivals: list[ArrivedBlob], language: Language) -> bytes:
    is_note, group = asked.kind == "arrived_note", _group(vault, asked)
    source = ", ".join(dict.fromkeys(each.source if is_note else each.path for each in arrivals[:3]))
    source = source_of(vault, group.files) if group is not None else source
    more = f" (+{len(arrivals) - 3})" if len(arrivals) > 3 else ""
    subject = _without_markup(asked.name)
    values = {"subject": subject, "link": subject.removesuffix(".md"), "source": _without_markup(source) + more}
    sections = []
    if group is not None:
        sections.append((text("arrival.files_listed", language), format_fenced(listed(vault, group.files))))
        sections.append((text("arrival.diff", language), format_fenced(diff_of(vault, group.files), "diff")))
    if is_note:
        sections.append((text("arrival.diff", language), format_fenced(_diff(vault, asked.name), "diff")))
    header: dict[str, Value] = {
        "id": asked.id,
        "type": TYPE,
        "created": asked.created,
        "status": "pending",
        "untrusted": [_without_markup(source)[:200]],
    }
    key = next(word for kind, word in _TEXTS.items() if kind == asked.kind)
    why, holds = (text(f"arrival.{key}_{part}", language, **values) for part in ("why", "holds"))
    return compose_question(header, asked.question, why, holds, sections, language)


def _diff(vault: Vault, path: str) -> str:
    diff = "\n".join(line_diff(vault.own_version(path), vault.read(path), context=2))
    return diff if len(diff) <= _LONGEST_DIFF else f"{diff[:_LONGEST_DIFF]}\n…"


def _without_markup(words: str) -> str:
    return "".join(c if c.isprintable() and c not in "[]`<>%*" else " " for c in words)


def _group(vault: Vault, asked: Proposal) -> HeldGroup | None:
    """The files that a question is about, if they are held back as they were when it was asked."""
    if asked.kind != "arrived_files":
        return None
    return next((each for each in held_groups(vault) if each.content == asked.subject), None)
