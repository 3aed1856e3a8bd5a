"""Who opens the first page waits for its making only: its templates are compiled before the port is named."""

from pathlib import Path
from urllib.error import HTTPError

import pytest
from jinja2 import FileSystemLoader

from agent.interfaces.http.pages import frame
from tests.interfaces.http.pages.house import open_house


def test_the_first_page_reads_no_template(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frame._environment.cache_clear()
    with open_house(tmp_path) as house:
        loader = frame._environment().loader
        assert isinstance(loader, FileSystemLoader)
        house.until(lambda: not house.live.pool.state.running, "the other pages are compiled, too")
        monkeypatch.setattr(loader, "searchpath", [])
        for path in ("/", "/today", "/jobs", "/settings"):
            assert "<main" in house.fetch(path)


def test_the_first_page_is_ready_before_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    frame._environment.cache_clear()
    frame.compile_first_page()
    loader = frame._environment().loader
    assert isinstance(loader, FileSystemLoader)
    monkeypatch.setattr(loader, "searchpath", [])
    assert frame._environment().get_template("ask.html").name == "ask.html"
    frame.compile_pages(lambda: True)  # a daemon that ends does not compile the rest


def test_an_address_without_a_page_has_one_that_says_so(tmp_path: Path) -> None:
    with open_house(tmp_path) as house:
        for path, words in (("/approval", "there is no page /approval"), ("/api/v1/approval", '"status":404')):
            with pytest.raises(HTTPError) as failed:
                house.fetch(path)
            told = failed.value.read().decode("utf-8")
            assert failed.value.code == 404 and words in told
            assert ("<main" in told) == path.startswith("/approval")
