"""One check decides for every server: only its own host, its own pages, and who shows its token."""

import pytest

from agent.config.entrance import bearer_token, is_token, local_entrance

HERE = local_entrance(8765)


@pytest.mark.parametrize("host", ["127.0.0.1:8765", "localhost:8765", "LOCALHOST:8765", "[::1]:8765"])
@pytest.mark.parametrize("origins", [[], ["http://127.0.0.1:8765"], ["http://localhost:8765"]])
def test_programs_and_own_pages_come_in(host: str, origins: list[str]) -> None:
    assert HERE.refuses([host], origins) is None


@pytest.mark.parametrize(
    "hosts",
    [
        [],
        ["evil.example:8765"],
        ["127.0.0.1"],
        ["127.0.0.1:80"],
        ["127.0.0.1:8765.evil.example"],
        ["localhost:8765"] * 2,
    ],
)
def test_another_host_is_refused(hosts: list[str]) -> None:
    assert HERE.refuses(hosts, []) == "host"


@pytest.mark.parametrize(
    "origins",
    [
        ["null"],
        ["HTTP://127.0.0.1:8765"],
        ["https://127.0.0.1:8765"],
        ["http://127.0.0.1:9999"],
        ["http://evil.example"],
        ["http://127.0.0.1:8765", "http://evil.example"],
        ["http://127.0.0.1:8765"] * 2,
    ],
)
def test_pages_of_other_places_are_refused(origins: list[str]) -> None:
    assert HERE.refuses(["127.0.0.1:8765"], origins) == "origin"


def test_only_one_header_with_the_very_token_counts() -> None:
    assert is_token(bearer_token(["Bearer secret"]), "secret")
    assert is_token(bearer_token(["bearer  secret "]), "secret")
    for shown in (
        [],
        [""],
        ["secret"],
        ["Basic secret"],
        ["Bearer"],
        ["Bearer secret", "Bearer secret"],
        ["Bearer sécret"],
    ):
        assert not is_token(bearer_token(shown), "secret")
    assert not is_token("", "")
