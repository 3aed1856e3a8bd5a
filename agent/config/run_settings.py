"""The settings of runs: the model, cost limits, run limits and tool permissions. Part of `settings.Settings`."""

from typing import Annotated, Literal

from agent.config.secrets import Secret
from agent.config.values import Range
from agent.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """The model for one kind of work, where it is not the main one. Without a server of its own, it is asked for at the
    main model's."""

    preset: str
    """A provider as in `llm.preset`, for a server of its own. Default empty."""

    wire: Literal["auto", "openai", "responses", "anthropic"]
    """The protocol of a server of its own, as in `llm.wire`. Default `auto`: the preset's, else `openai`."""

    base_url: str
    """The address of a server of its own, as in `llm.base_url`. Default empty: the preset's."""

    model: str
    """The model. Default empty: the preset's, else the main one."""

    api_key: Secret
    """The key, by reference. Default empty: the main model's at the same address, else the variable of the preset."""

    window: Annotated[int, Range(0, 100_000_000, "tokens")]
    """The model's context window in tokens. Default 0: as in `llm.window`."""


@dataclass(frozen=True, slots=True)
class LlmSettings:
    """The language model, and other ones for some kinds of work."""

    wire: Literal["auto", "openai", "responses", "anthropic", "scripted", "offline"]
    """The protocol for calls of the model: `openai` is that of chat completions, `responses` OpenAI's newer one, with
    which its models think on between calls of tools. Default `auto`: the preset's, else `openai` if `base_url` or
    `model` is set, else `offline`: no model is called unless one is configured."""

    preset: str
    """A provider from `configs/models.yaml` that sets the wire, address and models: openai, anthropic, gemini,
    deepseek, moonshot, openrouter, ark, ollama, llamacpp, lmstudio or vllm; or a program on this machine as the model:
    claude-code, codex or gemini-cli. Default empty."""

    base_url: str
    """The server's address including the version, such as `http://127.0.0.1:11434/v1`. Default empty: the address of
    the preset or the wire."""

    model: str
    """The main model. Default empty: the preset's."""

    api_key: Secret
    """The provider's key, by reference: `env:NAME`, `file:PATH` (mode 600) or `keyring:NAME`. Default empty: the
    preset's variable in the environment, else none."""

    window: Annotated[int, Range(0, 100_000_000, "tokens")]
    """The model's context window in tokens. Default 0: what is known of the model (at most 200,000, as long questions
    cost accordingly), else what its server says, else 128,000 on a company's server and 32,768 on your own."""

    max_output: Annotated[int, Range(0, 1_000_000, "tokens")]
    """The maximum output of one call with its thinking, in tokens; a longer answer goes on in a further call. Default
    0: the model's own, as far as it is known, else 32,000."""

    effort: Literal["auto", "low", "medium", "high"]
    """How much the model thinks before it answers. Default `auto`: the model's own default."""

    pictures: Literal["auto", "on", "off"]
    """Whether the models are given the pictures that they read: each costs about 1,600 tokens in every step. Default
    `auto`: those that are known to see, by their names."""

    extra: str
    """Fields that are added to each request, as JSON, such as `{"temperature": 0.6}`; in a file also a mapping. Default
    empty."""

    timeout_seconds: Annotated[float, Range(1, 3_600, "seconds")]
    """The maximum time without any data from the server, in seconds. Default 120: a local model may need long before
    its first token."""

    retries: Annotated[int, Range(0, 20, "tries")]
    """The maximum of retries after 429, 5xx or a broken connection. Default 4: about half a minute in all."""

    script: str
    """The file with the answers of the `scripted` wire. Default empty: it repeats its input."""

    fast: ModelSettings
    """The model for summaries and other small tasks. Default: the preset's small one, else the main one."""

    reflection: ModelSettings
    """The model that thinks about the agent's own work. Default: the main one."""

    user: ModelSettings
    """The model that learns what its person is like. Default: the main one."""

    research: ModelSettings
    """The model of research, for all but its small steps. Default: the main one."""

    jobs: ModelSettings
    """The model of jobs, which run while nobody watches. Default: the main one."""

    tasks: ModelSettings
    """The model of the tasks that the agent has planned. Default: the main one."""

    fallback: ModelSettings
    """The model that answers when another one is out of order, over its limit or refuses. Default: none; then `ask`
    quotes the notes."""


@dataclass(frozen=True, slots=True)
class SpendSettings:
    """Limits on the cost of models. The cost of each try of a call is reserved before sending; one that fails counts
    with its input and up to 4,096 tokens of output. So a limit is never exceeded by more than one try. A day is a day
    in UTC."""

    run: Annotated[float, Range(0, 100_000, "US dollars")]
    """The maximum cost of one run, in US dollars at the prices in `configs/models.yaml`. Default 1."""

    daily: Annotated[float, Range(0, 1_000_000, "US dollars")]
    """The maximum cost of all runs of a day together, in US dollars. Default 5."""

    run_tokens: Annotated[int, Range(0, 10_000_000_000, "tokens")]
    """The maximum of input and output tokens of one run. Default 1,000,000: the limit if a model's price is unknown."""

    daily_tokens: Annotated[int, Range(0, 1_000_000_000_000, "tokens")]
    """The maximum of input and output tokens of a day. Default 10,000,000."""

    jobs: Annotated[float, Range(0, 1_000_000, "US dollars")]
    """The maximum cost of all jobs of a day together, in US dollars. Default 1: what a person asks for neither counts
    here nor is refused by it."""

    jobs_tokens: Annotated[int, Range(0, 1_000_000_000_000, "tokens")]
    """The maximum of input and output tokens of all jobs of a day together. Default 1,000,000."""

    calls_per_run: Annotated[int, Range(0, 100_000, "calls")]
    """The maximum of model calls in one run, with failed tries and sub-runs. Default 100: twice the longest run."""

    same_failure: Annotated[int, Range(1, 100, "times")]
    """The number of equal failures of the same call in a run after which it is not tried again. Default 3."""


@dataclass(frozen=True, slots=True)
class RunSettings:
    """Limits of one run."""

    steps: Annotated[int, Range(1, 10_000, "steps")]
    """The maximum of model calls in one run. Default 50."""

    tool_calls: Annotated[int, Range(0, 100_000, "calls")]
    """The maximum of tool calls in one run. Default 100."""

    calls_per_reply: Annotated[int, Range(1, 512, "calls")]
    """The maximum of tool calls executed from one reply of the model; the model gets an error for the others. Default
    32: more than a useful reply needs, and a faulty reply cannot use up `tool_calls`."""

    seconds: Annotated[float, Range(1, 86_400, "seconds")]
    """The maximum time of one run, without waiting for a person, in seconds. Default 1,800."""

    depth: Annotated[int, Range(0, 10)]
    """The maximum depth of sub-runs. Default 2."""

    stale_hours: Annotated[float, Range(0, 100_000, "hours")]
    """The time without a message after which the next message starts a new session, in hours. Default 48."""


@dataclass(frozen=True, slots=True)
class ContextSettings:
    """The content of the model's prompt."""

    keep_turns: Annotated[int, Range(1, 1_000, "turns")]
    """The number of last turns that stay unchanged when older ones are summarised. Default 5."""

    memories: Annotated[int, Range(0, 100, "passages")]
    """The most passages of notes and memories added to a task's prompt. Default 6: with the lines around them they hold
    as much of what answers as more do, and a model seldom uses more."""

    group_messages: Annotated[int, Range(0, 50, "messages")]
    """The most messages of others in a group that a run is given when you name the agent there. Default 25; 0: none are
    kept."""


@dataclass(frozen=True, slots=True)
class ToolSettings:
    """The permissions of tools outside the vault."""

    web: bool
    """True to offer `web_fetch`. Default true: it reads only public pages, and needs approval after a run has read
    untrusted text."""

    shell: bool
    """True to offer `shell_run`. Default false: a program can do anything that you can."""

    servers: str
    """MCP servers whose tools the agent may use, by a name each, such as `{"time": {"command": "uvx mcp-server-time"}}`
    as JSON; in a file also a mapping. What each may have says `config/servers.py`. Default empty: none."""

    approval_hours: Annotated[float, Range(0.01, 100_000, "hours")]
    """The time for which an approval request stays open, in hours. Default 168, a week."""


@dataclass(frozen=True, slots=True)
class InboxSettings:
    """Requests that people write into notes."""

    answers: Literal["vault", "inbox", "off"]
    """The part of the vault in which requests are answered automatically: the whole `vault` (`inbox/`, notes with
    `agent: ask`, tasks with `@agent`), only the folder `inbox`, or none (`off`); `vault-agent ask --note` always
    answers. Default `vault`. Choose `inbox` or `off` when a service such as Syncthing or iCloud syncs other people's
    notes without git: they cannot be distinguished from yours."""

    every_note: bool
    """True if every note in `inbox/` is a request; false if a note there asks only with `agent: ask` or a task with
    `@agent`, as anywhere else. Default true; `init` writes false into the settings of a vault that had an `inbox/` of
    its own."""

    quiet_seconds: Annotated[float, Range(0, 3_600, "seconds")]
    """The time without changes after which a request in a note counts as complete, in seconds. Default 5: longer than a
    pause while typing, short enough to wait for."""
