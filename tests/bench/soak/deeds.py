"""What a person does on a machine whose daemon is at work, one function each; one that fails raises `Failed`."""

from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random

from agent.clock import SystemClock
from tests.bench.soak.machine import Machine
from tests.trust.editor import STYLES
from tests.vaults import git_beside, write

BUSY = 75
"""The exit code that says: try again."""
_TRIES, _PAUSE, _REST = 6, 0.5, 5.0
_TOPICS = ("kettle", "lake", "violin", "harbour", "garden", "letter", "winter", "market")


class Failed(Exception):
    """A command did not do what was asked; the text is its words and its output."""


def tell(machine: Machine, *words: str, is_answered_by_daemon: bool = False, said: str = "") -> str:
    """Run a command, again where it says so; returns what it printed."""
    for left in reversed(range(_TRIES)):
        done = machine.run(*words, is_answered_by_daemon=is_answered_by_daemon, said=said)
        if done.returncode == 0:
            return done.stdout
        if done.returncode != BUSY or not left:
            break
        SystemClock().sleep(_PAUSE)
    raise Failed(f"{' '.join(words)}: {done.returncode} {done.stdout[-400:]} {done.stderr[-400:]}")


def edit(machine: Machine, chance: Random, number: int) -> None:
    """A note is saved in one of the ways of editors."""
    note = _some_note(machine, chance)
    style = chance.choice(sorted(STYLES))
    line = f"\nOne more thought about the {chance.choice(_TOPICS)}, the {number}th.\n"
    STYLES[style](note, line if style == "append" else note.read_text("utf-8") + line)


def write_new(machine: Machine, chance: Random, number: int) -> None:
    """A new note, with a header, a link and a task."""
    topic = chance.choice(_TOPICS)
    text = (
        f"---\ntags: [{topic}]\n---\n# {topic.title()} {number}\n\nThe {topic} again, see [[log]].\n\n- [ ] call Ana\n"
    )
    write(machine.root / f"thoughts/{topic}-{number}.md", text)


def rename(machine: Machine, chance: Random, number: int) -> None:
    """A note gets another name."""
    note = _some_note(machine, chance)
    note.rename(note.with_name(f"renamed-{number}.md"))


def delete(machine: Machine, chance: Random, number: int) -> None:
    """A note is deleted."""
    _some_note(machine, chance).unlink()


def ask(machine: Machine, chance: Random, number: int) -> None:
    """A question on the terminal; what is said to the model's tools differs by its words."""
    asked = chance.choice(("keep a log of my walk", "what is known of my walks?", "read all that there is",
                           "read what is missing", f"Who gave me the {chance.choice(_TOPICS)}?"))  # fmt: skip
    tell(machine, "ask", f"{asked} ({number})", is_answered_by_daemon=True)


def ask_in_a_note(machine: Machine, chance: Random, number: int) -> None:
    """A request in the inbox, or a task for the agent in a note."""
    if chance.random() < 0.5:
        write(machine.root / f"inbox/question-{number}.md", f"what is known of my walks? ({number})\n")
    else:
        write(machine.root / f"thoughts/plan-{number}.md", f"# Plan {number}\n\n- [ ] @agent keep a log of this\n")


def talk(machine: Machine, chance: Random, number: int) -> None:
    """A chat of three lines."""
    lines = f"My sister has bought a {chance.choice(_TOPICS)}.\nkeep a log of it\nThanks, that was number {number}.\n"
    tell(machine, "chat", said=lines)


def remember(machine: Machine, chance: Random, number: int) -> None:
    """A fact, told to be remembered."""
    tell(machine, "remember", f"The {chance.choice(_TOPICS)} number {number} is Ana's", is_answered_by_daemon=True)


def search(machine: Machine, chance: Random, number: int) -> None:
    """A search, as notes and explained."""
    words = (chance.choice(_TOPICS), chance.choice(_TOPICS))
    tell(machine, "search", " ".join(words), is_answered_by_daemon=True)
    tell(machine, "recall", f"the {words[0]}", is_answered_by_daemon=True)


def look(machine: Machine, chance: Random, number: int) -> None:
    """What there is to see: the state, what was done, what waits."""
    tell(machine, "status", is_answered_by_daemon=True)
    tell(machine, *chance.choice((["log"], ["jobs"], ["tasks", "list"], ["notices", "list"], ["questions"])))


def pull(machine: Machine, chance: Random, number: int) -> None:
    """The laptop changes notes and pushes, and the person takes them in with git. The daemon does not sync by itself:
    under a clock that was set it pushes nothing, and so gets no turn beside another machine."""
    write(machine.laptop / f"laptop/note-{number}.md", f"# From the laptop {number}\n\nThe {chance.choice(_TOPICS)}.\n")
    log = machine.laptop / "log.md"
    log.write_text(log.read_text("utf-8").replace("laptop:\n", f"laptop:\n- number {number}\n", 1), "utf-8")
    machine.git_of_laptop("add", "-A")
    machine.git_of_laptop("commit", "-q", "-m", f"laptop {number}")
    machine.git_of_laptop("push", "-q", "origin", "HEAD:main")
    git_beside(machine.root, "fetch", "-q", "origin")
    _merge(machine)


def sleep(machine: Machine, chance: Random, number: int) -> None:
    """The agent is sent to sleep."""
    tell(machine, "sleep")


def wake(machine: Machine, chance: Random, number: int) -> None:
    """The agent is woken, with a task that waits."""
    kind = chance.choice(("upkeep", "self_reflection"))
    tell(machine, "tasks", "add", kind, f"Look {number}")
    tell(machine, "wake", "it is time")


def job(machine: Machine, chance: Random, number: int) -> None:
    """A job is made, run by hand or paused."""
    if chance.random() < 0.3:
        tell(machine, "jobs", "add", f"every 45 minutes keep a log of day {number}", "--yes")
    else:
        notes = sorted((machine.root / "jobs").glob("*.md"))
        tell(machine, "jobs", chance.choice(("run", "pause", "resume")), chance.choice(notes).stem)


def take_back(machine: Machine, chance: Random, number: int) -> None:
    """The last thing that was remembered is forgotten."""
    tell(machine, "remember", f"A mistake, number {number}", is_answered_by_daemon=True)
    tell(machine, "forget", "--last", "--yes")


def _merge(machine: Machine) -> None:
    """Merge what was fetched, as `git pull` does. Where the daemon has just saved something, git refuses and leaves
    what it had begun in its index: the person takes that out, waits, and tries again."""
    for left in reversed(range(_TRIES)):
        try:
            git_beside(machine.root, "merge", "-q", "--no-edit", "origin/main")
        except AssertionError as error:
            if not left:
                raise Failed(str(error)) from error
            git_beside(machine.root, "reset", "-q")
            machine.wait_for_rest(_REST)
        else:
            return


Deed = Callable[[Machine, Random, int], None]
DEEDS: Mapping[Deed, int] = {
    edit: 10, write_new: 4, rename: 1, delete: 1, ask: 5, ask_in_a_note: 2, talk: 2, remember: 3, search: 5, look: 3,
    pull: 4, sleep: 1, wake: 1, job: 1, take_back: 1,
}  # fmt: skip
"""How often each is done in a round of 44."""


def _some_note(machine: Machine, chance: Random) -> Path:
    notes = sorted([*(machine.root / "notes").rglob("*.md"), *(machine.root / "thoughts").glob("*-[0-9]*.md")])
    return chance.choice(notes)
