"""A daemon's first screen: what it tells while the notes are read stands on lines of its own, above the bar."""

from pathlib import Path

from tests.interfaces.cli.terminal import terminal
from tests.stories.agents import settings
from tests.vaults import make_vault


def test_what_a_daemon_tells_is_beside_no_bar(tmp_path: Path) -> None:
    root = make_vault(tmp_path, {f"notes/{n}.md": f"# Note {n}\n\nword {n}\n" for n in range(60)}).place.root
    with terminal(root, settings(tmp_path), "daemon") as person:
        person.sees("; Ctrl-C stops")
        person.sees("no port is open")
        assert "━" in person.raw.decode("utf-8", "replace"), "a bar was drawn"
        assert not any("━" in line for line in person.lines), "and is gone once the notes are read"
        person.type("\x03")
        person.ends()
        told = [line.removeprefix("^C") for line in person.lines if line.strip()]
    assert [line.partition(" ")[0] for line in told] == ["looking", "watching", "it", "no", "stopped:"]
