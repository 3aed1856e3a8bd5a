"""Of all notes before the model, an answer used those that it links or names; the others were only shown."""

import pytest

from agent.loop.receipts import used_notes
from agent.tools.tool import Cited

PATHS = ("mara.md", "house/boat.md", "work/boat.md", "姐姐.md")


@pytest.mark.parametrize(
    ("answer", "paths"),
    [
        ("Your sister is called Mara.", set()),
        ("She lives in Porto [[mara]].", {"mara.md"}),
        ("She lives in Porto ([[Mara|my sister]]).", {"mara.md"}),
        ("See [[mara#Porto]] and house/boat.md.", {"mara.md", "house/boat.md"}),
        ("It lies in Lagos [[house/boat]].", {"house/boat.md"}),
        ("It lies in Lagos [[boat]].", {"house/boat.md", "work/boat.md"}),
        ("她住在波尔图 [[姐姐]]。", {"姐姐.md"}),
        ("I don't know.", set()),
    ],
)
def test_an_answer_uses_what_it_links_or_names(answer: str, paths: set[str]) -> None:
    assert {each.path for each in used_notes(answer, [Cited(path, (1, 9)) for path in PATHS])} == paths
