"""An engine writes new files with each update: the checksums of those that are gone are not remembered."""

from pathlib import Path

import pytest

from agent.index.checksums import Checksums
from agent.index.files import Damaged


def test_as_many_are_remembered_as_there_are_files(tmp_path: Path) -> None:
    checksums = Checksums(tmp_path)
    for number in range(50):
        (tmp_path / f"segment-{number}").write_bytes(b"%d" % number)
        (tmp_path / f"segment-{number - 2}").unlink(missing_ok=True)
        (tmp_path / "meta.json").write_bytes(b"x" * number)  # another checksum under the same name
        checksums.write(number)
        checksums.verify()
        assert len(checksums._known) == len(list(tmp_path.iterdir())) - 1, "all but the record itself"


def test_a_file_that_is_remembered_is_not_read_again_and_one_that_changed_is(tmp_path: Path) -> None:
    checksums, file = Checksums(tmp_path), tmp_path / "segment-1"
    file.write_bytes(b"one")
    checksums.write(1)
    known = dict(checksums._known)
    checksums.write(2)
    checksums.verify()
    assert checksums._known == known
    file.write_bytes(b"other")
    with pytest.raises(Damaged):
        checksums.verify()
    with pytest.raises(Damaged):
        Checksums(tmp_path).verify()
