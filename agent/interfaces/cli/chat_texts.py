"""What a chat says of itself, in the languages of vaults; what commands say that are not part of it is English."""

from collections.abc import Mapping

_EN = {
    "help": """/context   what stands before the model, and how much room is left
/compact   put a summary in the place of the older part
/log       what was changed in this session
/remember  TEXT: keep it as an entry of your own
/recall    TASK: the passages that belong to it
/forget    PATH|ID: remove a note and keep it from coming back
/undo      take back what the last run changed; again: the one before
/continue  go on with what was interrupted, or waits for you
/quit      end; so does Ctrl-D""",
    "no word": "there is no {name} here; /help lists what there is",
    "nothing said": "nothing has been said yet",
    "nothing to compact": "there is nothing to gain from a summary yet",
    "compacted": "a summary stands in for {count} messages",
    "by rule": " ({problem}, so it was made by rule)",
    "no change": "nothing was changed in this session",
    "behind": "memory has kept it in {count} commit{s}: vault-agent log",
    "nothing to undo": "there is nothing to take back in this session",
    "remember what": "say what: /remember Anna likes green tea",
    "remembered": "{path}\ncommit {commit}",
    "remembered later": "waiting: {why}\n{path} will be written and committed when that is over",
    "recall what": "say for what: /recall tea for Anna",
    "degraded": "degraded: {why}",
    "no recall": "nothing to recall",
    "forget what": "say what: /forget PATH|ID; /recall finds the path",
    "goes": "  goes: {path}",
    "loses": "  {path} loses: {line}",
    "stays": "  stays, and says it too: {path}",
    "not yet": "nothing is changed yet:",
    "forget all": "to forget all of this: /forget {name} --yes",
    "forgotten later": "waits, because {why}; it is forgotten when that ends:",
    "forgotten": "forgotten in {commit}:",
    "back": "to have it again: vault-agent undo {commit}",
    "model": "model {name}",
    "no model": "no model is configured: your notes are quoted",
    "no session": "; there is no session to resume, so this is a new one",
    "was silent": "; {path} has been silent for too long and is over, so this is a new one",
    "going on": "; going on in {path}",
    "how": "{said}; /help, Ctrl-D ends",
    "ends": "Ctrl-D or /quit ends",
    "session": "session: {path}",
    "error": "error: {error}",
    "hint": "  hint: {hint}",
    "stopped": "stopped at once; what was done stays",
    "silent": "{path} has been silent for too long and is over; this is a new session",
    "search": "search is behind: {why}",
    "nothing to go on": "there is nothing to go on with",
    "not finished": "its last task is not finished: {task}; /continue goes on with it",
    "continue": "/continue goes on",
    "changes": "{count} change{s}; /undo takes them back",
}
_ZH = {
    "help": """/context   模型现在看到什么，还剩多少空间
/compact   把较早的部分换成摘要
/log       这次会话改了什么
/remember  内容：记成你自己的一条记忆
/recall    任务：找出与它有关的原文
/forget    路径或编号：删掉一篇笔记，并且不再记起
/undo      撤回上一次运行的改动；再用一次：再往前一次
/continue  继续被打断的，或在等你的
/quit      结束；也可以按 Ctrl-D""",
    "no word": "这里没有 {name}；/help 列出可以用的",
    "nothing said": "还什么都没说",
    "nothing to compact": "现在做摘要还省不出空间",
    "compacted": "{count} 条消息换成了摘要",
    "by rule": "（{problem}，所以是按规则做的）",
    "no change": "这次会话没有改动任何东西",
    "behind": "记忆在 {count} 次提交里保存了它：vault-agent log",
    "nothing to undo": "这次会话没有可以撤回的",
    "remember what": "要记什么？例如：/remember 小安喜欢绿茶",
    "remembered": "已记下：{path}\n提交 {commit}",
    "remembered later": "要等一等：{why}\n之后会写入并提交 {path}",
    "recall what": "要找什么？例如：/recall 给小安买茶",
    "degraded": "结果不完整：{why}",
    "no recall": "没有找到相关的内容",
    "forget what": "要忘记什么？/forget 路径或编号；/recall 可以找到路径",
    "goes": "  删除：{path}",
    "loses": "  {path} 去掉：{line}",
    "stays": "  保留，但也提到了它：{path}",
    "not yet": "还没有改动：",
    "forget all": "要全部忘记：/forget {name} --yes",
    "forgotten later": "要等一等，因为 {why}；之后就会忘记：",
    "forgotten": "已忘记，提交 {commit}：",
    "back": "要恢复：vault-agent undo {commit}",
    "model": "模型 {name}",
    "no model": "没有配置模型：只引用你的笔记",
    "no session": "；没有可以继续的会话，这是新的一次",
    "was silent": "；{path} 太久没有动静，已经结束，这是新的一次",
    "going on": "；接着 {path}",
    "how": "{said}；/help 看用法，Ctrl-D 结束",
    "ends": "按 Ctrl-D 或输入 /quit 结束",
    "session": "会话：{path}",
    "error": "出错了：{error}",
    "hint": "  提示：{hint}",
    "stopped": "已立即停下；做完的都保留",
    "silent": "{path} 太久没有动静，已经结束；这是新的会话",
    "search": "搜索还没跟上：{why}",
    "nothing to go on": "没有可以继续的",
    "not finished": "上一个任务还没完成：{task}；/continue 接着做",
    "continue": "/continue 接着做",
    "changes": "{count} 处改动；/undo 可以撤回",
}
_SAID: Mapping[str, Mapping[str, str]] = {"en": _EN, "zh": _ZH}


def said(language: str, what: str, **values: object) -> str:
    """One of the texts with these values in it."""
    return _SAID[language][what].format(**values)
