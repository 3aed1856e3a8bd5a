"""A file that the person has put into the vault is read: they are asked once if it is theirs, and a yes stays."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from agent.app.agent import opened_runs
from agent.app.open import open_workspace
from agent.config.edit import set_machine
from agent.config.load import load_vault_settings
from agent.events.runs import Speaker
from agent.interfaces.cli.main import main
from agent.loop.outcome import Ended
from agent.loop.records import RunRequest
from agent.loop.session import load_session
from agent.runs.named_decisions import answer_question
from agent.runs.own_files import settle_own_files
from agent.runs.waiting_questions import waiting_questions
from agent.tools.text_origin import still_strangers, text_origin_of
from agent.vault.change import Stamp
from tests.stories.agents import call, furnish, script, ticked
from tests.vault.sync.machines import two_machines
from tests.vaults import FAST, write

PNG = b"\x89PNG\r\n\x1a\n" + bytes(40)
OTHER = "from a saved file"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = furnish(tmp_path, monkeypatch.setenv, tmp_path / "script.json")
    for name in ("plan.png", "house.png", "cellar.png"):
        write(root / "Pictures" / name, PNG)
    return root


def reads(root: Path, path: str, session: str = "") -> Ended:
    script(root.parent / "script.json", call("vault_read", path=path), after="I have read it.")
    with opened_runs(open_workspace(root)) as runs:
        return runs.ask(RunRequest("what is in it?", Speaker("cli", "me")), session=session)


def asked(root: Path) -> list[Path]:
    """The notes that ask if a file is the person's and wait for an answer."""
    notes = sorted((root / "approvals").glob("*own_file*.md"))
    return [each for each in notes if "status: pending" in each.read_text("utf-8")]


def answer(root: Path, word: str) -> None:
    (note,) = asked(root)
    assert main(["--vault", str(root), "needs", "answer", note.stem, word]) == 0


def mine(root: Path) -> str:
    vault = open_workspace(root).vault
    return load_vault_settings(root, vault_id=vault.id).settings.attachments.mine


def strangers(root: Path, ended: Ended) -> tuple[str, ...]:
    return load_session(open_workspace(root).vault, ended.session).untrusted


def test_a_yes_adds_the_file_and_the_conversation_goes_on_free(root: Path) -> None:
    first = reads(root, "Pictures/plan.png")
    assert strangers(root, first) == (f"Pictures/plan.png ({OTHER})",)
    (note,) = asked(root)
    assert "Is this file yours: Pictures/plan.png?" in note.read_text("utf-8")
    reads(root, "Pictures/house.png")
    assert asked(root) == [note], "one question at a time"
    answer(root, "yes")
    assert mine(root) == "Pictures/plan.png" and strangers(root, first) == ()
    assert strangers(root, reads(root, "Pictures/plan.png")) == () and asked(root) == []


def test_the_second_file_of_a_folder_asks_about_the_folder(root: Path) -> None:
    reads(root, "Pictures/plan.png")
    answer(root, "yes")
    reads(root, "Pictures/house.png")
    assert "in this folder yours: Pictures/?" in asked(root)[0].read_text("utf-8")
    answer(root, "yes")
    assert mine(root) == "Pictures/plan.png, Pictures/"
    assert strangers(root, reads(root, "Pictures/cellar.png")) == ()


def test_after_a_no_nothing_of_the_folder_is_asked_about(root: Path) -> None:
    reads(root, "Pictures/plan.png")
    answer(root, "no")
    for name in ("plan.png", "house.png"):
        assert strangers(root, reads(root, f"Pictures/{name}")) != ()
    assert asked(root) == [] and mine(root) == ""


def test_a_note_with_lines_from_a_file_is_not_asked_about(root: Path) -> None:
    look, add = call("vault_read", path="Pictures/plan.png"), call("vault_append", path="plan.md", text="- sink 60")
    script(root.parent / "script.json", look, add, after="Added.")
    with opened_runs(open_workspace(root)) as runs:
        runs.ask(RunRequest("note what it shows", Speaker("cli", "me")))
    answer(root, "no")
    write(root / "plan.md", (root / "plan.md").read_text("utf-8") + "- and a tap\n")
    open_workspace(root).vault.commit_human()
    assert strangers(root, reads(root, "plan.md")) == (f"plan.md ({OTHER})",)
    assert asked(root) == []


def notes_from(root: Path, line: str, *looks: str) -> Ended:
    """The agent looks at these files, then writes a line into a note."""
    reading = [call("vault_read", path=path) for path in looks]
    add = call("vault_append", path="plan.md", text=line)
    script(root.parent / "script.json", *reading, add, after="Added.")
    with opened_runs(open_workspace(root)) as runs:
        return runs.ask(RunRequest("note what it shows", Speaker("cli", "me")))


def test_after_a_yes_what_was_written_from_the_file_alone_is_the_persons_too(root: Path) -> None:
    write(root / "clip.md", "---\nsource: https://example.org/sinks\n---\nA sink is 80 wide.\n")
    notes_from(root, "- the sink is 60 wide", "Pictures/plan.png")
    notes_from(root, "- another sink is 80 wide", "Pictures/plan.png", "clip.md")
    notes_from(root, "- the tap stands 15 high", "Pictures/plan.png", "Pictures/house.png")
    origin = text_origin_of(open_workspace(root).vault)

    def whose(line: str) -> str:
        return origin.source("plan.md", (root / "plan.md").read_bytes(), (at(line), at(line)))

    def at(line: str) -> int:
        return (root / "plan.md").read_text("utf-8").splitlines().index(line) + 1

    assert whose("- the sink is 60 wide") == f"plan.md ({OTHER})"
    answer(root, "yes")
    assert whose("- the sink is 60 wide") == ""
    assert whose("- another sink is 80 wide") != "", "the page may have said it"
    assert whose("- the tap stands 15 high") != "", "the other file is nobody's yet"
    first = reads(root, "Pictures/house.png")
    answer(root, "yes")
    assert strangers(root, first) == () and whose("- the tap stands 15 high") == ""
    for value, line in (("", "- the sink is 60 wide"), ("Pictures/*", "- another sink is 80 wide")):
        set_machine("attachments.mine", value, vault_id=open_workspace(root).vault.id)
        origin = text_origin_of(open_workspace(root).vault)
        assert whose(line) != "", value
    assert whose("- the sink is 60 wide") == whose("- the tap stands 15 high") == ""


def test_the_setting_alone_makes_what_was_written_before_the_persons_too(root: Path) -> None:
    notes_from(root, "- the sink is 60 wide", "Pictures/plan.png")
    set_machine("attachments.mine", "Pictures/*", vault_id=open_workspace(root).vault.id)
    origin = text_origin_of(open_workspace(root).vault)
    assert origin.source("plan.md", (root / "plan.md").read_bytes()) == ""


def test_a_run_that_waits_and_then_reads_another_file_writes_nothing_of_the_persons(root: Path) -> None:
    reads(root, "Pictures/plan.png")
    look, ask = (
        call("vault_read", path="Pictures/plan.png"),
        call("human_ask", question="And then?", options=["a", "b"]),
    )
    other, add = (
        call("vault_read", path="Pictures/house.png"),
        call("vault_append", path="plan.md", text="- the tap stands 15 high"),
    )
    script(root.parent / "script.json", look, ask, other, add, after="Added.")
    with opened_runs(open_workspace(root)) as runs:
        waits = runs.ask(RunRequest("look, then ask", Speaker("cli", "me")))
    answer(root, "yes")
    script(root.parent / "script.json", look, ask, other, add, after="Added.")
    workspace = open_workspace(root)
    (question,) = waiting_questions(workspace)
    answer_question(workspace, question, "1")
    with opened_runs(workspace) as runs:
        runs.resume(waits.session)
    note = (root / "plan.md").read_bytes()
    at = note.decode().splitlines().index("- the tap stands 15 high") + 1
    assert text_origin_of(open_workspace(root).vault).source("plan.md", note, (at, at)) == f"plan.md ({OTHER})"


def test_a_damaged_record_of_a_conversation_stops_no_answer(root: Path) -> None:
    first = reads(root, "Pictures/plan.png")
    second = reads(root, "Pictures/plan.png")
    damaged = root / second.session
    damaged.write_text(damaged.read_text("utf-8").replace("type: session", "type: [", 1), "utf-8")
    answer(root, "yes")
    assert asked(root) == [] and strangers(root, first) == ()


def test_a_tick_in_the_note_counts_in_a_process_that_was_there_before(root: Path) -> None:
    workspace = open_workspace(root)
    first = reads(root, "Pictures/plan.png")
    (note,) = asked(root)
    write(note, ticked(note.read_text("utf-8"), "approve"))
    settled = settle_own_files(open_workspace(root))
    assert [each.status for each in settled] == ["approved"]
    assert load_session(workspace.vault, first.session).untrusted == ()


@pytest.mark.parametrize("notes", [{"Pictures/sent.png": PNG}, {"a, b.png": PNG}])
def test_what_another_has_brought_or_a_setting_cannot_name_is_not_asked_about(
    root: Path, notes: Mapping[str, bytes]
) -> None:
    vault = open_workspace(root).vault
    with vault.transaction("vault(write): a file", Stamp("agent", run="01K0000000000000000000000A")) as change:
        for path, data in notes.items():
            change.create(path, data)
    for path in notes:
        assert strangers(root, reads(root, path)) != ()
    assert asked(root) == []


def test_a_folder_that_is_the_persons_makes_no_file_of_others_theirs(tmp_path: Path) -> None:
    options = replace(FAST, mine=lambda: ("docs/",))
    anna, bert = two_machines(tmp_path, {"tea.md": "# Tea\n"}, options)
    bert.write("docs/evil.csv", "a,b\n")
    bert.git("add", "-A")
    bert.git("commit", "-qm", "a file")
    bert.synced()
    anna.synced()
    anna.write("docs/mine.csv", "tea,green\n")
    sources = [f"docs/{name}.csv ({OTHER})" for name in ("evil", "mine")]
    assert list(still_strangers(anna.vault, sources)) == sources[:1]
