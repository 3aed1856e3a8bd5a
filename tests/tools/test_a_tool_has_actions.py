"""A tool with actions is one for the model; for policy, approvals, skills and history each action is its own tool."""

from pathlib import Path

import pytest

from agent.errors import ConfigError
from agent.llm.messages import Json, JsonObject, ToolCall
from agent.skills.matching.tool_allowlist import allowance
from agent.tools.policy import parse_policies
from agent.tools.registry import Registry
from agent.tools.tool import RunContext, Tool, ToolOutput
from agent.tools.tool_names import ACTIONS, EARLIER, TOOL_NAMES, names_of, resolved, short_schema, specs_of
from tests.skills.shelves import skill
from tests.tools.house import FREE, House, house, tainted, tool_of

JOB = {"title": "Tea", "text": "Say which tea.", "when": "every weekday at 9"}
MADE = "---\ntype: job\non: {every: 1d}\nstatus: active\n---\n# Tea\n\nSay which tea.\n"


@pytest.fixture
def home(tmp_path: Path) -> House:
    return house(tmp_path, {"jobs/tea.md": MADE})


def under(rules: str, folder: Path) -> House:
    text = f"version: 1\nprofiles:\n  - name: default\n    policy: {{{rules}}}\n"
    return house(folder, {"jobs/tea.md": MADE}, policies=parse_policies(text, "p.yaml"))


def enum_of(home: House, name: str = "jobs") -> object:
    (spec,) = (each for each in home.registry.specs(home.context) if each.name == name)
    properties = spec.parameters["properties"]
    assert isinstance(properties, dict)
    return properties["action"]["enum"]


def test_a_model_sees_one_tool_and_is_answered_as_by_several(home: House) -> None:
    assert [each.name for each in home.registry.specs(home.context)].count("jobs") == 1
    assert enum_of(home) == ["list", "add", "change", "pause", "resume", "delete"]
    assert "tea: Tea; every 1d; active" in home.says("jobs", action="list")
    home.says("jobs", action="pause", job="tea")
    assert "status: paused" in home.text("jobs/tea.md")


def test_a_job_is_given_another_time_name_and_state_and_keeps_its_text(home: House) -> None:
    home.says("jobs", action="pause", job="tea")
    home.says("jobs", action="change", job="tea", title="Green tea", when="every weekday at 8")
    said = home.says("jobs", action="resume", job="tea")
    assert said.splitlines()[-1].startswith("tea: Green tea; cron 0 8 * * 1-5; active; next 20")
    assert home.text("jobs/tea.md") == (
        "---\ntype: job\non:\n  cron: 0 8 * * 1-5\nstatus: active\n---\n# Green tea\n\nSay which tea.\n"
    )
    assert "nothing of tea would change" in home.fails("jobs", action="change", job="tea", title="Green tea")
    assert "no job" in home.fails("jobs", action="resume", job="coffee")
    before = home.text("jobs/tea.md")
    assert "time is not clear" in home.fails("jobs", action="change", job="tea", when="a note in notes/ changes")
    assert home.text("jobs/tea.md") == before


def test_what_a_job_does_is_changed_by_whoever_made_it(home: House) -> None:
    assert "your person wrote what tea does" in home.fails("jobs", action="change", job="tea", text="Say which coffee.")
    home.says("jobs", action="add", title="Cup", text="Say which cup.", when="every weekday at 8")
    home.says("jobs", action="change", job="cup", text="Say which mug.", channel="mail")
    assert "Say which mug." in home.text("jobs/cup.md") and "channel: mail" in home.text("jobs/cup.md")


def test_a_job_is_changed_without_a_yes_only_where_its_person_is_there(home: House) -> None:
    tainted(home)
    assert home.asks("jobs", action="change", job="tea", when="every 2h").startswith("approvals/")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({}, "it needs an action; `action` must be one of list, add, change, pause, resume, delete"),
        (
            {"action": "create"},
            "it has no action create; `action` must be one of list, add, change, pause, resume, delete",
        ),
        ({"action": 3}, "it has no action 3"),
        ({"action": "add", "title": "Tea"}, "jobs.add was not called:\ntext is missing\nwhen is missing"),
        ({"action": "pause", "job": "tea", "when": "now"}, 'unknown argument "when"; allowed: job'),
    ],
)
def test_a_wrong_action_or_argument_is_answered_with_what_there_is(
    home: House, arguments: dict[str, object], told: str
) -> None:
    assert told in home.fails("jobs", **arguments)  # type: ignore[arg-type]


def test_an_action_is_denied_by_itself(tmp_path: Path) -> None:
    home = under("deny: [{tool: jobs.delete}]", tmp_path)
    assert enum_of(home) == ["list", "add", "change", "pause", "resume"]
    assert "the policy does not allow it" in home.fails("jobs", action="delete", job="tea")
    assert home.says("jobs", action="list")
    assert home.text("jobs/tea.md") == MADE


def test_a_rule_about_the_whole_tool_holds_for_each_action(tmp_path: Path) -> None:
    home = under("deny: [{tool: jobs}]", tmp_path)
    assert "jobs" not in [each.name for each in home.registry.specs(home.context)]
    assert "does not allow" in home.fails("jobs", action="list")


@pytest.mark.parametrize("rule", ["schedule_pause", "jobs.pause", "jobs"])
def test_an_action_asks_by_itself_also_under_its_earlier_name(tmp_path: Path, rule: str) -> None:
    home = under(f"ask: [{{tool: {rule}}}]", tmp_path)
    asked = home.asks("jobs", action="pause", job="tea")
    assert asked.startswith("approvals/") and asked.endswith("-jobs-pause.md")
    assert home.text("jobs/tea.md") == MADE
    home.tick(asked, "approve")
    home.says("jobs", action="pause", job="tea")
    if rule != "jobs":
        assert "tea" in home.says("jobs", action="list"), "to list them needs no yes"


def test_a_yes_to_one_action_is_none_to_another(tmp_path: Path) -> None:
    home = under("ask: [{tool: jobs}]", tmp_path)
    home.tick(home.asks("jobs", action="pause", job="tea"), "approve")
    assert home.asks("jobs", action="delete", job="tea")
    assert home.text("jobs/tea.md") == MADE


def test_a_tainted_run_lists_freely_and_asks_before_it_adds(home: House) -> None:
    tainted(home)
    home.says("jobs", action="list")
    assert home.asks("jobs", action="add", **JOB)


@pytest.mark.parametrize("name", ["jobs.lisst", "schedule_lisst", "job"])
def test_an_unknown_name_in_a_policy_is_still_an_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError) as raised:
        under(f"deny: [{{tool: {name}}}]", tmp_path)
    assert f"no tool {name}" in raised.value.message


def test_actions_that_only_read_may_run_beside_others_that_read(home: House) -> None:
    def at(action: str) -> ToolCall:
        return ToolCall("1", "jobs", {"action": action})

    assert home.registry.is_readonly(at("list")) and not home.registry.is_readonly(at("pause"))
    assert home.registry.runs_with(at("list")) == home.registry.runs_with(ToolCall("2", "vault_list", {})) != ""
    assert home.registry.runs_with(at("pause")) == home.registry.runs_with(at("create")) == ""


def test_a_call_under_an_earlier_name_is_the_same_call(home: House) -> None:
    assert home.says("schedule_list") == home.says("jobs", action="list")
    assert resolved(ToolCall("1", "schedule_pause", {"job": "tea"})) == resolved(
        ToolCall("1", "jobs", {"action": "pause", "job": "tea"})
    )


@pytest.mark.parametrize("words", ["jobs.pause", "jobs", "schedule_pause", "schedule", "schedule_*", "jobs.*"])
def test_a_skill_may_name_the_whole_an_action_an_earlier_name_or_the_group(words: str) -> None:
    allowed = allowance([skill("a", f"allowed-tools: {words}")])
    assert allowed is not None and allowed.keeps(names_of("jobs.pause"), {"schedule"})
    assert not allowed.keeps(names_of("vault_read"), {"fs"})
    assert allowed.keeps(names_of("jobs.delete"), ()) == (words in {"jobs", "schedule_*", "jobs.*"})
    assert allowed.keeps(names_of("skills.show"), ())


def test_what_a_skill_forbids_is_described_and_not_called(tmp_path: Path) -> None:
    made = house(tmp_path, {"a.md": "a\n"})
    home = made.registry
    bound = Registry(
        [tool_of(name="jobs.list", groups=["schedule"]), tool_of(name="web_fetch")],
        FREE,
        made.approvals.guard,
        made.clock,
        leaves=lambda tool, context: tool.name != "web_fetch",
    )
    assert [each.name for each in bound.specs(made.context)] == ["jobs", "web_fetch"]
    called = bound.call(ToolCall("1", "web_fetch", {"url": "x"}), made.context)
    assert called.result.failed and "not among the tools that this run's skills allow" in called.result.text
    assert home is not bound


def test_every_earlier_name_stands_for_a_tool_of_today() -> None:
    assert set(EARLIER.values()) <= TOOL_NAMES and not TOOL_NAMES & EARLIER.keys()
    assert all(f"{name}.{action}" in TOOL_NAMES for name, actions in ACTIONS.items() for action in actions)


def test_actions_of_one_tool_do_not_differ_about_an_argument() -> None:
    def action(name: str, kind: str) -> Tool:
        schema: JsonObject = {"type": "object", "properties": {"file": {"type": kind}}}
        return Tool(name, "", schema, lambda call, context: ToolOutput(""), frozenset())

    with pytest.raises(ValueError, match="another argument file"):
        specs_of([action("jobs.list", "string"), action("jobs.add", "array")])


def test_a_model_is_told_what_arguments_are_and_not_their_limits() -> None:
    limits: dict[str, Json] = {"minLength": 1, "maxLength": 9, "pattern": "x"}
    assert short_schema(
        {
            "type": "object",
            "properties": {
                "pattern": {"type": "string", **limits},
                "required": {"type": "array", "items": {"type": "string", **limits}, "maxItems": 2},
            },
            "required": [],
            "additionalProperties": False,
        }
    ) == {
        "type": "object",
        "properties": {"pattern": {"type": "string"}, "required": {"type": "array", "items": {"type": "string"}}},
    }


def test_a_guest_hears_of_no_tool(home: House) -> None:
    home.registry = under("deny: [{tool: '*'}]", home.vault.place.root.parent / "other").registry
    home.context = RunContext("r", "s", role="guest")
    assert home.fails("jobs", action="list") == "there is no tool jobs.list: this run has no tools"
