"""The table of commands. None of them is imported before it runs."""

from agent.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class LazyCommand:
    """A command that is not imported yet: `name` in its module. `help` is its line in the list of commands."""

    module: str
    help: str
    hidden: bool = False
    name: str = "command"


COMMANDS = {
    "init": LazyCommand("agent.interfaces.cli.init", "Make a folder a vault; touches nothing that exists."),
    "daemon": LazyCommand("agent.interfaces.cli.daemon", "Watch the vault: index, commit, react."),
    "serve": LazyCommand("agent.interfaces.cli.serve", "Open the dashboard and the API on a port."),
    "browsers": LazyCommand("agent.interfaces.cli.browsers", "List who is signed in to the dashboard, and sign out."),
    "search": LazyCommand("agent.interfaces.cli.search", "Find notes by words and by meaning."),
    "recall": LazyCommand("agent.interfaces.cli.recall", "Show what a model would be given for a task."),
    "reindex": LazyCommand("agent.interfaces.cli.reindex", "Bring the search index up to date, or build it anew."),
    "ask": LazyCommand("agent.interfaces.cli.ask", "Give the agent a task and see its answer."),
    "chat": LazyCommand("agent.interfaces.cli.chat", "Talk with the agent."),
    "research": LazyCommand("agent.interfaces.cli.research", "Look something up, with numbered sources, in a note."),
    "run": LazyCommand("agent.interfaces.cli.run_note", "Answer what a note asks, in the note."),
    "approvals": LazyCommand("agent.interfaces.cli.approvals", "List what waits for your yes, and decide."),
    "questions": LazyCommand("agent.interfaces.cli.questions", "List what the agent asks you, and answer."),
    "tasks": LazyCommand("agent.interfaces.cli.tasks", "What the agent does by itself: list, plan, do."),
    "reflect": LazyCommand("agent.interfaces.cli.reflect", "Look back at a run or a day, and learn from it."),
    "profile": LazyCommand("agent.interfaces.cli.profile", "What I know about you: show, search, lay out."),
    "context": LazyCommand("agent.interfaces.cli.context", "Show what would be put before the model, and its budget."),
    "sync": LazyCommand("agent.interfaces.cli.sync", "Keep the vault equal on several machines, through git."),
    "clone": LazyCommand("agent.interfaces.cli.clone", "Make a vault here of one on a remote."),
    "trust": LazyCommand("agent.interfaces.cli.trust", "Say whose text arrives from where, and look at it."),
    "skills": LazyCommand("agent.interfaces.cli.skills", "List, match, review, rate and learn skills."),
    "rules": LazyCommand("agent.interfaces.cli.rules", "What the agent has learned to do: list, show, set aside."),
    "jobs": LazyCommand("agent.interfaces.cli.jobs", "What the agent does at its time: list, make, run, pause."),
    "channels": LazyCommand("agent.interfaces.cli.channels", "The ways by which messages reach you: list, add, test."),
    "notify": LazyCommand("agent.interfaces.cli.notify", "Tell yourself something, by the rules of attention."),
    "notices": LazyCommand("agent.interfaces.cli.notices", "What the agent wanted to say: list, show, dismiss."),
    "why": LazyCommand("agent.interfaces.cli.notices", "Explain why a notice was sent, held or dropped.", name="why"),
    "wake": LazyCommand("agent.interfaces.cli.wake", "Wake the agent: its tasks begin now.", name="wake"),
    "sleep": LazyCommand("agent.interfaces.cli.wake", "Let the agent sleep until something is due.", name="sleep"),
    "status": LazyCommand("agent.interfaces.cli.status", "Show what is saved, what waits, and what needs you."),
    "doctor": LazyCommand("agent.interfaces.cli.doctor", "Probe that everything works; --fix repairs what is safe."),
    "remember": LazyCommand("agent.interfaces.cli.remember", "Write TEXT into the vault as a memory entry."),
    "forget": LazyCommand("agent.interfaces.cli.forget", "Forget a note or a text, and keep it from coming back."),
    "import": LazyCommand("agent.interfaces.cli.import_notes", "Take in memories of an older layout."),
    "memory": LazyCommand("agent.interfaces.cli.memory", "Tend what is remembered, and see how much it is."),
    "metrics": LazyCommand("agent.interfaces.cli.metrics", "Show how well memory works, and what happened."),
    "mcp": LazyCommand("agent.interfaces.cli.mcp", "Serve the vault to other programs (MCP)."),
    "get": LazyCommand("agent.interfaces.cli.get", "Print a note, by path or id."),
    "log": LazyCommand("agent.interfaces.cli.log", "List the changes: who, when, why and what."),
    "diff": LazyCommand("agent.interfaces.cli.diff", "Show what a change did to the notes."),
    "undo": LazyCommand("agent.interfaces.cli.undo", "Take changes back and keep later edits."),
    "commit": LazyCommand("agent.interfaces.cli.commit", "Commit your own edits now, in your name."),
    "history": LazyCommand("agent.interfaces.cli.history", "Keep a long history quick and small."),
    "config": LazyCommand("agent.interfaces.cli.config", "Read and write settings."),
    "node": LazyCommand("agent.interfaces.cli.node", "Let the agent work on this desktop, after a yes to each call."),
    "bench": LazyCommand("agent.interfaces.cli.bench", "Measure speed on this machine."),
    "completion": LazyCommand("agent.interfaces.cli.completion", "Print a shell completion script."),
    "ask-for-program": LazyCommand(
        "agent.interfaces.cli.ask_for_program", "What the MCP server calls for a task.", hidden=True
    ),
    "records": LazyCommand("agent.interfaces.cli.records", "Show what this machine remembers.", hidden=True),
    "merge-driver": LazyCommand("agent.interfaces.cli.merge_driver", "What git calls to merge notes.", hidden=True),
    "hook": LazyCommand("agent.interfaces.cli.hook", "What the git hooks call.", hidden=True),
}
