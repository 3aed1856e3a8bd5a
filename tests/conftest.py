"""A slow machine must not fail a law: generated examples have no time limit. And git, started by a test, works on the
test's own repository, never on the one whose hook or rebase has started the tests.
A person's own models do not count."""

import os

import pytest
from hypothesis import settings

for _name in [name for name in os.environ if name.startswith("GIT_")]:
    del os.environ[_name]
os.environ["HF_HUB_CACHE"] = os.devnull

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


def pytest_addoption(parser: pytest.Parser) -> None:
    """The node host that `tests/contracts/node_host.py` is run against."""
    parser.addoption("--base-url", help="the address of a node host", default="")
    parser.addoption("--token", help="its token", default="")
