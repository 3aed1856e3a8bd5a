"""The models that the settings name, by kind of work, and whether they can be asked; asks no server."""

from collections.abc import Mapping, Sequence

from agent.config.secrets import Secret
from agent.dataclass import dataclass
from agent.errors import AgentError
from agent.llm.model_key import missing_key
from agent.llm.presets import ALL_KINDS, KINDS, ModelKind, named_model
from agent.texts import Sentence
from agent.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True)
class ConfiguredModel:
    """A model as the settings name it, on the server at `base_url`."""

    name: str
    base_url: str = ""
    key: Secret = Secret("")


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """The names of the models by kind of work; `misconfigured` is an error of the settings, and what helps; `problem`
    a missing key."""

    names: Mapping[ModelKind, str]
    misconfigured: tuple[str, ...]
    problem: str = ""


def model_status(workspace: Workspace) -> ModelStatus:
    """The configured models, without asking one."""
    names: Mapping[ModelKind, str] = {}
    misconfigured = tuple[str, ...]()
    try:
        names = {kind: model.name for model, kinds in configured_models(workspace).items() for kind in kinds}
    except AgentError as error:
        misconfigured = (error.message, *filter(None, [error.hint]))
    missing = missing_key(workspace.settings.llm)
    if missing is None:
        return ModelStatus(names, misconfigured)
    fix = f"vault-agent config set {missing.setting} --prompt"
    problem = Sentence("no model can be asked from here: {why}; {fix}", why=missing.why, fix=fix)
    return ModelStatus(names, misconfigured, problem)


def configured_models(workspace: Workspace) -> Mapping[ConfiguredModel, Sequence[ModelKind]]:
    """The configured models with the kinds of work that each does, the main one first; empty for none.

    Raises `ConfigError` for an incomplete configuration.
    """
    if workspace.settings.llm.wire == "scripted":
        return {ConfiguredModel("scripted"): KINDS}
    found: dict[ConfiguredModel, list[ModelKind]] = {}
    for kind in ALL_KINDS:
        named = named_model(workspace.settings.llm, kind)
        if named is not None:
            server = named.server
            found.setdefault(ConfiguredModel(named.name, server.url, server.key), []).append(kind)
    return found


def has_model(workspace: Workspace) -> bool:
    """True if a model is configured that can be asked."""
    return bool(configured_models(workspace)) and missing_key(workspace.settings.llm) is None
