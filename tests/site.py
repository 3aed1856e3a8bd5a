"""`python -m tests.site [FOLDER]`: makes a site of the documentation in FOLDER (site/ without one), with zensical.

The pages are those that travel with the program, in both languages, in the order of `vault-agent help`.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from agent.deeds.documentation import topics
from agent.texts import LANGUAGES

ROOT = Path(__file__).parents[1]
_HEADINGS = {"en": "English", "zh": "中文"}
_ABOUT = (
    "A personal agent that lives in your Markdown vault: every change is a note you can read and a commit you can undo."
)


def make_site(folder: Path) -> None:
    """Make the site in a folder, which is replaced; raises `CalledProcessError` with what zensical says."""
    with TemporaryDirectory() as made:
        project = Path(made)
        docs = project / "docs"
        for language in LANGUAGES:
            (docs / language).mkdir(parents=True)
            for topic in topics(language):
                (docs / language / f"{topic.name}.md").write_text(topic.page, "utf-8")
        (docs / "index.md").write_text(_index(), "utf-8")
        (project / "zensical.toml").write_text(_settings(), "utf-8")
        subprocess.run(["zensical", "build", "--strict"], cwd=project, check=True)
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(project / "site", folder)


def _index() -> str:
    lists = [
        f"## {_HEADINGS[language]}\n\n"
        + "\n".join(f"- [{topic.title}]({language}/{topic.name}.md)" for topic in topics(language))
        for language in LANGUAGES
    ]
    return "\n\n".join(["# vault-agent", _ABOUT, *lists, ""])


def _settings() -> str:
    """The settings of zensical; a JSON text or list is one of TOML, too."""
    pages = [
        f"{{ {json.dumps(_HEADINGS[language], ensure_ascii=False)} = "
        f"{json.dumps([f'{language}/{topic.name}.md' for topic in topics(language)])} }}"
        for language in LANGUAGES
    ]
    nav = ", ".join(['"index.md"', *pages])
    return f'[project]\nsite_name = "vault-agent"\nsite_description = {json.dumps(_ABOUT)}\nnav = [{nav}]\n'


if __name__ == "__main__":
    make_site(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "site")
