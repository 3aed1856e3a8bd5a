"""A machine of its own for every daemon."""

from pathlib import Path

import pytest

from tests.daemon.house import furnish
from tests.vaults import make_vault

NOTES = {
    "green.md": "# Green tea\n\nsencha leaves\n",
    "deep/black.md": "# Black tea\n\nassam leaves\n",
    "milk.md": "---\nid: 01HZZZZZZZ0000000000000001\n---\n# Milk\n\noats\n",
}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A vault with three notes."""
    furnish(tmp_path / "home", monkeypatch.setenv)
    return make_vault(tmp_path, NOTES).place.root
