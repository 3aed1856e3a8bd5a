"""The times of commands, each in a fresh process without a daemon, in a vault whose index is whole."""

from contextlib import closing
from pathlib import Path

from agent.index.keyword import engine_for
from agent.interfaces.cli.benches.figures import Figure, paired
from agent.interfaces.cli.benches.site import Site, site
from agent.interfaces.cli.benches.vaults import build_prose, questions
from agent.workspace.search_index import open_index

LIMITS_MS = {"--help": 150.0, "get": 110.0, "status": 180.0, "search": 350.0, "remember": 500.0}
"""The limit of each command's median, at 10,000 notes."""


def measure(folder: Path, notes: int, rounds: int) -> list[Figure]:
    """Cold starts of the commands that people wait for, in a vault of `notes` notes; named by the command."""
    paths = build_prose(folder / "vault", notes)
    place = site(folder / "vault", folder / "home", engine_for("auto"))
    with closing(open_index(place.workspace)) as index:
        index.refresh()
    return cold_commands(place, paths, rounds)


def cold_commands(place: Site, paths: list[str], rounds: int) -> list[Figure]:
    """The times of each command of `LIMITS_MS`; those that only look in turn, and then the one that writes."""
    asked = questions(place.root, paths, rounds + 2)
    looks = paired(
        rounds,
        [
            ("--help", lambda _: place.run("--help")),
            ("get", lambda number: place.run("get", paths[number % len(paths)])),
            ("status", lambda _: place.run("status")),
            ("search", lambda number: place.run("search", asked[number])),
        ],
    )
    return [*looks, *paired(rounds, [("remember", lambda number: place.run("remember", f"bench {number}"))])]
