"""A vault in which every kind of note, and everything that a page shows beside notes, says what strangers wrote."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import cycle

from agent.app.notice_ledger import open_ledger
from agent.attention.receipt import NoticeDecision
from agent.errors import BadPath, UserError
from agent.events.notices import NoticeRaised
from agent.memory.remember import remember
from agent.schedule.history import HistoryRow
from agent.texts import Sentence
from agent.vault.change import Stamp
from agent.vault.sync.state import SyncedRemote, SyncState, state_file
from agent.vault.worktree.paths import check
from tests.interfaces.http.pages.house import House
from tests.stories.agents import call

_ROWS = "# History\n\n"


def line(text: str, most: int = 150) -> str:
    """The text on one line."""
    return " ".join(text.split())[:most].rstrip()


def named(text: str) -> str | None:
    """The text as the name of a note; None if no file can have it."""
    name = re.sub(r"[/\0\n\r]", " ", text)[:80].strip(" .") + ".md"
    try:
        check(name)
    except (BadPath, UserError):
        return None
    return name


def note_of(header: Mapping[str, object], texts: Sequence[str], title: str = "") -> str:
    """A note with these keys and all the texts, each as a heading, a paragraph and an item."""
    keys = "".join(f"{key}: {json.dumps(value)}\n" for key, value in header.items())
    body = "\n\n".join(f"## {line(text)}\n\n{text}\n\n- **{line(text, 40)}**: {line(text)}" for text in texts)
    return f"---\n{keys}---\n# {line(title or texts[0])}\n\n{body}\n"


def foreign_notes(texts: Sequence[str], together: int) -> dict[str, str]:
    """Notes of every kind that the pages show, each with so many of the texts."""
    notes = {f"foreign/names/{name}": f"{text}\n" for text in texts if (name := named(text))}
    groups = [texts[n : n + together] for n in range(0, len(texts), together)]
    for number, group in enumerate(groups):
        notes |= dict(_kinds(number, group))
    unknown = "".join(f"{json.dumps(line(text))}: 1\n" for text in texts[:20])
    return {**notes, "vault-agent.yaml": unknown}


def _kinds(number: int, group: Sequence[str]) -> Iterator[tuple[str, str]]:
    say = cycle([line(text) for text in group])
    keys = {f"key {each} {next(say)}": next(say) for each in range(len(group))}
    yield f"foreign/{number}.md", note_of({"title": next(say), **keys, "tags": list(group)}, group)
    task = {"type": "task", "id": f"t{number}", "task_type": "explore_topic", "title": next(say)}
    due = {"due": "2099-01-05 09:00", "dependencies": [next(say)], "context": next(say)}
    yield f"tasks/t{number}.md", note_of({**task, **due}, group)
    yield f"tasks/bad{number}.md", note_of({**task, "id": f"b{number}", "priority": next(say)}, group)
    over = {"completed_at": "2026-11-20 09:00", "session": next(say), "target_file": f"foreign/{number}.md"}
    done = {**task, "id": f"d{number}", "status": "completed", "result": next(say), **over}
    yield f"tasks/done/2026/d{number}.md", note_of(done, group)
    failed = {**task, "id": f"f{number}", "status": "failed", "error": next(say), **over}
    yield f"tasks/done/2026/f{number}.md", note_of(failed, group)
    job = {"type": "job", "id": f"j{number}", "on": {"every": "2h"}, "title": next(say), "run_on": next(say)}
    yield f"jobs/j{number}.md", note_of(job, group)
    wrong = {"type": "job", "id": f"w{number}", "title": next(say), "on": {"cron": next(say), "event": next(say)}}
    yield f"jobs/bad{number}.md", note_of(wrong, group)
    change = {"change": {"path": next(say), "tag": next(say), "property": {next(say): next(say)}}}
    yield f"jobs/c{number}.md", note_of({"type": "job", "id": f"c{number}", "on": change}, group)
    yield f"jobs/history/j{number}.md", _ROWS + "".join(_rows(group))
    yield f"profile/topics/p{number}.md", note_of({"type": "profile", "layer": 3, "title": next(say)}, group)
    described = {"name": f"skill-{number}", "description": next(say)}
    yield f"skills/skill-{number}/SKILL.md", note_of(described, group)
    yield f"skills/broken-{number}/SKILL.md", note_of({"name": next(say), "description": 5, next(say): 1}, group)
    yield f"walls{number}.md", note_of({"title": next(say)}, group)
    copy = {"conflict_of": f"[[walls{number}]]", "title": next(say)}
    yield f"walls{number} (conflict 2026-11-20 laptop).md", note_of(copy, [*group, "else"])
    machine = {"id": f"m{number}", "type": "machine", "last_seen": "2026-11-20", "daemon": True, "version": next(say)}
    yield f"machines/{named(group[0]) or f'm{number}.md'}", note_of(machine, group)
    yield f"goals/g{number}.md", note_of({"type": "goal", "review": "weekly", "title": next(say)}, group)


def _rows(group: Sequence[str]) -> Iterator[str]:
    at = datetime.fromisoformat("2026-11-20T09:00:00+00:00")
    for number, text in enumerate(group):
        said = line(text)
        row = HistoryRow(at + timedelta(hours=number), "failed", at, 2.0, said, said, 0.1, said, True, said)
        yield row.line + "\n"


def replies(texts: Sequence[str]) -> list[object]:
    """The script of runs whose tools and answers say the texts."""
    whole = "\n\n".join(texts)
    return [
        {"task": "read", **call("vault_read", path="foreign/0.md")},
        {"task": "read", **call("vault_read", path=texts[3][:80])},
        {"task": "read", "text": whole},
        {"task": "change", **call("vault_edit", path="AGENT.md", old="Be brief.", new=whole[:3_000])},
        {"task": "question", **call("human_ask", question=whole[:3_000], options=[text[:150] for text in texts[:8]])},
    ]


def say_it_everywhere(house: House, texts: Sequence[str]) -> None:
    """Put the texts into what is no note that a person writes: runs, memory, notices, commits, remotes."""
    vault, workspace = house.workspace.vault, house.workspace
    for task, text in zip(("read", "change", "question"), texts, strict=False):
        house.ask(f"{task} {text[:200]}")
    for text in texts[:: max(1, len(texts) // 12)]:
        remember(vault, text)
    ledger, now = open_ledger(workspace), workspace.clock.now()
    for text in texts:
        raised = NoticeRaised("task_due", 0.8, text, (text,), text)
        ledger.add(workspace.clock.new_id(), raised, NoticeDecision("held", "quiet", now + timedelta(hours=6)), "daily")
    with vault.transaction(texts[0], Stamp("agent", session=texts[1], tool="x"), body=texts[2]) as change:
        change.create("foreign/commit.md", texts[4].encode())
    said = [line(text) for text in texts]
    remotes = {
        name: SyncedRemote(name, f"/nowhere/{name}", name, trouble=Sentence(name), hint=Sentence(name), since=now)
        for name in said[:: max(1, len(said) // 50)]
    }
    state_file(vault).save(SyncState(remotes, is_paused=True))  # paused, so that none of them is asked
