"""`allowed-tools` narrows what a run may use and never widens it."""

from hypothesis import given
from hypothesis import strategies as st

from agent.skills.matching.tool_allowlist import ALWAYS, allowance
from tests.skills.shelves import skill

TOOLS = {"vault_read": {"fs"}, "vault_write": {"fs"}, "search_vault": {"search"}, "web_fetch": {"web"},
         "shell_run": {"exec"}, "human_ask": {"human"}}  # fmt: skip


def kept(*headers: str) -> set[str]:
    found = allowance(skill(f"s{number}", header) for number, header in enumerate(headers))
    return {name for name, groups in TOOLS.items() if found is None or found.keeps((name,), groups)}


def test_a_skill_that_says_nothing_takes_nothing_away() -> None:
    assert kept() == kept("") == set(TOOLS)


def test_names_groups_and_beginnings() -> None:
    assert kept("allowed-tools: search_vault") == {"search_vault", "human_ask"}
    assert kept("allowed-tools: fs") == {"vault_read", "vault_write", "human_ask"}
    assert kept("allowed-tools: vault_r* web") == {"vault_read", "web_fetch", "human_ask"}


def test_the_names_that_other_programs_have() -> None:
    assert kept("allowed-tools: Read Grep Bash(git:*)") == {"vault_read", "search_vault", "shell_run", "human_ask"}


def test_nothing_allowed_leaves_asking_the_person() -> None:
    assert kept("allowed-tools: []") == kept("allowed-tools: Unheard(of)") == {"human_ask"}


def test_skills_that_are_used_together_have_their_tools_together() -> None:
    assert kept("allowed-tools: web_fetch", "allowed-tools: search_vault", "") == {
        "web_fetch", "search_vault", "human_ask"
    }  # fmt: skip


@given(
    st.lists(
        st.lists(st.sampled_from(["fs", "web", "*", "Read", "vault_*", "x", "Bash(rm:*)"]), max_size=4), max_size=3
    )
)
def test_it_never_adds_a_tool(wishes: list[list[str]]) -> None:
    skills = [skill(f"s{number}", f"allowed-tools: {wish!r}") for number, wish in enumerate(wishes)]
    found = allowance(skills)
    policy = {"vault_read", "human_ask"}
    left = {name for name in policy if found is None or found.keeps((name,), TOOLS[name])}
    assert left <= policy
    if found is not None:
        more = allowance([*skills, skill("quiet")])
        assert more == found, "a skill without a wish widens nothing"
        assert all(found.keeps((name,)) for name in ALWAYS)
