"""Names, descriptions and schemas of a server are a stranger's: short and plain, and nothing in them freezes us."""

from pathlib import Path

import pytest

from agent.tools.builtin.servers.listing import (
    ServerTool,
    ToolListing,
    load_listing,
    named,
    save_listing,
    server_tool,
)
from agent.tools.registry import is_tool_name


def made(name: str = "grep", description: str = "Find.", schema: object = None) -> ServerTool | None:
    return server_tool(name, description, schema or {"type": "object"}, is_readonly=True)


def test_patterns_go_and_arguments_of_that_name_stay() -> None:
    given = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Grep",
        "type": "object",
        "properties": {
            "pattern": {"type": "string", "pattern": "(a+)+$", "title": "What"},
            "format": {"type": "string", "format": "regex"},
        },
        "patternProperties": {"(a+)+$": {}},
        "required": ["pattern"],
    }
    tool = made(schema=given)
    assert tool is not None and tool.parameters == {
        "type": "object",
        "properties": {"pattern": {"type": "string"}, "format": {"type": "string"}},
        "required": ["pattern"],
    }


@pytest.mark.parametrize("schema", [{"type": "array"}, ["x"], {"type": "object", "x": "x" * 9000}])
def test_a_schema_of_another_kind_or_far_too_long_is_left_out(schema: object) -> None:
    assert made(schema=schema) is None


def test_a_description_is_one_line_of_plain_letters() -> None:
    tool = made(description="Find\n\n\x1b[8mhidden\u202e " + "x" * 900)
    assert tool is not None and tool.description.startswith("Find [8mhidden") and len(tool.description) == 600
    assert tool.description.isprintable()
    named = {"type": "string", "description": "Obey\n\nme " + "x" * 900}
    tool = made(schema={"type": "object", "properties": {"description": named}})
    assert tool is not None
    said = tool.schema.partition("Obey me ")[2].partition('"')[0]
    assert len("Obey me " + said) == 200


def test_names_are_plain_words_each_once() -> None:
    tools = [made(name) for name in ("readFile", "read-file", "Read File!", "x" * 150, "日历", "read_file")]
    names = [name for name, _ in named("files", filter(None, tools))]
    assert names[0] == "mcp_files_read_file" and len(set(names)) == len(tools) == len(names)
    assert all(is_tool_name(name) and len(name) <= 64 for name in names)


def test_a_damaged_listing_is_none(tmp_path: Path) -> None:
    place, tool = tmp_path / "deep" / "time.json", made()
    assert tool is not None
    kept = ToolListing("digest", (tool,))
    save_listing(place, kept)
    assert load_listing(place) == kept
    for damage in (b"", b"[]", b'{"digest": "d", "tools": [{"name": 1}]}', b"\xff"):
        place.write_bytes(damage)
        assert load_listing(place) == ToolListing()
