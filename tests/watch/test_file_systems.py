"""A vault is looked at less often only where every change of its files is reported."""

from pathlib import Path

import pytest

from agent.platform.linux import Linux
from agent.watch.file_systems import reports_all_changes
from tests.platform.systems import a_mac, on

ROWS = """\
22 1 252:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
23 22 0:21 / /proc rw,nosuid - proc proc rw
24 22 0:30 / /srv/share rw,relatime - nfs4 server:/share rw
25 22 8:1 / /media/my\\040disk rw,relatime shared:9 - exfat /dev/sdb1 rw
26 22 0:41 / /mnt/c rw,noatime - 9p C:\\134 rw
27 22 0:42 /me /srv/share/mine rw - xfs /dev/vdb rw
28 22 0:43 / /home/mara/Cloud rw - fuse.rclone cloud: rw
29 22 0:44 / /twice rw - ext4 /dev/vdc rw
30 22 0:45 / /twice rw - cifs //server/twice rw
"""


@pytest.mark.parametrize(
    ("folder", "reports"),
    [
        ("/", False),
        ("/srv/vault", True),
        ("/srv/sharely", True),
        ("/srv/share", False),
        ("/srv/share/vault", False),
        ("/srv/share/mine/vault", True),
        ("/srv", False),
        ("/media/my disk/vault", False),
        ("/mnt/c/vault", False),
        ("/home/mara/vault", True),
        ("/home/mara", False),
        ("/twice/vault", False),
    ],
)
def test_a_folder_reports_all_if_its_disk_and_those_below_it_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, folder: str, reports: bool
) -> None:
    at(monkeypatch, tmp_path, ROWS)
    assert reports_all_changes(Path(folder)) is reports


def test_of_what_is_not_known_the_worse_is_assumed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    a_mac(monkeypatch)
    assert not reports_all_changes(tmp_path)
    at(monkeypatch, tmp_path, "")
    assert not reports_all_changes(tmp_path)


def at(monkeypatch: pytest.MonkeyPatch, folder: Path, rows: str) -> None:
    """Let the kernel list these file systems."""
    (folder / "self").mkdir(exist_ok=True)
    (folder / "self/mountinfo").write_text(rows)
    on(monkeypatch, Linux(proc=folder))
