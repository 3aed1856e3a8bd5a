"""The other kinds: a fact that sources confirm or dispute, a repository in a folder, and a deep research."""

import re
from pathlib import Path

import pytest

from agent.errors import ToolFailed, UserError
from agent.growth.research.own_sources import FolderSource, named_folder
from agent.growth.research.reading import Reading
from agent.llm.messages import never
from tests.growth.research.study import page, sentences_with, sources_in, studying, usual
from tests.vaults import write

LAKE = {
    "http://wikipedia.org/lake-varn-depth": page("Lake Varn depth", "Lake Varn is 104 metres deep."),
    "http://varn.gov/lake-varn-depth": page("Lake Varn depth", "The greatest depth of Lake Varn is 104 metres."),
    "http://reuters.com/lake-varn-depth": page("Lake Varn depth", "Lake Varn is 98 metres deep, divers say."),
    "http://blog.example/lake-varn-depth": page("Lake Varn depth", "Lake Varn is deep."),
}


def judge(*, against: str = "98") -> object:
    """A model that takes sources with this figure for contradicting."""

    def think(name: str, prompt: str) -> str:
        rows = []
        for number, words in sources_in(prompt).items():
            said = next((each for _, each in sentences_with("metres", f"Source [{number}]{words}")), "")
            stance = "silent" if not said else "contradicts" if against in said else "supports"
            rows.append(f"[{number}] {stance} — “{said}”" if said else f"[{number}] silent")
        return "\n".join([*rows, "ANSWER: Lake Varn is 104 metres deep [1]."])

    return think


def test_a_fact_is_confirmed_by_the_most_trusted_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = {url: each for url, each in LAKE.items() if "reuters" not in url}
    with studying(tmp_path, monkeypatch, pages, judge()) as study:  # type: ignore[arg-type]
        found = study.go("Lake Varn is 104 metres deep", "fact")
        note = study.made.text(found.path)
    assert found.findings.verdict == "confirmed" and found.calls <= 5
    assert [each.authority for each in found.sources][:2] == ["official", "encyclopaedia"]
    assert "**Confirmed**: 2 sources say so" in note and "verdict: confirmed" in note
    assert "says so: “The greatest depth of Lake Varn is 104 metres.”" in note


def test_a_disputed_fact_shows_both_sides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with studying(tmp_path, monkeypatch, LAKE, judge()) as study:  # type: ignore[arg-type]
        found = study.go("Lake Varn is 104 metres deep", "fact")
        note = study.made.text(found.path)
    assert found.findings.verdict == "disputed" and found.calls == 5
    assert "**Disputed**" in note and "says otherwise: “Lake Varn is 98 metres deep, divers say.”" in note
    assert not [each for each in found.sources if "blog" in each.address], "three pages are read, the best ones"


def test_two_pages_of_one_house_are_one_witness(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "Lake Varn is 104 metres deep."
    hosts = ("a.wikipedia.org", "a.wikipedia.org", "a.wikipedia.org", "b.example", "c.example")
    pages = {f"http://{host}/lake-varn-depth-{at}": page("Lake Varn", text) for at, host in enumerate(hosts)}
    with studying(tmp_path, monkeypatch, pages, judge()) as study:  # type: ignore[arg-type]
        found = study.go("Lake Varn is 104 metres deep", "fact")
    assert [each.house for each in found.sources] == ["a.wikipedia.org", "b.example", "c.example"]


def test_words_that_are_in_no_source_confirm_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def liar(name: str, prompt: str) -> str:
        return "\n".join(f"[{number}] supports — “It is exactly as you say.”" for number in sources_in(prompt))

    with studying(tmp_path, monkeypatch, LAKE, liar) as study:
        found = study.go("Lake Varn is made of tea", "fact")
    assert found.findings.verdict == "open" and found.findings.refused == 3


def test_the_vault_is_asked_about_a_fact_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notes = {"lake.md": "# Lake Varn\n\nLake Varn is 104 metres deep, I measured it.\n"}
    with studying(tmp_path, monkeypatch, {}, judge(), notes=notes, engine=False) as study:  # type: ignore[arg-type]
        found = study.go("Lake Varn is 104 metres deep", "fact")
    assert [each.address for each in found.sources] == ["lake.md"] and found.calls == 1
    assert found.findings.verdict == "supported" and not found.strangers


def repository(folder: Path) -> FolderSource:
    """The clone of a small program, with things in it that nobody should read."""
    write(folder / "README.md", "# knots\n\nknots is a solver for rope puzzles. It unties 14 crossings in a second.\n")
    write(folder / "pyproject.toml", '[project]\nname = "knots"\nversion = "2.1"\n')
    write(folder / "src/knots/main.py", '"""The entry point."""\nfrom knots.search import solve\n')
    write(folder / "src/knots/search.py", '"""The search: it goes breadth first, with a table of 4096 states."""\n')
    write(folder / "CHANGELOG.md", "# Changes\n\n2.1 is faster by 40 %.\n")
    write(folder / "tests/test_search.py", "assert True\n")
    for secret in (".env", "id_rsa", "secrets.yaml", "server.pem", "node_modules/x/index.js", ".git/config"):
        write(folder / secret, "TOPSECRET\n")
    (folder / "outside.md").symlink_to("/etc/passwd")
    (folder / "elsewhere").symlink_to("/etc")
    return named_folder(str(folder))


def test_a_repository_is_read_from_its_readme_to_its_core(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = repository(tmp_path / "knots")
    think = usual("", "unused")

    def study_it(name: str, prompt: str) -> str:
        if name == "files":
            files = dict(re.findall(r"^(\d+)\. (.+)$", prompt, re.MULTILINE))
            return ", ".join(number for number, path in files.items() if "search.py" in path or "main" in path)
        return think(name, prompt)

    with studying(tmp_path, monkeypatch, {}, study_it) as study:
        found = study.go("knots", "repository", folders=(folder,))
        note = study.note("Knots")
        prompts = study.thinker.prompts if study.thinker else []
    assert found.calls <= 15 and found.end == "done"
    read = [each.address for each in found.sources]
    assert read[:2] == ["README.md", "."] and {"src/knots/main.py", "src/knots/search.py"} <= set(read)
    assert "It unties 14 crossings in a second." in note and "4096" in note
    assert "`src/knots/search.py` — file" in note and "untrusted:" in note
    assert not [each for each in prompts if "TOPSECRET" in each or "root:" in each]
    assert study.web.queries == ["knots review discussion"], "only its name leaves this machine"


def test_a_repository_is_read_without_a_model_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = repository(tmp_path / "knots")
    with studying(tmp_path, monkeypatch, {}, engine=False) as study:
        found = study.go("knots", "repository", folders=(folder,))
        note = study.note("Knots")
    assert {"README.md", "pyproject.toml", "CHANGELOG.md", "src/knots/main.py"} <= {e.address for e in found.sources}
    assert "“knots is a solver for rope puzzles.”" in note


def test_what_is_no_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is no folder"):
        named_folder(str(tmp_path / "nowhere"))


@pytest.mark.parametrize("name", ["../outside.txt", "elsewhere/passwd", "outside.md", "/etc/passwd", "a/../../x"])
def test_no_path_leads_out_of_a_folder(tmp_path: Path, name: str) -> None:
    folder = repository(tmp_path / "knots")
    write(tmp_path / "outside.txt", "no")
    with pytest.raises(ToolFailed):
        folder.read(Reading(name), never)


SEA = {
    f"http://sea{number}.example/{word}-{number}": page(
        f"The sea and {word} {number}", f"The sea has {word} number {number}, which is {number * 7} units large."
    )
    for word in ("salt", "tide", "fish")
    for number in range(1, 15)
}


def test_a_deep_research_has_researchers_a_critic_and_further_searches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    think = usual(
        "sea", "How salty is it? | sea salt", "How large is a tide of a sea? | sea tide", "Which fish? | sea fish"
    )

    def critical(name: str, prompt: str) -> str:
        if name == "critic":
            return "DISPUTED: S1, S3 — how large the first one is\nGAP: 2 — more of the tides\nGAP: 9 — nothing"
        return think(name, prompt)

    large = {"http://sea99.example/how-large": page("How large", "A tide of the sea is 12 metres large.")}
    with studying(tmp_path, monkeypatch, SEA | large, critical) as study:
        found = study.go("The sea", "deep")
        note = study.made.text(found.path)
        asked = study.thinker.asked if study.thinker else []
    assert found.end == "done" and 20 < found.calls <= 50
    assert asked[0] == "outline" and asked.count("critic") == 2 and asked[-1] == "report"
    assert "how large the first one is" in note.partition("### Disputed")[2]
    assert len({each.number for each in found.sources}) == len(found.sources) > 15
