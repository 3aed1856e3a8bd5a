"""Settings: the value of each and where it comes from, and a form for those that are changed here. Below them, which
browsers and apps are signed in, a pairing code for one more, and the documentation.

Secrets show where they are kept, never what they are; nothing of the documentation is loaded from elsewhere.
"""

from collections.abc import Mapping

from agent.config.directories import directories
from agent.config.load import Loaded, SettingOrigin
from agent.config.settings import keys, setting_type
from agent.config.values import format_value
from agent.dataclass import dataclass
from agent.deeds import settings as deeds
from agent.deeds.documentation import find_topic, search_topics, topics
from agent.errors import AgentError
from agent.interfaces.http.pages.page import Deed, Done, Page, PageRequest
from agent.runs.configured_models import model_status
from agent.workspace.workspace import reload_settings

_MODELS = 8
"""Names of models that are listed."""


@dataclass(frozen=True, slots=True)
class _Row:
    """A setting, its value as a person writes it (empty: none), and where it comes from; `choices` are those of a form
    (`may_set`), empty where it is typed."""

    key: str
    value: str
    origin: SettingOrigin
    may_set: bool
    choices: tuple[str, ...]


def show(request: PageRequest) -> Mapping[str, object]:
    """The model, and the settings by section: those that somebody has set, or (`all`) all of them."""
    loaded, has_all = deeds.present_settings(request.workspace), request.field("all") == "yes"
    sections: dict[str, list[_Row]] = {}
    for key in keys():
        if has_all or loaded.origin(key).layer != "default":
            sections.setdefault(key.partition(".")[0], []).append(_row(loaded, key))
    models = model_status(reload_settings(request.workspace))
    return {
        "sections": sections,
        "has_all": has_all,
        "defaults": sum(loaded.origin(key).layer == "default" for key in keys()),
        "file": str(directories().settings_file),
        "warnings": loaded.warnings,
        "model": models.names.get("main", ""),
        "troubles": (*models.misconfigured, *filter(None, [models.problem])),
        "presets": deeds.preset_names(),
        "preset": format_value(loaded.values["llm.preset"]),
        "named": format_value(loaded.values["llm.model"]),
    }


def show_models(request: PageRequest) -> Mapping[str, object]:
    """The models of the person's own server; a service of somebody else is asked nothing before it is chosen."""
    preset = request.field("preset")
    return {"models": deeds.models_to_choose(request.workspace, preset) if preset else ()}


def _row(loaded: Loaded, key: str) -> _Row:
    kind = setting_type(key)
    choices = ("true", "false") if kind.base is bool else kind.choices
    return _Row(key, format_value(loaded.values[key]), loaded.origin(key), deeds.may_set(key), choices)


def change(request: PageRequest) -> Done:
    """Write one setting; an empty value takes it back."""
    done = deeds.set_setting(request.workspace, request.needed("key"), request.field("value"))
    key = "setting_overridden" if done.overridden else "setting_saved"
    return Done(request.text(key, name=done.key, value=done.value, variable=done.overridden))


def choose(request: PageRequest) -> Done:
    """Choose the model, and say whether it answers."""
    deeds.choose_model(request.workspace, request.field("preset"), request.field("model"), request.field("key"))
    try:
        found = deeds.try_model(request.workspace)
    except AgentError as error:
        words = "; ".join(filter(None, (request.tr(error.message), request.tr(error.hint))))
        return Done(request.text("model_kept", problem=words))
    if found is None:
        return Done(request.text("no_model"))
    names = ", ".join(found.models[:_MODELS])
    key = "model_answers" if found.model else "model_which"
    return Done(request.text(key, place=found.place, model=found.model, models=names))


PAGE = Page("settings", "/settings", show, "e")
MODELS = Page("models", "/settings/models", show_models, under="settings", is_live=False)
_SETTING_DEEDS = (Deed("/settings/set", change), Deed("/settings/model", choose))


def show_browsers(request: PageRequest) -> Mapping[str, object]:
    """The browsers; `own` is the id of the one that asks, `code` the pairing code that counts, `address` where an app
    shows it."""
    sign_in = request.service.sign_in
    urls = request.service.urls()
    return {
        "browsers": sign_in.browsers.all(),
        "own": request.browser,
        "code": sign_in.pairing.current(),
        "address": urls[0] if urls else "",
    }


def end(request: PageRequest) -> Done:
    """Sign one browser out, the one that asks, too."""
    request.service.sign_in.browsers.end([request.needed("id")])
    return Done(request.text("browser_ended"), "/browsers")


def end_others(request: PageRequest) -> Done:
    """Sign all browsers out but the one that asks."""
    browsers = request.service.sign_in.browsers
    browsers.end([each.id for each in browsers.all() if each.id != request.browser])
    return Done(request.text("browsers_ended"), "/browsers")


def pair(request: PageRequest) -> Done:
    """Make a pairing code, which the page shows as long as it counts."""
    request.service.sign_in.pairing.make()
    return Done(request.text("pairing_made"), "/browsers")


BROWSERS = Page("browsers", "/browsers", show_browsers, "b", under="settings", is_live=False)
DEEDS = (
    *_SETTING_DEEDS,
    Deed("/browsers/end", end),
    Deed("/browsers/end-others", end_others),
    Deed("/browsers/pair", pair),
)


_MOST = 100


def show_documentation(request: PageRequest) -> Mapping[str, object]:
    """The list of topics; with words (`q`) the lines that have them."""
    words = request.field("q")
    return {"topics": topics(request.language), "q": words, "lines": search_topics(words, request.language)[:_MOST]}


def show_topic(request: PageRequest) -> Mapping[str, object]:
    """One page of it."""
    return {"topics": topics(request.language), "topic": find_topic(request.named["name"], request.language)}


DOCUMENTATION = Page("documentation", "/documentation", show_documentation, "d", under="settings", is_live=False)
TOPIC = Page("documentation_topic", "/documentation/{name}", show_topic, under="documentation", is_live=False)
