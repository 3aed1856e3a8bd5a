"""`python -m tests.pictures` makes the README's pictures anew: a terminal, and a note as Obsidian shows it.

A new vault, the real command line on a real terminal, and a model that speaks from a script.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

from agent.markdown.note import Note
from tests.interfaces.cli.terminal import terminal
from tests.pictures.note import note_picture
from tests.pictures.terminal import COLUMNS, Recording
from tests.stories.agents import PROJECT, call, script, settings
from tests.vaults import make_vault

PLACE = PROJECT / ".github"
TRIP = """# Lisbon in June

Four days with Mara. The hotel had no hair dryer, and it rained twice.

- [x] passports
- [x] charger
- [ ] rain jackets: forgotten, we bought umbrellas
"""
LIST = """# Packing for Porto

- [ ] rain jackets (forgotten in Lisbon)
- [ ] passports
- [ ] charger
- [ ] hair dryer
"""
ANSWER = """Your list is in [[packing/Porto]]. From [[trips/Lisbon]]:

1. **Rain jackets** come first: you forgot them in June.
2. A **hair dryer**, because the hotel had none.

The spare key can stay with Ana while you are away.
"""
_RUN = "the run that the command before has named"
_UNDO = ("undo", "--run", _RUN)


def main() -> None:
    with TemporaryDirectory() as folder:
        screen, note = record(Path(folder))
    PLACE.mkdir(exist_ok=True)
    (PLACE / "terminal.svg").write_text(screen, "utf-8")
    (PLACE / "note.svg").write_text(note, "utf-8")
    print(f"{PLACE}/terminal.svg and note.svg")  # noqa: T201 - a command line of its own


def record(folder: Path) -> tuple[str, str]:
    """The picture of the terminal, and that of the session's note."""
    root = make_vault(folder, {"trips/Lisbon.md": TRIP}).place.root
    said = script(
        folder / "script.json",
        call("search_vault", query="trip packing"),
        call("vault_write", path="packing/Porto.md", content=LIST),
        ANSWER,
    )
    own = {**settings(folder, said), "NO_COLOR": "", "TERM": "xterm-256color"}
    recording = Recording()
    shown = ""
    for words in (("remember", "The spare key is with Ana"), ("ask", "What should we pack for Porto?"), _UNDO):
        typed = [shown.split("undo --run ")[1].split()[0] if word == _RUN else word for word in words]
        with terminal(root, own, *typed, columns=COLUMNS, rows=60) as person:
            assert person.ends() == 0
            recording.add(typed, person.raw)
            shown = person.seen
    (session,) = (root / "sessions").rglob("*.md")
    return recording.picture(), note_picture(session.stem, Note.parse(session.read_bytes()).body)


if __name__ == "__main__":
    main()
