"""A search that cannot be made is refused on a page that still has what was typed."""

import re
from pathlib import Path
from urllib.error import HTTPError

import pytest

from tests.interfaces.http.pages.house import open_house


@pytest.mark.parametrize("page", ["/notes", "/memory"])
def test_a_wrong_filter_is_named_and_the_query_stays_in_the_field(tmp_path: Path, page: str) -> None:
    with open_house(tmp_path) as house:
        with pytest.raises(HTTPError) as refused:
            house.fetch(f"{page}?q=roof+before:%22soon%22")
        shown = refused.value.read().decode("utf-8")
    assert refused.value.code == 422
    assert "soon is not a day" in shown
    form = re.search(r'<form class="line" role="search"[^>]*>(.*?)</form>', shown, re.DOTALL)
    assert form and 'value="roof before:&#34;soon&#34;"' in form[1]
