"""What `vault-agent config set` checks and says about the model that a setting names."""

from importlib import import_module

from agent.clock import SystemClock
from agent.config.load import load_settings
from agent.errors import AgentError, ConfigError, MissingKey
from agent.interfaces.cli.language import listed, said
from agent.interfaces.cli.output import Output

_NAMES_A_MODEL = (".preset", ".wire", ".base_url", ".model", ".api_key")
"""The settings of the model after which its server is asked."""
_SHOWN = 8
"""The most names of models that are listed."""


def check_model_setting(key: str, value: str) -> None:
    """Raise `ConfigError` for a preset that does not exist and an address that is none; other settings pass."""
    if key.startswith("llm."):
        import_module("agent.llm.presets").check_setting(key, value)


def report_model(output: Output, key: str) -> None:
    """Say whether the model that the setting `key` is about can be used; nothing for other settings."""
    try:
        if key == "index.model":  # the modules are slow to load
            choose = import_module("agent.index.embedder").choose_embedder
            notice = str(choose(load_settings().settings.index.model).notice)
            if notice:
                output.warn(said(notice))
        elif key.startswith("llm.") and key.endswith(_NAMES_A_MODEL):
            output.note(_try_model(key))
    except (ConfigError, MissingKey) as error:
        output.warn(said("no model can be asked yet: {problem}", problem=_with_hint(error)))
    except AgentError as error:
        kept = "the setting is kept, but the model was not reached: {problem}"
        output.warn(said(kept, problem=_with_hint(error)))


def _with_hint(error: AgentError) -> str:
    return said("; ").join(filter(None, (said(error.message), said(error.hint))))


def _try_model(key: str) -> str:
    """Try the connection to the model's server and return what came of it; raises what `try_connection` does."""
    kinds = import_module("agent.llm.presets").KINDS
    kind = key.split(".")[1]
    llm = load_settings().settings.llm
    found = import_module("agent.llm.connection").try_connection(llm, kind if kind in kinds else "main", SystemClock())
    if found is None:
        return said("no model's server is set: `ask` quotes your notes")
    answered: dict[str, object] = {"place": found.place, "seconds": found.seconds, "model": found.model}
    have, section = listed(found.models, _SHOWN), key.rpartition(".")[0]
    if not found.model:
        told = (
            "{place} answers ({seconds:.1f} s); now say which model: {models}. "
            "vault-agent config set {section}.model NAME"
            if have
            else "{place} answers ({seconds:.1f} s); now say which model. vault-agent config set {section}.model NAME"
        )
        return said(told, models=have, section=section, **answered)
    if not found.lists_model:
        told = (
            "{place} answers ({seconds:.1f} s), but does not list {model}; it has {models}. "
            "vault-agent doctor --model asks it"
        )
        return said(told, models=have, **answered)
    return said("{place} answers ({seconds:.1f} s): {model} can be asked", **answered)
