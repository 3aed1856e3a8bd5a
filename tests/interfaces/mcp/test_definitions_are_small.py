"""What a program's model reads of the tools in every task is little: with peers, half of the context was gone."""

import json
from pathlib import Path

import pytest

from agent.context.budget import counter
from agent.errors import UserError
from agent.index.embedder import shipped_embedder
from agent.interfaces.mcp.definitions import DEFAULT, NAMES, offer_of
from tests.interfaces.mcp.programs import connected, run
from tests.stories.agents import furnish

ALL_TOKENS, DEFAULT_TOKENS = 2_500, 900


@pytest.mark.parametrize(
    ("tools", "most", "names"), [("all", ALL_TOKENS, set(NAMES)), ("", DEFAULT_TOKENS, set(DEFAULT))]
)
def test_definitions_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tools: str, most: int, names: set[str]
) -> None:
    root = furnish(tmp_path, monkeypatch.setenv)

    async def look() -> None:
        async with connected(root, tools=tools) as program:
            listed = (await program.client.list_tools()).tools
            wire = [each.model_dump_json(by_alias=True, exclude_none=True) for each in listed]
        count = counter(shipped_embedder())
        assert {each.name for each in listed} == names
        assert sum(map(count, wire)) <= most
        assert all(json.loads(each)["inputSchema"]["additionalProperties"] is False for each in wire)

    run(look)


def test_only_named_tools_are_offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = furnish(tmp_path, monkeypatch.setenv)

    async def look() -> None:
        async with connected(root, tools="read, log") as program:
            listed = (await program.client.list_tools()).tools
            assert [each.name for each in listed] == ["read", "log"]
            assert all(each.annotations and each.annotations.read_only_hint for each in listed)
            assert "switched off here; there are: read, log" in await program.fails("write", path="a.md", content="x")
        async with connected(root, tools="all", read_only=True) as program:
            offered = {each.name for each in (await program.client.list_tools()).tools}
            assert offered == {"search", "recall", "read", "log", "jobs", "inbox"}
            hints = {each.name: each.annotations for each in (await program.client.list_tools()).tools}
            assert hints["inbox"] is None  # it may leave a request, where writing is allowed
            assert "switched off here" in await program.fails("write", path="a.md", content="x")
            assert "vault_write" not in await program.fails("inbox", text="write into my notes")
        async with connected(root) as program:  # those that are not listed can be called
            assert "nothing waits" in await program.says("inbox")

    run(look)
    assert not (root / "a.md").exists() and not list(root.glob("inbox/*"))
    with pytest.raises(UserError, match="no tool wirte"):
        offer_of("read,wirte", read_only=False)


def test_the_machine_s_policy_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = furnish(tmp_path, monkeypatch.setenv)
    own = tmp_path / "home" / "config" / "policy.yaml"
    own.parent.mkdir(parents=True, exist_ok=True)
    own.write_text(
        "version: 1\nprofiles:\n- name: cursor\n  match: {channels: ['mcp:cursor']}\n"
        "  policy: {deny: [{tool: vault_write}, {group: memory}]}\n- name: default\n  policy: {}\n"
    )

    async def look() -> None:
        async with connected(root, "Cursor", tools="all") as program:
            offered = {each.name for each in (await program.client.list_tools()).tools}
            assert not offered & {"write", "remember", "recall", "forget"} and "read" in offered
        async with connected(root, "Claude Code") as program:
            await program.says("write", path="a.md", content="x\n")

    run(look)
