"""The words of a wish that name a channel are the job's channel, and no part of its task; every setting is reached."""

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent.interfaces.cli.job_texts import format_settings
from agent.runs.job_edits import FIELDS, KEPT, MORE
from agent.schedule import job_header
from agent.schedule.new_job import job_of_words
from tests.vaults import make_vault

NOW = datetime(2026, 11, 23, 10, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("words", "channel", "task"),
    [
        ("every weekday at 9 brief me and send it by mail", "mail", "brief me"),
        ("every day at 8 brief me, and mail it to me", "mail", "brief me"),
        ("brief me by mail every weekday at 9", "mail", "brief me"),
        ("每天8点给我简报并发到邮箱", "mail", "给我简报"),
        ("每周五下午五点用飞书告诉我这周做了什么", "lark", "告诉我这周做了什么"),
        ("every Friday at 5pm summarise what came by mail", "daily", "summarise what came by mail"),
        ("remind me tomorrow at 9 to write a letter and send it by mail", "daily", "a letter and send it by mail"),
        ("明天九点提醒我把合同发到邮箱", "daily", "把合同发到邮箱"),
        ("every Friday at 5pm sum up my week and send it by mail to Anna", "daily", "and send it by mail to Anna"),
        ("every Friday at 5pm sum up my week and send it by mail to me", "mail", "sum up my week"),
        ("每周五下午五点总结这周，发到邮箱给王总", "daily", "发到邮箱给王总"),
        ("remind me by mail tomorrow at 9 to call Anna", "mail", "remind me to call Anna"),
    ],
)
def test_words_for_a_channel(tmp_path: Path, words: str, channel: str, task: str) -> None:
    job = job_of_words(make_vault(tmp_path), words, NOW).job
    assert job.channel == channel and task in job.text, job.text


def test_every_setting_is_shown_and_in_the_form(tmp_path: Path) -> None:
    known = set(re.findall(r'fields\.take\("(\w+)"', Path(job_header.__file__).read_text("utf-8")))
    assert known == {*FIELDS, *MORE, *KEPT}
    job = job_of_words(make_vault(tmp_path), "every weekday at 9 brief me", NOW).job
    assert {line[4:].partition(" ")[0] for line in format_settings(job, ())[1:]} == known
