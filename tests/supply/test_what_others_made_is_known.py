"""Each package and file from elsewhere is listed with its licence, and is the one that is listed."""

import re

from tests.supply.licences import LIST, packages
from tests.supply.vendored import FOLDER, listed


def test_each_licence_is_known_and_compatible() -> None:
    assert {each.name: each.unknown for each in packages() if each.unknown} == {}


def test_the_list_names_each_package() -> None:
    named = set(re.findall(r"^\| ([\w.-]+) \| [^|\n]+ \|$", LIST.read_text("utf-8"), re.MULTILINE)) - {"package", "---"}
    assert {each.name for each in packages()} - named == set(), "python -m tests.supply.licences writes it anew"


def test_the_files_of_the_pages_are_those_of_the_table() -> None:
    files = {path.name for path in FOLDER.iterdir() if path.suffix in {".js", ".css"}}
    assert {each.name for each in listed()} == files
    assert [each.name for each in listed() if not each.is_as_listed] == []
