"""What hooks put before the model stands in the session's note with its lines, pinned where git has them."""

from pathlib import Path

from agent.events.bus import Injection
from agent.events.receipt import Receipt
from agent.events.runs import IterationStarted, TaskStarted
from agent.llm.scripted import ScriptedCall, ScriptedReply
from agent.loop.receipts import pin_receipts
from agent.loop.records import Spoken
from agent.loop.session import load_session
from agent.tools.tool import Cited
from tests.loop.stage import note, stage
from tests.vaults import head, write

TEA = Receipt("tea.md", (1, 3), None, 0.5, "words")


def test_at_the_beginning_and_at_a_step_receipts_stand_below_the_text(tmp_path: Path) -> None:
    scene = stage(tmp_path, ["Done."], tea="# Tea\n\nGreen.\n", plan="# Plan\n")
    write(scene.root / "plan.md", "# Another plan\n")
    plan = Receipt("plan.md", (1, 1), None, 0.25, "")
    scene.bus.subscribe(lambda _: [Injection("drink tea", "a", receipts=(TEA, plan))], TaskStarted, name="a")
    scene.bus.subscribe(lambda _: [Injection("more tea", "b", receipts=(TEA,))], IterationStarted, name="b")
    commit = head(scene.root)
    ended = scene.ask("tea?")
    text = note(scene.vault, ended.session)
    assert "> [!quote]- a: `tea.md` lines 1–3 · `plan.md` line 1\n" in text
    assert "> [!quote]- b: `tea.md` lines 1–3\n" in text and "[[" not in text, "a link would count as the person's"
    said = (each.event for each in load_session(scene.vault, ended.session).records if isinstance(each.event, Spoken))
    first, second = (each for each in said if each.pinned)
    assert [each.pin for each in first.pinned] == [commit, scene.vault.current_id("plan.md")]
    assert (first.message.text, second.message.text) == ("drink tea", "more tea")
    assert (ended.sources, set(ended.provided)) == ((), {Cited("tea.md", (1, 3)), Cited("plan.md", (1, 1))})
    scene.bus.close()


def test_what_tools_showed_is_told_from_what_was_there_unasked(tmp_path: Path) -> None:
    read = ScriptedReply("", (ScriptedCall("vault_read", {"path": "plan.md"}),))
    scene = stage(tmp_path, [read, "Done."], tea="# Tea\n\nGreen.\n", plan="# Plan\n")
    scene.bus.subscribe(lambda _: [Injection("drink tea", "a", receipts=(TEA,))], TaskStarted, name="a")
    ended = scene.ask("tea?")
    assert (ended.sources, ended.provided) == ((Cited("plan.md", (1, 1)),), (Cited("tea.md", (1, 3)),))
    scene.bus.close()


def test_what_there_is_no_room_for_leaves_no_receipt(tmp_path: Path) -> None:
    scene = stage(tmp_path, ["Done."], tea="# Tea\n\nGreen.\n")
    said = [Injection("short", "a", 2, (TEA,)), Injection("x" * 9_000, "b", 1, (Receipt("b.md", (1, 1), None, 0, ""),))]
    scene.bus.subscribe(lambda _: said, IterationStarted, name="a")
    text = note(scene.vault, scene.ask("tea?").session)
    assert "`tea.md`" in text and "`b.md`" not in text
    scene.bus.close()


def test_where_git_cannot_be_asked_the_receipt_has_no_commit(tmp_path: Path) -> None:
    scene = stage(tmp_path, [], tea="# Tea\n")
    told = (Injection("tea", "a", receipts=(TEA,)), Injection("plain", "b"))
    (scene.root / ".git").rename(tmp_path / "away")
    assert pin_receipts(scene.vault, told) == told
    scene.bus.close()
