"""Settings of the vault and of writing to it, which every command needs."""

from typing import Annotated, Literal

from agent.config.values import Choices, Range
from agent.dataclass import dataclass
from agent.texts import LANGUAGES, Language


@dataclass(frozen=True, slots=True)
class VaultSettings:
    """Settings of the whole vault."""

    language: Annotated[Language, Choices(LANGUAGES)]
    """The language of the notes that the agent writes. Default `en`; `init --language` sets it for a vault."""

    folder: str
    """The folder of the vault in which everything of the agent's lies: its notes, and folders such as `entries/`.
    Default empty: the vault's root. Only a vault's own file has it, as it describes that vault; `init --under` writes
    it, and it does not change while the agent's notes are there."""

    private: str
    """Notes and folders that the agent never sees: names such as `Diary/`, or paths with `*` for characters of one name
    and `**` for any, as a list or separated by commas. Default empty. They are not indexed, recalled, named or sent to
    a model, nor shown to another program, and none may write there; they are versioned and kept in step as before.
    `agent: never` in the header of a note does the same for that one. Only a vault's own file has it."""


@dataclass(frozen=True, slots=True)
class GitSettings:
    """Settings of commits and of git."""

    human_commits: Literal["auto", "off"]
    """`auto` commits the person's edits in the person's name; with `off` the person commits them. Default `auto`:
    committed edits can be undone, and the agent's commits stay separate from the person's."""

    quiet_seconds: Annotated[float, Range(0, 86_400, "seconds")]
    """The time without changes in the vault before the person's edits are committed, in seconds. Default 30: longer
    than an editor's autosave interval and a pause to think, so that a minute of writing is one commit."""

    largest_megabytes: Annotated[float, Range(0, 100_000, "megabytes")]
    """The size above which a new file is left out of the person's commits, in megabytes; 0 for no limit. Default 20:
    what a history has once, it keeps for ever, and each clone and backup copies it. A file that the person adds to git
    is followed like any other. A larger note from where others write is not taken in."""

    fetch_megabytes: Annotated[float, Range(0, 100_000, "megabytes")]
    """The most that one fetch may bring, and the size of the largest file in it, in megabytes; 0 for no limit. Default
    500: more than years of notes and pictures, and less than fills a disk."""

    most_files: Annotated[int, Range(1, 10_000_000, "files")]
    """The most files that a commit from a remote may have. Default 200000: twice the largest vaults known. A few
    kilobytes can stand for millions of files."""

    deepest_folder: Annotated[int, Range(1, 1_000, "folders")]
    """The most folders in each other that a commit from a remote may have. Default 64: more than any person makes."""

    binaries: Literal["leave", "embedded", "commit"]
    """Which new files that are no text (pictures, PDFs) are in the person's commits: `embedded` takes those that a note
    embeds or links to, up to `git.embedded_megabytes`, `commit` all, and `leave` none. Default `embedded`: a note is
    whole on the other machines, too, while git, which keeps a whole copy of each version, gets nothing else. A file
    that the person adds to git is followed like any other."""

    embedded_megabytes: Annotated[float, Range(0, 100_000, "megabytes")]
    """The size above which an embedded file is left out, in megabytes. Default 5: a photo or a scanned letter, no film.
    """

    durable: bool
    """Sync every write to disk before it counts as done. Default true: git by default does not fsync every write,
    and durability costs about 3 ms per commit."""

    lock_seconds: Annotated[float, Range(0, 600, "seconds")]
    """The maximum wait while another process writes to the same vault, in seconds. Default 5: a write takes well under
    one second, so after a longer wait the command reports the lock and exits with 75."""

    timeout_seconds: Annotated[float, Range(1, 3_600, "seconds")]
    """The maximum time of one call of git, in seconds. Default 60: enough for 50,000 notes on a slow disk, and short
    enough to detect a hanging git."""


@dataclass(frozen=True, slots=True)
class BrakeSettings:
    """The mass-change brake: a run or a pull that removes more than the larger of the two limits stops and asks."""

    notes: Annotated[int, Range(0, 1_000_000, "notes")]
    """Notes that one run with its sub-runs may delete, empty, or remove most lines from without approval. Default 20:
    more than a tidy-up needs, few enough to check."""

    share: Annotated[float, Range(0, 1)]
    """The same as a share of all notes, from 0 to 1. Default 0.05: at 10,000 notes, 500."""


@dataclass(frozen=True, slots=True)
class LogSettings:
    """Settings of logging."""

    level: Literal["debug", "info", "warning", "error"]
    """The lowest level of messages that are shown. Default `warning`: results are printed, so silence means success."""


@dataclass(frozen=True, slots=True)
class AttachmentSettings:
    """Settings of files that are no notes: PDF, docx, xlsx, pptx, epub, html, csv, pictures."""

    mine: str
    """Files that are the person's own writing: paths in the vault, with `*` for any characters, separated by commas,
    such as `thesis/*, letters/*.docx`. Default empty: the text of such a file counts as a stranger's, as a PDF does not
    tell who has written it. Set in a vault, it holds for that vault alone."""

    largest_megabytes: Annotated[float, Range(0, 2_000, "megabytes")]
    """The largest file of which the text is read and found, in megabytes. Default 50: a book with its pictures. 0 reads
    none."""
