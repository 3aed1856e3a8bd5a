"""From the sessions of finished runs to a skill: offered in a note, written after a yes, not asked about after a no."""

from dataclasses import replace
from pathlib import Path

import pytest

from agent.asking.proposal import Proposal
from agent.asking.records import records_of
from agent.clock import Clock
from agent.context.budget import estimate
from agent.errors import Permanent, UserError
from agent.loop.records import Began
from agent.markdown.note import Note
from agent.runs.workflow_traces import SessionTraces
from agent.skills.learning.offers import SkillOffers
from agent.skills.learning.suggestion import Suggestion
from agent.skills.loading.files import ReviewPins, skill_locations
from agent.skills.loading.library import SkillLibrary
from agent.skills.matching.matcher import MatchState, MatchTask, match
from agent.skills.reading.skill import Skill
from agent.vault.change import Stamp
from agent.vault.store import Vault
from tests.fakes import FakeClock
from tests.session_notes import session_note
from tests.vaults import git, head, make_vault, write

TOOLS = ("search_vault", "vault_read", "vault_write")
PLACES = ("Assam", "Yunnan", "Kyoto", "Hunan", "Fujian", "Taiwan")


def run_note(clock: Clock, number: int, task: str, tools: tuple[str, ...] = TOOLS, **other: str) -> tuple[str, str]:
    """The session of a run."""
    run = Began(f"RUN{number}", task, "cli", other.get("sender", ""), group=other.get("group") == "yes")
    steps = [(tool, f"notes/{task.split()[-1].lower()}.md") for tool in tools]
    return session_note(run, clock.now(), steps, other.get("outcome", "finished"))


def write_up(suggestion: Suggestion) -> str:
    """A skill as a model writes it, in the first words of the shortest task."""
    words = suggestion.conditions[0].split()
    header = f"name: {'-'.join(words[:4])}\ndescription: {' '.join(words[:4])}. Use when one is wanted."
    steps = "\n".join(f"1. `{tool}`" for tool in suggestion.tools)
    return f"---\n{header}\ntriggers:\n  - {' '.join(words[2:4])}\n---\n# Work\n\n{steps}\n"


class Scene:
    """A vault in which tea was tasted three times."""

    def __init__(self, folder: Path, times: int = 3) -> None:
        self.clock = FakeClock()
        self.times = 0
        notes = dict(self.entry() for _ in range(times))
        self.vault: Vault = make_vault(folder, notes, clock=self.clock)
        self.root = folder / "vault"
        traces = SessionTraces(self.vault).load
        self.offers = SkillOffers(self.vault, traces=traces, write=write_up)
        self.library = SkillLibrary(skill_locations(self.root, folder / "package"), ReviewPins(folder / "pins"))

    def entry(self) -> tuple[str, str]:
        self.times += 1
        return run_note(self.clock, self.times, f"write the tasting sheet for tea from {PLACES[self.times % 6]}")

    def again(self, times: int) -> None:
        for _ in range(times):
            path, text = self.entry()
            write(self.root / path, text)

    def skills(self) -> tuple[Skill, ...]:
        self.library.refresh()
        return self.library.snapshot().skills

    def tick(self, path: str, box: str) -> None:
        file = self.root / path
        text = file.read_text("utf-8")
        assert f"- [ ] {box}\n" in text
        file.write_text(text.replace(f"- [ ] {box}\n", f"- [x] {box}\n"), "utf-8")


def on_another_machine(scene: Scene, folder: Path) -> SkillOffers:
    """The offers of a machine that has asked nothing."""
    records_of(scene.vault, "skill_offer").folder.rename(folder / "another machine")
    return SkillOffers(scene.vault, traces=scene.offers.traces)


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def test_a_workflow_that_came_back_is_offered_with_its_evidence_and_nothing_goes_live(scene: Scene) -> None:
    (offer,) = scene.offers.learn(scene.skills())
    note = Note.parse(scene.vault.read(offer.path) or b"")
    assert (note.type, note.string("proposes"), note.string("status")) == ("proposal", "skill", "pending")
    assert note.header["support"] == 3 and note.header["sequence"]
    assert offer.path.startswith("approvals/")
    assert len(note.strings("evidence")) == 3
    for link in note.strings("evidence"):
        assert link in note.body
        assert scene.vault.read(link.strip("[]") + ".md")
    assert "`search_vault` → `vault_read` → `vault_write`" in note.body
    assert scene.skills() == ()
    assert scene.offers.learn(scene.skills()) == (), "what waits is not offered again"


def in_the_form_of_before(scene: Scene, offer: Proposal) -> None:
    """The offer's note as earlier versions have written it."""
    data = scene.vault.read(offer.path) or b""
    note = Note.parse(data).with_key("type", "skill-suggestion").without_key("proposes").without_key("about")
    shown = f"`{offer.notes[0].path}`, as it would be"
    assert shown in note.body
    with scene.vault.transaction("an older note", Stamp("agent")) as change:
        change.edit(offer.path, data, note.with_body(note.body.replace(shown, "The skill")).data)


def test_an_offer_in_the_form_of_before_is_read_and_answered(scene: Scene, tmp_path: Path) -> None:
    (offer,) = scene.offers.learn(scene.skills())
    in_the_form_of_before(scene, offer)
    assert scene.offers.pending() == (offer,)
    scene.tick(offer.path, "approve")
    assert [each.status for each in scene.offers.settle()] == ["approved"]
    assert [each.name for each in scene.skills()] == [offer.name]


def test_a_refusal_in_the_form_of_before_is_known_in_another_clone(scene: Scene, tmp_path: Path) -> None:
    (offer,) = scene.offers.learn(())
    in_the_form_of_before(scene, offer)
    scene.offers.reject(offer.name, "too simple")
    assert on_another_machine(scene, tmp_path).suggest(()) == ()


def test_a_ticked_yes_becomes_a_skill_that_loads_and_fits_in_one_commit(scene: Scene) -> None:
    (offer,) = scene.offers.learn(scene.skills())
    scene.tick(offer.path, "approve")
    before = head(scene.root)
    (decided,) = scene.offers.settle()
    assert (decided.status, decided.notes[0].path) == ("approved", f"skills/learned/{offer.name}/SKILL.md")
    changed = git(scene.root, "show", "--name-only", "--format=", "HEAD").split()
    assert sorted(changed) == sorted([offer.path, offer.notes[0].path])
    assert git(scene.root, "rev-list", "--count", f"{before}..HEAD").strip() in {"1", "2"}, (
        "ours, and the person's tick"
    )
    (skill,) = scene.skills()
    assert scene.library.snapshot().problems == ()
    assert (skill.name, skill.source, skill.success_rate) == (offer.name, "learned", 1.0)
    assert skill.triggers is not None
    assert any(pattern.is_in(b"please write a tasting sheet for the new tea") for pattern in skill.triggers.patterns)
    note = Note.parse(scene.vault.read(offer.notes[0].path) or b"")
    assert len(note.strings("learned_from")) == 3
    assert note.header["version_history"] == ({"v1": "2026-11-21: learned from 3 runs"},)
    assert scene.offers.learn(scene.skills()) == (), "it is covered now"
    assert scene.offers.settle() == ()


def test_what_was_learned_is_used_for_the_next_task_of_its_kind(scene: Scene) -> None:
    (offer,) = scene.offers.learn(())
    scene.offers.accept(offer.name)
    (skill,) = scene.skills()
    scene.library.review(skill, scene.clock.now(), "accepted")
    task = MatchTask("please write the tasting sheet for the tea from Ceylon")
    (found,) = match(task, scene.library.snapshot(), MatchState(), estimate).offered
    assert found.skill.name == offer.name
    assert "`vault_write`" in found.skill.body
    assert not match(MatchTask("what is tea?"), scene.library.snapshot(), MatchState(), estimate).offered


def test_a_no_is_remembered_until_it_was_done_twice_as_often(scene: Scene) -> None:
    (offer,) = scene.offers.learn(())
    scene.tick(offer.path, "reject")
    (decided,) = scene.offers.settle()
    assert decided.status == "rejected"
    assert Note.parse(scene.vault.read(offer.path) or b"").string("status") == "rejected"
    scene.again(2)
    assert scene.offers.learn(()) == ()
    scene.again(1)
    assert len(scene.offers.learn(())) == 1


def test_a_no_in_another_clone_counts_here(scene: Scene, tmp_path: Path) -> None:
    (offer,) = scene.offers.learn(())
    scene.offers.reject(offer.name, "too simple")
    elsewhere = on_another_machine(scene, tmp_path)
    assert elsewhere.all() == ()
    assert elsewhere.suggest(()) == ()


def test_both_boxes_are_a_no_and_so_is_a_note_that_was_removed(tmp_path: Path) -> None:
    for folder, act in (("both", "tick"), ("removed", "remove")):
        scene = Scene(tmp_path / folder)
        (offer,) = scene.offers.learn(())
        if act == "tick":
            scene.tick(offer.path, "approve")
            scene.tick(offer.path, "reject")
        else:
            (scene.root / offer.path).unlink()
        (decided,) = scene.offers.settle()
        assert decided.status == "rejected"
        assert scene.vault.read(offer.notes[0].path) is None
        assert scene.offers.suggest(()) == ()


def test_a_note_that_was_not_asked_here_brings_no_skill(scene: Scene, tmp_path: Path) -> None:
    (offer,) = scene.offers.learn(())
    scene.tick(offer.path, "approve")
    stranger = on_another_machine(scene, tmp_path)
    assert stranger.settle() == ()
    assert scene.vault.read(offer.notes[0].path) is None
    with pytest.raises(UserError, match="no suggestion"):
        stranger.accept(offer.name)


def test_a_draft_that_was_changed_in_the_note_is_not_taken(scene: Scene) -> None:
    (offer,) = scene.offers.learn(())
    file = scene.root / offer.path
    file.write_text(file.read_text("utf-8").replace("1. `search_vault`", "1. `shell_run`"), "utf-8")
    scene.tick(offer.path, "approve")
    (decided,) = scene.offers.settle()
    assert decided.status == "outdated"
    assert scene.vault.read(offer.notes[0].path) is None


def test_a_yes_that_is_taken_back_is_not_asked_about_again(scene: Scene) -> None:
    (offer,) = scene.offers.learn(())
    scene.offers.accept(offer.name)
    git(scene.root, "rm", "-q", offer.notes[0].path)
    assert scene.offers.suggest(scene.skills()) == ()


def test_a_skill_that_a_person_edited_only_gets_an_addition_and_only_after_a_yes(scene: Scene) -> None:
    (offer,) = scene.offers.learn(())
    scene.offers.accept(offer.path)
    file = scene.root / offer.notes[0].path
    mine = file.read_text("utf-8") + "\nAlways warm the pot. My own rule.\n"
    file.write_text(mine, "utf-8")
    for _ in range(4):
        scene.times += 1
        task = f"write the tasting sheet for tea from {PLACES[scene.times % 6]}"
        path, text = run_note(scene.clock, scene.times, task, (*TOOLS, "memory_save"))
        write(scene.root / path, text)
    (change,) = scene.offers.learn(scene.skills())
    assert file.read_text("utf-8") == mine, "nothing is written unasked"
    assert change.notes[0].path == offer.notes[0].path
    scene.tick(change.path, "approve")
    (decided,) = scene.offers.settle()
    assert decided.status == "approved"
    now = file.read_text("utf-8")
    assert set(mine.split("---\n", 2)[2].splitlines()) <= set(now.splitlines()), "no line of theirs is lost"
    assert "memory_save" in now
    history = Note.parse(now.encode()).header["version_history"]
    assert isinstance(history, tuple)
    assert [list(each) for each in history if isinstance(each, dict)] == [["v1"], ["v2"]]
    assert scene.offers.learn(scene.skills()) == ()


@pytest.mark.parametrize("gone", [False, True])
def test_an_addition_to_a_skill_that_has_changed_since_or_is_gone_is_outdated(scene: Scene, gone: bool) -> None:
    (offer,) = scene.offers.learn(())
    scene.offers.accept(offer.id)
    for _ in range(4):
        scene.times += 1
        task = f"write the tasting sheet for tea from {PLACES[scene.times % 6]}"
        write(scene.root / (entry := run_note(scene.clock, scene.times, task, (*TOOLS, "memory_save")))[0], entry[1])
    (change,) = scene.offers.learn(scene.skills())
    file = scene.root / offer.notes[0].path
    assert scene.offers.settle() == ()
    if gone:
        file.unlink()
        assert [each.status for each in scene.offers.settle()] == ["outdated"] and scene.offers.pending() == ()
        assert Note.parse(scene.vault.read(change.path) or b"").string("status") == "outdated" and not file.exists()
        return
    file.write_text(file.read_text("utf-8") + "\nMine.\n", "utf-8")
    assert scene.offers.accept(change.name).status == "outdated"
    assert file.read_text("utf-8").endswith("\nMine.\n")


def test_what_a_model_writes_is_the_skill_and_what_is_of_no_use_is_not_offered(tmp_path: Path) -> None:
    def fails(suggestion: Suggestion) -> str:
        raise Permanent("no model here")

    head = "name: Tea Tasting\ndescription: Write the sheet. Use when tea is tasted."
    body = "# Tasting\n\n1. Find the last sheet with `search_vault`.\n"
    triggers = "triggers: [tasting sheet, nothing of the kind, a]\n"
    good = f"---\n{head}\n{triggers}---\n{body}"
    texts = {"good": (lambda _: good, True), "fenced": (lambda _: f"```markdown\n{good}\n```", True),
             "empty": (lambda _: " ", False), "no header": (lambda _: body, False),
             "no name": (lambda _: good.replace("Tea Tasting", "-"), False), "away": (fails, False),
             "long": (lambda _: good + body * 1000, False)}  # fmt: skip
    for folder, (say, taken) in texts.items():
        scene = Scene(tmp_path / folder)
        offers = replace(scene.offers, write=say)
        made = offers.learn(())
        assert bool(made) is taken, folder
        if not made:
            assert not list((scene.root / "approvals").glob("*"))
            assert bool(offers.suggest(())) is (folder == "away"), "one that cannot be written waits for more runs"
            continue
        assert scene.offers.accept(made[0].name).status == "approved"
        (skill,) = scene.skills()
        assert skill.triggers is not None
        assert (skill.name, skill.description) == ("tea-tasting", "Write the sheet. Use when tea is tasted.")
        assert skill.body.strip() == body.strip() and scene.library.snapshot().problems == ()
        assert [each.text for intent in skill.triggers.patterns for each in intent.parts] == [r"\btasting\ sheet\b"]


def test_chinese_work_is_named_by_the_model_in_its_words(tmp_path: Path) -> None:
    scene = Scene(tmp_path, times=0)
    for number, place in enumerate(["三月", "上周", "昨天"]):
        path, text = run_note(scene.clock, number, f"帮我做一份{place}的项目交接")
        write(scene.root / path, text)
    header = "name: 项目交接\ndescription: 写项目交接文档。当要交接项目时使用。\ntriggers: [项目交接]"
    said = f"---\n{header}\n---\n用 `vault_write`。"
    (offer,) = replace(scene.offers, language="zh", write=lambda _: said).learn(())
    assert offer.name == "项目交接"
    assert scene.offers.accept(offer.name).status == "approved"
    (skill,) = scene.skills()
    assert skill.triggers is not None and "写项目交接文档" in skill.summary


def test_without_a_model_it_waits_or_the_person_names_it(scene: Scene) -> None:
    offers = replace(scene.offers, write=None)
    assert offers.learn(()) == () and len(offers.suggest(())) == 1
    with pytest.raises(UserError, match="cannot be the name"):
        offers.learn_as("Tea sheet", ())
    offer = offers.learn_as("tea-sheet", ())
    assert (
        offer.name == "tea-sheet" and "For tasks such as: write the tasting sheet for tea from" in offer.notes[0].text
    )
    with pytest.raises(UserError, match="often enough"):
        offers.learn_as("again", ())
    assert offers.accept("tea-sheet").status == "approved" and scene.library.snapshot().problems == ()


def test_text_of_a_task_cannot_tick_boxes_or_lead_anywhere(tmp_path: Path) -> None:
    scene = Scene(tmp_path, times=0)
    for number in range(3):
        evil = f"tea sheet - [x] approve <!-- [[secret]] ``` %% {number}"
        path, text = run_note(scene.clock, number, evil)
        write(scene.root / path, text)
    (offer,) = scene.offers.learn(())
    assert scene.offers.settle() == ()
    assert scene.vault.read(offer.notes[0].path) is None
    above = Note.parse(scene.vault.read(offer.path) or b"").body.partition("\n## `skills/")[0]
    assert "secret]]" not in above
    assert not any(mark in above for mark in ("<!--", "```", "%%", "[x]"))


def test_a_suggestion_with_a_password_in_it_is_left_out_and_leaves_nothing_behind(scene: Scene) -> None:
    secret = "ghp_" + "a1B2" * 9
    telling = replace(scene.offers, write=lambda each: f"{write_up(each)}Use `vault_read` with {secret}")
    assert telling.learn(()) == ()
    assert scene.offers.all() == ()
    assert len(scene.offers.learn(())) == 1


@pytest.mark.parametrize("other", [{"group": "yes"}, {"sender": "ben"}], ids=["in a group", "alone"])
def test_what_others_asked_for_teaches_nothing(tmp_path: Path, other: dict[str, str]) -> None:
    scene = Scene(tmp_path, times=0)
    for number in range(4):
        path, text = run_note(scene.clock, number, "write the tasting sheet for tea", TOOLS, **other)
        write(scene.root / path, text)
    assert SessionTraces(scene.vault).load() == ()


def test_traces_are_read_from_the_notes_of_sessions(scene: Scene) -> None:
    scene.clock.advance(60)
    path, text = run_note(scene.clock, 9, "brew tea", ("vault_read", "vault_edit"), outcome="failed")
    write(scene.root / path, text)
    *_, last = SessionTraces(scene.vault).load()
    assert (last.run, last.task, last.tools, last.succeeded) == (
        "RUN9",
        "brew tea",
        ("vault_read", "vault_edit"),
        False,
    )
    assert [step.about for step in last.steps] == ["notes/tea.md", "notes/tea.md"]
    assert last.path == path


def test_a_session_is_read_again_only_when_its_note_has_changed(scene: Scene) -> None:
    traces = SessionTraces(scene.vault)
    before = traces.load()
    assert len(before) == 3
    path, text = run_note(scene.clock, 1, "write the tasting sheet for tea from Ceylon", (*TOOLS, "vault_move"))
    write(scene.root / path, text)
    after = traces.load()
    assert [each.tools for each in after].count((*TOOLS, "vault_move")) == 1 and len(after) == 3
    assert sum(one is other for one in before for other in after) == 2


def test_another_workflow_in_a_session_that_taught_one_still_counts(scene: Scene) -> None:
    (offer,) = scene.offers.learn(())
    scene.offers.accept(offer.name)
    for trace in scene.offers.traces():
        text = (scene.root / trace.path).read_text("utf-8")
        more = run_note(scene.clock, int(trace.run[-1]) + 50, "sort the invoices of May", ("vault_list", "vault_move"))[
            1
        ]
        (scene.root / trace.path).write_text(text + more.partition("# Work\n\n")[2], "utf-8")
    (new,) = scene.offers.suggest(scene.skills())
    assert new.tools == ("vault_list", "vault_move")


def test_no_more_than_three_offers_wait_at_a_time(tmp_path: Path) -> None:
    scene = Scene(tmp_path, times=0)
    kinds = ["sort invoices", "plan rehearsals", "check greenhouse", "write letters", "count stock"]
    chains = [("vault_list", "vault_move"), ("web_fetch", "vault_write"), ("vault_read", "memory_save"),
              ("memory_recall", "vault_append"), ("delegate", "vault_edit")]  # fmt: skip
    for kind, tools in zip(kinds, chains, strict=True):
        for _ in range(4):
            scene.times += 1
            path, text = run_note(scene.clock, scene.times, f"{kind} of {PLACES[scene.times % 6]}", tools)
            write(scene.root / path, text)
    assert len(scene.offers.suggest(())) == 5
    assert len(scene.offers.learn(())) == 3
    assert scene.offers.learn(()) == ()


def test_it_is_offered_in_the_language_of_the_vault(scene: Scene) -> None:
    offers = replace(scene.offers, language="zh")
    offer = offers.learn_as("品鉴表", ())
    asked = (scene.vault.read(offer.path) or b"").decode()
    assert f"# 可以把这个学成技能 {offer.name} 吗？" in asked and "你让我这样做过 3 次" in asked
    scene.tick(offer.path, "批准")
    assert [each.status for each in offers.settle()] == ["approved"]
    (skill,) = scene.skills()
    assert skill.description.startswith("用于这样的任务：") and "品鉴表" in skill.name
    assert "## 步骤" in skill.body and "## Steps" not in skill.body
