"""The law of the profile: whatever the person writes into a note, and whatever is proposed, every line of theirs stays
byte for byte, in its order."""

import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.memory.profile.changes import ProfileChange, propose_changes
from agent.memory.profile.profile_file import field_in, parse_profile
from tests.memory.profile.people import Home, home
from tests.vaults import write

NOTE = "31-preferences.md"
LABELS = ("Food", "Home", "Length", "Shoe size")
VALUES = ("Oslo", "tea", "fish", "43", "I prefer tea without sugar.")
LINES = st.one_of(
    st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), max_size=30),
    st.builds("- **{}**: {}".format, st.sampled_from(LABELS), st.sampled_from((*VALUES, "[to be filled]"))),
    st.builds("* {}: {} %% keep %%".format, st.sampled_from(LABELS), st.sampled_from((*VALUES, "[to be filled]"))),
    st.sampled_from(
        ("", "# Preferences", "## In your own words", "## Likes and dislikes %% keep %%", "> said", "```", "%% a")
    ),
    st.builds("- {}".format, st.sampled_from(VALUES)),
)
HEADERS = st.sampled_from(
    (
        "",
        "---\ntitle: Mine\n---\n",
        "---\nevidence: [ \"[[x]] 2026-01-01 'a'\" ]\nconfidence: 0.3\n---\n",
        "---\nevidence:\n# my remark\n  - odd\n---\n",
        "---\n: broken [\n---\n",
    )
)
CHANGES = st.lists(
    st.tuples(st.sampled_from(VALUES), st.sampled_from(("", *LABELS)), st.sampled_from(("", "Likes and dislikes"))),
    min_size=1,
    max_size=4,
)
_HOMES: list[Home] = []


def house() -> Home:
    """One vault for all examples: a new one for each costs half a second."""
    if not _HOMES:
        _HOMES.append(home(Path(tempfile.mkdtemp())))
        _HOMES[0].said("I prefer tea without sugar.")
    return _HOMES[0]


def test_a_last_line_without_an_end_stays_theirs_when_the_agent_writes_below_it(tmp_path: Path) -> None:
    made = home(tmp_path)
    evidence = made.said("I prefer fish. I like tea.")
    path = made.vault.place.root / "profile" / NOTE
    write(path, b"# Preferences\r\n\r\n- **Food**: 43")
    assert made.propose(ProfileChange(NOTE, "tea", (evidence,), heading="Likes and dislikes")).made
    found = made.propose(ProfileChange(NOTE, "fish", (evidence,), field="Food"))
    assert found.made == () and len(found.asked) == 1
    assert b"- **Food**: 43\r\n" in path.read_bytes()


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(header=HEADERS, rows=st.lists(LINES, max_size=12), changes=CHANGES, crlf=st.booleans(), end=st.booleans())
def test_every_line_of_theirs_stays(
    header: str, rows: list[str], changes: list[tuple[str, str, str]], crlf: bool, end: bool
) -> None:
    made = house()
    evidence = made.said("I prefer tea without sugar.")
    mine = header + "\n".join(rows) + ("\n" if end else "")
    before = (mine.replace("\n", "\r\n") if crlf else mine).encode()
    path = made.vault.place.root / "profile" / NOTE
    write(path, before)
    wanted = tuple(ProfileChange(NOTE, line, (evidence,), field, heading) for line, field, heading in changes)
    made.commit(propose_changes(made.writing, wanted))
    after = path.read_bytes()
    left = iter(after.split(b"\n"))
    for line in before.split(b"\n"):
        field = field_in(line.decode().rstrip("\r"))
        may_be_filled = field is not None and not field[2] and b"keep" not in line
        if not may_be_filled and line.strip():
            assert any(line.rstrip(b"\r") == row.rstrip(b"\r") for row in left), line
    assert parse_profile(f"profile/{NOTE}", NOTE, after).filled >= parse_profile("", NOTE, before).filled
