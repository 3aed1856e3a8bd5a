"""What gets done with and without help that nobody asked for: counted by weeks, and told with how little it proves."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from agent.app.figures import load_effect
from agent.app.notices import open_outbox
from agent.app.open import open_workspace
from agent.attention.receipt import NoticeReceipt
from agent.events.notices import NoticeRaised
from agent.growth.effect.effect_document import effect_document
from agent.growth.effect.ticked import EditDay, TickReader
from agent.growth.effect.weeks import WEEKS, EffectWeek, HelpEffect, effect_of_help
from agent.growth.effect.wording import caution, comparison_words
from agent.interfaces.cli.main import main
from agent.metrics.collect import Collector
from agent.metrics.comparison import Group, GroupComparison
from agent.metrics.totals import MetricTotals
from agent.texts import LANGUAGES
from agent.vault.change import Stamp
from agent.vault.store import Vault
from tests.fakes import FakeClock
from tests.metrics.test_figures_add_up import ENDED
from tests.vaults import make_vault

NOW = datetime(2026, 11, 25, 12, tzinfo=UTC)
MONDAY = date(2026, 11, 23)


def week(back: int) -> date:
    return MONDAY - timedelta(weeks=back)


def edits(back: int, *ticked: int) -> list[EditDay]:
    """Commits of one week."""
    at = datetime.combine(week(back), NOW.time(), UTC)
    return [EditDay(at + timedelta(hours=number), count) for number, count in enumerate(ticked)]


def totals(helped: dict[str, float], unhelped: dict[str, float]) -> MetricTotals:
    return MetricTotals(helped=helped, unhelped=unhelped)


def test_weeks_begin_on_monday_and_the_days_before_the_first_are_left_out() -> None:
    days = {week(2): totals({"finished": 3, "failed": 1}, {}), week(1) + timedelta(6): totals({}, {"finished": 2})}
    found = effect_of_help(NOW, days, (), edits(0, 4))
    assert found.weeks == (
        EffectWeek(week(2), 4, 3, 0, 0),
        EffectWeek(week(1), 0, 0, 2, 2),
        EffectWeek(week(0), ticked=4, edits=1),
    )
    assert found.requests == GroupComparison(Group(4, 3), Group(2, 2))


def test_what_is_older_than_half_a_year_does_not_count() -> None:
    found = effect_of_help(NOW, {week(WEEKS): totals({"finished": 1}, {})}, (), edits(WEEKS - 1, 2))
    assert len(found.weeks) == WEEKS and found.weeks[0].ticked == 2
    assert found.requests.given.count == 0


def test_the_present_week_and_weeks_without_a_word_are_not_compared() -> None:
    helped = {week(back): totals({"finished": 1}, {}) for back in (0, 1, 2, 3, 9)}
    ticks = [*edits(0, 50), *edits(1, 4, 2), *edits(2, 5), *edits(3, 7)]
    ticks += [*edits(4, 1), *edits(5, 2), *edits(6, 0)]
    found = effect_of_help(NOW, helped, (), ticks).boxes
    assert (found.given, found.plain) == (Group(3, 18), Group(3, 3))
    assert found.difference is not None and found.difference.value == 5 and not found.difference.may_be_chance


@pytest.fixture
def suggestion(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> NoticeReceipt:
    monkeypatch.setenv("VAULT_AGENT_HOME", str(tmp_path / "home"))
    outbox = open_outbox(open_workspace(make_vault(tmp_path).place.root, clock=FakeClock()))
    return outbox.take(NoticeRaised("pattern", 0.9, "Again and again", (), "x:1"))


def test_a_suggestion_that_was_shown_makes_a_week_one_with_help(suggestion: NoticeReceipt) -> None:
    shown = replace(suggestion, delivered_at=NOW - timedelta(weeks=1))
    listed = replace(suggestion, id="listed", digest="digest")
    digest = replace(shown, id="digest", raised=replace(shown.raised, type="digest"))
    trouble = replace(shown, id="trouble", raised=replace(shown.raised, type="node_away"))
    found = effect_of_help(NOW, {}, (shown, listed, digest, trouble, replace(suggestion, id="waits")), ())
    assert [(each.monday, each.suggestions) for each in found.weeks if each.is_with] == [(week(1), 2)]


OPEN, DONE = "# Roof\n\n- [ ] call Ana\n- [ ] buy slate\n", "# Roof\n\n- [x] call Ana\n- [ ] buy slate\n"


def commit(vault: Vault, actor: str = "human", **notes: str | None) -> None:
    """One commit; None deletes a note."""
    with vault.transaction("x", Stamp(actor)) as change:
        for name, text in notes.items():
            path = f"{name}.md"
            before = vault.read(path)
            if text is None:
                assert before is not None
                change.delete(path, before)
            elif before is None:
                change.create(path, text.encode())
            else:
                change.edit(path, before, text.encode())


def counts(vault: Vault) -> list[int]:
    """The boxes ticked by each commit of the person's, the oldest first."""
    return [each.ticked for each in reversed(TickReader().edits(vault, NOW - timedelta(days=3_650)))]


def test_a_box_counts_when_its_person_ticks_it(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"roof.md": OPEN})
    commit(vault, roof=DONE)
    commit(vault, roof=OPEN)
    commit(vault, "agent", roof=DONE)
    commit(vault, roof=DONE + "- [x] was done before it was written\n")
    assert counts(vault)[-3:] == [1, 0, 0]


def test_a_box_that_moved_and_was_ticked_counts_once_and_one_that_only_moved_does_not(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"roof.md": OPEN, "done.md": "# Done\n\n- [x] rest\n"})
    commit(vault, roof="# Roof\n\n- [ ] buy slate\n", done="# Done\n\n- [x] rest\n- [x] call Ana\n")
    commit(vault, roof="# Roof\n", house="- [ ] buy slate\n")
    commit(vault, done=None, old="- [x] rest\n- [x] call Ana\n")
    assert counts(vault)[-3:] == [1, 0, 0]


def test_boxes_with_which_its_person_answers_do_not_count(tmp_path: Path) -> None:
    body = "- [{0}] helpful\n- [{0}] helpful · 1a2b3c\n- [{0}] water the roses\n"
    vault = make_vault(tmp_path, {"daily/2026-11-21.md": body.format(" "), "approvals/x.md": "- [ ] approve\n"})
    with vault.transaction("x", Stamp("human")) as change:
        for path, text in (("daily/2026-11-21.md", body.format("x")), ("approvals/x.md", "- [x] approve\n")):
            change.edit(path, vault.read(path) or b"", text.encode())
    assert counts(vault)[-1] == 1


def test_a_commit_of_many_notes_says_nothing(tmp_path: Path) -> None:
    names = [f"n{number}" for number in range(60)]
    vault = make_vault(tmp_path, {f"{name}.md": OPEN for name in names})
    commit(vault, **dict.fromkeys(names, DONE))
    assert counts(vault)[-1] == 0


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_words_have_the_counts_and_how_sure_it_is(language: str) -> None:
    days = {week(back): totals({"finished": 9, "failed": 1}, {"finished": 3, "failed": 7}) for back in range(1, 2)}
    found = effect_of_help(NOW, days, (), [*edits(1, 2), *edits(2, 3)])
    requests, boxes = comparison_words(found, language)  # type: ignore[arg-type]
    assert "9" in requests.given and "10" in requests.given and "90 %" in requests.given
    assert "+60.0" in requests.verdict and "+17.1" in requests.verdict and "+80.9" in requests.verdict
    assert "3" in boxes.verdict and caution(language)  # type: ignore[arg-type]
    assert effect_document(found)["requests"] == {
        "with": {"count": 10, "done": 9},
        "without": {"count": 10, "done": 3},
        "difference": pytest.approx(0.6),
        "interval": [pytest.approx(0.1705, abs=1e-3), pytest.approx(0.8090, abs=1e-3)],
    }


def test_nothing_counted_is_nothing_said() -> None:
    found = effect_of_help(NOW, {}, (), ())
    assert found == HelpEffect((), GroupComparison(Group(0, 0), Group(0, 0)), GroupComparison(Group(0, 0), Group(0, 0)))
    assert comparison_words(found, "en") == ()


def test_the_command_tells_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from agent.app.open import open_workspace

    monkeypatch.setenv("VAULT_AGENT_HOME", str(tmp_path / "home"))
    root = make_vault(tmp_path, {"roof.md": OPEN}).place.root
    workspace = open_workspace(root)
    commit(workspace.vault, roof=DONE)
    collector = Collector(workspace.metrics, workspace.clock)
    for number in range(6):
        collector.hear(replace(ENDED, run=f"r{number}", given=("roof.md",)))
        collector.hear(replace(ENDED, run=f"s{number}"))
    assert load_effect(workspace).weeks[-1].ticked == 1
    assert main(["--vault", str(root), "metrics"]) == 0
    said = capsys.readouterr().out
    assert "notes or a skill were brought up unasked: 6 of 6 (100 %)" in said
    assert "may be chance" in said and "This proves little" in said
