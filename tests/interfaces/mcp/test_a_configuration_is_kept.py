"""`mcp install`: the vault is in the program's configuration, and everything else there is as it was."""

import json
import stat
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.interfaces.mcp.install import edits
from agent.interfaces.mcp.install.programs import PROGRAMS, ClientProgram, config_file, program_named
from tests.interfaces.cli.vaults import Captured, ask, tell

VSCODE = """// my servers
{
\t"inputs": [], /* none */
\t"servers": {
\t\t"other": { "command": "x", "args": ["a, b", "}"] }, // keep me
\t},
}
"""
CODEX = """model = "o5" # the best

[mcp_servers.other]
command = "x"

[mcp_servers.other.env]
KEY = "1"

[tui]
theme = "dark"
"""


def file_of(program: ClientProgram) -> Path:
    return config_file(program, Path.home())


def servers(program: ClientProgram) -> dict[str, dict[str, object]]:
    text = file_of(program).read_text()
    tables = tomllib.loads(text) if program.form == "toml" else edits.parse_jsonc(text)
    assert isinstance(tables, dict)
    found: dict[str, dict[str, object]] = tables.get(program.table, {})
    return found


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.name)
def test_a_program_without_a_file_gets_one(root: Path, capsys: Captured, program: ClientProgram) -> None:
    told = ask(capsys, "mcp", "install", "--client", program.name, "--dry-run")
    assert (told["changed"], told["dry_run"]) == (True, True) and not file_of(program).exists()
    assert ask(capsys, "mcp", "install", "--client", program.name)["file"] == str(file_of(program))
    entry = servers(program)["vault-agent"]
    args = entry["args"]
    assert isinstance(args, list) and args[-5:] == ["--vault", str(root), "mcp", "--as", program.name]
    assert Path(str(entry["command"])).is_absolute() and entry.get("type") == ("stdio" if program.typed else None)
    assert entry["env"] == {"VAULT_AGENT_HOME": str(root.parent / "home")}
    assert stat.S_IMODE(file_of(program).stat().st_mode) == 0o600
    assert ask(capsys, "mcp", "install", "--client", program.name)["changed"] is False
    ask(capsys, "mcp", "install", "--client", program.name, "--read-only", "--tools", "search,read")
    assert servers(program)["vault-agent"]["args"] == [*args, "--tools", "search,read", "--read-only"]
    assert ask(capsys, "mcp", "install", "--client", program.name, "--remove")["changed"] is True
    assert servers(program) == {}
    assert ask(capsys, "mcp", "install", "--client", program.name, "--remove")["changed"] is False


def test_what_would_change_is_shown_line_by_line(root: Path, capsys: Captured) -> None:
    shown = tell(capsys, "mcp", "install", "--client", "cursor", "--dry-run")
    assert '\n+{\n+  "mcpServers": {\n' in shown


def test_comments_and_everything_else_stay(root: Path, capsys: Captured) -> None:
    file = file_of(program_named("vscode"))
    file.parent.mkdir(parents=True)
    file.write_text(VSCODE)
    file.chmod(0o644)
    ask(capsys, "mcp", "install", "--client", "vscode")
    text = file.read_text()
    left = [line for line in VSCODE.splitlines() if line not in text.splitlines()]
    assert left == [] and "// keep me" in text and "/* none */" in text
    assert stat.S_IMODE(file.stat().st_mode) == 0o644
    ask(capsys, "mcp", "install", "--client", "vscode", "--remove")
    assert file.read_text() == VSCODE


def test_tables_of_toml_stay(root: Path, capsys: Captured) -> None:
    file = file_of(program_named("codex"))
    file.parent.mkdir(parents=True)
    file.write_text(CODEX)
    ask(capsys, "mcp", "install", "--client", "codex")
    assert file.read_text().startswith(CODEX)
    assert servers(program_named("codex"))["other"] == {"command": "x", "env": {"KEY": "1"}}
    ask(capsys, "mcp", "install", "--client", "codex", "--read-only")
    ask(capsys, "mcp", "install", "--client", "codex", "--remove")
    assert file.read_text().rstrip("\n") == CODEX.rstrip("\n")


def test_the_history_that_a_program_keeps_in_its_file_stays(root: Path, capsys: Captured) -> None:
    history = ["ü\u2028", '\\"', 1e3, None, True]
    before = {"numStartups": 7, "projects": {"/home/a": {"history": history}}, "mcpServers": {}}
    file = file_of(program_named("claude-code"))
    file.write_text(json.dumps(before))
    ask(capsys, "mcp", "install", "--client", "claude-code")
    after = json.loads(file.read_text())
    assert after.pop("mcpServers").keys() == {"vault-agent"} and before.pop("mcpServers") == {}
    assert after == before


@pytest.mark.parametrize(
    ("client", "text"),
    [
        ("vscode", '{"servers": {'),
        ("vscode", "[]"),
        ("vscode", '{"servers": []}'),
        ("vscode", '{"servers": {,}}'),
        ("cursor", '{"mcpServers": {"vault-agent": {"command": "another"}}}'),
        ("cursor", "{" * 5000),
        ("codex", "[mcp_servers\n"),
        ("codex", 'mcp_servers = { other = { command = "x" } }\n'),
        ("codex", '[mcp_servers.vault-agent]\ncommand = "another"\n'),
    ],
)
def test_what_cannot_be_understood_is_left_alone(root: Path, capsys: Captured, client: str, text: str) -> None:
    file = file_of(program_named(client))
    file.parent.mkdir(parents=True)
    file.write_text(text)
    said = tell(capsys, "mcp", "install", "--client", client, code=2)
    assert "hint:" in said and str(file) in said
    assert file.read_text() == text and [path.name for path in file.parent.iterdir()] == [file.name]


def test_a_link_is_followed_and_kept(root: Path, capsys: Captured, tmp_path: Path) -> None:
    file, real = file_of(program_named("cursor")), tmp_path / "dotfiles.json"
    file.parent.mkdir(parents=True)
    real.write_text("{}\n")
    file.symlink_to(real)
    ask(capsys, "mcp", "install", "--client", "cursor")
    assert file.is_symlink() and "vault-agent" in real.read_text()


NAMES = st.text(st.characters(codec="utf-8"), max_size=6)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | NAMES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)
BLANKS = st.sampled_from(["", " ", "\n", "\n\t", " // ; }\n", "/* { */", "\r\n  "])
COMMAS = st.sampled_from(["", ","])


@given(st.dictionaries(NAMES, VALUES, max_size=4), st.data())
def test_one_value_is_set_and_taken_out_of_any_json(tables: dict[str, object], data: st.DataObject) -> None:
    text = written(tables, data)
    assert edits.parse_jsonc(text) == tables
    tables.setdefault("servers", {})
    servers = tables["servers"]
    if not isinstance(servers, dict):
        return
    after = edits.with_value(text, ("servers", "mine"), {"a": [1]})
    assert edits.parse_jsonc(after) == {**tables, "servers": {**servers, "mine": {"a": [1]}}}
    gone = edits.without_value(after, ("servers", "mine"))
    assert edits.parse_jsonc(gone) == {**tables, "servers": {k: v for k, v in servers.items() if k != "mine"}}


def written(value: object, data: st.DataObject) -> str:
    """The value as JSON, with comments and trailing commas here and there."""

    def blank() -> str:
        return data.draw(BLANKS)

    def items(parts: list[str]) -> str:
        comma = data.draw(COMMAS) if parts else ""
        return ",".join(f"{blank()}{part}{blank()}" for part in parts) + comma + blank()

    if isinstance(value, dict):
        return "{" + items([f"{json.dumps(k)}{blank()}:{blank()}{written(v, data)}" for k, v in value.items()]) + "}"
    if isinstance(value, list):
        return "[" + items([written(each, data) for each in value]) + "]"
    return json.dumps(value, ensure_ascii=False)


def test_a_table_below_the_removed_one_goes_with_it() -> None:
    text = '[a.b]\nx = "1"\n[a.b.env]\ny = "2"\n\n[a.c]\nz = "3"\n'
    assert edits.parse_toml(edits.without_table(text, ("a", "b"))) == {"a": {"c": {"z": "3"}}}
    replaced = edits.with_table(text, ("a", "b"), {"args": ['q"\\', "é"]})
    assert edits.parse_toml(replaced) == {"a": {"b": {"args": ['q"\\', "é"]}, "c": {"z": "3"}}}
