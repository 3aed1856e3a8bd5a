"""Templates ask for no text that does not exist, and none of the texts of the pages is left over."""

import re
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[4] / "agent"
FOLDER = ROOT / "interfaces" / "http" / "pages"
_ASKED = re.compile(r"""\bt\("([a-z_]+)"(?! ~)""")
_BEGUN = re.compile(r"""\bt\("([a-z_]+_)" ~|\.text\(f"(?:pages\.)?([a-z_]*_)\{|text\(f"pages\.\{(\w+)\}_""")


def texts() -> set[str]:
    said = yaml.load((ROOT / "texts" / "en.yaml").read_bytes(), yaml.CSafeLoader)
    return set(said["pages"])


def sources() -> str:
    files = [*FOLDER.rglob("*.html"), *FOLDER.rglob("*.py")]
    return "\n".join(path.read_text("utf-8") for path in files)


def test_every_text_that_a_template_asks_for_exists() -> None:
    asked = {key for path in FOLDER.rglob("*.html") for key in _ASKED.findall(path.read_text("utf-8"))}
    assert asked
    assert sorted(asked - texts()) == []


def test_no_text_of_the_pages_is_left_over() -> None:
    source = sources()
    named = set(re.findall(r"[a-z_]+", source))
    begun = tuple({each for found in _BEGUN.findall(source) for each in found if each} | {"ago_", "ahead_", "every_"})
    pages = set(re.findall(r'Page\("(\w+)"', source))
    used = {key for key in texts() if key in named or key.startswith(begun) or key.removesuffix("_short") in pages}
    used |= {key for key in texts() if key.removesuffix("_more") in named}
    assert sorted(texts() - used) == []
