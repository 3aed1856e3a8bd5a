"""Letta: an agent file (`.af`), of either version: its blocks of memory, its messages, its kept passages.

What a block says about the person are facts, line by line; each other block is a note. A message is what was said, also
where the agent says it by calling a tool; what it thinks and does is left out.
"""

from collections.abc import Iterator
from datetime import UTC, datetime

from agent.importers.export import Export, ExportFile
from agent.importers.json_stream import whole
from agent.importers.values import ImportedConversation, ImportedNote, ImportedTurn, Item, fact, moment, statements
from agent.json_value import parse_json
from agent.llm.messages import JsonObject, items, mapping, text

_PERSON = "human"
_EVENTS = frozenset({"heartbeat", "login", "system_alert"})
"""Messages in the person's place that no person has written."""


def fits(source: Export) -> bool:
    """True for an agent file."""
    return bool(_files(source))


def _files(source: Export) -> list[ExportFile]:
    return source.ending(".af")


def read(source: Export) -> Iterator[Item]:
    """The facts, notes and conversations of each agent."""
    for file in _files(source):
        found = whole(file)
        agents = [mapping(each) for each in items(found.get("agents"))] or [found]
        created = file.modified or datetime.fromtimestamp(0, UTC)
        blocks = {text(each.get("id")): each for each in map(mapping, items(found.get("blocks")))}
        for agent in agents:
            name = text(agent.get("name")) or "Letta"
            own = [mapping(each) for each in items(agent.get("core_memory"))]
            own += [blocks.pop(id) for each in items(agent.get("block_ids")) if (id := text(each)) in blocks]
            for block in own:
                yield from _of_block(block, name, created)
            yield _conversation(agent, name, created)
        for block in blocks.values():
            yield from _of_block(block, "Letta", created)
        for each in map(mapping, (*items(found.get("passages")), *items(found.get("archival_memory")))):
            if words := text(each.get("text")).strip():
                yield fact(text(each.get("id")) or words, words, moment(each.get("created_at")) or created)


def _of_block(block: JsonObject, agent: str, created: datetime) -> Iterator[Item]:
    label, value = text(block.get("label")) or "memory", text(block.get("value")).strip()
    if not value:
        return
    if label != _PERSON:
        yield ImportedNote(f"{agent} {label}", f"{agent}: {label}", value, moment(block.get("created_at")) or created)
        return
    for words in statements(value):
        yield fact(f"{agent} {words}", words, moment(block.get("created_at")) or created)


def _conversation(agent: JsonObject, name: str, created: datetime) -> ImportedConversation:
    turns = tuple(turn for each in items(agent.get("messages")) if (turn := _turn(mapping(each))))
    id = f"{name} {text(agent.get('created_at'))}".strip()
    return ImportedConversation(id, name, turns, turns[0].at if turns and turns[0].at else created)


def _turn(message: JsonObject) -> ImportedTurn | None:
    role, content = text(message.get("role")), text(message.get("content")) or text(message.get("text"))
    if role not in ("user", "assistant"):
        return None
    words = _of_person(content) if role == "user" else "\n\n".join(filter(None, [*_sent(message), content]))
    id = text(message.get("id")) or f"{role} {text(message.get('created_at'))}"
    return ImportedTurn(id, role == "user", words, moment(message.get("created_at"))) if words.strip() else None


def _of_person(content: str) -> str:
    """The words of a message, which may be packed into JSON with its kind and time."""
    packed = _object(content)
    kind = text(packed.get("type"))
    return "" if kind in _EVENTS else text(packed.get("message")) or ("" if kind else content)


def _sent(message: JsonObject) -> Iterator[str]:
    for each in map(mapping, items(message.get("tool_calls"))):
        call = mapping(each.get("function")) or each
        if call.get("name") == "send_message":
            yield text(_object(text(call.get("arguments"))).get("message"))


def _object(content: str) -> JsonObject:
    if not content.lstrip().startswith("{"):
        return {}
    try:
        return mapping(parse_json(content))
    except ValueError:
        return {}
