"""Asks a model for a reflection: once, and once more with what was wrong with the answer; the rest is kept as text."""

from agent.context.prompt import VaultReader, fill
from agent.dataclass import dataclass
from agent.errors import AgentError, LimitReached, Permanent
from agent.growth.reflections.answer import ParsedAnswer, RunJudgement, parse_answer
from agent.llm.messages import Assistant, Cancelled, Message, Provider, Request, User, ignore, never

ANSWER_TOKENS = 1_500
"""The most tokens of an answer: three strategies with all their parts are about 500."""
_SHOWN = 5
"""The most problems that are named to the model."""


@dataclass(frozen=True, slots=True)
class AskedAnswer:
    """What came of asking: the answer, or the text that could not be read, as it came."""

    answer: RunJudgement | None
    kept: str = ""


def ask_for_answer(
    model: Provider,
    prompt: str,
    read: VaultReader,
    cancelled: Cancelled = never,
    most: int = ANSWER_TOKENS,
) -> AskedAnswer:
    """The model's answer to a prompt; raises what the model raises when it is asked first, `Permanent` for an empty
    answer.

    If it cannot be asked again, the first answer is used as far as it can be read.
    """
    reply = model.chat(Request((User(prompt),), max_output=most), ignore, cancelled).message.text
    if not reply.strip():
        raise Permanent("the model gave an empty answer", hint="ask again; if it stays empty, raise llm.max_output")
    return answer_in_reply(model, prompt, reply, read, cancelled, most)


def answer_in_reply(
    model: Provider,
    prompt: str,
    reply: str,
    read: VaultReader,
    cancelled: Cancelled = never,
    most: int = ANSWER_TOKENS,
) -> AskedAnswer:
    """The answer in a model's reply to a prompt; if something is wrong with it, the model is asked once more.

    Raises what the model raises then, unless the reply can be used as it is or nothing is left to spend.
    """
    first = parse_answer(reply)
    if not first.problems:
        return AskedAnswer(first.answer)
    problems = "\n".join(f"- {each}" for each in first.problems[:_SHOWN])
    asked: tuple[Message, ...] = (User(prompt), Assistant(reply), User(fill("reflect_again", read, problems=problems)))
    try:
        repaired = model.chat(Request(asked, max_output=most), ignore, cancelled).message.text
    except (AgentError, OSError) as error:
        if first.answer is None and not isinstance(error, LimitReached):
            raise
        repaired = ""
    second = parse_answer(repaired) if repaired.strip() else ParsedAnswer(None)
    answer = second.answer or first.answer
    return AskedAnswer(answer) if answer is not None else AskedAnswer(None, reply.strip() or repaired.strip())
