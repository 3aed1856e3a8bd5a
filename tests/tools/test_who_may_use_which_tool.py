"""Policy: deny first, groups, exact names, profiles by channel, role and session; and its file, read strictly."""

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from agent.app.agent import build_runs
from agent.app.open import open_workspace
from agent.errors import ConfigError
from agent.interfaces.mcp.definitions import DEFINITIONS
from agent.llm.messages import ToolCall
from agent.tools.builtin.past import PURPOSES
from agent.tools.policy import (
    GROUPS,
    Permission,
    Policies,
    Policy,
    Profile,
    Rule,
    RunFilter,
    load_policies,
    parse_policies,
)
from agent.tools.tool import RunContext
from agent.tools.tool_names import TOOL_NAMES
from agent.workspace.search_index import open_index
from tests.tools.house import hit, house, tool_of
from tests.vaults import make_vault

EXEC, FS = Rule(group="exec"), Rule(group="fs")
SHELL = tool_of(name="shell_run", groups=("exec",))


@pytest.mark.parametrize(
    ("policy", "name", "groups", "verdict"),
    [
        (Policy(), "shell_run", {"exec"}, Permission.ALLOW),
        (Policy(deny=(EXEC,)), "shell_run", {"exec"}, Permission.DENY),
        (Policy(deny=(EXEC,)), "vault_read", {"fs"}, Permission.ALLOW),
        (Policy(deny=(EXEC,), allow=(EXEC,)), "shell_run", {"exec"}, Permission.DENY),
        (
            Policy(deny=(Rule(tool="shell_run"),), allow=(Rule(tool="shell_run"),)),
            "shell_run",
            {"exec"},
            Permission.DENY,
        ),
        (Policy(deny=(EXEC,), ask=(EXEC,)), "shell_run", {"exec"}, Permission.DENY),
        (Policy(ask=(EXEC,), allow=(EXEC,)), "shell_run", {"exec"}, Permission.ASK),
        (Policy(ask=(EXEC,), allow=(FS,)), "shell_run", {"exec"}, Permission.ASK),
        (Policy(allow=(FS,)), "vault_read", {"fs"}, Permission.ALLOW),
        (Policy(allow=(FS,)), "web_fetch", {"web"}, Permission.DENY),
        (Policy(allow=(Rule(tool="vault_read"),)), "vault_write", {"fs"}, Permission.DENY),
        (Policy(deny=(Rule(tool="*"),)), "vault_read", {"fs"}, Permission.DENY),
        (Policy(deny=(Rule(tool="vault"),)), "vault_read", {"fs"}, Permission.ALLOW),
        (Policy(deny=(FS,)), "thing", set(), Permission.ALLOW),
        (Policy(deny=(FS,)), "thing", {"web", "fs"}, Permission.DENY),
    ],
)
def test_deny_wins_then_ask_then_allow(policy: Policy, name: str, groups: set[str], verdict: Permission) -> None:
    assert policy.permission(name, groups) is verdict


def test_the_first_profile_that_fits_is_taken_and_the_last_fits_always() -> None:
    profiles = [
        Profile("chat-guest", RunFilter(channels=("lark",), roles=("guest",)), Policy()),
        Profile("chat", RunFilter(channels=("lark", "wecom")), Policy()),
        Profile("jobs", RunFilter(sessions=("sessions/jobs/",)), Policy()),
        Profile("default", RunFilter(), Policy()),
    ]
    policies = Policies(tuple(profiles))
    for channel, role, session, name in [
        ("lark", "guest", "sessions/jobs/a.md", "chat-guest"),
        ("lark", "owner", "sessions/jobs/a.md", "chat"),
        ("wecom", "guest", "", "chat"),
        ("lark:room", "owner", "", "chat"),
        ("lark:room", "guest", "", "chat-guest"),
        ("larkspur:room", "owner", "", "default"),
        ("cli", "owner", "sessions/jobs/a.md", "jobs"),
        ("cli", "owner", "sessions/2026/a.md", "default"),
    ]:
        assert policies.choose(RunContext("r", session, channel=channel, role=role)).name == name


@pytest.mark.parametrize("channel", ["lark", "mail"])
def test_what_is_denied_is_neither_shown_nor_called(tmp_path: Path, channel: str) -> None:
    home = house(tmp_path, {"a.md": "text\n"}, [SHELL], load_policies(tmp_path))
    mine = RunContext("r", "s.md", channel=channel)
    assert {tool.name for tool in home.registry.visible(mine)} == {"search_vault", "memory_recall", "human_ask"}
    home.context = mine
    assert "no tool shell_run" in home.fails("shell_run")
    assert "no tool vault_write" in home.fails("vault_write", path="a.md", content="x")
    assert home.text("a.md") == "text\n"


def test_a_guest_gets_nothing_unless_the_policy_says_so(tmp_path: Path) -> None:
    home = house(tmp_path, {"diary.md": "private\n"}, [SHELL], load_policies(tmp_path))
    home.context = RunContext("r", "s.md", role="guest")
    assert home.registry.specs(home.context) == ()
    assert "no tools" in home.fails("vault_read", path="diary.md")


def test_the_owner_gets_everything_here_and_programs_ask_each_time(tmp_path: Path) -> None:
    home = house(tmp_path, {}, [SHELL], load_policies(tmp_path))
    runs = (replace(home.context, purpose=purpose) for purpose in ("", *PURPOSES))
    missing = TOOL_NAMES - {tool.name for run in runs for tool in home.registry.visible(run)}
    assert {name for name in missing if home.registry.permission(name, home.context) is not Permission.DENY} == set()
    home.approvals.decide(home.asks("shell_run"), True)
    assert home.says("shell_run") == "ok"
    assert home.asks("shell_run")


def test_the_policy_that_ships_names_only_tools_that_there_are(tmp_path: Path) -> None:
    home = house(tmp_path)
    shipped = [profile.policy for profile in load_policies(tmp_path).profiles]
    named = {rule.tool for each in shipped for rule in (*each.deny, *each.allow, *each.ask)}
    assert named - {"", "*"} <= {tool.name for tool in home.registry.visible(home.context)}
    assert all(tool.groups <= GROUPS for tool in home.registry.visible(home.context))


def test_the_machine_s_own_file_holds_alone(tmp_path: Path) -> None:
    own = "version: 1\nprofiles:\n  - name: default\n    policy: { deny: [{ group: group:fs }] }\n"
    (tmp_path / "policy.yaml").write_text(own)
    policies = load_policies(tmp_path)
    assert policies.choose(RunContext("r", "s", role="guest")).policy == Policy(deny=(FS,))


_START = "version: 1\nprofiles:\n"
_END = "  - name: default\n    policy: {}\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("- a\n", "p.yaml:1: expected"),
        ("profiles: []\n", "p.yaml:1: the file must say `version: 1`"),
        ("version: 2\nprofiles: []\n", "p.yaml:1: the file must say"),
        ("version: 1\n", "there are no profiles"),
        ("version: 1\nprofiles: []\n", "the last profile must be named `default`"),
        (_START + "  - name: chat\n    match: {channels: [lark]}\n    policy: {}\n", "only the last profile"),
        (_START + "  - name: all\n    policy: {}\n" + _END, "p.yaml:3: all: only the last"),
        (_START + "  - name: default\n    match: {roles: [guest]}\n    policy: {}\n", "only the last profile"),
        (_START + "  - name: default\n    policy:\n      denny: []\n", "p.yaml:5: unknown key denny"),
        (
            _START + "  - name: default\n    policy:\n      deny: [{tool: vault_wite}]\n",
            "p.yaml:5: there is no tool vault_wi",
        ),
        (_START + "  - name: default\n    policy:\n      ask: [{tool: shell}]\n", "p.yaml:5: there is no tool shell"),
        (
            _START + "  - name: default\n    policy:\n      ask: [{tool: node_clipbord}]\n",
            "there is no tool node_clipbord",
        ),
        (
            _START + "  - name: default\n    policy:\n      allow: [{tool: memory_recal}]\n",
            "there is no tool memory_recal",
        ),
        (_START + "  - name: chat\n    match: {channels: [telegrm]}\n    policy: {}\n" + _END, "no channel telegrm"),
        (
            _START + "  - name: chat\n    match: {channels: ['Lark:room']}\n    policy: {}\n" + _END,
            "no channel Lark:room",
        ),
        (_START + "  - name: default\n    policy:\n      deny: [{group: exce}]\n", "p.yaml:5: there is no group exce"),
        (_START + "  - name: default\n    policy: {deny: [{group: fs, tool: a}]}\n", "either a tool or a group"),
        (_START + "  - name: default\n    policy: {deny: [fs]}\n", "p.yaml:4: expected"),
        (_START + "  - name: default\n    policy: {deny: {group: fs}}\n", "expected a list"),
        (_START + "  - name: default\n    policy: {allow: }\n", "`allow:` says nothing"),
        (_START + "  - name: a\n    match: {roles: [admin]}\n    policy: {}\n" + _END, "there is no role admin"),
        (_START + "  - name: default\n    name: b\n    policy: {}\n", "p.yaml:4: name stands here a second time"),
        (_START + "  - name: default\n", "a profile needs `policy:`"),
        (_START + "  - name: &a default\n    policy: {}\n", "aliases"),
        (_START + "  - name: !!python/name:os.system x\n    policy: {}\n", "tags"),
        (_START + "  - name: [default\n", "p.yaml:4: not YAML"),
        ("[" * 40, "nested too deeply"),
    ],
)
def test_a_mistake_in_the_file_is_an_error_with_its_line_and_never_a_rule_that_is_lost(text: str, said: str) -> None:
    with pytest.raises(ConfigError) as raised:
        parse_policies(text, "p.yaml")
    assert said in raised.value.message


def test_a_file_that_cannot_be_read_does_not_fall_back_to_the_one_that_ships(tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").mkdir()
    with pytest.raises(ConfigError):
        load_policies(tmp_path)


def test_a_guest_who_may_search_the_notes_finds_nothing_that_people_said(tmp_path: Path) -> None:
    paths = ("tea.md", "entries/2026/11/a.md", "daily/2026-11-21.md", "MEMORY.md", "sessions/2026/11/a-summary-1.md")
    home = house(tmp_path, dict.fromkeys(paths, "tea\n"))
    home.found += [hit(path, (1, 1), "tea") for path in reversed(paths)]
    guest = home.registry.call(ToolCall("1", "search_vault", {"query": "tea"}), RunContext("r", "s.md", role="guest"))
    assert guest.output is not None and [source.path for source in guest.output.sources] == ["tea.md"]
    mine = home.registry.call(ToolCall("2", "search_vault", {"query": "tea"}), RunContext("r", "s.md"))
    assert mine.output is not None and len(mine.output.sources) == len(paths)


def test_a_guest_who_may_read_notes_is_shown_no_folder_of_the_agents(tmp_path: Path) -> None:
    theirs = [
        "inbox/wish.md", "AGENT.md", "rules/a.md", "Tasks/a.md", "reflections/a.md", "jobs/a.md", "research/a.md",
        "archive/a.md", "skills/x/SKILL.md", "MEMORY.md",
    ]  # fmt: skip
    home = house(tmp_path, {path: "the owner's\n" for path in [*theirs, "garden.md"]})
    assert "the owner's" in home.says("vault_read", path="inbox/wish.md")
    home.context = RunContext("r", "s.md", role="guest")
    home.found += [hit(path, (1, 1), "the owner's") for path in [*theirs, "garden.md"]]
    assert home.says("search_vault", query="owner").count("the owner's") == 1
    assert home.says("vault_list").splitlines() == ["1 file:", "garden.md"]
    assert home.says("vault_grep", text="THE OWNER*s") == "garden.md:1: the owner's"
    assert "for the owner" in home.fails("open_tasks")
    for path in theirs:
        assert "the owner's" not in home.fails("vault_read", path=path)
    assert "the owner's" in home.says("vault_read", path="garden.md")


def test_the_nearest_tool_is_said() -> None:
    with pytest.raises(ConfigError) as raised:
        parse_policies(_START + "  - name: default\n    policy: {deny: [{tool: vault_wite}]}\n", "p.yaml")
    assert raised.value.hint == "did you mean vault_write?"


def test_tools_and_channels_of_other_programs_may_be_named() -> None:
    rows = "deny: [{tool: node_next_year}, {tool: '*'}, {tool: node_clipboard}]"
    text = (
        f"{_START}  - name: own\n    match: {{channels: [doorbell, 'mcp:claude-code']}}\n    policy: {{{rows}}}\n{_END}"
    )
    assert len(parse_policies(text, "p.yaml").profiles) == 2


def test_all_tools_are_known_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for key in ("HOME", "TOOLS__WEB", "TOOLS__SHELL"):
        monkeypatch.setenv(f"VAULT_AGENT_{key}", str(tmp_path / "home") if key == "HOME" else "true")
    monkeypatch.setenv("VAULT_AGENT_RESEARCH__SEARXNG__BASE_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("VAULT_AGENT_CALENDARS__SOURCES", '{"home": "/calendars/home.ics"}')
    workspace = open_workspace(make_vault(tmp_path, {"a.md": "# A\n"}).place.root)
    with closing(open_index(workspace)) as index, closing(build_runs(workspace, index)) as runs:
        purposes = (RunContext("r", "", purpose=purpose) for purpose in ("", *PURPOSES))
        built = {tool.name for run in purposes for tool in runs.agent.tools.visible(run)}
    served = {name for each in DEFINITIONS for name in each.stands_for}
    assert built | served == TOOL_NAMES
