"""`tools.servers` and `calendars.sources`: mappings of names in the machine's file, never in a vault's."""

from contextlib import nullcontext
from pathlib import Path

import pytest

from agent.config.calendars import CalendarConfig, parse_calendars
from agent.config.load import Loaded, load_settings
from agent.config.secrets import Secret
from agent.config.servers import ServerConfig, parse_servers
from agent.errors import ConfigError
from agent.runs.servers import _check_open

WHOLE = """\
tools:
  servers:
    time: uvx mcp-server-time --local-timezone Europe/Berlin
    files:
      command: npx
      args: ["-y", "@modelcontextprotocol/server-filesystem", "~/Documents", "7"]
      env:
        PORT: 3000
        API_KEY: env:FILES_KEY
      seconds: 5
    wiki:
      url: https://wiki.example/mcp
      token: keyring:wiki
    idle:
      command: sleep 1
      off: true
calendars:
  sources:
    team: webcal://team.example/cal.ics
    home: ~/home.ics
    work:
      caldav: https://dav.example/
      user: anna
      password: env:DAV_PASSWORD
      mine: true
"""


def loaded(folder: Path, text: str, vault: Path | None = None) -> Loaded:
    file = folder / "config" / "config.yaml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(text, "utf-8")
    return load_settings(vault, environ={"VAULT_AGENT_HOME": str(folder)})


def test_they_are_read_from_the_machines_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/anna")
    settings = loaded(tmp_path, WHOLE).settings
    assert parse_servers(settings.tools.servers) == (
        ServerConfig("time", ("uvx", "mcp-server-time", "--local-timezone", "Europe/Berlin")),
        ServerConfig(
            "files",
            ("npx", "-y", "@modelcontextprotocol/server-filesystem", "/home/anna/Documents", "7"),
            environment={"PORT": "3000", "API_KEY": "env:FILES_KEY"},
            seconds=5,
        ),
        ServerConfig("wiki", url="https://wiki.example/mcp", token="keyring:wiki"),
    )
    assert parse_calendars(settings.calendars.sources) == (
        CalendarConfig("team", url="https://team.example/cal.ics"),
        CalendarConfig("home", file="/home/anna/home.ics"),
        CalendarConfig(
            "work", caldav="https://dav.example/", user="anna", password=Secret("env:DAV_PASSWORD"), is_mine=True
        ),
    )


def test_a_vault_sets_up_none(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "vault-agent.yaml").write_text(WHOLE, "utf-8")
    found = loaded(tmp_path, "", vault)
    assert found.settings.tools.servers == "" and found.settings.calendars.sources == Secret("")
    assert ["tools.servers is ignored" in found.warnings[0], "calendars.sources is ignored" in found.warnings[1]] == [
        True,
        True,
    ]


def test_a_calendars_address_is_not_shown(tmp_path: Path) -> None:
    sources = loaded(tmp_path, WHOLE).settings.calendars.sources
    assert "team.example" not in f"{sources} {sources!r}"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[]", "no mapping"),
        ('{"My Server": "x"}', "not one word"),
        ('{"a": {"comand": "x"}}', "no field"),
        ('{"a": {}}', "either a command or a url"),
        ('{"a": {"command": "x", "url": "https://a.example"}}', "either a command or a url"),
        ('{"a": {"command": "x \'y"}}', "not closed"),
        ('{"a": {"command": "x", "args": "y"}}', "a list of words"),
        ('{"a": "ftp://a.example"}', "an address such as"),
        ('{"a": {"url": "https://a.example", "token": "sk-0123456789"}}', "holds a key itself"),
        ('{"a": {"command": "x", "env": {"API_KEY": "sk-0123456789"}}}', "holds a key itself"),
        ('{"a": {"url": "https://a.example", "headers": {"Authorization": "sk-0123456789"}}}', "holds a key itself"),
        ('{"a": {"command": "x", "env": {"AWS_CREDENTIALS": "sk-0123456789"}}}', "holds a key itself"),
        ('{"a": {"command": "x", "seconds": "long"}}', "a number from"),
    ],
)
def test_what_is_wrong_with_a_server_is_named(text: str, why: str) -> None:
    with pytest.raises(ConfigError, match=why) as caught:
        parse_servers(text)
    assert "tools.servers" in caught.value.message and "sk-0123456789" not in caught.value.message


@pytest.mark.parametrize(
    ("url", "has_secrets", "is_open"),
    [
        ("http://[::1]/mcp", True, True),
        ("http://192.168.1.5/mcp", False, True),
        ("http://192.168.1.5/mcp", True, False),
        ("http://192.168.1.5/mcp?api_key=sk-0123456789", False, False),
        ("http://anna:walnut-77@192.168.1.5/mcp", False, False),
    ],
)
def test_a_key_goes_over_no_network_in_clear(url: str, has_secrets: bool, is_open: bool) -> None:
    with nullcontext() if is_open else pytest.raises(ConfigError, match="has no TLS"):
        _check_open(ServerConfig("a", url=url), has_secrets=has_secrets)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"a": {}}', "needs one place"),
        ('{"a": {"file": "/a.ics", "url": "https://a.example/a.ics"}}', "needs one place"),
        ('{"a": "home.ics"}', "a whole path"),
        ('{"a": "ftp://a.example/a.ics"}', "an address that begins"),
        ('{"a": {"url": "https://a.example", "mine": "maybe"}}', "true or false"),
    ],
)
def test_what_is_wrong_with_a_calendar_is_named(text: str, why: str) -> None:
    with pytest.raises(ConfigError, match=why) as caught:
        parse_calendars(Secret(text))
    assert "calendars.sources.a" in caught.value.message
