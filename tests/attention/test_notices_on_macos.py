"""Notices on macOS go to `osascript` as arguments: whatever their text is, nothing of it is a script or an option."""

import getopt
import json
import stat
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.attention.channels.channel import Choice, Message
from agent.attention.channels.desktop import Desktop
from agent.errors import Permanent, Retryable
from agent.llm.messages import never
from tests.platform.systems import a_mac

FAKE = """#!{python}
import json, sys, time
with open({file!r}, "a", encoding="utf-8") as file:
    file.write(json.dumps(sys.argv[1:]) + chr(10))
{more}
"""
SCRIPT = [
    "on run argv",
    "display notification (item -1 of argv) with title (item -2 of argv)",
    "end run",
]
NASTY = (
    'He said "hello"',
    "a \\\" b \\\\ c \\n d",
    "two\nlines\r\nand\ttabs",
    '" & (do shell script "touch /tmp/hacked") & "',
    '"; do shell script "rm -rf ~"; display notification "',
    "-e do shell script 'x'",
    "-- -i -l JavaScript",
    "$(touch x) `touch x` ${HOME} %s %n",
    "end run\non run argv\ndo shell script \"x\"",
    "中文通知 “引号” 🍵",
    "\x00 a NUL, \x1b[31mred\x1b[0m, \u202eturned",
    "",
)  # fmt: skip


class Mac:
    """A fake `osascript` on the PATH, which notes its arguments."""

    def __init__(self, folder: Path) -> None:
        self.program, self.file = folder / "osascript", folder / "calls"

    def install(self, more: str = "") -> None:
        self.program.write_text(FAKE.format(python=sys.executable, file=str(self.file), more=more))
        self.program.chmod(self.program.stat().st_mode | stat.S_IXUSR)

    def last(self) -> tuple[list[str], list[str]]:
        """The lines of the script, and the items of its `argv`, as the program takes them from its arguments."""
        words = json.loads(self.file.read_text("utf-8").splitlines()[-1])
        options, items = getopt.getopt(words, "l:e:s:i")  # stops at the first that is none, and drops the --
        assert {name for name, _ in options} == {"-e"}
        return [value for _, value in options], items


@pytest.fixture
def mac(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mac:
    made = Mac(tmp_path)
    made.install()
    monkeypatch.setenv("PATH", str(tmp_path))
    a_mac(monkeypatch)
    return made


@pytest.mark.parametrize("text", NASTY)
def test_any_text_is_shown_and_none_is_run(mac: Mac, text: str) -> None:
    title = text or "A title"
    assert Desktop("en").send(Message("1", title, text), never) == "osascript 1"
    script, items = mac.last()
    assert script == SCRIPT and len(items) == 2
    for each in (word for word in text.split() if word.isascii() and word.isprintable()):
        assert each in items[-1] and each in items[-2]
    assert "\n" not in items[-2] and "\x1b" not in "".join(items) and "\x00" not in "".join(items)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=60), st.text(max_size=60))
def test_any_characters_stay_two_arguments(mac: Mac, title: str, text: str) -> None:
    Desktop("en").send(Message("1", title, text), never)
    script, items = mac.last()
    assert script == SCRIPT and len(items) == 2


def test_what_is_to_be_decided_says_where(mac: Mac) -> None:
    Desktop("en").send(Message("1", "May it?", "", (Choice("Yes", "yes 7K2"),)), never)
    assert "yes 7K2" in mac.last()[1][-1]


def test_a_program_that_refuses_or_is_missing_says_so(mac: Mac) -> None:
    mac.install("sys.exit('not \\x1b[31mallowed')")
    with pytest.raises(Permanent, match="not"):
        Desktop("en").send(Message("1", "Hello"), never)
    mac.install("time.sleep(60)")
    with pytest.raises(Retryable):
        Desktop("en", timeout=0.3).send(Message("1", "Hello"), never)
    mac.program.unlink()
    with pytest.raises(Retryable):
        Desktop("en").send(Message("1", "Hello"), never)
