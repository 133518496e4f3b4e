"""A profile's settings reach Java unchanged, and no command line on the machine shows them."""

import json
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

pytestmark = pytest.mark.spark

SECRET = "hunter2-f4c1"
ODD = {
    "spark.hadoop.fs.s3a.secret.key": SECRET,
    "spark.a.backslash": "C:\\new\\table \\u0041",
    "spark.a.blank": "  at both ends\t ",
    "spark.a.line": "one\ntwo\r\nthree\n",
    "spark.a.sign": "a:b=c#d!e ${x} \"q\" 'r'",
    "spark.a.letter": "Zürich 東京 🦆",
    "spark.a.nothing": "",
    "spark.an odd:name=": "x",
    "not.of.spark": "y",
}


class Watch(threading.Thread):
    """Reads the command lines of all processes repeatedly while others start."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.done = threading.Event()
        self.seen: set[str] = set()

    def run(self) -> None:
        while not self.done.wait(0.02):
            for process in Path("/proc").glob("[0-9]*"):
                try:
                    line = (process / "cmdline").read_bytes().decode(errors="replace")
                except OSError:
                    continue  # the process has ended
                if "spark" in line:
                    self.seen.add(line)


@pytest.mark.nightly
def test_settings_arrive_unseen(tmp_path):
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "spark-defaults.conf").write_text("spark.of.defaults yes\nspark.a.nothing some\n")
    given = ODD | {
        "spark.master": "local[1]",
        "spark.driver.memory": "600m",
        "spark.sql.catalogImplementation": "in-memory",
    }
    watch = Watch()
    watch.start()
    directory = tmp_path / "of dbt" / ".spark"
    answer = subprocess.run(
        [sys.executable, "-m", "tests.adapter.start_with", directory],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(sys.path),
            "SPARK_CONF_DIR": str(tmp_path / "conf"),
            "PYSPARK_SUBMIT_ARGS": "--conf spark.of.the.user='a b' pyspark-shell",
        },
        cwd=Path(__file__).parents[2],
    )
    watch.done.set()
    watch.join()
    assert answer.returncode == 0, answer.stderr
    arrived = json.loads(answer.stdout.splitlines()[-1])["settings"]
    assert arrived == given | {"spark.of.the.user": "a b", "spark.of.defaults": "yes"}

    java = [line for line in watch.seen if "SparkSubmit" in line]
    assert any("org.apache.spark.launcher.Main" in line for line in java), "it was started by the launcher"
    assert any("-Xmx600m" in line for line in java), "memory is for Java's command line"
    assert not [line for line in watch.seen if SECRET in line]

    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    log = directory / "spark.log"
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert SECRET not in log.read_text()
    assert Path(directory.parent, ".gitignore").exists() is False
