"""Any skill in the open format loads as it is; what is wrong is named with file, line and reason."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from skills_ref.validator import validate  # type: ignore[import-untyped]

from agent.skills.reading.skill import SkillSource
from agent.skills.reading.skill_file import ParsedSkill, SkillFolder, parse_skill
from tests.stories.agents import PROJECT

WHERE = SkillFolder("pdf-forms", SkillSource.VAULT, "skills/pdf-forms/SKILL.md", ("scripts/fill.py",), 10)


def read(content: str | bytes, where: SkillFolder = WHERE) -> ParsedSkill:
    return parse_skill(content.encode() if isinstance(content, str) else content, where)


def header(*lines: str, body: str = "# Forms\n\nFill them.\n") -> str:
    return "\n".join(["---", "name: pdf-forms", "description: Fills forms. Use for PDF.", *lines, "---", body])


def test_a_skill_of_other_programs_loads_unchanged() -> None:
    found = read(
        header(
            "license: Apache-2.0",
            "compatibility: Requires Python 3.14+ and uv",
            "metadata:\n  author: example-org\n  version: '1.0'\n  other: {deep: [1, 2]}",
            "allowed-tools: Bash(git:*) Bash(jq *) Read",
            "user-invocable: true",
            "model: large",
        )
    )
    skill = found.skill
    assert not found.problems and skill is not None
    assert skill.name == "pdf-forms" and skill.description == "Fills forms. Use for PDF."
    assert skill.metadata["version"] == "1.0"
    assert skill.allowed_tools == ("Bash(git:*)", "Bash(jq *)", "Read")
    assert skill.files == ("scripts/fill.py",) and skill.body == "# Forms\n\nFill them."
    assert skill.triggers is None and not skill.has_triggers


@pytest.mark.parametrize(
    ("lines", "near"),
    [
        ("trigers:\n  intent_patterns: [a]", "triggers"),
        ("allowed_tools: Read", "allowed-tools"),
        ("max-tokens: 900", "max_tokens"),
        ("exclusive: paper", "exclusive_group"),
        ("prerequisits: [a]", "prerequisites"),
        ("triggers:\n  tool_signal: [web_fetch]", "tool_signals"),
        ("triggers:\n  confidence_treshold: 0.6", "confidence_threshold"),
        ("triggers:\n  intent-patterns: [a]", "intent_patterns"),
    ],
)
def test_a_misspelt_key_is_named_with_the_right_one_and_the_skill_is_used(lines: str, near: str) -> None:
    found = read(header(lines))
    assert found.skill is not None and [f"did you mean {near}?" in each.reason for each in found.problems] == [True]


@pytest.mark.parametrize("folder", sorted(path.parent for path in (PROJECT / "skills").glob("*/SKILL.md")), ids=str)
def test_the_program_s_own_skills_are_valid_by_the_reference_of_the_format(folder: Path) -> None:
    assert validate(folder) == []


def test_the_extensions_count_in_the_metadata_and_beside_it() -> None:
    inside = "triggers:\n  intent_patterns: [fill]\nchain: [a, b]\npriority: 8\nactivation: always"
    beside = read(header("metadata: {author: Ana}", *inside.splitlines())).skill
    within = read(header("metadata:", "  author: Ana", *(f"  {line}" for line in inside.splitlines()))).skill
    assert beside is not None and within is not None and within.triggers == beside.triggers
    assert (within.chain, within.priority, within.is_always) == (beside.chain, 8, True)
    assert within.metadata == beside.metadata == {"author": "Ana"}
    assert within.lines["priority"] == 9


def test_what_stands_beside_the_metadata_goes_before_and_another_program_s_words_are_its_own() -> None:
    found = read(header("priority: 3", "metadata:\n  priority: 9\n  triggers: on save\n  chain: gold\n  output: pdf"))
    assert found.problems == () and found.skill is not None
    assert (found.skill.priority, found.skill.triggers, found.skill.chain) == (3, None, ())


def test_a_problem_in_the_metadata_is_named_with_its_line() -> None:
    found = read(header("metadata:", "  author: Ana", "  priority: 99"))
    assert [(each.line, "from 1 to 10" in each.reason) for each in found.problems] == [(6, True)]


def test_allowed_tools_may_be_a_list() -> None:
    found = read(header("allowed-tools:\n  - Read\n  - Bash(git status)")).skill
    assert found is not None and found.allowed_tools == ("Read", "Bash(git status)")


def test_our_own_keys_are_read() -> None:
    skill = read(
        header(
            'triggers:\n  intent_patterns: ["fill.*form", "填.*表"]\n  tool_signals: [web_fetch]\n'
            "  context_signals:\n    keywords: [PDF, 表格]\n    slots: {task_type: [form, paper]}\n"
            "  confidence_threshold: 0.6",
            "priority: 8\nexclusive_group: paper\nmax_tokens: 900\ncooldown: 300",
            "output: {format: markdown, artifacts: true, artifact_type: document}",
        )
    ).skill
    assert skill is not None and skill.triggers is not None
    assert [str(intent) for intent in skill.triggers.patterns] == ["fill.*form", "填.*表"]
    assert skill.triggers.keywords == ("pdf", "表格") and skill.triggers.slots == (("task_type", ("form", "paper")),)
    assert (skill.triggers.threshold, skill.priority, skill.max_tokens, skill.cooldown) == (0.6, 8, 900, 300)
    assert skill.product is not None and skill.product.artifact_type == "document"


def test_patterns_below_all_belong_together() -> None:
    skill = read(header("triggers:\n  intent_patterns:\n    - tea\n    - all: [week, 'sum|back']\n    - all: x")).skill
    assert skill is not None and skill.triggers is not None
    assert [str(intent) for intent in skill.triggers.patterns] == ["tea", "week & sum|back", "x"]
    assert [pattern.text for pattern in skill.triggers.every] == ["tea", "week", "sum|back", "x"]


@pytest.mark.parametrize(
    ("content", "line", "said"),
    [
        ("no header", 1, "must begin with a header"),
        ("---\nname: pdf-forms\n---\n", 1, "description is missing"),
        ("---\ndescription: x\n---\n", 1, "name is missing"),
        ("---\nname: other\ndescription: x\n---\n", 2, "its folder is pdf-forms"),
        (header("allowed-tools: {a: b}"), 4, "texts only"),
        (header("chain: []"), 4, "between 1 and 20"),
        ("---\nname: [pdf]\ndescription: x\n---\n", 2, "64 characters"),
        ("---\nname: PDF\ndescription: x\n---\n", 2, "small letters"),
        ("---\nname: -pdf\ndescription: x\n---\n", 2, "begin or end with a hyphen"),
        ("---\nname: pdf--forms\ndescription: x\n---\n", 2, "two in a row"),
        ("---\nname: ../../etc\ndescription: x\n---\n", 2, "small letters"),
        (f"---\nname: {'a' * 65}\ndescription: x\n---\n", 2, "64 characters"),
        (header("triggers:\n  tool_signals: [a]\n  intent_patterns:\n    - fine\n    - '(a'"), 8, "is not RE2"),
        (header("triggers:\n  intent_patterns: ['.*']"), 5, "matches every text"),
        (header("triggers:\n  intent_patterns:\n    - all: []"), 4, "all must hold patterns"),
        (header("triggers:\n  intent_patterns:\n    - any: [a]"), 4, "must hold texts only"),
        (header("triggers:\n  intent_patterns:\n    - all: [a, '(b']"), 6, "is not RE2"),
        (
            header("triggers:\n  intent_patterns:" + f"\n    - all: {list('abcdefghijklmnopqrstuvwxyz')}" * 2),
            4,
            "at most 50",
        ),
        (header("triggers:\n  intent_patterns: ['(a|b){900}x']"), 5, "too large"),
        (header("triggers:\n  intent_patterns: [a]\n  except_patterns:\n    - '(a'"), 7, "is not RE2"),
        (
            header(
                "triggers:\n  intent_patterns: ['a{700}', 'b{700}', 'c{700}']\n  except_patterns: ['d{700}', 'e{700}']"
            ),
            4,
            "too large together",
        ),
        (header("triggers:\n  confidence_threshold: 3"), 4, "from 0 to 1"),
        (header("triggers:\n  intent_patterns: [[a]]"), 4, "texts only"),
        (header("chain:\n  - skil: a"), 5, "unknown key skil"),
        (header("chain:\n  - skill: a\n    on_failure: explode"), 6, "must be one of"),
        (header("a: &x 1\nb: *x"), 4, ""),
        (header("x: 1\nx: 2"), 5, "stands twice"),
        (header("x: " + "y" * 20_000), 2, "longer than 8 KB"),
        (b"---\nname: pdf-forms\ndescription: x\n---\nab\n\xff\xfe\n", 6, "not UTF-8"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(content: str | bytes, line: int, said: str) -> None:
    found = read(content)
    assert found.skill is None
    problem = found.problems[-1] if "unknown key" not in said else found.problems[0]
    assert (problem.path, problem.line) == (WHERE.path, line)
    assert said in problem.reason


@pytest.mark.parametrize(
    "line", ["triggers: [tea, coffee]", "priority: high", "output: text", "chain: a then b", "cooldown: {a: 1}"]
)
def test_a_strangers_key_of_the_same_name_is_left_unread_and_said(line: str) -> None:
    found = read(header(line))
    assert found.skill is not None and not found.skill.has_triggers and found.skill.priority == 5
    assert len(found.problems) == 1 and "left unread" in found.problems[0].reason and found.problems[0].line == 4


@pytest.mark.parametrize(
    ("content", "line", "said"),
    [
        (f"---\nname: pdf-forms\ndescription: {'x' * 1068}\n---\n", 3, "1,068 characters; the format allows 1,024"),
        (header("compatibility: " + "x" * 501), 4, "the format allows 500"),
        (header("license: [MIT]"), 4, "not text"),
        (header("metadata: [a]"), 4, "not a mapping"),
        (header("priority: 11"), 4, "from 1 to 10; 10 is used"),
        (header("cooldown: -5"), 4, "0 is used"),
        (header("success_rate: 2"), 4, "from 0 to 1"),
        (header("max_tokens: .nan"), 4, "not a number"),
        (header(f"exclusive_group: {'g' * 65}"), 4, "the format allows 64"),
        (header(f"output: {{format: {'f' * 65}}}"), 4, "left unread"),
    ],
)
def test_a_broken_limit_of_the_format_is_a_warning_and_the_skill_is_used(content: str, line: int, said: str) -> None:
    found = read(content)
    assert found.skill is not None
    (problem,) = found.problems
    assert problem.line == line and said in problem.reason
    assert 1 <= found.skill.priority <= 10 and found.skill.cooldown >= 0
    assert len(found.skill.description) == 1068 or found.skill.description == "Fills forms. Use for PDF."


def test_names_may_be_of_any_script() -> None:
    where = SkillFolder("周报", SkillSource.VAULT, "skills/周报/SKILL.md")
    found = read("---\nname: 周报\ndescription: 写周报\n---\n写。\n", where)
    assert found.skill is not None and not found.problems


@given(st.binary(max_size=300) | st.text(max_size=200).map(lambda t: header(t).encode("utf-8", "replace")))
def test_no_bytes_make_it_raise(data: bytes) -> None:
    found = read(data)
    assert found.skill is not None or found.problems
