"""A person who saves, thinks for some seconds and saves again has made one burst of edits, and one commit."""

from pathlib import Path

from agent.background.human_edits import HumanEdits
from agent.clock import SystemClock
from agent.config.load import load_settings
from agent.events.types import FilesChanged, NoteEdited, Origin
from agent.vault.options import Options
from tests.fakes import FakeClock
from tests.vaults import git, head, make_vault, write

QUIET = load_settings(environ={}).settings.git.quiet_seconds


def test_saves_of_two_notes_over_a_minute_are_one_commit_in_the_persons_name(tmp_path: Path) -> None:
    clock = FakeClock(SystemClock().now())
    options = Options(durable=False, quiet_seconds=QUIET)
    vault = make_vault(tmp_path, {"Trip plan.md": "", "Packing.md": ""}, clock=clock, options=options)
    root, before = vault.place.root, head(vault.place.root)
    edits = HumanEdits(vault, clock, QUIET, 1000.0, lambda event: None)
    edits.turn(0.0)
    for second in range(1, 121):
        clock.advance(1.0)
        if second <= 60 and second % 12 == 0:
            path = ("Trip plan.md", "Packing.md")[second // 12 % 2]
            write(root / path, f"# {path}\n\nsaved in second {second}\n")
            edits.changed(FilesChanged((NoteEdited(path, "", "", Origin.HUMAN),), clock.monotonic()))
        edits.turn(clock.monotonic())
    assert git(root, "log", "--format=%an %s", f"{before}..").splitlines() == [
        "Anna human(notes): edited Packing and Trip plan"
    ]
    assert edits.settled
