"""Reasoning and calls that a model writes into its text are no part of its answer, however the text is cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.llm.answer_text import IncomingText, answer_in, reasons_in_text
from agent.llm.stream_assembly import calls_in

HARMONY = "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Ana has it.<|return|>"
ANSWERS = {
    "<think>Hm.</think>\n\nAna has it.": "Ana has it.",
    "<think>\n\n</think>\n\nAna has it.": "Ana has it.",
    "<thinking>Hm.</thinking>Ana has it.": "Ana has it.",
    "<thought>\nHm.\n</thought>\nAna has it.": "Ana has it.",
    "<reasoning>Hm.</reasoning>\nAna has it.": "Ana has it.",
    "<seed:think>Hm.</seed:think>Ana has it.": "Ana has it.",
    "[THINK]Hm.[/THINK]Ana has it.": "Ana has it.",
    "◁think▷Hm.◁/think▷Ana has it.": "Ana has it.",
    "<|START_THINKING|>Hm.<|END_THINKING|>Ana has it.": "Ana has it.",
    "Hm.\n</think>\n\nAna has it.": "Ana has it.",
    "Hm.</think>Ana has it.": "Ana has it.",
    "好的，用户问钥匙。\n</think>\n\n在安娜那里。": "在安娜那里。",
    "Hm.\n</thinking>\nAna has it.": "Ana has it.",
    "<think>Hm.</think>Wait.</think>Ana has it.": "Ana has it.",
    "<think>never ends": "",
    HARMONY: "Ana has it.",
    HARMONY.removeprefix("<|channel|>analysis<|message|>").replace(
        "Hm.<|end|>", "<|channel|>analysis<|message|>Hm.<|end|>"
    ): ("Ana has it."),
    "<|start|>assistant" + HARMONY: "Ana has it.",
    "<|channel|>final<|message|>Ana has it.": "Ana has it.",
    "<|channel|>analysis<|message|>Hm, cut off": "",
    "analysisThe person asks.assistantfinalAna has it.": "Ana has it.",
    "Ana has it.<|im_end|>": "Ana has it.",
    "Ana has it.</s>": "Ana has it.",
    # what only talks about tags stays
    "Use `</think>` to end it.": "Use `</think>` to end it.",
    'The tag "</think>" ends it.': 'The tag "</think>" ends it.',
    "Write <think> and </think> around it.": "Write <think> and </think> around it.",
    "a </think> b": "a </think> b",
    "<thinking is good": "<thinking is good",
    "analysis of the garden": "analysis of the garden",
    "Analysis\n\nThe roof leaks.": "Analysis\n\nThe roof leaks.",
    "[THINGS] to do": "[THINGS] to do",
    "3 < 4 and [a list]": "3 < 4 and [a list]",
}


@pytest.mark.parametrize(("said", "meant"), ANSWERS.items())
def test_the_answer_is_what_follows_the_reasoning(said: str, meant: str) -> None:
    assert answer_in(said) == meant


@given(st.sampled_from(list(ANSWERS)), st.lists(st.integers(1, 12), min_size=1), st.booleans())
def test_what_is_shown_is_the_answer_however_it_is_cut(said: str, cuts: list[int], with_tools: bool) -> None:
    """What is shown before a closing tag without an opening cannot be taken back; nothing else may be shown."""
    text = IncomingText(with_tools=with_tools)
    shown, at = "", 0
    for number in range(len(said)):
        before = text.reasoned
        piece = text.take(said[at : at + cuts[number % len(cuts)]])
        shown = piece if text.reasoned and not before else shown + piece
        at += cuts[number % len(cuts)]
    answer = text.answer
    assert answer == ANSWERS[said]
    assert shown + text.left(answer) == answer


@pytest.mark.parametrize("said", [each for each in ANSWERS if "</think>" in each and ANSWERS[each] != each])
def test_a_model_that_is_known_to_reason_shows_nothing_of_it(said: str) -> None:
    text = IncomingText(expects=True)
    shown = "".join(map(text.take, said))
    assert (shown + text.left(text.answer)).strip() == ANSWERS[said]


def test_a_model_that_was_thought_to_reason_and_does_not_has_its_whole_answer() -> None:
    text = IncomingText(expects=True)
    assert text.take("Ana has it.") == ""
    assert text.left(text.answer) == "Ana has it."
    text = IncomingText(expects=True)
    text.expect_no_reasoning()
    assert text.take("Ana has it.") == "Ana has it."


def test_names_tell_who_reasons() -> None:
    reasoning = ("qwen3-4b-thinking-2507", "deepseek-r1:8b", "QwQ-32B", "magistral-small", "phi-4-reasoning")
    assert all(map(reasons_in_text, reasoning))
    assert not any(map(reasons_in_text, ("gpt-4o", "llama3.2", "qwen3:8b", "gemma3")))


TOOLS = frozenset({"search_vault", "vault_read"})
CALL = '{"name": "search_vault", "arguments": {"query": "key"}}'
FOUND = [("search_vault", '{"query": "key"}')]


def found_in(said: str) -> tuple[str, list[tuple[str, str]]]:
    text, drafts = calls_in(said, TOOLS, lambda: "1")
    return text, [(each.name, each.arguments) for each in drafts]


@pytest.mark.parametrize(
    ("said", "before"),
    [
        (f"<tool_call>\n{CALL}\n</tool_call>", ""),
        (f"I look.\n<tool_call>{CALL}</tool_call>", "I look."),
        (f"<tool_call>{CALL}", ""),
        (f"<|tool_call|>[{CALL}]<|/tool_call|>", ""),
        (f"[TOOL_CALLS][{CALL}]", ""),
        ('[TOOL_CALLS]search_vault[ARGS]{"query": "key"}', ""),
        (f"[TOOL_REQUEST]{CALL}[END_TOOL_REQUEST]", ""),
        (f"<|python_tag|>{CALL}", ""),
        ('<function=search_vault>{"query": "key"}</function>', ""),
        ("<function=search_vault><parameter=query>key</parameter></function>", ""),
        (
            '<function_calls><invoke name="search_vault"><parameter name="query">key</parameter></invoke>',
            "",
        ),
        ("<tool_call>search_vault<arg_key>query</arg_key><arg_value>key</arg_value></tool_call>", ""),
        (f"```tool_call\n{CALL}\n```", ""),
        (CALL, ""),
        (f"```json\n{CALL}\n```", ""),
        (f"[{CALL}]", ""),
        (CALL.replace("arguments", "parameters"), ""),
        ('{"type": "function", "function": {"name": "search_vault", "arguments": {"query": "key"}}}', ""),
    ],
)
def test_calls_are_read_in_the_forms_of_all_templates(said: str, before: str) -> None:
    assert found_in(said) == (before, FOUND)


def test_a_call_behind_one_that_is_only_shown_is_read() -> None:
    shown = "It says:\n```\n<tool_call>{}</tool_call>\n```\nI look."
    assert found_in(f"{shown}\n<tool_call>{CALL}</tool_call>") == (shown, FOUND)


def test_several_calls_are_read_in_their_order() -> None:
    other = '{"name": "vault_read", "arguments": {"path": "a.md"}}'
    for said in (
        f"<tool_call>{CALL}</tool_call>\n<tool_call>{other}</tool_call>",
        f"[TOOL_CALLS][{CALL}, {other}]",
        f"{CALL}\n{other}",
        f"{CALL};{other}",
    ):
        assert [name for name, _ in found_in(said)[1]] == ["search_vault", "vault_read"], said


@pytest.mark.parametrize(
    "said",
    [
        "Ana has it.",
        '{"name": "Ana", "phone": "555"}',
        '{"name": "delete_all", "arguments": {}}',
        '```json\n{"keys": ["Ana"]}\n```',
        "[[people/Ana]] has it.",
        f"This is how a call looks: {CALL}",
        "Use <tool_calls> in your template.",
        f"The mail says:\n\n```\n<tool_call>{CALL}</tool_call>\n```\n\nI did nothing of it.",
        f"The mail says `<tool_call>{CALL}</tool_call>`; I did nothing of it.",
        f"The mail says:\n\n> please run\n> <tool_call>{CALL}</tool_call>\n\nI did nothing of it.",
        f'The mail says "please run <tool_call>{CALL}</tool_call>"; I did nothing of it.',
        f"The mail says “<tool_call>{CALL}</tool_call>”; I did nothing of it.",
    ],
)
def test_what_is_no_call_stays_the_answer(said: str) -> None:
    assert found_in(said) == (said, [])


def test_a_call_that_cannot_be_read_reaches_the_model_as_a_problem() -> None:
    _, drafts = calls_in(
        '<tool_call>{"name": "search_vault", "arguments": {"query": }}</tool_call>', TOOLS, lambda: "1"
    )
    assert [draft.name for draft in drafts] == ["search_vault"]
