"""What ships is made of the sources that lie beside it, asks for nothing but Obsidian, and has its one version."""

import json
import re
import shutil
import subprocess
from hashlib import sha256

import pytest

from agent.interfaces.http.api.table import TABLE
from tests.integrations.obsidian.desk import PLUGIN


def test_it_is_made_of_these_sources() -> None:
    """`npm run build` there makes it anew."""
    found = sha256()
    for file in sorted((PLUGIN / "src").iterdir(), key=lambda each: each.name):
        found.update(f"{file.name}\0".encode() + file.read_bytes() + b"\0")
    assert f"Sources: {found.hexdigest()} " in (PLUGIN / "main.js").read_text("utf-8")[:200]


def test_its_tools_agree_where_they_are_installed() -> None:
    """Types, the rules of Obsidian's own linter, and the built file byte by byte (`npm install` there)."""
    npm = shutil.which("npm")
    if npm is None or not (PLUGIN / "node_modules").exists():
        pytest.skip("the tools of the plugin are not installed: npm install in agent/integrations/obsidian")
    done = subprocess.run([npm, "run", "--silent", "check"], cwd=PLUGIN, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_it_asks_for_obsidian_only_and_makes_no_html_of_texts() -> None:
    built = (PLUGIN / "main.js").read_text("utf-8")
    assert set(re.findall(r"require\(\"([^\"]+)\"\)", built)) == {"obsidian"}
    assert (
        re.findall(r"innerHTML|outerHTML|insertAdjacentHTML|eval\(|new Function|import\(|fetch\(|XMLHttp", built) == []
    )


def test_it_has_one_version() -> None:
    manifest, package = (json.loads((PLUGIN / name).read_text()) for name in ("manifest.json", "package.json"))
    assert manifest["version"] == package["version"] and manifest["id"] == "vault-agent"


def test_it_asks_for_addresses_that_the_api_has() -> None:
    sources = "\n".join(file.read_text("utf-8") for file in (PLUGIN / "src").iterdir())
    asked = {
        re.sub(r"\$\{[^}]+\}+", "X", each).partition("?")[0] for each in re.findall(r"[\"`](/api/[^\"`]+)", sources)
    }
    known = [re.compile(re.sub(r"\{[^}]+\}", ".+", each.path)) for each in TABLE]
    assert [
        each for each in asked if not any(path.fullmatch(each.replace("X/X", "questions/X")) for path in known)
    ] == []
    assert len(asked) > 5
