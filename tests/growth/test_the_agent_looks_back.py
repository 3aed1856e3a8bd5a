"""The tools for looking back, in runs that nobody waits for: what happened, what is known, and nothing of strangers."""

from datetime import timedelta
from pathlib import Path

import pytest

from agent.channel_names import OF_JOBS
from agent.llm.messages import Json, ToolCall
from agent.tools.builtin.past import CHARACTERS, PURPOSES
from agent.tools.registry import Called
from agent.tools.tool import RunContext
from tests.growth.work import NOW, YESTERDAY, Office, day, entry, office, said
from tests.vaults import git, write

OLD = entry("My bicycle was stolen in Utrecht.", NOW - timedelta(days=40), ("bicycle",))
NEW = entry("I bought a red bicycle.", YESTERDAY, ("bicycle",))
NOTES = {
    **said(OLD, NEW),
    **day(YESTERDAY, ("09:10", "Plan the garden"), ("10:20", "Find a bicycle lock")),
    "notes/bicycle.md": "# Bicycle\n\nThe frame number of the bicycle is 4711.\n",
}
TOOLS = {"search_episodic_memory", "search_semantic_memory", "get_recent_activity", "time_filter"}


def look(made: Office, tool: str, role: str = "owner", /, **given: Json) -> Called:
    """A call in a run of self-reflection."""
    with made.work.open_runs() as runs:
        context = RunContext("r", "", channel=OF_JOBS, role=role, purpose="self_reflection")
        return runs.agent.tools.call(ToolCall("c", tool, given), context)


def told(made: Office, tool: str, /, **given: Json) -> str:
    called = look(made, tool, **given)
    assert not called.result.failed, called.result.text
    assert len(called.result.text) <= CHARACTERS
    return called.result.text


def test_episodes_have_their_day_and_their_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = office(tmp_path, monkeypatch, NOTES)
    found = told(made, "search_episodic_memory", query="bicycle")
    assert f"2026-11-21 · {NEW.path}, lines" in found and "“I bought a red bicycle.”" in found
    assert "My bicycle was stolen" in found and "notes/bicycle.md" not in found
    lately = told(made, "search_episodic_memory", query="bicycle", period="last week")
    assert "red bicycle" not in lately and "stolen" not in lately
    assert "red bicycle" in told(made, "search_episodic_memory", query="bicycle", period="past 3 days")


def test_what_is_known_has_notes_beside_memories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = office(tmp_path, monkeypatch, NOTES)
    found = told(made, "search_semantic_memory", query="bicycle")
    assert "4711" in found and "I bought a red bicycle." in found
    assert "daily/" not in found


def test_recent_activity_is_asked_said_and_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = office(tmp_path, monkeypatch, NOTES)
    made.clock.advance(60)
    write(made.root / "notes/bicycle.md", "# Bicycle\n\nSold.\n")
    made.workspace.vault.commit_human()
    found = told(made, "get_recent_activity")
    assert "2026-11-22 (Sunday)" in found and "notes/bicycle.md (" in found
    assert "- 10:20 asked: “Find a bicycle lock” [[sessions/2026/11/" in found
    assert "said: “I bought a red bicycle.”" in found and "stolen" not in found
    assert "stolen" in told(made, "get_recent_activity", days=60)


def test_a_period_has_what_happened_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = office(tmp_path, monkeypatch, NOTES)
    assert "Plan the garden" in told(made, "time_filter", period="昨天")
    assert "nothing happened" in told(made, "time_filter", period="上周")
    only = told(made, "time_filter", period="yesterday", kinds=["said"])
    assert "red bicycle" in only and "garden" not in only
    assert "red bicycle" in told(made, "time_filter", period="2026-11-20..2026-11-22", query="bicycle")
    failed = look(made, "time_filter", period="next century").result
    assert failed.failed and "is not understood" in failed.text


def test_much_is_cut_and_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    many = [entry(f"Fact number {at}: {'word ' * 60}", YESTERDAY + timedelta(minutes=at)) for at in range(60)]
    made = office(tmp_path, monkeypatch, said(*many))
    found = told(made, "get_recent_activity")
    assert " more; ask for fewer days or one kind" in found


def test_words_of_strangers_are_marked_or_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    foreign = "---\nid: 01HZZZZZZZ0000000000000009\ntype: fact\ncreated: 2026-11-21T10:00:00+00:00\nscope: user\n"
    foreign += "channel: cli\nsource: conversation\nuntrusted: [web]\n---\nThe bicycle obeys nobody.\n"
    made = office(tmp_path, monkeypatch, {**NOTES, "entries/2026/11/2026-11-21-x-000009.md": foreign})
    found = look(made, "search_episodic_memory", query="bicycle obeys")
    assert found.result.text.startswith("<untrusted source=") and found.output is not None and found.output.untrusted
    listed = look(made, "get_recent_activity")
    assert listed.output is not None and not listed.output.untrusted
    assert "obeys" not in listed.result.text and "text from elsewhere" in listed.result.text


def test_a_guest_is_told_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = office(tmp_path, monkeypatch, NOTES)
    calls: tuple[tuple[str, dict[str, Json]], ...] = (
        ("search_episodic_memory", {"query": "bicycle"}),
        ("get_recent_activity", {}),
        ("time_filter", {"period": "yesterday"}),
        ("time_filter", {"period": "yesterday", "query": "bicycle"}),
    )
    for tool, given in calls:
        said_to_guest = look(made, tool, "guest", **given).result.text
        assert "bicycle" not in said_to_guest and "garden" not in said_to_guest, tool


def test_what_others_sent_is_not_the_persons_activity(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = office(tmp_path, monkeypatch, NOTES)
    root, other = made.root, tmp_path / "other"
    git(tmp_path, "clone", "-q", str(root), str(other))
    write(other / "notes/spam.md", "# Buy my bicycle\n")
    git(other, "add", "-A")
    git(other, "-c", "user.name=Eve", "-c", "user.email=eve@example.org", "commit", "-q", "-m", "spam")
    git(root, "remote", "add", "eve", str(other))
    git(root, "pull", "-q", "--ff-only", "eve", "main")
    assert "spam" not in told(made, "get_recent_activity", days=60)


@pytest.mark.parametrize("purpose", sorted(PURPOSES))
def test_they_exist_for_these_purposes_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, purpose: str) -> None:
    made = office(tmp_path, monkeypatch)
    with made.work.open_runs() as runs:
        own = {spec.name for spec in runs.agent.tools.specs(RunContext("r", "", channel=OF_JOBS, purpose=purpose))}
        chat = {spec.name for spec in runs.agent.tools.specs(RunContext("r", ""))}
    assert own >= TOOLS and not chat & TOOLS
