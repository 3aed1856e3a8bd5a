"""A Chinese question says by no capital which word is a name: what a thing of is asked for, counts as one."""

from pathlib import Path

import pytest

from agent.app.agent import opened_runs
from agent.app.open import open_workspace
from agent.events.runs import Speaker
from agent.loop.records import RunRequest
from tests.stories.agents import furnish, script, settings, tell
from tests.vaults import write

NOTES = {
    "旅行/云南.md": "# 云南\n\n## 第二天\n\n高铁到大理，下午逛古城。\n\n## 第三天\n\n骑车环洱海，晚上吃菌子火锅。\n",
    "工作/周会.md": "# 周会\n\n每周一上午十点开周会，讨论项目进度和预算。预算由老王负责。\n",
    "家/菜谱.md": "# 菜谱\n\n红烧肉：五花肉一斤，冰糖，生抽，老抽，料酒，小火炖一小时。\n",
    "健康/体检.md": "# 体检\n\n十一月体检，胆固醇偏高，医生让少吃油腻。三个月后复查。\n",
    "daily/2026-11-20.md": "- 今天和小安吃饭，聊了旅行的事\n- 行程表还没做\n",
    "daily/2026-11-25.md": "- 开会讨论了下周出差的行程，老王去北京\n",
}


def test_the_note_on_the_trip_is_given_whatever_it_is_called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAULT_AGENT_VAULT__LANGUAGE", "zh")
    monkeypatch.setenv("VAULT_AGENT_CLOCK__START", "2026-11-28T08:00")
    root = furnish(tmp_path, monkeypatch.setenv, script(tmp_path / "script.json", "好。"))
    for path, words in NOTES.items():
        write(root / path, words)
    tell(root, settings(tmp_path), "reindex")
    given: dict[str, str] = {}
    with opened_runs(open_workspace(root)) as runs:
        for asked in ("大理的行程是怎么安排的？", "大理那边的行程定了吗？", "去大理几天？", "今天的天气怎么样？"):
            start = runs.explain(RunRequest(asked, Speaker("cli")))[0]
            given[asked] = "\n".join(each.text for each in start.messages if each.source == "memories")
    assert ["骑车环洱海" in words for words in given.values()] == [True, True, True, False], given
