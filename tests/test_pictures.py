"""The README's pictures are drawn from what a terminal or a note shows, with all of its text and nothing hidden."""

from xml.etree.ElementTree import fromstring

from tests.pictures.note import note_picture
from tests.pictures.terminal import Recording


def words(picture: str) -> list[str]:
    """The texts of the picture, in order."""
    return ["".join(each.itertext()) for each in fromstring(picture).iter("{http://www.w3.org/2000/svg}text")]


def test_a_terminal_is_drawn_as_it_looks_at_the_end() -> None:
    recording = Recording()
    recording.add(["ask", "What is <this>?"], b"| thinking\r\x1b[K\x1b[1mTea\x1b[0m & toast\r\n")
    assert words(recording.picture()) == ["$", 'vault-agent ask "What is <this>?"', "Tea", " & toast"]
    assert "thinking" not in recording.picture()


def test_a_note_is_drawn_as_obsidian_shows_it() -> None:
    folded = '> [!quote]- search_vault "tea" → 2 notes\n> hidden\n'
    body = f"# Tea\n\n%% vault-agent: user {{}} %%\n{folded}\n- [x] **buy** [[tea]]\n"
    assert words(note_picture("Tea", body)) == ["Tea", "Tea", "›", 'search_vault "tea" → 2 notes', "☑", "buy tea"]
