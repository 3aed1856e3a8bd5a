"""What a question in Chinese is given in a small vault: the note of the place, person or time that it names."""

from collections.abc import Iterator
from contextlib import closing
from datetime import date, timedelta

import pytest

from agent.app.agent import build_runs
from agent.app.open import open_workspace
from agent.events.runs import Speaker
from agent.loop.records import RunRequest
from agent.runs.service import RunService
from agent.workspace.search_index import open_index
from tests.stories.agents import furnish
from tests.vaults import git, write

NOTES = {
    "出游/三亚四晚.md": "# 三亚四晚\n\n- 12 月 2 日到，住亚龙湾的民宿\n- 押金 2000\n- 孩子们想学冲浪\n",
    "出游/厦门行程.md": "# 厦门行程\n\n第一天鼓浪屿，第二天环岛路骑车。\n",
    "出游/打包清单.md": "# 打包清单\n\n- 充电宝\n- 雨衣\n出发前检查一遍行程单。\n",
    "出游/签证.md": "# 签证\n\n日本的行程还没定，材料要提前一个月交。\n",
    "人/外婆.md": "# 外婆\n\n住合肥，对青霉素过敏，膝盖不好。\n",
    "人/小满.md": "# 小满\n\n三年级，怕打针。小满对花生过敏。\n",
    "人/大伟.md": "# 大伟\n\n在杭州。大伟对海鲜过敏，聚餐别点虾。\n",
    "人/老陈.md": "# 老陈\n\n同事，喜欢钓鱼，生日 3 月 8 日。\n",
    "家/水电费.md": "# 水电费\n\n户号 30012345，每月 15 日前交。\n",
    "家/洗衣机.md": "# 洗衣机\n\n2024 年 6 月买，保修三年。\n",
}


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunService]:
    with pytest.MonkeyPatch.context() as patch:
        root = furnish(tmp_path_factory.mktemp("lived"), patch.setenv)
        patch.setenv("VAULT_AGENT_MEMORY__CAPTURE", "off")
        monday = date.today() - timedelta(date.today().weekday() + 7)
        for path, text in {
            **NOTES,
            f"流水/{monday + timedelta(1)}.md": "跟老陈开会，项目延期两周。\n",
            f"流水/{monday + timedelta(2)}.md": "房东来看了漏水，说水管下周再换。\n",
        }.items():
            write(root / path, text)
        git(root, "add", "-A")
        git(root, "commit", "-q", "-m", "notes")
        workspace = open_workspace(root)
        with closing(open_index(workspace)) as index, closing(build_runs(workspace, index)) as runs:
            index.refresh()
            yield runs


def given(lived: RunService, task: str) -> list[str]:
    return [each.path for each in lived.passages(task).found]


def test_the_note_of_the_place_comes_and_not_one_of_the_same_kind_about_another(lived: RunService) -> None:
    assert given(lived, "三亚的行程") == ["出游/三亚四晚.md"]


def test_a_note_that_is_called_so_comes_beside_what_is_made_for_it(lived: RunService) -> None:
    assert {"出游/三亚四晚.md", "出游/打包清单.md"} <= set(given(lived, "帮我写一份去三亚的打包清单"))


def test_what_somebody_said_last_week_stands_before_what_is_known_of_them(lived: RunService) -> None:
    found = given(lived, "老陈上周怎么说")
    assert found[0].startswith("流水/") and "人/老陈.md" in found
    assert given(lived, "房东上周怎么说的？")[0].startswith("流水/")


def test_what_somebody_said_is_found_in_a_conversation_too(lived: RunService) -> None:
    lived.ask(RunRequest("韩师傅说暖气片要换两组，一共 900 块。", Speaker("cli")))
    lived.capturing.settle()
    lived.recall.library.refresh()
    assert [path.partition("/")[0] for path in given(lived, "韩师傅上周怎么说")] == ["sessions"]


def test_all_that_answer_are_given_and_nothing_else(lived: RunService) -> None:
    assert set(given(lived, "谁对什么过敏？")) == {"人/外婆.md", "人/小满.md", "人/大伟.md"}
