"""Two daemons with one index in a database: one writes it, the other searches, and writes when the first has ended."""

from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.daemon.pair import make_pair, until
from tests.vaults import write


def test_the_other_daemon_takes_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, database_url: str) -> None:
    monkeypatch.setenv("VAULT_AGENT_INDEX__ENGINE", "postgres")
    monkeypatch.setenv("VAULT_AGENT_DATABASE__URL", database_url)
    pair = make_pair(tmp_path, monkeypatch.setenv)
    with ExitStack() as first, ExitStack() as other:
        (anna,) = first.enter_context(pair.living(0))
        anna.catches_up()
        (bert,) = other.enter_context(pair.living(1))
        write(pair.roots[0] / "new.md", "a zzsecond note\n")
        until([anna, bert], lambda: bert.finds("zzsecond") == ["new.md"], "the other finds what the first took in")
        assert (anna.parts.index.problem, bert.parts.index.problem) == ("", "")
        first.close()
        write(pair.roots[1] / "mine.md", "a zzthird note\n")
        until([bert], lambda: bert.finds("zzthird") == ["mine.md"], "it writes the index now")
