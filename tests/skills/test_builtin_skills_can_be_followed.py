"""Each skill of the package, followed step by step by a model that says its lines, over a real vault.

The skill's text is put before the model as it would be; the calls are those that its steps name. What is checked is
that the tools it names exist and do what it says, that the note it promises comes out, and that nothing else changes.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from agent.config.resources import resource
from agent.context.budget import MESSAGE, counter, estimate, window_of
from agent.context.prompt import Audience
from agent.errors import ToolFailed as ToolFailedError
from agent.events.runs import ToolCallFailed
from agent.index.embedder import choose_embedder
from agent.llm.messages import JsonObject, Model, System
from agent.llm.scripted import Scripted, ScriptedCall, ScriptedReply
from agent.loop.agent import Agent, FixedTexts, SystemMessages, no_texts
from agent.loop.outcome import RunOutcome
from agent.loop.records import Spoken
from agent.markdown.note import Note
from agent.skills.loading.files import ReviewPins, skill_locations
from agent.skills.loading.library import SkillLibrary
from agent.skills.matching.matcher import MatchState, MatchTask, match
from agent.skills.matching.skill_text import SelectionLimits, compose_text
from agent.skills.reading.skill import Skill
from agent.tools.tool import RunContext, Tool, ToolOutput
from agent.vault.folders import AT_ROOT, FOLDERS, WriteRule
from tests.loop.stage import Stage
from tests.vaults import git

SHELF = SkillLibrary(
    skill_locations(Path("/nonexistent"), Path(str(resource("skills")))), ReviewPins(Path("/nonexistent"))
).snapshot()
OURS = {"search_vault", "memory_recall", "memory_save", "vault_read", "vault_list", "vault_write", "vault_edit",
        "vault_append", "vault_move", "web_fetch", "human_ask", "delegate"}  # fmt: skip
_NAMED = re.compile(r"`((?:vault|memory|web|human|search|skill|shell)_[a-z]+)`")


def call(tool: str, **arguments: str | int) -> ScriptedCall:
    return ScriptedCall(tool, arguments)


@dataclass(frozen=True)
class Case:
    task: str
    notes: Mapping[str, str]
    calls: tuple[ScriptedCall, ...]
    result: str
    changed: tuple[str, ...] = ()


REPORT = "---\ntype: research\nquestion: Do heat pumps suit old houses?\nstatus: partial\n---\n# Heat pumps\n\n**Answer.** Yes.\n\n## Findings\n- Flow temperature decides (single source) [[notes/heat]]\n\n## What could not be checked\n- The price\n\n## Sources\n1. [[notes/heat]]\n"  # noqa: E501
BRIEF = "---\ntype: briefing\ntopic: Heat\nreader: Anna\n---\n# Heat: briefing\n\n**In one sentence.** Yes.\n\n## What we know\n- **Flow temperature decides.** ([[reports/heat]])\n\n## What we do not know\n"  # noqa: E501
REVIEW = "---\ntype: weekly-review\nweek: 2026-W47\n---\n# Week 47\n\n**In short.** A calm week.\n\n## Done\n- Sowed ([[daily/2026-11-18]])\n## Next week\n- [ ] Seeds\n"  # noqa: E501
MINUTES = "---\ntype: meeting\ndate: 2026-11-21\npeople: [Ana, Ben]\n---\n# Printer\n\n## Decisions\n- Change the printer, because it is late\n## Action items\n- [ ] Ben: call the printer by 2026-11-23\n## Open questions\n"  # noqa: E501
BOOK = '---\ntype: book\nauthor: Cal Newport\nstatus: finished\n---\n# Deep Work\n\n**In three sentences.** Focus.\n\n## Ideas\n### Depth is rare\n> "Deep work is rare" (p. 41)\n'  # noqa: E501
DECISION = "---\ntype: decision\ndate: 2026-11-21\nstatus: decided\n---\n# We use Postgres\n\n**Because** of the joins\n\n## Alternatives\n| alternative | for | against |\n|---|---|---|\n| Mongo | quick | joins |\n"  # noqa: E501
GARDEN = "---\ntype: gardening\ncovered: 2 notes\n---\n# Gardening\n\n## Broken links\n- [ ] `garden.md`: `[[tomatos]]` becomes [[tomatoes]]\n"  # noqa: E501
PLAN = "## Plan\n\n**The one thing:** seeds\n\n- [ ] 09:00 (60 min) order seeds ([[tasks/seeds]])\n- 15:00 dentist (fixed)\n"  # noqa: E501

CASES: dict[str, Case] = {
    "deep-research": Case(
        "Do a deep dive on heat pumps in old houses",
        {"notes/heat.md": "Flow temperature decides.\n"},
        (
            call("search_vault", query="heat pumps old houses"),
            call("memory_recall", query="heating"),
            call("vault_read", path="notes/heat.md"),
            call("web_fetch", url="https://example.org/heat"),
            call("vault_list", pattern="*heat*"),
            call("vault_write", path="reports/heat.md", content=REPORT),
        ),
        "reports/heat.md",
    ),
    "research-briefing": Case(
        "Write a briefing on our heat notes",
        {"reports/heat.md": REPORT},
        (
            call("vault_list", folder="reports"),
            call("vault_read", path="reports/heat.md"),
            call("vault_write", path="reports/briefings/heat.md", content=BRIEF),
        ),
        "reports/briefings/heat.md",
    ),
    "competitive-analysis": Case(
        "Run a competitive analysis of heat pumps",
        {"notes/heat.md": "We sell pumps.\n"},
        (
            call("search_vault", query="our product"),
            call("vault_read", path="notes/heat.md"),
            call("vault_write", path="reports/heat.md", content=REPORT + "\n## Comparison\n"),
            call("vault_read", path="reports/heat.md"),
            call("vault_write", path="reports/briefings/heat.md", content=BRIEF),
        ),
        "reports/briefings/heat.md",
        ("reports/heat.md",),
    ),
    "weekly-review": Case(
        "Do my weekly review",
        {"daily/2026-11-18.md": "Sowed.\n", "tasks/seeds.md": "- [ ] order seeds\n"},
        (
            call("vault_list", folder="daily"),
            call("vault_read", path="daily/2026-11-18.md"),
            call("vault_list", folder="tasks"),
            call("vault_read", path="tasks/seeds.md"),
            call("vault_write", path="reviews/2026-W47.md", content=REVIEW),
        ),
        "reviews/2026-W47.md",
    ),
    "daily-planning": Case(
        "帮我规划一下今天，下午三点看牙",
        {"daily/2026-11-21.md": "# Saturday\n\nMine.\n", "tasks/seeds.md": "- [ ] order seeds\n"},
        (
            call("memory_recall", query="working hours"),
            call("vault_read", path="daily/2026-11-21.md"),
            call("vault_list", folder="tasks"),
            call("vault_read", path="tasks/seeds.md"),
            call("vault_append", path="daily/2026-11-21.md", text=PLAN),
        ),
        "daily/2026-11-21.md",
    ),
    "meeting-notes": Case(
        "把下面的内容整理成会议记录",
        {"raw/meeting.md": "Ben will call the printer. Ana agrees.\n"},
        (
            call("vault_read", path="raw/meeting.md"),
            call("search_vault", query="Ben printer"),
            call("vault_write", path="meetings/2026-11-21-printer.md", content=MINUTES),
        ),
        "meetings/2026-11-21-printer.md",
    ),
    "book-notes": Case(
        "write book notes for Deep Work",
        {"raw/highlights.md": '"Deep work is rare" (p. 41)\n'},
        (
            call("vault_read", path="raw/highlights.md"),
            call("search_vault", query="Deep Work Newport"),
            call("vault_write", path="books/Deep Work.md", content=BOOK),
        ),
        "books/Deep Work.md",
    ),
    "decision-log": Case(
        "Record the decision to use Postgres",
        {"decisions/2025-01-01-mongo.md": "---\ntype: decision\n---\n# We use Mongo\n"},
        (
            call("search_vault", query="database"),
            call("memory_recall", query="database"),
            call("vault_list", folder="decisions"),
            call("vault_write", path="decisions/2026-11-21-postgres.md", content=DECISION),
            call(
                "vault_append",
                path="decisions/2025-01-01-mongo.md",
                text="Superseded by [[decisions/2026-11-21-postgres]]",
            ),
        ),
        "decisions/2026-11-21-postgres.md",
        ("decisions/2025-01-01-mongo.md",),
    ),
    "vault-gardening": Case(
        "find broken links in my notes",
        {"garden.md": "See [[tomatos]].\n", "tomatoes.md": "Red.\n"},
        (
            call("vault_list", limit=2000),
            call("vault_read", path="garden.md"),
            call("vault_read", path="tomatoes.md"),
            call("vault_list", pattern="*tomato*"),
            call("vault_write", path="gardening/2026-11-21.md", content=GARDEN),
        ),
        "gardening/2026-11-21.md",
    ),
}


def no_network(arguments: JsonObject, context: RunContext) -> ToolOutput:
    raise ToolFailedError("there is no network")


WEB = Tool("web_fetch", "Fetch a page.", {"type": "object", "properties": {"url": {"type": "string"}}}, no_network,
           frozenset({"web"}))  # fmt: skip


class Guided(Stage):
    """A stage whose agent has some text before it."""

    text = ""

    def agent(self) -> Agent:
        agent = super().agent()
        return replace(agent, system=Guidance(agent.vault, agent.language, self.text))


@dataclass(frozen=True, slots=True)
class Guidance(SystemMessages):
    """System messages that are one text."""

    text: str

    def new(self, audience: Audience, fixed: FixedTexts = no_texts) -> Spoken:
        return Spoken(System(self.text))


def follow(folder: Path, case: Case) -> tuple[Guided, list[ToolCallFailed], str]:
    lines = [ScriptedReply(calls=(each,)) for each in case.calls]
    model = Scripted([*lines, ScriptedReply("Done: see the note.")])
    stage = Guided(folder, model, dict(case.notes), more=(WEB,))
    (offered,) = match(MatchTask(case.task), SHELF, MatchState(), estimate).offered
    stage.text = compose_text(offered.skill, SHELF.get, 4_000, estimate).text
    failed: list[ToolCallFailed] = []
    stage.bus.subscribe(failed.append, ToolCallFailed, name="failed")
    assert stage.ask(case.task).outcome is RunOutcome.FINISHED
    before = "\n".join(message.text for message in model.requests[0].messages if isinstance(message, System))
    return stage, failed, before


def test_every_skill_of_the_package_is_followed() -> None:
    assert set(CASES) == set(SHELF.named)


@pytest.mark.parametrize("name", sorted(CASES))
def test_a_model_that_follows_the_skill_leaves_the_note_it_promises_and_nothing_else(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    stage, failed, before = follow(tmp_path, case)
    assert SHELF.named[name].body.splitlines()[0] in before, "the model has the skill before it"
    assert {each.tool for each in failed} <= {"web_fetch"}, "all steps but the network work"
    changed = git(stage.root, "diff", "--name-only", "-z", _first(stage.root)).split("\0")
    made = {path for path in changed if path and not path.startswith("sessions/")}
    assert made == {case.result, *case.changed}
    for path, text in case.notes.items():
        assert (stage.vault.read(path) or b"").decode().startswith(text), "no line of the person's is lost"
    if case.result not in case.notes:
        assert Note.parse(stage.vault.read(case.result) or b"").type == _promised(SHELF.named[name])


def _first(root: Path) -> str:
    return git(root, "rev-list", "--max-parents=0", "HEAD").strip()


def _promised(skill: Skill) -> str:
    """The type of the note that the skill's example shows."""
    found = re.search(r"^type: ([a-z-]+)$", skill.body, re.MULTILINE)
    if found is None:
        return _promised(SHELF.named[skill.chain[-1].skill])
    return found[1]


@pytest.mark.parametrize("name", sorted(SHELF.named))
def test_the_tools_that_a_skill_names_exist(name: str) -> None:
    skill = SHELF.named[name]
    named = set(_NAMED.findall(skill.body))
    assert named
    assert named <= OURS
    assert skill.triggers is not None
    assert set(skill.triggers.tools) <= OURS
    used = {each.tool for each in CASES[name].calls}
    texts = " ".join([skill.body, *(SHELF.named[step.skill].body for step in skill.chain)])
    assert used <= set(_NAMED.findall(texts)), "the case follows the skill"


@pytest.mark.parametrize("name", sorted(SHELF.named))
def test_a_skill_fits_whole_into_what_it_may_take_and_says_how_to_check_and_what_not_to_do(name: str) -> None:
    skill = SHELF.named[name]
    tokens = estimate(skill.body)
    assert tokens <= 4_000
    assert not skill.max_tokens or tokens <= skill.max_tokens
    for heading in ("## Check", "## Do not"):
        assert heading in skill.body or (heading == "## Check" and "## Before you finish" in skill.body)


@pytest.mark.parametrize("window", [8_192, 16_384, 32_768, 131_072])
@pytest.mark.parametrize("name", sorted(SHELF.named))
def test_a_skill_that_is_named_is_given_whole_in_every_window(name: str, window: int) -> None:
    room = window_of(Model("any", window, 4_096))
    limits = SelectionLimits(3, min(room.most("skills"), room.texts_room) - 3 * MESSAGE)
    count = counter(choose_embedder("").embedder)
    assert [each.skill.name for each in match(MatchTask(CASES[name].task), SHELF, MatchState(), count).offered] == [
        name
    ]
    (found,) = match(MatchTask(f"{CASES[name].task}, with {name}"), SHELF, MatchState(), count, limits).active
    assert found.skill.name == name and found.skill.body in found.text
    assert found.tokens == count(found.text) <= limits.room
    steps = {step.skill for step in found.skill.chain}
    assert all((SHELF.named[step].body in found.text) != (step in found.on_request) for step in steps)
    assert window < 32_768 or not found.on_request


def test_all_skills_of_the_package_load_without_a_complaint() -> None:
    assert SHELF.problems == ()
    assert len(SHELF.named) == 9


def test_skills_write_only_where_a_tool_may_and_leave_the_notes_of_the_program_alone() -> None:
    written = [path for skill in SHELF.skills for path in re.findall(r"`((?:[a-z]+/)+<[^`]+\.md)`", skill.body)]
    assert len(written) >= 8
    assert {path: AT_ROOT.write_rule(path) for path in written if AT_ROOT.write_rule(path) > WriteRule.MEMORY} == {}
    named = re.findall(r"`([a-z]+/)`", SHELF.named["vault-gardening"].body)
    folders = {each.path for each in FOLDERS if re.fullmatch("[a-z]+/", each.path)}
    records = folders - {"research/", "prompts/"}
    assert records <= set(named), "a link that is missing there is nobody's to mend"


def test_the_chain_is_one_workflow_in_which_results_have_names() -> None:
    found = compose_text(SHELF.named["competitive-analysis"], SHELF.get, 4_000, estimate)
    assert found.tokens <= 4_000
    for part in ("Step 1: deep-research", "Step 2: research-briefing", "`findings`", "`briefing`", "Check before"):
        assert part in found.text
