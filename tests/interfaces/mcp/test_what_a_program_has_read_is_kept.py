"""What a program has read from strangers is known when it connects again, for a day after the last of it."""

from datetime import timedelta
from pathlib import Path

from agent.interfaces.mcp.clients import REMEMBERED, Clients, ClientTaints
from agent.interfaces.mcp.source import CallSource
from tests.fakes import FakeClock

EVIL = "clip.md (from https://evil.example)"


def test_it_is_kept_by_program_and_for_a_day(tmp_path: Path) -> None:
    clock = FakeClock()
    taints = ClientTaints(tmp_path / "clients", clock)
    Clients(clock, taints).find(CallSource("Claude Code"), "").context.taint.mark(EVIL)
    assert Clients(clock, taints).find(CallSource("claude-code"), "").context.taint.sources == ["https://evil.example"]
    assert not any("clip.md" in file.read_text() for file in (tmp_path / "clients").iterdir()), (
        "a name may be forgotten"
    )
    assert not Clients(clock, taints).find(CallSource("cursor"), "").context.taint
    clock.advance(REMEMBERED / timedelta(seconds=1) - 60)
    Clients(clock, taints).find(CallSource("Claude Code"), "").context.taint.mark(EVIL)
    clock.advance(120)
    assert Clients(clock, taints).find(CallSource("Claude Code"), "").context.taint, "it has read it again since"
    clock.advance(REMEMBERED / timedelta(seconds=1) + 1)
    assert not Clients(clock, taints).find(CallSource("Claude Code"), "").context.taint


def test_what_cannot_be_read_counts_as_something(tmp_path: Path) -> None:
    clock = FakeClock()
    taints = ClientTaints(tmp_path / "clients", clock)
    taints.keep("mcp:a", [EVIL])
    (file,) = (tmp_path / "clients").iterdir()
    for damage in ("", "[", "null", '["never", []]', '["2026-11-21T10:00:00", 5]'):
        file.write_text(damage)
        assert taints.sources("mcp:a")


def test_another_claim_is_no_way_out_of_a_taint(tmp_path: Path) -> None:
    """A program that is known by its process only keeps what it has read, whatever it calls itself."""
    clock = FakeClock()
    shared = CallSource("node", is_program=False)
    clients = Clients(clock, ClientTaints(tmp_path, clock))
    before = clients.find(shared, "cursor")
    clients.find(shared, "claude-code").context.taint.mark(EVIL)
    assert before.context.taint and clients.find(shared, "a third").context.taint
    assert not clients.find(CallSource("cursor"), "").context.taint
    assert Clients(clock, ClientTaints(tmp_path, clock)).find(shared, "a fourth").context.taint
