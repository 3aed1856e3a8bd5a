"""Taking changes back: the chosen ones go, everything written since stays."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.clock import SystemClock
from agent.errors import Conflict, MassChange, UserError
from agent.events.runs import session_subject
from agent.markdown.merging.strict import merge_touching
from agent.texts import Language
from agent.vault.change import CAPTURE, Stamp
from agent.vault.history.find import commits
from agent.vault.history.undo import Undone, undo
from agent.vault.history.undo_choice import Selection
from agent.vault.store import Vault, open_vault
from tests.fakes import FakeClock
from tests.vaults import FAST, committed, git, head, make_vault, write

PLAN = "---\nstatus: open\ntags:\n- home\n---\n# Plan\n\none\ntwo\nthree\n\n## Later\n\nfour\nfive\n"
RUN = Stamp(run="01RUN", tool="edit")


def act(
    vault: Vault, notes: Mapping[str, str | None], stamp: Stamp = RUN, moves: Mapping[str, str] | None = None
) -> str:
    """One commit of the agent: notes to what they become (None: gone), then moves; returns its id."""
    with vault.transaction("edit(notes): something", stamp) as tx:
        for path, text in notes.items():
            before = vault.read(path)
            if text is None:
                tx.delete(path, before)
            elif before is None:
                tx.create(path, text.encode())
            else:
                tx.edit(path, before, text.encode())
        for old, new in (moves or {}).items():
            tx.move(old, new)
    assert tx.outcome.commit
    return tx.outcome.commit


def by_hand(vault: Vault, notes: Mapping[str, str | None], *, commit: bool = True) -> str:
    """What the person does with an editor, and with git where `commit`."""
    for path, text in notes.items():
        target = vault.place.root / path
        if text is None:
            target.unlink()
        else:
            write(target, text)
    if commit:
        git(vault.place.root, "add", "-A")
        git(vault.place.root, "commit", "-q", "-m", "mine")
    return head(vault.place.root)


def tree(vault: Vault) -> dict[str, str]:
    """Every file of the vault, as text."""
    root = vault.place.root
    files = (path for path in sorted(root.rglob("*")) if path.is_file() and ".git" not in path.parts)
    return {path.relative_to(root).as_posix(): path.read_bytes().decode() for path in files}


def take_back(vault: Vault, *names: str, partial: bool = False, confirmed: bool = False) -> Undone:
    return undo(vault, Selection(commits=names), partial=partial, confirmed=confirmed)


def clean(vault: Vault) -> bool:
    return git(vault.place.root, "status", "--porcelain") == ""


def test_an_edit_is_taken_back_to_the_byte(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"plan.md": PLAN})
    made = act(vault, {"plan.md": PLAN.replace("two", "TWO")})
    result = take_back(vault, made[:10])
    assert vault.read("plan.md") == PLAN.encode()
    assert committed(vault.place.root, "plan.md") == PLAN.encode()
    assert result.undone == (made,)
    assert [change.path for change in result.files] == ["plan.md"]
    (last,) = commits(vault, limit=1)
    assert (last.id, last.undoes, last.actor, last.tool) == (result.commit, (made,), "human", "undo")
    assert clean(vault)


def test_what_the_person_wrote_later_stays(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"plan.md": PLAN})
    made = act(vault, {"plan.md": PLAN.replace("two", "TWO").replace("open", "done")})
    by_hand(
        vault,
        {"plan.md": (vault.read("plan.md") or b"").decode().replace("five", "five!").replace("- home", "- garden")},
    )
    by_hand(vault, {"plan.md": (vault.read("plan.md") or b"").decode() + "six\n"}, commit=False)
    take_back(vault, made)
    assert tree(vault)["plan.md"] == PLAN.replace("five", "five!").replace("- home", "- garden") + "six\n"
    assert clean(vault)


def test_a_line_written_right_below_the_agents_is_no_conflict(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"log.md": "a\n"})
    made = act(vault, {"log.md": "a\nagent\n"})
    by_hand(vault, {"log.md": "a\nagent\nmine\n"})
    take_back(vault, made)
    assert vault.read("log.md") == b"a\nmine\n"


def test_an_undo_can_be_undone_and_redone_for_ever(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"plan.md": PLAN, "old.md": "old\n"})
    before = tree(vault)
    made = act(vault, {"plan.md": PLAN + "more\n", "new.md": "new\n", "old.md": None})
    after = tree(vault)
    for _ in range(3):
        undone = take_back(vault, made)
        assert tree(vault) == before
        assert undone.commit
        redone = take_back(vault, undone.commit)
        assert redone.undone == (undone.commit,)
        assert tree(vault) == after
    assert clean(vault)


def test_a_run_is_undone_after_it_was_undone_and_redone(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"plan.md": PLAN, "a.md": "apple\nbanana\ncherry\n"})
    before = tree(vault)
    act(vault, {"new.md": "new\n"})
    act(vault, {"new.md": "new\nmore\n", "plan.md": PLAN + "x\n"}, moves={"a.md": "b.md"})
    first = undo(vault, Selection(run="01RUN"))
    assert tree(vault) == before
    take_back(vault, first.commit or "")
    assert "b.md" in tree(vault)
    assert len(undo(vault, Selection(run="01RUN")).undone) == 2
    assert tree(vault) == before


def test_what_is_undone_already_is_passed_over(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"plan.md": PLAN})
    made = act(vault, {"plan.md": PLAN + "x\n"})
    take_back(vault, made)
    again = take_back(vault, made)
    assert (again.commit, again.undone) == (None, ())
    assert [(word.about, word.reason) for word in again.skipped] == [(made, "it is undone already")]


def test_a_run_of_several_commits_over_the_same_note_goes_as_one(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"plan.md": PLAN})
    for word in ("TWO", "Two!", "2"):
        text = (vault.read("plan.md") or b"").decode().splitlines(keepends=True)
        text[8] = word + "\n"
        act(vault, {"plan.md": "".join(text)})
        by_hand(vault, {f"{word}.md": "mine\n"})
    result = undo(vault, Selection(run="01RUN"))
    assert tree(vault)["plan.md"] == PLAN
    assert (len(result.undone), len(result.files)) == (3, 1)
    assert {"TWO.md", "Two!.md", "2.md"} <= tree(vault).keys()


def test_run_ids_are_not_matched_by_their_beginning(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"plan.md": PLAN})
    act(vault, {"x.md": "x\n"}, Stamp(run="01RUNNER"))
    with pytest.raises(UserError, match="of a run 01RUN"):
        undo(vault, Selection(run="01RUN"))
    assert "x.md" in tree(vault)


def test_a_job_is_undone(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"plan.md": PLAN})
    act(vault, {"x.md": "x\n"}, Stamp("job:morning"))
    act(vault, {"y.md": "y\n"}, Stamp("job:morning/2"))
    undo(vault, Selection(jobs=("morning",)))
    assert "x.md" not in tree(vault)
    assert "y.md" in tree(vault)


def test_a_job_is_undone_since_a_time(tmp_path: Path) -> None:
    clock = FakeClock(start=datetime(2027, 1, 1, 12, tzinfo=UTC))
    vault = make_vault(tmp_path, {"plan.md": PLAN}, clock=clock)
    act(vault, {"early.md": "x\n"}, Stamp("job:morning"))
    clock.advance(3600)
    since = clock.now()
    act(vault, {"late.md": "x\n"}, Stamp("job:morning"))
    act(vault, {"other.md": "x\n"}, Stamp("job:evening"))
    assert len(undo(vault, Selection(jobs=("morning",), since=since)).undone) == 1
    assert {"early.md", "other.md"} <= tree(vault).keys() and "late.md" not in tree(vault)


def test_since_keeps_the_persons_own_commits_and_counts_them(tmp_path: Path) -> None:
    clock = FakeClock(start=datetime(2027, 1, 1, 12, tzinfo=UTC))
    vault = make_vault(tmp_path, {"plan.md": PLAN}, clock=clock)
    act(vault, {"early.md": "x\n"})
    clock.advance(3600)
    since = clock.now()
    act(vault, {"mcp.md": "x\n"}, Stamp("mcp:editor"))
    act(vault, {"http.md": "x\n"}, Stamp("http"))
    write(vault.place.root / "mine.md", "mine\n")
    vault.commit_human()
    act(vault, {"job.md": "x\n"}, Stamp("job:a"))
    result = undo(vault, Selection(since=since))
    assert tree(vault).keys() == {"plan.md", "early.md", "mine.md", "vault-agent.yaml"}
    assert (len(result.undone), result.human_commits_kept) == (3, 1)
    everything = undo(vault, Selection(since=since, include_human=True))
    assert "mine.md" not in tree(vault)
    assert everything.human_commits_kept == 0
    assert tree(vault).keys() == {"plan.md", "early.md", "vault-agent.yaml"}


@pytest.mark.parametrize("path", ["new.md", "daily/2026-11-21.md"])
def test_a_created_note_that_was_edited_since_is_kept_whole(tmp_path: Path, path: str) -> None:
    vault = make_vault(tmp_path, {"plan.md": PLAN})
    act(vault, {path: "a\nb\nc\n", "other.md": "x\n"})
    act(vault, {path: "a\nb\nC\n"})
    by_hand(vault, {path: "mine\na\nb\nC\n"})
    result = undo(vault, Selection(run="01RUN"))
    assert tree(vault)[path] == "mine\na\nb\nC\n"
    assert "other.md" not in tree(vault)
    assert [(word.about, word.reason) for word in result.kept] == [(path, "you have edited it since")]


def test_a_note_that_was_kept_goes_with_a_second_undo_once_it_is_as_it_was_made(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"plan.md": PLAN})
    act(vault, {"new.md": "a\nb\nc\n"})
    act(vault, {"other.md": "x\n"})
    by_hand(vault, {"new.md": "a\nb\nc\nmine\n"})
    first = undo(vault, Selection(run="01RUN"))
    assert len(first.partial) == 1 and len(first.undone) == 1 and "new.md" in tree(vault)
    again = undo(vault, Selection(run="01RUN"))
    assert again.commit is None and [word.about for word in again.kept] == ["new.md"]
    by_hand(vault, {"new.md": "a\nb\nc\n"})
    second = undo(vault, Selection(run="01RUN"))
    assert second.commit and tree(vault).keys() == {"plan.md", "vault-agent.yaml"}


@pytest.mark.parametrize(
    ("language", "named"), [("en", "undo(notes): the run “plan the trip”"), ("zh", "undo(notes): 运行“plan the trip”")]
)
def test_the_undo_of_a_run_is_named_by_what_was_asked(tmp_path: Path, language: Language, named: str) -> None:
    vault = make_vault(tmp_path, {"plan.md": PLAN}, options=replace(FAST, language=language))
    act(vault, {"new.md": "a\n"})
    stamp, subject = Stamp("agent", run="01RUN", tool=CAPTURE), session_subject("finished", "plan the trip")
    with vault.transaction(subject, stamp) as change:
        change.create("sessions/trip.md", b"What was said.\n")
    undo(vault, Selection(run="01RUN"))
    assert git(vault.place.root, "log", "-1", "--format=%s").strip() == named


def test_a_commit_with_an_answer_and_its_record_is_undone_without_the_record(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"inbox/tea.md": "Which tea?\n"})
    with vault.transaction("inbox(done): Which tea?", Stamp("agent", run="01RUN", tool=CAPTURE)) as change:
        change.append("inbox/tea.md", b"Green.\n")
        change.create("sessions/tea.md", b"What was said.\n")
    take_back(vault, head(vault.place.root))
    assert tree(vault)["inbox/tea.md"] == "Which tea?\n" and "sessions/tea.md" in tree(vault)


def test_a_created_note_that_was_put_elsewhere_is_kept(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"plan.md": PLAN})
    made = act(vault, {"new.md": "a\nb\nc\n"})
    (vault.place.root / "new.md").rename(vault.place.root / "kept.md")
    result = take_back(vault, made)
    assert tree(vault)["kept.md"] == "a\nb\nc\n"
    assert [(word.about, word.reason) for word in result.kept] == [("kept.md", "you have moved it since")]
    assert result.commit is None


def test_a_created_note_that_another_run_edited_is_kept(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"plan.md": PLAN})
    made = act(vault, {"new.md": "a\n"})
    later = act(vault, {"new.md": "a\nb\n"}, Stamp(run="02RUN"))
    assert take_back(vault, made).kept[0].reason == f"agent ({later[:8]}) has edited it since"


HEAD = "---\ntype: daily\n---\n# 2026-11-21\n"
DAY = "daily/2026-11-21.md"


def log(vault: Vault, run: str) -> str:
    """A run adds its line to the day's log, which the first one begins; the commit."""
    with vault.transaction("session: finished", Stamp(run=run, tool="capture")) as tx:
        tx.append(DAY, f"## 09:00 - {run}\n\n- used search\n".encode(), HEAD.encode())
    assert tx.outcome.commit
    return tx.outcome.commit


@pytest.mark.parametrize("run", ["01RUN", "02RUN", "03RUN"])
def test_each_run_s_lines_are_taken_out_of_a_log_and_the_others_stay(tmp_path: Path, run: str) -> None:
    vault = make_vault(tmp_path)
    for each in "01RUN", "02RUN", "03RUN":
        log(vault, each)
    by_hand(vault, {DAY: tree(vault)[DAY] + "\nslept badly\n"})
    before = tree(vault)[DAY]
    done = undo(vault, Selection(run=run))
    others = [each for each in ("01RUN", "02RUN", "03RUN") if each != run]
    left = "".join(f"## 09:00 - {each}\n\n- used search\n" for each in others)
    assert tree(vault)[DAY] == f"{HEAD}{left}\nslept badly\n" and clean(vault)
    take_back(vault, done.commit or "")
    assert tree(vault)[DAY] == before


REVIEW = "## {at}\n\n- **Result**: {said}\n\n- [ ] helpful\n- [ ] not helpful\n\n"


def review(vault: Vault, job: str, at: str, said: str = "It went well.") -> None:
    """A job adds its section to the reflections of a day, which look alike."""
    head = b"---\ntype: reflections\n---\n# Reflections\n\n"
    with vault.transaction("reflection", Stamp(f"job:{job}", tool="reflection")) as change:
        change.append("reflections/2026/11/2026-11-21-reflections.md", REVIEW.format(at=at, said=said).encode(), head)


@pytest.mark.parametrize("order", [("one", "two"), ("two", "one")])
def test_jobs_that_write_into_one_log_are_each_taken_back_whole(tmp_path: Path, order: tuple[str, str]) -> None:
    vault = make_vault(tmp_path, {"plan.md": PLAN})
    for hour, job in enumerate(("one", "two", "one", "one", "two", "two", "one")):
        review(vault, job, f"{hour + 10}:00")
    path = "reflections/2026/11/2026-11-21-reflections.md"
    by_hand(vault, {path: tree(vault)[path] + "mine\n"})
    for job in order:
        result = undo(vault, Selection(jobs=(job,)))
        assert not result.partial and not result.kept
    assert tree(vault)[path] == "---\ntype: reflections\n---\n# Reflections\n\nmine\n"


def test_jobs_that_rewrite_the_same_lines_are_taken_back_together(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"plan.md": PLAN})
    for number, job in enumerate(("one", "two", "one")):
        act(vault, {"plan.md": PLAN.replace("two", f"count {number}")}, Stamp(f"job:{job}"))
    with pytest.raises(Conflict) as stopped:
        undo(vault, Selection(jobs=("two",)))
    assert stopped.value.hint.startswith("take them back together, with --job two --job one; or repeat")
    assert len(undo(vault, Selection(jobs=("two", "one"))).undone) == 3
    assert tree(vault)["plan.md"] == PLAN and clean(vault)


def test_where_a_person_changed_the_lines_too_no_jobs_are_offered(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"plan.md": PLAN})
    for number, job in enumerate(("one", "two")):
        act(vault, {"plan.md": PLAN.replace("two", f"count {number}")}, Stamp(f"job:{job}"))
    by_hand(vault, {"plan.md": PLAN.replace("two", "mine")})
    with pytest.raises(Conflict) as stopped:
        undo(vault, Selection(jobs=("one",)))
    assert stopped.value.hint.startswith("repeat it with --partial")


def test_a_part_that_was_replaced_is_as_before_whatever_stands_around_it(tmp_path: Path) -> None:
    begun = f"{HEAD}## Summary\n\nThree things were counted.\n\n## Log\n\n- [ ] helpful\n- [ ] not helpful\n"
    vault = make_vault(tmp_path, {DAY: begun})
    written = begun.replace("Three things were counted.", "A calm day in the garden.")
    end = "\n## Summed up\n\n- [ ] helpful\n- [ ] not helpful\n"
    act(vault, {DAY: written + end})
    others = "\n## Other work\n\n- [ ] helpful\n- [ ] not helpful\n"
    act(vault, {DAY: written.replace("## Log", f"{others}\n## Log") + end}, Stamp(run="02RUN"))
    undo(vault, Selection(run="01RUN"))
    assert tree(vault)[DAY] == begun.replace("## Log", f"{others}\n## Log")


def test_a_section_in_which_its_person_has_ticked_a_box_stays(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"plan.md": PLAN})
    for hour, job in enumerate(("one", "two", "one")):
        review(vault, job, f"{hour + 10}:00")
    path = "reflections/2026/11/2026-11-21-reflections.md"
    ticked = tree(vault)[path].replace("- [ ] not helpful", "- [x] not helpful")
    by_hand(vault, {path: ticked})
    with pytest.raises(Conflict):
        undo(vault, Selection(jobs=("two",)))
    assert tree(vault)[path] == ticked


def test_a_log_that_nobody_added_to_goes_with_the_run_that_began_it(tmp_path: Path) -> None:
    vault = make_vault(tmp_path)
    log(vault, "01RUN")
    undo(vault, Selection(run="01RUN"))
    assert DAY not in tree(vault)


def test_a_log_that_its_person_began_is_kept_as_any_note_of_theirs(tmp_path: Path) -> None:
    vault = make_vault(tmp_path)
    mine = by_hand(vault, {DAY: "# Mine\n\nslept badly\n"})
    log(vault, "01RUN")
    assert take_back(vault, mine).kept and "slept badly" in tree(vault)[DAY]


def test_the_record_of_a_run_stays_when_the_run_is_taken_back(tmp_path: Path) -> None:
    vault = make_vault(tmp_path)
    record = "sessions/2026/11/tea.md"
    made = act(vault, {record: "# Tea\n", "tea.md": "green\n"})
    only = act(vault, {record: "# Tea\n\nmore\n"})
    result = undo(vault, Selection(run="01RUN"))
    assert "tea.md" not in tree(vault) and tree(vault)[record] == "# Tea\n\nmore\n"
    assert [(word.about, word.reason) for word in result.skipped] == [(only, "it is the record of a run, and stays")]
    take_back(vault, result.commit or "")
    assert tree(vault)["tea.md"] == "green\n"
    gone = by_hand(vault, {record: None})
    take_back(vault, gone)
    assert tree(vault)[record] == "# Tea\n\nmore\n", "what a person did to it can be taken back"
    take_back(vault, made, only)
    assert tree(vault).keys() == {"vault-agent.yaml"}, "a commit that is named goes whole"


def test_a_deleted_note_comes_back_unless_its_place_is_taken(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"a/plan.md": PLAN, "b.md": "b\n"})
    made = act(vault, {"a/plan.md": None, "b.md": None})
    by_hand(vault, {"b.md": "another b\n"})
    with pytest.raises(Conflict, match="b.md: another note has taken its place") as caught:
        take_back(vault, made)
    assert caught.value.paths == ("b.md",)
    assert "a/plan.md" not in tree(vault)
    result = take_back(vault, made, partial=True)
    assert tree(vault)["a/plan.md"] == PLAN
    assert tree(vault)["b.md"] == "another b\n"
    assert (result.undone, result.partial) == ((), (made,))


def test_overlapping_edits_refuse_the_whole_and_name_the_later_commit(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"plan.md": PLAN, "x.md": "x\n"})
    act(vault, {"plan.md": PLAN.replace("two", "TWO"), "x.md": "y\n"})
    mine = by_hand(vault, {"plan.md": PLAN.replace("two", "2")})
    before = tree(vault)
    with pytest.raises(Conflict) as caught:
        undo(vault, Selection(run="01RUN"))
    assert mine[:8] in caught.value.message
    assert "--partial" in caught.value.hint
    assert (tree(vault), head(vault.place.root)) == (before, mine)
    result = undo(vault, Selection(run="01RUN"), partial=True)
    assert tree(vault)["x.md"] == "x\n"
    assert tree(vault)["plan.md"] == PLAN.replace("two", "2")
    assert result.refused[0].about == "plan.md"


def test_a_conflict_names_edits_that_are_not_committed(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"plan.md": PLAN})
    made = act(vault, {"plan.md": PLAN.replace("two", "TWO")})
    by_hand(vault, {"plan.md": PLAN.replace("two", "2")}, commit=False)
    with pytest.raises(Conflict, match="not committed yet"):
        take_back(vault, made)
    assert tree(vault)["plan.md"] == PLAN.replace("two", "2")


def test_a_partial_undo_can_be_completed_later(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"plan.md": PLAN, "x.md": "x\n"})
    made = act(vault, {"plan.md": PLAN.replace("two", "TWO"), "x.md": "y\n"})
    by_hand(vault, {"plan.md": PLAN.replace("two", "2")})
    take_back(vault, made, partial=True)
    by_hand(vault, {"plan.md": PLAN.replace("two", "TWO")})
    assert take_back(vault, made).undone == (made,)
    assert tree(vault) == {"plan.md": PLAN, "x.md": "x\n", "vault-agent.yaml": ""}


def test_a_note_that_was_moved_since_is_changed_where_it_is(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"plan.md": PLAN, "z.md": "z\n"})
    made = act(vault, {"plan.md": PLAN.replace("two", "TWO")})
    (vault.place.root / "deep").mkdir()
    git(vault.place.root, "mv", "plan.md", "deep/one.md")
    git(vault.place.root, "commit", "-q", "-m", "moved")
    (vault.place.root / "deep/one.md").rename(vault.place.root / "last.md")
    take_back(vault, made)
    assert tree(vault) == {"last.md": PLAN, "z.md": "z\n", "vault-agent.yaml": ""}


def test_a_move_by_hand_that_history_has_in_two_steps_is_followed(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"plan.md": PLAN, "z.md": "z\n"})
    made = act(vault, {"plan.md": PLAN.replace("two", "TWO")})
    (vault.place.root / "plan.md").rename(vault.place.root / "moved.md")
    act(vault, {"moved.md": PLAN.replace("two", "TWO") + "more\n"}, Stamp(run="02RUN"))
    by_hand(vault, {"z.md": "zz\n"})
    take_back(vault, made)
    assert tree(vault) == {"moved.md": PLAN + "more\n", "z.md": "zz\n", "vault-agent.yaml": ""}


def test_moves_are_taken_back_and_empty_folders_go(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"plan.md": PLAN, "b.md": "berry\nbroccoli\n"})
    act(vault, {}, moves={"plan.md": "x/y/plan.md", "b.md": "x/b.md"})
    act(vault, {"x/y/plan.md": PLAN.replace("two", "TWO")})
    by_hand(vault, {"x/y/plan.md": PLAN.replace("two", "TWO") + "mine\n"})
    undo(vault, Selection(run="01RUN"))
    assert tree(vault) == {"plan.md": PLAN + "mine\n", "b.md": "berry\nbroccoli\n", "vault-agent.yaml": ""}
    assert not (vault.place.root / "x").exists()


def test_a_note_moved_by_the_run_and_again_by_the_person_stays_where_they_put_it(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"plan.md": PLAN})
    act(vault, {}, moves={"plan.md": "agent.md"})
    act(vault, {"agent.md": PLAN + "more\n"})
    git(vault.place.root, "mv", "agent.md", "person.md")
    git(vault.place.root, "commit", "-q", "-m", "moved")
    undo(vault, Selection(run="01RUN"))
    assert tree(vault)["person.md"] == PLAN


def test_notes_that_traded_places_trade_back(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"a.md": "apple\n" * 9, "b.md": "berry\n" * 9, "c.md": "cherry\n" * 9})
    before = tree(vault)
    act(vault, {}, moves={"a.md": "t.md"})
    act(vault, {}, moves={"b.md": "a.md", "c.md": "b.md"})
    act(vault, {}, moves={"t.md": "c.md"})
    undo(vault, Selection(run="01RUN"))
    assert tree(vault) == before
    assert clean(vault)


def test_a_created_note_in_the_place_of_a_moved_one(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"a.md": "apple\n" * 9})
    act(vault, {}, moves={"a.md": "b.md"})
    act(vault, {"a.md": "something else\n"})
    undo(vault, Selection(run="01RUN"))
    assert tree(vault)["a.md"] == "apple\n" * 9
    assert "b.md" not in tree(vault)


def test_a_kept_note_stands_in_the_way_of_what_would_come_back(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"a.md": "apple\n" * 9})
    act(vault, {"a.md": None})
    act(vault, {"a.md": "agent\n"})
    by_hand(vault, {"a.md": "agent\nmine\n"})
    with pytest.raises(Conflict):
        undo(vault, Selection(run="01RUN"))
    undo(vault, Selection(run="01RUN"), partial=True)
    assert tree(vault)["a.md"] == "agent\nmine\n"


def test_a_note_that_the_person_deleted_since_stays_deleted(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"plan.md": PLAN})
    made = act(vault, {"plan.md": PLAN + "x\n"})
    by_hand(vault, {"plan.md": None}, commit=False)
    result = take_back(vault, made)
    assert result.commit is None
    assert [word.reason for word in result.skipped] == ["it is gone already"]
    assert "plan.md" not in tree(vault)


def test_attachments_go_back_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"plan.md": PLAN})
    first = act(vault, {"pic.bin": "one\0"})
    second = act(vault, {"pic.bin": "two\0"})
    take_back(vault, second)
    assert tree(vault)["pic.bin"] == "one\0"
    by_hand(vault, {"pic.bin": "mine\0"})
    assert take_back(vault, first).kept[0].about == "pic.bin"
    with pytest.raises(Conflict, match="it was changed since"):
        take_back(vault, git(vault.place.root, "log", "--format=%H", "--grep", "undo(notes)", "-1").strip())


def test_links_are_left_alone_with_a_word(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"plan.md": PLAN})
    (vault.place.root / "link.md").symlink_to("plan.md")
    mine = by_hand(vault, {"x.md": "x\n"})
    result = take_back(vault, mine)
    assert (vault.place.root / "link.md").is_symlink()
    assert "x.md" not in tree(vault)
    assert ("link.md", "a link or another repository is left as it is") in {(w.about, w.reason) for w in result.skipped}


def test_the_brake_asks_before_many_notes_go(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"plan.md": PLAN})
    made = act(vault, {f"n{n}.md": f"note {n}\n" for n in range(30)})
    with pytest.raises(MassChange):
        take_back(vault, made)
    assert len(tree(vault)) == 32
    take_back(vault, made, confirmed=True)
    assert len(tree(vault)) == 2


def test_an_undo_waits_while_the_repository_is_busy(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"plan.md": PLAN})
    made = act(vault, {"plan.md": PLAN + "x\n"})
    marker = vault.place.gitdir / "MERGE_HEAD"
    marker.write_text(made + "\n")
    result = take_back(vault, made)
    assert (result.commit, result.queued) == (None, "a merge is under way")
    marker.unlink()
    vault.settle()
    assert vault.read("plan.md") == PLAN.encode()


def test_a_dry_run_changes_nothing(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"plan.md": PLAN})
    made = act(vault, {"plan.md": PLAN + "x\n"})
    result = undo(vault, Selection(commits=(made,)), dry_run=True)
    assert [change.path for change in result.files] == ["plan.md"]
    assert head(vault.place.root) == made


def test_commits_from_a_merged_branch_are_undone_through_its_renames(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"plan.md": PLAN, "other.md": "o\n"})
    root = vault.place.root
    git(root, "checkout", "-q", "-b", "side")
    made = act(vault, {"plan.md": PLAN.replace("two", "TWO")})
    git(root, "checkout", "-q", "main")
    git(root, "mv", "plan.md", "moved.md")
    git(root, "commit", "-q", "-m", "moved")
    by_hand(vault, {"other.md": "o\np\n"})
    git(root, "merge", "-q", "-m", "merged", "side")
    assert "TWO" in tree(vault)["moved.md"]
    take_back(vault, made)
    assert tree(vault) == {"moved.md": PLAN, "other.md": "o\np\n", "vault-agent.yaml": ""}


def test_a_vault_in_a_folder_of_a_repository_undoes_only_its_own_part(tmp_path: Path) -> None:
    root = tmp_path / "project"
    write(root / "notes/vault-agent.yaml", "")
    write(root / "notes/plan.md", PLAN)
    write(root / "code.py", "one\n")
    git(root, "init", "-q", "-b", "main")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "first")
    vault = open_vault(root / "notes", tmp_path / "state", SystemClock(), FAST)
    act(vault, {"plan.md": PLAN.replace("two", "TWO"), "new.md": "n\n"}, moves={"plan.md": "sub/plan.md"})
    write(root / "code.py", "two\n")
    write(root / "notes/mine.md", "mine\n")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "mine")
    both = head(root)
    undo(vault, Selection(run="01RUN"))
    assert tree(vault) == {"plan.md": PLAN, "mine.md": "mine\n", "vault-agent.yaml": ""}
    take_back(vault, both)
    assert "mine.md" not in tree(vault)
    assert (root / "code.py").read_text() == "two\n"


def test_what_is_written_between_an_undo_and_its_undo_stays_too(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"plan.md": PLAN})
    made = act(vault, {"plan.md": PLAN.replace("two", "TWO"), "new.md": "n\n"})
    undone = take_back(vault, made)
    by_hand(vault, {"plan.md": PLAN + "mine\n", "mine.md": "m\n"})
    take_back(vault, undone.commit or "")
    expected = {"plan.md": PLAN.replace("two", "TWO") + "mine\n", "new.md": "n\n", "mine.md": "m\n"}
    assert tree(vault) == {**expected, "vault-agent.yaml": ""}


@given(st.lists(st.sampled_from("abcd"), max_size=6), st.lists(st.sampled_from("abcdxy"), max_size=6))
def test_merging_touching_lines_keeps_what_one_side_did(base: list[str], changed: list[str]) -> None:
    old, new = ("".join(f"{line}\n" for line in lines).encode() for lines in (base, changed))
    assert merge_touching(old, new, old) == new
    assert merge_touching(old, old, new) == new
    assert merge_touching(old, new, new) == new


@given(st.lists(st.integers(0, 9), min_size=1, max_size=8, unique=True), st.data())
def test_merging_touching_lines_loses_no_line(base: list[int], data: st.DataObject) -> None:
    mine, other = (
        [f"{side}{n}" if data.draw(st.booleans()) else str(n) for n in base if data.draw(st.booleans())]
        for side in ("m", "o")
    )
    merged = merge_touching(
        *("".join(f"{n}\n" for n in lines).encode() for lines in (list(map(str, base)), mine, other))
    )
    if merged is not None:
        lines = merged.decode().splitlines()
        assert {n for n in [*mine, *other] if n[0] in "mo"} <= set(lines)
        assert {str(n) for n in base if str(n) in mine and str(n) in other} <= set(lines)


@pytest.mark.parametrize(("base", "ours", "theirs"), [("a\n", "a\nx\n", "a\ny\n"), ("a\nb\n", "a\nx\n", "a\ny\n")])
def test_what_has_no_certain_order_is_not_merged(base: str, ours: str, theirs: str) -> None:
    assert merge_touching(base.encode(), ours.encode(), theirs.encode()) is None


def test_unknown_and_foreign_commits_are_named(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"plan.md": PLAN})
    for name in ("-n", "nonsense", "HEAD:plan.md", ""):
        with pytest.raises(UserError):
            take_back(vault, name)
    git(vault.place.root, "checkout", "-q", "-b", "side")
    foreign = by_hand(vault, {"s.md": "s\n"})
    git(vault.place.root, "checkout", "-q", "main")
    with pytest.raises(UserError, match="not in this branch"):
        take_back(vault, foreign)
