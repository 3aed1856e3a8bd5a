"""Exports of other programs, each as small as its form allows, and the import of one as the command does it."""

import base64
import hashlib
import json
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

from agent.importers.export import open_export
from agent.importers.formats import format_of
from agent.importers.plan import ImportChoice, ImportPlan
from agent.importers.write import WrittenImport, write_import
from agent.vault.store import Vault
from tests.vaults import write

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def take(
    vault: Vault, path: Path, name: str = "", *, mine: bool = False, folder: str = "Imported"
) -> tuple[ImportPlan, WrittenImport]:
    """Import what lies at the path, as the command does after the yes."""
    with open_export(path) as source:
        plan = ImportPlan(vault, format_of(source, name), ImportChoice(folder, mine))
        plan.survey(source)
        return plan, write_import(plan, source, "en")


def archive(path: Path, files: Mapping[str, str | bytes]) -> Path:
    """An archive with these files."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in files.items():
            made.writestr(name, content)
    return path


def chatgpt_talk(id: str, title: str, *said: str, at: float = 1_700_000_000.0) -> dict[str, object]:
    """A conversation of ChatGPT in which the person and the model take turns."""
    nodes: dict[str, object] = {f"{id}-root": {"id": f"{id}-root", "message": None, "parent": None, "children": []}}
    before = f"{id}-root"
    for number, words in enumerate(said):
        node = f"{id}-{number}"
        message = {
            "id": node,
            "author": {"role": "assistant" if number % 2 else "user"},
            "create_time": at + number,
            "content": {"content_type": "text", "parts": [words]},
            "metadata": {},
            "recipient": "all",
        }
        nodes[node] = {"id": node, "message": message, "parent": before, "children": []}
        before = node
    return {"id": id, "title": title, "create_time": at, "mapping": nodes, "current_node": before}


def chatgpt(folder: Path) -> Path:
    talk = chatgpt_talk("c1", "Trip to Rome", "When does the train leave?", "At nine.")
    nodes = talk["mapping"]
    assert isinstance(nodes, dict)
    nodes["other"] = {"id": "other", "message": nodes["c1-1"]["message"], "parent": "c1-0", "children": []}
    seen = nodes["c1-0"]["message"]
    picture = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://file-AbC123xyz"}
    seen["content"] = {"content_type": "multimodal_text", "parts": ["When does the train leave?", picture]}
    files: dict[str, str | bytes] = {"conversations.json": json.dumps([talk]), "file-AbC123xyz-ticket.png": PNG}
    return archive(folder / "chatgpt.zip", files)


def claude(folder: Path) -> Path:
    messages = [
        {
            "uuid": "m1",
            "sender": "human",
            "text": "Summarise this",
            "created_at": "2025-02-03T04:05:06.000Z",
            "attachments": [{"file_name": "plan.txt", "extracted_content": "The roof comes first."}],
        },
        {
            "uuid": "m2",
            "sender": "assistant",
            "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Roof, then walls."}],
            "created_at": "2025-02-03T04:05:09.000Z",
        },
    ]
    talk = {"uuid": "u-1", "name": "House", "created_at": "2025-02-03T04:05:06.000Z", "chat_messages": messages}
    docs = [{"uuid": "d1", "filename": "beds.md", "content": "Tomatoes in the south bed."}]
    project = {"uuid": "p1", "name": "Garden", "prompt_template": "Speak of plants.", "docs": docs}
    memories = [{"conversations_memory": "**Work**\n\n- Builds a house near Bonn", "project_memories": {}}]
    files: dict[str, object] = {"conversations.json": [talk], "projects.json": [project], "memories.json": memories}
    return archive(folder / "claude.zip", {name: json.dumps(value) for name, value in files.items()})


def gemini(folder: Path) -> Path:
    records = [
        {
            "header": "Gemini Apps",
            "title": "Prompted how tall is the tower",
            "time": "2025-05-02T10:00:00.000Z",
            "products": ["Gemini Apps"],
            "safeHtmlItem": [{"html": "<p>It is <b>96 m</b> tall.</p><ul><li>since 1890</li></ul>"}],
        },
        {"header": "Search", "title": "Searched for tea", "time": "2025-05-02T09:00:00.000Z", "products": ["Search"]},
    ]
    name = "Takeout/My Activity/Gemini Apps/MyActivity.json"
    return archive(folder / "takeout.zip", {name: json.dumps(records)})


def gemini_page(folder: Path, *entries: str, name: str = "Takeout/My Activity/Gemini Apps/MyActivity.html") -> Path:
    """The same activity as a web page, with the texts of these entries, the newest first."""
    body = "mdl-typography--body-1"
    cells = "".join(
        '<div class="outer-cell mdl-cell"><div class="mdl-grid"><div class="header-cell mdl-cell">'
        f'<p class="mdl-typography--title">Gemini Apps<br></p></div><div class="content-cell {body}">{entry}</div>'
        f'<div class="content-cell {body} mdl-typography--text-right"></div><div class="content-cell">'
        "<b>Products:</b><br>&emsp;Gemini Apps<br></div></div></div>"
        for entry in entries
    )
    page = f"<html><head><style>b {{}}</style></head><body><div class=mdl-grid>{cells}</div></body></html>"
    return archive(folder / "page.zip", {name: page, name.replace("MyActivity.html", "plan a.png"): PNG})


def mem0(folder: Path) -> Path:
    memories = [{"id": "m-1", "memory": "Anna likes green tea", "created_at": "2025-01-02T03:04:05Z"}]
    write(folder / "mem0.json", json.dumps({"results": memories}))
    return folder / "mem0.json"


def basic_memory(folder: Path) -> Path:
    head = "---\ntitle: Coffee brewing\ntype: note\npermalink: coffee/brewing\ntags: [coffee]\n---\n"
    write(folder / "basic" / "coffee" / "Coffee brewing.md", f"{head}# Coffee\n\n- [method] Pour slowly #taste\n")
    return folder / "basic"


def letta(folder: Path) -> Path:
    messages = [
        {"id": "message-0", "role": "user", "content": [{"type": "text", "text": '{"type": "heartbeat"}'}]},
        {
            "id": "message-1",
            "role": "user",
            "content": [{"type": "text", "text": '{"type": "user_message", "message": "Hello there"}'}],
            "created_at": "2025-03-01T08:00:00Z",
        },
        {
            "id": "message-2",
            "role": "assistant",
            "content": [],
            "tool_calls": [{"function": {"name": "send_message", "arguments": '{"message": "Good morning"}'}}],
        },
    ]
    blocks = [
        {"id": "block-0", "label": "human", "value": "Sarah is a product manager.\nSarah lives in Ulm."},
        {"id": "block-1", "label": "persona", "value": "I am Sam, who helps."},
    ]
    agents = [{"id": "agent-0", "name": "sam", "block_ids": ["block-0", "block-1"], "messages": messages}]
    write(folder / "sam.af", json.dumps({"agents": agents, "blocks": blocks, "tools": []}))
    return folder / "sam.af"


def openclaw(folder: Path) -> Path:
    place = folder / "workspace"
    write(place / "AGENTS.md", "Always run the tests.\n")
    write(place / "SOUL.md", "You are calm.\n")
    write(place / "USER.md", "Name: Mia\n")
    write(place / "MEMORY.md", "# Memory\n\n- Mia plays the cello\n")
    write(place / "memory" / "2026-01-05.md", "Talked about strings.\n")
    write(place / "skills" / "x" / "SKILL.md", "---\nname: x\n---\n")
    return place


def khoj(folder: Path) -> Path:
    chat = [
        {"by": "you", "message": "What is a rhizome?", "created": "2024-06-01 10:00:00"},
        {"by": "khoj", "message": "A root stalk.", "created": "2024-06-01 10:00:05"},
    ]
    talk = {"conversation_id": "k-1", "title": "Plants", "created_at": "2024-06-01T10:00:00Z", "chat": chat}
    write(folder / "khoj.json", json.dumps([talk]))
    return folder / "khoj.json"


def obsidian_copilot(folder: Path) -> Path:
    head = "---\nepoch: 1720000000000\nmodelKey: gpt-4o|openai\ntopic: Soup\ntags:\n  - copilot-conversation\n---\n\n"
    talk = (
        "**user**: Which soup?\n[Timestamp: 2024/07/03 12:00:00]\n\n**ai**: Leek.\n[Timestamp: 2024/07/03 12:00:04]\n"
    )
    write(folder / "copilot" / "Soup@20240703.md", head + talk)
    return folder / "copilot"


NOTION_ID, NOTION_OTHER = "0123456789abcdef0123456789abcdef", "fedcba9876543210fedcba9876543210"


def notion(folder: Path) -> Path:
    page, below = f"Home {NOTION_ID}", f"Kitchen {NOTION_OTHER}"
    files: dict[str, str | bytes] = {
        f"{page}.md": "# Home\n\nCreated: January 5, 2024 9:30 AM\n\n"
        f"[Kitchen](Home%20{NOTION_ID}/Kitchen%20{NOTION_OTHER}.md)\n\n![plan](Home%20{NOTION_ID}/plan.png)\n",
        f"{page}/{below}.md": "# Kitchen\n\nPaint it yellow.\n",
        f"{page}/plan.png": PNG,
        f"{page}/Costs {NOTION_OTHER[::-1]}.csv": "\ufeffItem,Euro\nPaint,40\n",
    }
    inner = archive(folder / "parts" / "Part-1.zip", files)
    return archive(folder / "notion.zip", {"Export-Part-1.zip": inner.read_bytes()})


def evernote(folder: Path, more: str = "") -> Path:
    digest = hashlib.md5(PNG, usedforsecurity=False).hexdigest()
    content = (
        '<?xml version="1.0" encoding="UTF-8"?><!DOCTYPE en-note SYSTEM "http://xml.evernote.com/pub/enml2.dtd">'
        '<en-note><div>Milk &amp; eggs</div><div><en-todo checked="true"/>done</div>'
        f'<en-media type="image/png" hash="{digest}"/></en-note>'
    )
    resource = (
        f"<resource><data encoding='base64'>{base64.b64encode(PNG).decode()}</data><mime>image/png</mime>"
        "<resource-attributes><file-name>shop.png</file-name></resource-attributes></resource>"
    )
    note = (
        f"<note><title>Shopping</title><content><![CDATA[{content}]]></content><created>20240105T093000Z</created>"
        "<updated>20240106T093000Z</updated><tag>home</tag>"
        f"<note-attributes><source-url>https://example.org/list</source-url></note-attributes>{resource}</note>"
    )
    write(folder / "My notes.enex", f'<?xml version="1.0"?><en-export>{note}{more}</en-export>')
    return folder / "My notes.enex"


def apple_notes(folder: Path) -> Path:
    place = "iCloud Notes/Notes/Bike"
    return archive(folder / "apple.zip", {f"{place}/Bike.txt": "The lock is 4711.\n", f"{place}/photo.png": PNG})


def logseq(folder: Path) -> Path:
    place = folder / "graph"
    write(place / "logseq" / "config.edn", "{}")
    write(
        place / "pages" / "Projects___Boat.md",
        "tags:: wood, water\n\n- Sand the [[hull]]\n- ![plan](../assets/p.png)\n",
    )
    write(place / "journals" / "2024_03_04.md", "- Met Jo\n")
    write(place / "assets" / "p.png", PNG)
    return place


def older_layout(folder: Path) -> Path:
    write(folder / "old" / "0ujsswThIGTUYm2K8FjOOfXtY1K.md", "The boat is blue\n")
    return folder / "old"


EXPORTS: Mapping[str, Callable[[Path], Path]] = {
    "chatgpt": chatgpt,
    "claude": claude,
    "gemini": gemini,
    "letta": letta,
    "evernote": evernote,
    "mem0": mem0,
    "khoj": khoj,
    "openclaw": openclaw,
    "logseq": logseq,
    "obsidian-copilot": obsidian_copilot,
    "notion": notion,
    "apple-notes": apple_notes,
    "basic-memory": basic_memory,
    "older-layout": older_layout,
}
"""Makes an export of each format in a folder, and returns what is to be imported."""
