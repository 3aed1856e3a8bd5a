"""A rule as a note in `rules/`, and back. A person may write one by hand: a sentence in a note is a rule.

    ---
    id: 01J…
    type: rule
    status: probation
    version: 1
    when: a note is there already
    evidence:
      - "[[reflections/2026/11/2026-11-20-reflections]]"
    learned: 3f2a91c0
    ---
    # Read the note before you change it…

    Read the note before you change it, and change only what was asked.

The rule is the text above the first second-level heading; below it stands what it rests on. Of a short rule the title
is the whole text. The agent changes single keys of the header by itself, and the text only with a yes.
"""

import re
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path, PurePosixPath

from agent.dataclass import dataclass
from agent.growth.rules.rule import LearnedRule, RuleStatus, words_mark
from agent.markdown import blocks
from agent.markdown.inertness.active import inert_line
from agent.markdown.note import Note
from agent.markdown.title import clipped, short_heading
from agent.markdown.yaml_write import Value
from agent.texts import Language, text
from agent.vault.folders import FOUND_METHODS, RULE_HISTORY, RULE_LOG, RULES, is_hidden, is_template
from agent.vault.store import Vault

TYPE = "rule"
LONGEST = 600
"""The most characters of a rule: a longer one is no rule but an essay, of which runs get the beginning."""
_WORD = re.compile(r"[^\W_]+")
_STATUSES: dict[str, RuleStatus] = {"probation": "probation", "active": "active"}


@dataclass(frozen=True, slots=True)
class RuleEvidence:
    """One reflection that a rule rests on: the day, the link to it, and the words of its strategy."""

    day: str
    link: str
    words: str


def parse_rule(path: str, data: bytes) -> LearnedRule | None:
    """The rule in a note; None if it holds none: a note of another type, without text, or with a broken header.

    Without a status, as when a person writes a rule by hand, it is active; with one that is not known, deprecated.
    """
    note = Note.parse(data)
    if note.problem is not None or note.type not in (None, TYPE):
        return None
    title, words, line = _text(note)
    if not (words or title):
        return None
    said = note.header.get("status")
    status: RuleStatus = "active" if said in (None, "") else _STATUSES.get(str(said).strip().casefold(), "deprecated")
    version = note.header.get("version")
    return LearnedRule(
        path,
        clipped(words or title, LONGEST),
        " ".join((note.string("when") or "").split()),
        status,
        version if isinstance(version, int) and not isinstance(version, bool) and version > 0 else 1,
        str(note.header.get("learned") or ""),
        tuple(
            f"{each.removeprefix('[[').removesuffix(']]').partition('#')[0]}.md" for each in note.strings("evidence")
        ),
        note.id or "",
        data,
        line,
    )


def compose_rule(
    rule: LearnedRule,
    effect: str,
    sources: Sequence[RuleEvidence],
    when: datetime,
    language: Language,
    begun: str = "",
) -> bytes:
    """The note of a new rule; `when` is the moment at which it is written. `begun` says what its first version comes
    from; empty: from its sources, which are reflections."""
    said, case = inert_line(rule.text), inert_line(rule.when)
    header: dict[str, Value] = {"id": rule.id, "type": TYPE, "status": rule.status, "version": rule.version}
    header |= (
        {"created": when.replace(microsecond=0), "when": case} if case else {"created": when.replace(microsecond=0)}
    )
    header |= {"evidence": _links(sources), "learned": words_mark(said, case)}
    parts = [_titled(said)]
    if effect:
        parts += [f"## {text('rules.effect', language)}", inert_line(effect)]
    parts += [f"## {text('rules.sources', language)}", _listed(sources)]
    parts += [f"## {text('rules.versions', language)}", begun or _version(rule.version, when, len(sources), language)]
    return Note.compose(header, "\n\n".join(parts) + "\n").data


def with_status(rule: LearnedRule, status: RuleStatus) -> bytes:
    """The note with another status; all else stays. Raises `BadNote`."""
    return Note.parse(rule.data).with_key("status", status).data


def with_sources(rule: LearnedRule, sources: Sequence[RuleEvidence], language: Language) -> bytes:
    """The note with more evidence; its words, and so its version, stay. Raises `BadNote`."""
    note = Note.parse(rule.data)
    known = note.strings("evidence")
    added = [each for each in sources if each.link not in known]
    note = note.with_key("evidence", [*known, *_links(added)])
    return _below(note, "rules.sources", _listed(added), language).data if added else rule.data


def with_evidence_of(rule: LearnedRule, twin: LearnedRule, language: Language) -> bytes:
    """The note with the evidence that another note with the same rule has, in the lines of that. Raises `BadNote`."""
    note, other = Note.parse(rule.data), Note.parse(twin.data)
    known = note.strings("evidence")
    added = [each for each in other.strings("evidence") if each not in known]
    if not added:
        return rule.data
    rows = dict.fromkeys(
        row for row in other.body.splitlines() if row.startswith("- ") and any(a in row for a in added)
    )
    note = note.with_key("evidence", [*known, *added])
    return _below(note, "rules.sources", "\n".join(rows or (f"- {each}" for each in added)), language).data


def with_opposite(
    rule: LearnedRule,
    opposite: str,
    sources: Sequence[RuleEvidence],
    so_far: tuple[int, int],
    when: datetime,
    language: Language,
) -> bytes:
    """The note with a report that reflections say the opposite, and how the rule did until then: the uses, and those
    that went well. Its words, and so its version, stay. Raises `BadNote`."""
    uses, successes = so_far
    said, day = inert_line(opposite), when.date().isoformat()
    count = len(sources)
    row = text("rules.against_row", language, day=day, count=count, words=said, uses=uses, successes=successes)
    below = "\n".join(f"    {each}" for each in _listed(sources).split("\n"))
    return _below(Note.parse(rule.data), "rules.against", f"- {row}\n{below}", language).data


def with_words(
    rule: LearnedRule, said: str, case: str, sources: Sequence[RuleEvidence], when: datetime, language: Language
) -> bytes:
    """The note with other words as the next version; the earlier words stay below. Raises `BadNote`."""
    said, case = inert_line(said), inert_line(case)
    note = Note.parse(with_sources(rule, sources, language))
    note = note.with_key("version", rule.version + 1).with_key("learned", words_mark(said, case))
    note = note.with_key("when", case) if case else note.without_key("when")
    earlier = text("rules.before", language, version=rule.version, words=rule.sentence)
    rows = f"{_version(rule.version + 1, when, len(sources), language)}\n{earlier}"
    note = _below(note, "rules.versions", rows, language)
    body = note.body.replace("\r\n", "\n")
    end = body.find("\n## ")
    return note.with_body(f"{_titled(said)}\n{body[end:] if end >= 0 else ''}").data


def _text(note: Note) -> tuple[str, str, int]:
    """The title, the text above the first second-level heading in one line, and the line of the file it begins on."""
    body = blocks.parse_body(note.body)
    title, words, first = "", list[str](), 0
    for number, (row, kind) in enumerate(zip(body.lines, body.kinds, strict=True)):
        if row.startswith("## "):
            break
        if row.startswith("# ") and not title and not words:
            title, first = row[2:].strip(), first or number
        elif row.strip() and kind != "comment":
            if not words:
                first = number
            words.append(row.strip())
    return title, " ".join(" ".join(words).split()), note.body_line + first


def _titled(said: str) -> str:
    """A rule below its title; of a short one, whose title would say the same again, the title alone."""
    title = short_heading(said)
    says_all = _WORD.findall(title.casefold()) == _WORD.findall(said.casefold())
    return f"# {said}" if says_all else f"# {title}\n\n{said}"


def _below(note: Note, key: str, rows: str, language: Language) -> Note:
    """The note with rows at the end of one of its sections, which is added at the end if it is missing."""
    body, heading = note.body.replace("\r\n", "\n"), f"## {text(key, language)}"
    lines = body.rstrip("\n").split("\n")
    if heading not in lines:
        return note.with_body(f"{body.rstrip()}\n\n{heading}\n\n{rows}\n")
    at = lines.index(heading) + 1
    while at < len(lines) and not lines[at].startswith("## "):
        at += 1
    while not lines[at - 1].strip():
        at -= 1
    gap = [] if lines[at - 1].lstrip().startswith("- ") else [""]
    return note.with_body("\n".join([*lines[:at], *gap, rows, *lines[at:]]) + "\n")


def _links(sources: Sequence[RuleEvidence]) -> list[Value]:
    return list(dict.fromkeys(each.link for each in sources))


def _listed(sources: Sequence[RuleEvidence]) -> str:
    return "\n".join(f"- {each.day} {each.link}: {inert_line(each.words)}" for each in sources)


def _version(version: int, when: datetime, sources: int, language: Language) -> str:
    key = "rules.version_one" if sources == 1 else "rules.version"
    return f"- {text(key, language, version=version, day=when.date().isoformat(), count=sources)}"


def rule_paths(vault: Vault) -> tuple[str, ...]:
    """The paths of the notes that are there and may hold a rule, sorted."""
    home, folder = vault.home, vault.home.at(RULES)
    place = Path(vault.place.root, folder)
    found = (folder + file.relative_to(place).as_posix() for file in place.rglob("*.md")) if place.is_dir() else ()
    kept = (
        path for path in found if not (home.holds(path, RULE_HISTORY, RULE_LOG, FOUND_METHODS) or is_template(path))
    )
    return tuple(sorted(path for path in kept if not is_hidden(PurePosixPath(path).as_posix())))


def load_rule(vault: Vault, path: str) -> LearnedRule | None:
    """The rule at a path as far as it is the person's and the program's own: text that arrived, and that the person has
    not looked at yet, does not count. None without one."""
    data = vault.own_version(path)
    return parse_rule(path, data) if data is not None else None


def load_rules(vault: Vault) -> tuple[LearnedRule, ...]:
    """All rules, by path."""
    found = (load_rule(vault, path) for path in rule_paths(vault))
    return tuple(rule for rule in found if rule is not None)
