"""The table of commands: five groups, what is rarely typed, and old names. None of them is imported before it runs."""

from collections.abc import Mapping
from typing import Literal, TypeAlias

from agent.dataclass import dataclass

Group: TypeAlias = Literal["talk", "vault", "agent", "doors", "settings"]

HEADINGS: Mapping[Group, str] = {
    "talk": "Talk",
    "vault": "The vault",
    "agent": "The agent's own",
    "doors": "Doors",
    "settings": "Settings",
}
"""The headings of the groups, in the order in which help lists them."""


@dataclass(frozen=True, slots=True)
class LazyCommand:
    """A command that is not imported yet: `name` in its module, `.ask` being the one beside this. `help` is its line in
    the list of commands.

    A command without a group is listed by `--help-all` only. `now` is what an old name stands for now; one that ends in
    the same word (`jobs tasks`) is that command below its new home.
    """

    module: str
    help: str
    group: Group | None = None
    name: str = "command"
    now: str = ""


COMMANDS = {
    "ask": LazyCommand(".ask", "Give the agent a task and see its answer.", "talk"),
    "chat": LazyCommand(".chat", "Talk with the agent.", "talk"),
    "remember": LazyCommand(".remember", "Write TEXT into the vault as a memory entry.", "talk"),
    "capture": LazyCommand(".capture", "Keep an idea, a page, the clipboard or a file.", "talk"),
    "forget": LazyCommand(".forget", "Forget a note or a text, and keep it from coming back.", "talk"),
    "search": LazyCommand(".search", "Find notes by words and by meaning.", "talk"),
    "recall": LazyCommand(".recall", "Show what a model would be given for a task.", "talk"),
    "init": LazyCommand(".init", "Make a folder a vault; touches nothing that exists.", "vault"),
    "status": LazyCommand(".status", "Show what is saved, what waits, and what needs you.", "vault"),
    "log": LazyCommand(".changes", "List the changes: who, when, why and what.", "vault", name="log"),
    "diff": LazyCommand(".changes", "Show what a change did to the notes.", "vault", name="diff"),
    "undo": LazyCommand(".changes", "Take changes back and keep later edits.", "vault", name="undo"),
    "get": LazyCommand(".notes", "Print a note, by name, path or id.", "vault", name="get"),
    "sync": LazyCommand(".sync", "Keep the vault equal on several machines, through git.", "vault"),
    "doctor": LazyCommand(".doctor", "Probe that everything works; --fix repairs what is safe.", "vault"),
    "needs": LazyCommand(".needs", "List what waits for you, and answer.", "agent"),
    "jobs": LazyCommand(".jobs", "What the agent does at its time, and its tasks.", "agent"),
    "notices": LazyCommand(".notices", "What the agent wanted to say, and why it did or did not.", "agent"),
    "skills": LazyCommand(".skills", "List, match, review, rate and learn skills.", "agent"),
    "profile": LazyCommand(".profile", "What I know about you: show, search, lay out.", "agent"),
    "lessons": LazyCommand(".lessons", "What the agent has learned: rules, beliefs, reflections.", "agent"),
    "research": LazyCommand(".research", "Look something up, with numbered sources, in a note.", "agent"),
    "daemon": LazyCommand(".daemon", "Watch the vault: index, commit, react.", "doors"),
    "serve": LazyCommand(".serve", "Open the dashboard and the API on a port.", "doors"),
    "mcp": LazyCommand(".mcp", "Serve the vault to other programs (MCP).", "doors"),
    "acp": LazyCommand(".acp", "Serve the agent to an editor (ACP).", "doors"),
    "obsidian": LazyCommand(".obsidian", "The plugin for Obsidian: lay it, and connect it."),
    "channels": LazyCommand(".channels", "The ways by which messages reach you: list, add, test.", "doors"),
    "config": LazyCommand(".config", "Read and write settings.", "settings"),
    "trust": LazyCommand(".trust", "Say whose text arrives from where, and look at it.", "settings"),
    "index": LazyCommand(".index", "Bring the search index up to date, or build it anew.", "settings"),
    "import": LazyCommand(".import_notes", "Take in what other programs have exported; tend the memories.", "settings"),
    "help": LazyCommand(".help", "Show a page of the documentation, or list the pages."),
    "commit": LazyCommand(".changes", "Commit your own edits now, in your name.", name="commit"),
    "node": LazyCommand(".node", "Let the agent work on this desktop, after a yes to each call."),
    "bench": LazyCommand(".bench", "Measure speed on this machine."),
    "completion": LazyCommand(".help", "Print a shell completion script.", name="completion"),
    "ask-for-program": LazyCommand(".ask", "What the MCP server calls for a task.", name="ask_for_program"),
    "program-session": LazyCommand(".program_session", "What the hooks of other programs call."),
    "records": LazyCommand(".index", "Show what this machine remembers.", name="records"),
    "merge-driver": LazyCommand(".git_calls", "What git calls to merge notes.", name="merge_driver"),
    "hook": LazyCommand(".git_calls", "What the git hooks call.", name="hook"),
    "approvals": LazyCommand(".needs", "List what waits for your yes, and decide.", name="approvals", now="needs"),
    "questions": LazyCommand(".needs", "List what the agent asks you, and answer.", name="questions", now="needs"),
    "run": LazyCommand(".ask_here", "Answer what a note asks, in the note.", name="run_note", now="ask --note"),
    "context": LazyCommand(".context", "Show what would be put before the model.", now="recall --explain"),
    "metrics": LazyCommand(".metrics", "Show how well memory works, and what happened.", now="status --metrics"),
    "history": LazyCommand(".history", "Keep a long history quick and small.", now="log --squash"),
    "clone": LazyCommand(".clone", "Make a vault here of one on a remote.", now="sync clone"),
    "tasks": LazyCommand(".tasks", "What the agent does by itself: list, plan, do.", now="jobs tasks"),
    "why": LazyCommand(".notices", "Explain why a notice was sent, held or dropped.", name="why", now="notices why"),
    "notify": LazyCommand(
        ".notices", "Tell yourself something, by the rules of attention.", name="notify", now="notices notify"
    ),
    "rules": LazyCommand(".lessons", "What the agent has learned.", now="lessons"),
    "reflect": LazyCommand(".reflect", "Look back at a run or a day, and learn from it.", now="lessons reflect"),
    "wake": LazyCommand(".tasks", "Wake the agent: its tasks begin now.", name="wake", now="daemon wake"),
    "sleep": LazyCommand(".tasks", "Let the agent sleep until something is due.", name="sleep", now="daemon sleep"),
    "browsers": LazyCommand(
        ".serve", "List who is signed in to the dashboard, and sign out.", name="browsers", now="serve browsers"
    ),
    "reindex": LazyCommand(".index", "Bring the search index up to date, or build it anew.", now="index"),
    "memory": LazyCommand(".memory", "Tend what is remembered, and see how much it is.", now="import memory"),
}


def usual() -> tuple[str, ...]:
    """The names of the commands that `--help` lists."""
    return tuple(name for name, lazy in COMMANDS.items() if lazy.group is not None)


def below(home: str) -> dict[str, LazyCommand]:
    """The commands that have moved below the command `home`, by the word that they are there."""
    return {name: lazy for name, lazy in COMMANDS.items() if lazy.now == f"{home} {name}"}
