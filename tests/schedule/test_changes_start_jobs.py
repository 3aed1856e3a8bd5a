"""Which changes of notes start a job: where, what a reader sees, whose change it was, how many notes, how still."""

import pytest

from agent.errors import UserError
from agent.events.types import FileChanged, FilesChanged, NoteDeleted, NoteMoved, Origin
from agent.markdown.changes import NoteChange
from agent.markdown.yaml_write import Value
from agent.schedule.conditions import ChangeWatch, VaultEvent, fits, matches
from agent.schedule.job import Job
from agent.schedule.triggers import ChangeTrigger, parse_triggers
from agent.watch.classify import ContentChange, classify

HERE = Origin.HUMAN


def event(old: str | None, new: str | None, path: str = "projects/a.md", origin: Origin = HERE) -> VaultEvent:
    """The event that the watcher makes of two versions of a note."""
    before, after = (None if text is None else text.encode() for text in (old, new))
    change = ContentChange(path, old and f"id of {old}", new and f"id of {new}")
    return classify(change, before, after, origin)


def change(**given: Value) -> ChangeTrigger:
    (found,) = parse_triggers({"change": dict(given)})
    assert isinstance(found, ChangeTrigger)
    return found


@pytest.mark.parametrize(
    ("pattern", "path", "does"),
    [
        ("projects/**", "projects/a.md", True),
        ("projects/**", "projects/deep/er/a.md", True),
        ("projects/**", "projects", False),
        ("projects/**", "old/projects/a.md", False),
        ("projects/*", "projects/a.md", True),
        ("projects/*", "projects/deep/a.md", False),
        ("projects/", "projects/deep/a.md", True),
        ("projects", "projects/deep/a.md", True),
        ("projects", "work/projects/a.md", True),
        ("projects", "projectsfoo/a.md", False),
        ("work/projects", "work/projects/a.md", True),
        ("work/projects", "home/work/projects/a.md", False),
        ("projects/plan", "projects/plan.md", True),
        ("projects/plan.md", "projects/plan.md", True),
        ("projects/plan.md", "projects/plan.mdx", False),
        ("*.md", "a.md", True),
        ("*.md", "deep/a.md", True),
        ("**/plan.md", "plan.md", True),
        ("**/plan.md", "a/b/plan.md", True),
        ("**/plan.md", "a/b/my plan.md", False),
        ("a/**/z.md", "a/z.md", True),
        ("a/**/z.md", "a/b/c/z.md", True),
        ("a/**/z.md", "b/a/z.md", False),
        ("20??-*.md", "daily/2026-11-23.md", True),
        ("20??-*.md", "daily/202-11.md", False),
        ("**", "anything/at all.md", True),
        ("项目/**", "项目/计划.md", True),
        ("Caf\u00e9/**", "Cafe\u0301/a.md", True),
        ("a.b/[x](y)+", "a.b/[x](y)+.md", True),
        ("a.b/x", "aXb/x.md", False),
        ("Projects/**", "projects/a.md", True),
    ],
)
def test_patterns_of_paths(pattern: str, path: str, does: bool) -> None:
    assert matches(path, [pattern]) is does
    assert fits(change(path=pattern), event("a", "b", path)) is does


def test_capitals_count_for_nothing() -> None:
    assert matches("projects/Straße.md", ["PROJECTS/STRASSE"])


def test_no_pattern_of_a_person_can_freeze_the_program() -> None:
    assert not matches("a" * 250 + ".md", ["*a" * 40 + "b"])


@pytest.mark.parametrize(
    ("given", "old", "new", "does"),
    [
        ({}, "one", "two", True),
        ({}, "one", "one\n\n", False),
        ({}, None, "new", True),
        ({}, "gone", None, True),
        ({"task": "ticked"}, "- [ ] call", "- [x] call", True),
        ({"task": "ticked"}, "- [x] call", "- [ ] call", False),
        ({"task": "ticked"}, "one", "two", False),
        ({"task": "unticked"}, "- [x] call", "- [ ] call", True),
        ({"task": "added"}, "", "- [ ] call", True),
        ({"task": "ticked"}, "- [ ] call", None, False),
        ({"tag": "urgent"}, "text", "text #urgent", True),
        ({"tag": "#Urgent"}, "text", "text #urgent/now", True),
        ({"tag": "urgent"}, "text", "text #urgently", False),
        ({"tag": "urgent"}, "text #urgent", "words #urgent", False),
        ({"property": "status"}, "---\nstatus: open\n---\n", "---\nstatus: done\n---\n", True),
        ({"property": {"status": "done"}}, "---\nstatus: open\n---\n", "---\nstatus: done\n---\n", True),
        ({"property": {"status": "Done"}}, "---\nStatus: open\n---\n", "---\nStatus: done\n---\n", True),
        ({"property": {"status": "done"}}, "---\nstatus: done\n---\n", "---\nstatus: open\n---\n", False),
        ({"property": {"status": "done"}}, None, "---\nstatus: done\n---\n", True),
        ({"property": {"ready": True}}, "---\nready: false\n---\n", "---\nready: true\n---\n", True),
        ({"property": {"stage": 3}}, "---\nstage: 2\n---\n", "---\nstage: 3\n---\n", True),
        ({"property": {"who": "anna"}}, "---\nwho: [bo]\n---\n", "---\nwho: [bo, Anna]\n---\n", True),
        ({"property": {"who": "anna"}}, "---\nwho: [anna]\n---\n", "---\nwho: [anna, bo]\n---\n", False),
        ({"heading": "Decision"}, "text", "text\n## Decision\nyes", True),
        ({"heading": "Decision"}, "## Decision\nno", "## Decision\nyes", False),
        ({"created": True}, None, "new", True),
        ({"created": True}, "old", "new", False),
        ({"created": True, "tag": "urgent"}, None, "a #urgent one", True),
        ({"created": True, "tag": "urgent"}, None, "one", False),
        ({"task": "ticked", "tag": "done"}, "- [ ] call", "- [x] call #done", False),
        ({"task": "added", "tag": "done"}, "", "- [ ] call #done", True),
        ({"task": "added", "tag": "done"}, "", "- [ ] call", False),
    ],
)
def test_all_conditions_hold_of_one_change(
    given: dict[str, Value], old: str | None, new: str | None, does: bool
) -> None:
    assert fits(change(**given), event(old, new)) is does


def test_the_program_s_own_writes_never_count() -> None:
    own = event("- [ ] a", "- [x] a", origin=Origin.OWN)
    assert not fits(change(task="ticked"), own)
    assert not fits(change(task="ticked", **{"from": "anywhere"}), own)


def test_what_arrived_counts_only_if_the_job_says_so() -> None:
    arrived = event("- [ ] a", "- [x] a", origin=Origin.ARRIVED)
    assert not fits(change(task="ticked"), arrived)
    assert fits(change(task="ticked", **{"from": "anywhere"}), arrived)


def test_a_note_that_is_moved_in_is_new_there() -> None:
    moved: VaultEvent = NoteMoved("projects/a.md", "inbox/a.md", "1", "1", HERE)
    assert fits(change(path="projects/**", created=True), moved)
    assert not fits(change(path="**", created=True), moved)
    assert fits(change(path="projects/**"), moved)


def test_a_note_without_its_older_version_meets_no_condition_on_content() -> None:
    (edited,) = [classify(ContentChange("a.md", "1", "2"), None, b"- [x] a", HERE)]
    assert fits(change(), edited)
    assert not fits(change(task="ticked"), edited)


def test_other_files_start_nothing() -> None:
    assert not fits(change(), FileChanged("picture.png", True, HERE))


def watch(*triggers: ChangeTrigger) -> ChangeWatch:
    found = ChangeWatch()
    found.set_jobs([Job(f"j{number}", f"jobs/j{number}.md", "", (each,), "x") for number, each in enumerate(triggers)])
    return found


def poll(now: float, *events: VaultEvent) -> FilesChanged[NoteChange]:
    return FilesChanged(events, now)


def ready(found: ChangeWatch, now: float) -> list[tuple[str, ...]]:
    return [each.paths for each in found.ready(now)]


def test_a_job_starts_once_the_notes_lie_still() -> None:
    found = watch(change(quiet_seconds=10))
    found.take(poll(100, event("a", "b")))
    assert ready(found, 105) == []
    found.take(poll(108, event("b", "c"), event("x", "y", "z.md")))
    assert ready(found, 112) == []
    assert ready(found, 118) == [("projects/a.md", "z.md")]
    assert ready(found, 200) == []


def test_a_note_that_is_still_written_waits_alone() -> None:
    found = watch(change(quiet_seconds=10))
    found.take(poll(100, event("a", "b", "a.md"), event("a", "b", "b.md")))
    found.take(poll(109, event("b", "c", "b.md")))
    assert ready(found, 111) == [("a.md",)]
    assert ready(found, 119) == [("b.md",)]


def test_any_further_edit_of_a_note_that_fits_makes_it_wait() -> None:
    found = watch(change(task="ticked", quiet_seconds=10))
    found.take(poll(100, event("- [ ] a", "- [x] a")))
    found.take(poll(105, event("- [x] a", "- [x] a\nmore")))
    assert ready(found, 111) == []
    found.take(poll(112, event("- [x] a\nmore", "ours", origin=Origin.OWN)))
    assert ready(found, 115) == [("projects/a.md",)]


def test_a_job_may_wait_for_several_notes() -> None:
    found = watch(change(count=3, created=True, quiet_seconds=0))
    for number, name in enumerate(["a.md", "a.md", "b.md"]):
        found.take(poll(number, event(None, "new", name)))
    assert ready(found, 10) == []
    found.take(poll(10, event("new", None, "b.md"), event(None, "new", "c.md")))
    assert ready(found, 11) == []
    found.take(poll(12, NoteMoved("e.md", "c.md", "1", "1", HERE), event(None, "new", "d.md")))
    assert ready(found, 13) == [("a.md", "e.md", "d.md")]


def test_what_waits_survives_a_restart_and_goes_with_its_job() -> None:
    trigger = change(count=2, quiet_seconds=5)
    before = watch(trigger)
    before.take(poll(1, event("a", "b", "a.md")))
    after = watch(trigger)
    after.restore({**before.collected(), "gone": ("x.md",)}, 100)
    after.take(poll(101, event("a", "b", "b.md")))
    assert ready(after, 106) == [("a.md", "b.md")]
    after.take(poll(110, event("a", "b", "a.md")))
    after.set_jobs([])
    assert after.collected() == {}
    assert ready(after, 200) == []


def test_a_deleted_note_starts_no_job_that_asks_for_more() -> None:
    found = watch(change(tag="x", quiet_seconds=5))
    found.take(poll(1, event("a", "a #x")))
    found.take(poll(2, NoteDeleted("projects/a.md", "1", HERE)))
    assert ready(found, 60) == []


@pytest.mark.parametrize("name", ["daemon.start", "tick", "turn.ended", "", "everything"])
def test_an_event_that_is_not_there_or_comes_all_the_time_is_refused(name: str) -> None:
    with pytest.raises(UserError) as refused:
        parse_triggers({"event": name})
    assert "." in refused.value.hint
