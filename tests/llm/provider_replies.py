"""What providers answer to "Who has the spare key?": each thinks, then calls a tool.

The shapes are those of their public documentation and of reports about them; the words are ours.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from agent.llm.messages import Json, JsonObject

THOUGHT = "I look it up: PRIVATE."
"""What a model thinks; it must never be a part of its answer."""
QUERY: JsonObject = {"query": "spare key"}
ARGUMENTS = json.dumps(QUERY)
NONE: JsonObject = {}


@dataclass(frozen=True)
class ProviderReply:
    """A provider's answer, as bytes of its body.

    `sent_back` is what has to stand in the next request, as JSON without blanks, in this order; `calls` the number of
    calls in the answer. `usage` is what was used: input, output, cached.
    """

    name: str
    wire: Literal["openai", "responses", "anthropic"]
    body: bytes
    sent_back: Sequence[str] = ()
    model: str = "some-model"
    calls: int = 1
    content: str = "text/event-stream"
    usage: tuple[int, int, int] | None = None
    text: str = ""


def written(value: Json) -> str:
    """A value as a wire writes it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def data(*values: Json) -> bytes:
    return b"".join(f"data: {json.dumps(value, ensure_ascii=False)}\n\n".encode() for value in values)


def events(*values: JsonObject) -> bytes:
    return b"".join(f"event: {value['type']}\n".encode() + data(value) for value in values)


# chat completions


def delta(told: JsonObject, finish: str | None = None, **more: Json) -> JsonObject:
    choice: JsonObject = {"index": 0, "delta": told, "finish_reason": finish, "logprobs": None}
    return {"id": "c-1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice], **more}


def called(id: str = "call_1", at: int | None = 0, arguments: Json = ARGUMENTS, more: JsonObject = NONE) -> JsonObject:
    index: JsonObject = {} if at is None else {"index": at}
    function: JsonObject = {"name": "search_vault", "arguments": arguments}
    return {"tool_calls": [{**index, "id": id, "type": "function", "function": function, **more}]}


def in_pieces(id: str = "call_1") -> Sequence[JsonObject]:
    """A call whose arguments come bit by bit, as OpenAI sends it."""
    pieces = [ARGUMENTS[at : at + 5] for at in range(0, len(ARGUMENTS), 5)]
    rest = [delta({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]}) for piece in pieces]
    return [delta({"role": "assistant", "content": None, **called(id, arguments="")}), *rest]


def used(input: int = 120, output: int = 30, **more: Json) -> JsonObject:
    return {"prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output, **more}


def alone(usage: JsonObject) -> JsonObject:
    """The last chunk of a stream, with the usage only."""
    return {"id": "c-1", "object": "chat.completion.chunk", "choices": [], "usage": usage}


DONE = b"data: [DONE]\n\n"
CACHED: JsonObject = {"prompt_tokens_details": {"cached_tokens": 100}}


def thinking_in(field: str, *, end: str = "tool_calls", role: bool = True) -> bytes:
    """Thinking in a field of its own, then a call."""
    half = len(THOUGHT) // 2
    first: JsonObject = {"role": "assistant", "content": ""} if role else {}
    return data(
        delta({**first, field: THOUGHT[:half]}),
        delta({"content": "", field: THOUGHT[half:]}),
        *in_pieces(),
        delta({}, end),
    )


def with_field(field: str) -> Sequence[str]:
    return (f'"{field}":"{THOUGHT}"', '"tool_calls":[{"id":"call_1"')


def said(*pieces: str, end: str = "stop") -> bytes:
    """A text in pieces, and nothing else."""
    return data(
        delta({"role": "assistant", "content": ""}), *(delta({"content": each}) for each in pieces), delta({}, end)
    )


def detailed(*details: JsonObject) -> bytes:
    """Thinking as routers send it."""
    told = [delta({"role": "assistant", "content": "", "reasoning_details": [each]}) for each in details]
    return b": ROUTER PROCESSING\n\n" + data(*told, delta(called()), delta({}, "tool_calls"), alone(used()))


SIGNED: JsonObject = {"extra_content": {"google": {"thought_signature": "c2ln"}}}
XML_CALL = "<tool_call>\n<function=search_vault>\n<parameter=query>\nspare key\n</parameter>\n</function>\n</tool_call>"
JSON_CALL = '{"name": "search_vault", "arguments": {"query": "spare key"}}'
HARMONY = (
    f"<|channel|>analysis<|message|>{THOUGHT}<|end|><|start|>assistant<|channel|>commentary to=functions.search_vault"
    f" <|constrain|>json<|message|>{ARGUMENTS}<|call|>"
)
DEEPSEEK_CALL = (
    "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>search_vault\n```json\n"
    f"{ARGUMENTS}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>"
)
GLM_CALL = "<tool_call>search_vault\n<arg_key>query</arg_key>\n<arg_value>spare key</arg_value>\n</tool_call>"
MINIMAX_CALL = (
    '<minimax:tool_call>\n<invoke name="search_vault">\n<parameter name="query">spare key</parameter>\n</invoke>\n'
    "</minimax:tool_call>"
)
KIMI_CALL = (
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.search_vault:0<|tool_call_argument_begin|>"
    f"{ARGUMENTS}<|tool_call_end|><|tool_calls_section_end|>"
)


def chat(name: str, body: bytes, *sent_back: str, done: bool = True, **more: object) -> ProviderReply:
    return ProviderReply(name, "openai", body + (DONE if done else b""), sent_back, **more)  # type: ignore[arg-type]


CHAT = (
    chat(
        "openai, chat completions",
        data(
            *in_pieces(),
            delta({}, "tool_calls"),
            alone({**used(completion_tokens_details={"reasoning_tokens": 9}), **CACHED}),
        ),
        usage=(120, 30, 100),
    ),
    chat(
        "azure",
        data({"choices": [], "prompt_filter_results": [{"prompt_index": 0, "content_filter_results": {}}]})
        + data(*in_pieces(), delta({}, "tool_calls"), alone(used())),
        usage=(120, 30, 0),
    ),
    chat(
        "deepseek",
        thinking_in("reasoning_content") + data(alone(used(prompt_cache_hit_tokens=100, prompt_cache_miss_tokens=20))),
        *with_field("reasoning_content"),
        usage=(120, 30, 100),
    ),
    chat(
        "deepseek, fields that are null",
        data(
            delta({"role": "assistant", "content": None, "reasoning_content": ""}),
            delta({"content": None, "reasoning_content": THOUGHT}),
            delta({"content": "", "reasoning_content": None}),
            delta({**called(), "content": None, "reasoning_content": None}),
            delta({"content": "", "reasoning_content": None}, "tool_calls", usage=used()),
        ),
        *with_field("reasoning_content"),
    ),
    chat(
        "moonshot, usage in the choice",
        thinking_in("reasoning_content", end="")
        + data({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls", "usage": used(cached_tokens=1)}]}),
        *with_field("reasoning_content"),
        model="kimi-k2-thinking",
        usage=(120, 30, 0),
    ),
    chat(
        "dashscope",
        thinking_in("reasoning_content") + data(alone(used())),
        *with_field("reasoning_content"),
        model="qwen3-max",
    ),
    chat(
        "dashscope, a call whose id is empty later on",
        data(
            delta({"role": "assistant", "content": None, "reasoning_content": THOUGHT}),
            delta({"content": None, **called(arguments="")}),
            delta({"tool_calls": [{"index": 0, "id": "", "type": "function", "function": {"arguments": ARGUMENTS}}]}),
            delta({}, "tool_calls"),
        ),
        *with_field("reasoning_content"),
    ),
    chat(
        "zhipu",
        data(
            delta({"role": "assistant", "reasoning_content": THOUGHT}),
            delta(called()),
            delta({"role": "assistant", "content": ""}, "tool_calls"),
        ),
        *with_field("reasoning_content"),
        model="glm-4.7",
    ),
    chat(
        "minimax, thinking in the text",
        said(f"<think>\n{THOUGHT}\n", "</think>\n\n", end="") + data(delta(called()), delta({}, "tool_calls")),
    ),
    chat(
        "minimax, details",
        data(
            delta(
                {
                    "role": "assistant",
                    "reasoning_details": [{"type": "reasoning.text", "id": "r1", "index": 0, "text": THOUGHT[:4]}],
                }
            ),
            delta({"reasoning_details": [{"type": "reasoning.text", "id": "r1", "index": 0, "text": THOUGHT[4:]}]}),
            delta(called()),
            delta({}, "tool_calls"),
        ),
        written({"type": "reasoning.text", "id": "r1", "index": 0, "text": THOUGHT}),
    ),
    chat(
        "volcengine",
        thinking_in("reasoning_content") + data(alone({**used(), **CACHED})),
        *with_field("reasoning_content"),
        model="doubao-seed-1-8",
    ),
    chat("hunyuan", thinking_in("reasoning_content"), *with_field("reasoning_content")),
    chat("qianfan", thinking_in("reasoning_content"), *with_field("reasoning_content"), model="ernie-x1"),
    chat("stepfun", thinking_in("reasoning"), *with_field("reasoning")),
    chat("siliconflow", thinking_in("reasoning_content"), *with_field("reasoning_content")),
    chat(
        "gemini: no index, the end is stop",
        data(delta({"role": "assistant", **called(at=None, more=SIGNED)}), delta({}, "stop", usage=used())),
        written(SIGNED)[1:-1],
        model="gemini-3.8-flash",
    ),
    chat(
        "gemini: two calls, of which only the first is signed",
        data(
            delta({"role": "assistant", **called("function-call-1", 0, more=SIGNED)}),
            delta({"role": "assistant", **called("function-call-2", 1)}),
            delta({"role": "assistant"}, "stop"),
        ),
        '"id":"function-call-1"',
        written(SIGNED)[1:-1],
        '"id":"function-call-2"',
        calls=2,
    ),
    chat(
        "gemini: thoughts in the text, ids empty",
        said(f"<thought>{THOUGHT}</thought>", end="")
        + data(delta({"role": "assistant", **called("", 0, more=SIGNED)}, "tool_calls")),
        written(SIGNED)[1:-1],
    ),
    chat(
        "openrouter, a signed thought",
        detailed(
            {"type": "reasoning.text", "text": THOUGHT[:6], "format": "anthropic-claude-v1", "index": 0},
            {"type": "reasoning.text", "text": THOUGHT[6:], "format": "anthropic-claude-v1", "index": 0},
            {"type": "reasoning.text", "signature": "c2ln", "format": "anthropic-claude-v1", "index": 0},
        ),
        f'"reasoning_details":[{{"type":"reasoning.text","text":"{THOUGHT}","format":"anthropic-claude-v1","index":0,"signature":"c2ln"}}]',
        usage=(120, 30, 0),
    ),
    chat(
        "openrouter, an encrypted thought",
        detailed(
            {"type": "reasoning.encrypted", "data": "c2Vj", "id": "rs_1", "format": "openai-responses-v1", "index": 0}
        ),
        '"data":"c2Vj"',
    ),
    chat(
        "openrouter, thinking beside its details",
        data(
            delta(
                {
                    "role": "assistant",
                    "content": "",
                    "reasoning": THOUGHT,
                    "reasoning_details": [{"type": "reasoning.text", "text": THOUGHT, "index": 0}],
                }
            ),
            delta(called()),
            delta({}, "tool_calls", native_finish_reason="STOP"),
        ),
        '"reasoning_details":[',
    ),
    chat(
        "groq, usage of its own",
        thinking_in("reasoning", end="") + data(delta({}, "tool_calls", x_groq={"id": "req_1", "usage": used()})),
        *with_field("reasoning"),
        model="openai/gpt-oss-120b",
        usage=(120, 30, 0),
    ),
    chat("cerebras", thinking_in("reasoning") + data(alone(used())), *with_field("reasoning"), usage=(120, 30, 0)),
    chat("together", thinking_in("reasoning"), *with_field("reasoning")),
    chat("fireworks", thinking_in("reasoning_content"), *with_field("reasoning_content")),
    chat("nvidia", thinking_in("reasoning_content"), *with_field("reasoning_content")),
    chat(
        "xai, a call in one piece",
        data(
            delta({"role": "assistant", "reasoning_content": THOUGHT}),
            delta({**called(), "content": ""}),
            delta({}, "tool_calls"),
        ),
        *with_field("reasoning_content"),
    ),
    chat(
        "mistral, thinking as a part of the content",
        data(
            delta(
                {
                    "role": "assistant",
                    "content": [{"type": "thinking", "thinking": [{"type": "text", "text": THOUGHT}]}],
                }
            ),
            delta({"content": [{"type": "text", "text": "I look."}]}),
            delta(called("D681PevKs", 0), "tool_calls", usage=used()),
        ),
        '"content":"I look."',
        model="magistral-medium",
        text="I look.",
    ),
    chat(
        "mistral, thinking in brackets",
        said(f"[THINK]{THOUGHT}[/THINK]", end="") + data(delta(called("D681PevKs"), "tool_calls")),
    ),
    chat(
        "cohere",
        data(
            delta({"role": "assistant", "content": f"<|START_THINKING|>{THOUGHT}<|END_THINKING|>"}),
            delta(called(), "tool_calls"),
        ),
    ),
    chat("github models", data(*in_pieces(), delta({}, "tool_calls")), '"tool_calls":[{"id":"call_1"'),
    chat("vllm, the former field", thinking_in("reasoning_content"), *with_field("reasoning_content")),
    chat("vllm, the present field", thinking_in("reasoning") + data(alone(used())), *with_field("reasoning")),
    chat(
        "vllm without parsers",
        said(THOUGHT, "\n</think>", f"\n\n<tool_call>\n{JSON_CALL}\n</tool_call>"),
        model="qwen3-4b-thinking",
    ),
    chat("sglang", thinking_in("reasoning_content", end="tool_calls"), *with_field("reasoning_content")),
    chat(
        "llama.cpp",
        thinking_in("reasoning_content", end="")
        + data(
            delta({}, "tool_calls", timings={"prompt_n": 20, "cache_n": 100}),
            alone(used(prompt_tokens_details={"cached_tokens": 100})),
        ),
        *with_field("reasoning_content"),
        usage=(120, 30, 100),
    ),
    chat(
        "llama.cpp, thinking left in the text",
        said("<think>", THOUGHT, "</think>\n", end="") + data(delta(called(arguments=QUERY)), delta({}, "tool_calls")),
    ),
    chat(
        "ollama",
        data(
            delta({"role": "assistant", "content": "", "reasoning": THOUGHT}),
            delta({"role": "assistant", "content": "", **called()}),
            delta({"role": "assistant", "content": ""}, "tool_calls"),
        )
        + data(alone(used())),
        *with_field("reasoning"),
        model="qwen3:8b",
        usage=(120, 30, 0),
    ),
    chat("ollama, no end but the connection's", thinking_in("reasoning"), *with_field("reasoning"), done=False),
    chat("lm studio", thinking_in("reasoning_content"), *with_field("reasoning_content")),
    chat("lm studio, a call in its own brackets", said(f"[TOOL_REQUEST]\n{JSON_CALL}\n[END_TOOL_REQUEST]")),
    chat("gpt-oss, all channels in the text", said(*HARMONY.split(" ")[:1], " " + HARMONY.partition(" ")[2])),
    chat("qwen coder, a call in tags", said(f"<think>{THOUGHT}</think>", XML_CALL[:20], XML_CALL[20:])),
    chat(
        "qwen, two calls in the text",
        said(f"{THOUGHT}</think>\n", *(f"<tool_call>{JSON_CALL}</tool_call>\n" for _ in "12")),
        calls=2,
        model="qwq-32b",
    ),
    chat(
        "glm, a call in tags",
        said(f"<think>{THOUGHT}</think>{GLM_CALL}"),
    ),
    chat("kimi, a call in tokens", said(f"◁think▷{THOUGHT}◁/think▷I look.", KIMI_CALL), text="I look."),
    chat("deepseek, a call in tokens", said(f"<think>{THOUGHT}</think>", DEEPSEEK_CALL)),
    chat("llama, a call behind its token", said(f"<|python_tag|>{JSON_CALL.replace('arguments', 'parameters')}")),
    chat("llama, a call without any mark", said('{"name": "search_vault", ', '"parameters": {"query": "spare key"}}')),
    chat("mistral, a call as text", said(f"[TOOL_CALLS][{JSON_CALL}]")),
    chat(
        "minimax, a call in tags",
        said(f"<think>{THOUGHT}</think>{MINIMAX_CALL}"),
    ),
    chat(
        "a proxy that knows no streams",
        json.dumps(
            {
                "model": "m",
                "choices": [
                    {
                        "index": 0,
                        "message": {
                            "role": "assistant",
                            "content": None,
                            "reasoning_content": THOUGHT,
                            **called(at=None),
                        },
                        "finish_reason": "tool_calls",
                    }
                ],
                "usage": used(),
            }
        ).encode(),
        *with_field("reasoning_content"),
        done=False,
        content="application/json",
        usage=(120, 30, 0),
    ),
)

# OpenAI's Responses API

CALL_ITEM: JsonObject = {
    "id": "fc_1",
    "type": "function_call",
    "status": "completed",
    "call_id": "call_1",
    "name": "search_vault",
    "arguments": ARGUMENTS,
}


def reasoning_item(id: str, encrypted: str) -> JsonObject:
    summary = [{"type": "summary_text", "text": THOUGHT}]
    return {"id": id, "type": "reasoning", "summary": summary, "encrypted_content": encrypted, "status": "completed"}


def response(*items: JsonObject, status: str = "completed") -> JsonObject:
    usage: JsonObject = {
        "input_tokens": 120,
        "input_tokens_details": {"cached_tokens": 100, "cache_write_tokens": 0},
        "output_tokens": 30,
        "output_tokens_details": {"reasoning_tokens": 20},
        "total_tokens": 150,
    }
    return {
        "id": "resp_1",
        "object": "response",
        "model": "m",
        "status": status,
        "output": list(items),
        "usage": usage,
        "error": None,
        "incomplete_details": None,
    }


def streamed(*items: JsonObject) -> bytes:
    told: list[JsonObject] = [
        {"type": "response.created", "response": {"id": "resp_1", "model": "m", "status": "in_progress"}}
    ]
    for at, item in enumerate(items):
        begun = {**item, "arguments": "", "content": [], "encrypted_content": "part", "summary": []}
        told.append({"type": "response.output_item.added", "output_index": at, "item": begun})
        if item["type"] == "function_call":
            told += [
                {
                    "type": "response.function_call_arguments.delta",
                    "output_index": at,
                    "item_id": item["id"],
                    "delta": piece,
                }
                for piece in (ARGUMENTS[:9], ARGUMENTS[9:])
            ]
        if item["type"] == "reasoning":
            told.append(
                {
                    "type": "response.reasoning_summary_text.delta",
                    "output_index": at,
                    "summary_index": 0,
                    "delta": THOUGHT,
                }
            )
        if item["type"] == "message":
            told.append(
                {
                    "type": "response.output_text.delta",
                    "output_index": at,
                    "content_index": 0,
                    "delta": str(item["said"]),
                }
            )
        told.append({"type": "response.output_item.done", "output_index": at, "item": item})
    return events(*told, {"type": "response.completed", "response": response(*items)})


def message_item(text: str = "I look.") -> JsonObject:
    part: JsonObject = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    told: JsonObject = {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed"}
    return {**told, "content": [part], "said": text}


def in_responses(name: str, body: bytes, *sent_back: str, **more: object) -> ProviderReply:
    return ProviderReply(name, "responses", body, sent_back, usage=(120, 30, 100), **more)  # type: ignore[arg-type]


RESPONSES = (
    in_responses(
        "openai, thinking before a call",
        streamed(reasoning_item("rs_1", "ZW5j"), CALL_ITEM),
        '"encrypted_content":"ZW5j"',
        '"type":"function_call"',
    ),
    in_responses(
        "openai, thinking between calls",
        streamed(
            reasoning_item("rs_1", "ZW5j"),
            CALL_ITEM,
            reasoning_item("rs_2", "bmV4"),
            {**CALL_ITEM, "id": "fc_2", "call_id": "call_2"},
        ),
        '"id":"rs_1"',
        '"call_id":"call_1"',
        '"id":"rs_2"',
        '"call_id":"call_2"',
        calls=2,
    ),
    in_responses(
        "openai, words before a call",
        streamed(reasoning_item("rs_1", "ZW5j"), message_item(), CALL_ITEM),
        '"id":"rs_1"',
        '"content":"I look."',
        '"call_id":"call_1"',
        text="I look.",
    ),
    in_responses("openai, no thinking", streamed(CALL_ITEM), '"type":"function_call"'),
    in_responses(
        "a proxy that knows no streams",
        json.dumps(response(reasoning_item("rs_1", "ZW5j"), CALL_ITEM)).encode(),
        '"encrypted_content":"ZW5j"',
        content="application/json",
    ),
)

# Anthropic's Messages API


def block(index: int, begun: JsonObject, *deltas: JsonObject) -> Sequence[JsonObject]:
    told: list[JsonObject] = [{"type": "content_block_start", "index": index, "content_block": begun}]
    told += [{"type": "content_block_delta", "index": index, "delta": each} for each in deltas]
    return [*told, {"type": "content_block_stop", "index": index}]


def thought(index: int, signature: str = "c2ln", text: str = THOUGHT) -> Sequence[JsonObject]:
    pieces: list[JsonObject] = [{"type": "thinking_delta", "thinking": each} for each in (text[:5], text[5:]) if each]
    signed: list[JsonObject] = [{"type": "signature_delta", "signature": signature}] if signature else []
    return block(index, {"type": "thinking", "thinking": "", "signature": ""}, *pieces, *signed)


def words(index: int, text: str = "I look.") -> Sequence[JsonObject]:
    return block(index, {"type": "text", "text": ""}, {"type": "text_delta", "text": text})


def use(index: int, id: str = "toolu_1") -> Sequence[JsonObject]:
    pieces: list[JsonObject] = [
        {"type": "input_json_delta", "partial_json": each} for each in ("", ARGUMENTS[:6], ARGUMENTS[6:])
    ]
    return block(index, {"type": "tool_use", "id": id, "name": "search_vault", "input": {}}, *pieces)


def message(*blocks: Sequence[JsonObject]) -> bytes:
    usage: JsonObject = {
        "input_tokens": 15,
        "cache_read_input_tokens": 100,
        "cache_creation_input_tokens": 5,
        "output_tokens": 1,
    }
    return events(
        {
            "type": "message_start",
            "message": {
                "id": "msg_1",
                "type": "message",
                "role": "assistant",
                "model": "m",
                "content": [],
                "usage": usage,
            },
        },
        {"type": "ping"},
        *(event for each in blocks for event in each),
        {
            "type": "message_delta",
            "delta": {"stop_reason": "tool_use", "stop_sequence": None},
            "usage": {"output_tokens": 30},
        },
        {"type": "message_stop"},
    )


def in_messages(name: str, body: bytes, *sent_back: str, **more: object) -> ProviderReply:
    return ProviderReply(name, "anthropic", body, sent_back, **{"usage": (120, 30, 100), **more})  # type: ignore[arg-type]


SENT_THOUGHT = f'{{"type":"thinking","thinking":"{THOUGHT}","signature":"c2ln"}}'
MESSAGES = (
    in_messages("anthropic", message(thought(0), use(1)), SENT_THOUGHT, '"type":"tool_use"', model="claude-sonnet-5-5"),
    in_messages(
        "anthropic, words after thinking",
        message(thought(0), words(1), use(2)),
        SENT_THOUGHT,
        "I look.",
        '"tool_use"',
        model="claude-opus-4-5",
        text="I look.",
    ),
    in_messages(
        "anthropic, a redacted thought",
        message(block(0, {"type": "redacted_thinking", "data": "c2Vj"}), thought(1), use(2)),
        '{"type":"redacted_thinking","data":"c2Vj"}',
        SENT_THOUGHT,
        model="claude-opus-5-5",
    ),
    in_messages(
        "anthropic, thinking between words and calls",
        message(words(0), thought(1), use(2), thought(3, "bmV4"), use(4, "toolu_2")),
        "I look.",
        SENT_THOUGHT,
        '"id":"toolu_1"',
        '"signature":"bmV4"',
        '"id":"toolu_2"',
        model="claude-sonnet-5-5",
        calls=2,
        text="I look.",
    ),
    in_messages(
        "anthropic, thinking that is not shown",
        message(thought(0, text=""), use(1)),
        '{"type":"thinking","thinking":"","signature":"c2ln"}',
        model="claude-fable-5-2",
    ),
    in_messages(
        "deepseek, unsigned", message(thought(0, ""), use(1)), f'"thinking":"{THOUGHT}"', model="deepseek-v4-pro"
    ),
    in_messages("moonshot", message(thought(0), words(1, " "), use(2)), SENT_THOUGHT, model="kimi-k3"),
    in_messages(
        "a proxy that knows no streams",
        json.dumps(
            {
                "id": "msg_1",
                "type": "message",
                "role": "assistant",
                "model": "m",
                "content": [
                    {"type": "thinking", "thinking": THOUGHT, "signature": "c2ln"},
                    {"type": "tool_use", "id": "toolu_1", "name": "search_vault", "input": QUERY},
                ],
                "stop_reason": "tool_use",
                "usage": {"input_tokens": 20, "cache_read_input_tokens": 100, "output_tokens": 30},
            }
        ).encode(),
        SENT_THOUGHT,
        content="application/json",
        model="claude-haiku-4-5",
    ),
)

REPLIES: Mapping[str, ProviderReply] = {f"{each.wire}: {each.name}": each for each in (*CHAT, *RESPONSES, *MESSAGES)}
