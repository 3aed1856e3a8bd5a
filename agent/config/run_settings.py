"""The settings of runs: which model is asked, what it may cost, how long a run may go on, what its tools may touch.

`settings.Settings` takes these in beside those of the vault itself.
"""

from dataclasses import dataclass
from typing import Annotated, Literal

from agent.config.secrets import Secret
from agent.config.values import Range


@dataclass(frozen=True, slots=True)
class LlmSettings:
    """The language model."""

    wire: Literal["auto", "openai", "anthropic", "scripted", "offline"]
    """How the model is spoken to. Default `auto`: as the preset says, else `openai` when `base_url` or `model` is set,
    else `offline`: no model is called unless somebody has named one."""

    preset: str
    """A provider from `configs/models.yaml` that fills in wire, address and models: openai, anthropic, deepseek, ark,
    ollama, llamacpp, lmstudio or vllm. Default empty."""

    base_url: str
    """The server's address up to and with the version, such as `http://127.0.0.1:11434/v1`. Default empty: as the
    preset or the wire says."""

    model: str
    """The model for the work itself. Default empty: the preset's."""

    fast_model: str
    """The model for summaries and other small work. Default empty: the preset's, else the main one."""

    api_key: Secret
    """The provider's key, by reference. Default empty: the preset's variable in the environment, else none."""

    window: Annotated[int, Range(0, 100_000_000, "tokens")]
    """The model's context window in tokens. Default 0: from `configs/models.yaml`, else 32,768."""

    max_output: Annotated[int, Range(1, 1_000_000, "tokens")]
    """The longest answer of one call, in tokens. Default 4,096: a long note, and not a runaway."""

    timeout_seconds: Annotated[float, Range(1, 3_600, "seconds")]
    """How long a server may say nothing at all, in seconds. Default 120: a local model may think for long before its
    first word."""

    retries: Annotated[int, Range(0, 20, "tries")]
    """How often a call is tried again after 429, 5xx or a broken connection. Default 4: about half a minute in all."""

    script: str
    """The file that the `scripted` wire answers from. Default empty: it echoes."""


@dataclass(frozen=True, slots=True)
class SpendSettings:
    """Ceilings on what models cost. Each try of a call is reserved before it is sent and stays reserved when it fails:
    a ceiling is never passed by more than one try. A day is a day in UTC."""

    run: Annotated[float, Range(0, 100_000, "US dollars")]
    """Money that one run may cost, in US dollars by `configs/models.yaml`. Default 1."""

    daily: Annotated[float, Range(0, 1_000_000, "US dollars")]
    """Money that all runs of a day may cost together, in US dollars. Default 5."""

    run_tokens: Annotated[int, Range(0, 10_000_000_000, "tokens")]
    """Tokens in and out that one run may use. Default 1,000,000: the ceiling where a model's price is unknown."""

    daily_tokens: Annotated[int, Range(0, 1_000_000_000_000, "tokens")]
    """Tokens in and out of a day. Default 10,000,000."""

    calls_per_run: Annotated[int, Range(0, 100_000, "calls")]
    """Calls of a model in one run, tries that failed and sub-runs included. Default 100: twice the longest run."""

    same_failure: Annotated[int, Range(1, 100, "times")]
    """How often the same call may fail in the same way in a run before it is not tried again. Default 3."""


@dataclass(frozen=True, slots=True)
class RunSettings:
    """How far a run may go."""

    steps: Annotated[int, Range(1, 10_000, "steps")]
    """Calls of the model in one run. Default 50."""

    tool_calls: Annotated[int, Range(0, 100_000, "calls")]
    """Uses of tools in one run. Default 100."""

    calls_per_reply: Annotated[int, Range(1, 512, "calls")]
    """Uses of tools that are carried out of one answer of the model; the others are refused in words. Default 32: more
    than a model asks for in good faith, and what goes wrong is seen before `tool_calls` is used up."""

    seconds: Annotated[float, Range(1, 86_400, "seconds")]
    """Time for one run without waiting for a person, in seconds. Default 1,800."""

    depth: Annotated[int, Range(0, 10)]
    """How deep runs may delegate to sub-runs. Default 2."""

    stale_hours: Annotated[float, Range(0, 100_000, "hours")]
    """After how long without a word a session is over and the next message begins a new one, in hours. Default 48."""


@dataclass(frozen=True, slots=True)
class ContextSettings:
    """What is put before the model."""

    keep_turns: Annotated[int, Range(1, 1_000, "turns")]
    """Turns that stay word for word when older ones are summarised. Default 5."""

    tools: Annotated[int, Range(3, 100, "tools")]
    """Tools described to the model in a run, chosen by relevance to the task. Default 7."""

    memories: Annotated[int, Range(0, 100, "passages")]
    """Passages of notes that are put before a task. Default 8."""


@dataclass(frozen=True, slots=True)
class ToolSettings:
    """What tools may touch beyond the vault."""

    web: bool
    """Whether `web_fetch` is offered. Default true: it reads public pages and asks once a run has read untrusted
    text."""

    shell: bool
    """Whether `shell_run` is offered. Default false: a program can do anything that you can."""

    approval_hours: Annotated[float, Range(0.01, 100_000, "hours")]
    """How long a question for approval stays open, in hours. Default 168, a week."""


@dataclass(frozen=True, slots=True)
class InboxSettings:
    """Requests that people write into notes."""

    answers: Literal["vault", "inbox", "off"]
    """Where what you write is answered unasked: in the whole `vault` (`inbox/`, notes with `agent: ask`, tasks with
    `@agent`), in the folder `inbox` only, or nowhere (`off`); `vault-agent run` answers in any case. Default `vault`.
    Where a service such as Syncthing or iCloud brings notes of others' without git, nobody can tell them from what you
    typed: narrow it there."""

    quiet_seconds: Annotated[float, Range(0, 3_600, "seconds")]
    """How long a note must lie still before what it asks counts as finished, in seconds. Default 5: longer than people
    think between two words, short enough to wait for."""
