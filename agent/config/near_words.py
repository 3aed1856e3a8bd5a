"""The word that a person has meant by one that is nearly a known one: misspelt, in another case, only its beginning."""

from collections.abc import Iterable

_SHORTEST = 4
"""Letters below which too many words are alike."""
_LIKE = 0.8
"""The least likeness: one letter too many, too few or exchanged in five."""


def meant(word: str, known: Iterable[str]) -> str:
    """The known word that is meant by a word that is none of them; empty if it is like none."""
    names, plain = {_plain(each): each for each in known}, _plain(word)
    if plain in names:
        return names[plain]
    if len(plain) < _SHORTEST:
        return ""
    from difflib import get_close_matches  # few words are unknown

    begun = [name for name in names if name.startswith(f"{plain}_")]
    near = begun[:1] if len(begun) == 1 else get_close_matches(plain, names, 1, _LIKE)
    return names[near[0]] if near else ""


def _plain(word: str) -> str:
    return word.strip().casefold().replace("-", "_").replace(" ", "_")
