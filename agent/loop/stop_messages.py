"""Why a run stopped, in the language of the vault: it stands in notes that are read long after the run.

What a ceiling or the person has brought about is said in that language; what failed speaks for itself, as whoever
raised it has put it.
"""

from collections.abc import Mapping

from agent.errors import AgentError, Interrupted, LimitReached

_LIMITS: Mapping[str, Mapping[str, str]] = {
    "zh": {
        "run.steps": "这次运行的步数用完了",
        "run.tool_calls": "这次运行使用工具的次数用完了",
        "run.seconds": "这次运行的时间用完了",
        "llm.max_output": "回答太长，被截断了",
        "spend.calls_per_run": "这次运行调用模型的次数用完了",
        "spend.run_tokens": "再调用一次模型，这次运行的词元就会超出上限",
        "spend.daily_tokens": "再调用一次模型，今天的词元就会超出上限",
        "spend.run": "再调用一次模型，这次运行的花费就会超出上限",
        "spend.daily": "再调用一次模型，今天的花费就会超出上限",
    }
}
_STOPPED = {"zh": "已停下"}
_RAISE = {"zh": "在同一会话里说“继续”，或者提高上限：`vault-agent config set {key} …`"}


def stop_reason(stop: Exception, language: str) -> str:
    """What stopped a run, in a line."""
    match stop:
        case LimitReached(limit=limit):
            return _LIMITS.get(language, {}).get(limit, stop.message)
        case Interrupted():
            return _STOPPED.get(language, stop.message)
        case AgentError():
            return stop.message
    return f"{type(stop).__name__}: {stop}"


def stop_hint(stop: Exception, language: str) -> str:
    """What can be done about it; empty for nothing."""
    if isinstance(stop, LimitReached) and stop.limit in _LIMITS.get(language, {}):
        return _RAISE[language].format(key=stop.limit)
    return stop.hint if isinstance(stop, AgentError) else ""
