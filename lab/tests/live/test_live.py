"""The program that asks a real model, with one of random weights: what it keeps and says."""

import json
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import anyio
import msgspec
import pytest

from clew import Trajectory
from live import long, page
from live.__main__ import main
from live.ask import Asker
from live.configurations import NAMES
from live.forms import current
from live.others.systems import SYSTEMS
from live.outcomes import read
from tests import unmeasured
from tests.local.tiny_gguf import write_model

ROOT = Path(__file__).parents[2]
ASKED = ("--parts", "tuning", "--sources", "gold", "--first", "2", "--only", "default,no grammar")


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("models") / "random.gguf")


def started(folder: Path, *args: str | Path) -> "subprocess.Popen[str]":
    """The program, with outcomes and records in a folder, and no recordings."""
    arguments = ("--outcomes", folder / "outcomes", "--records", folder / "records.sqlite")
    return subprocess.Popen(
        [sys.executable, "-m", "live", *args, *arguments, "--print", "--threads", "1"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT,
        env={**unmeasured.environment(), "CLEW_RECORDINGS": str(folder / "none")},
    )  # fmt: skip


def asked(folder: Path, *args: str | Path) -> tuple[int, str, str]:
    """What it says, and how it ends."""
    with started(folder, *args) as program:
        out, err = program.communicate()
    return program.returncode, out, err


def lines(folder: Path) -> list[bytes]:
    """The lines of all outcomes."""
    files = folder.glob("outcomes/*.jsonl")
    return [line for path in files for line in path.read_bytes().splitlines()]


@pytest.mark.slow
def test_killed_in_the_midst_it_goes_on_and_measures_nothing_twice(
    tmp_path: Path, file: Path
) -> None:
    args = (file, *ASKED, "--context", "60000")
    with started(tmp_path, *args) as program:
        assert program.stderr is not None
        assert any("right" in line or "wrong" in line for line in program.stderr)
        program.send_signal(signal.SIGKILL)
    first = lines(tmp_path)

    code, out, err = asked(tmp_path, *args)

    assert code == 0, err
    measurements = lines(tmp_path)
    assert measurements[: len(first)] == first
    assert (
        len(measurements)
        == len({(x["configuration"], x["task"]) for x in map(json.loads, measurements)})
        == 4
    )
    assert all(one.outcome.counted.steps for one in read(tmp_path / "outcomes"))
    assert asked(tmp_path, *args)[:2] == (0, out)
    assert lines(tmp_path) == measurements
    tuning = out.partition("## Tuning half")[2]
    table = next(line for line in tuning.splitlines() if line.startswith("| `default`"))
    assert " of 2 |" in table
    assert "| `native` | the format `native` | not run |" in out


def test_a_line_that_was_cut_short_is_left_out(tmp_path: Path) -> None:
    path = (ROOT / "live" / "outcomes").glob("*.jsonl")
    body = next(path).read_bytes().splitlines(keepends=True)[:3]
    (tmp_path / "model.jsonl").write_bytes(b"".join(body)[:-20])
    assert len(read(tmp_path)) == 2


def test_the_page_is_made_from_the_outcomes_alone() -> None:
    text = page.page(read())
    assert all(f"| `{name}` |" in text for name in NAMES)
    assert page.page([]).count("not run") > len(NAMES)
    folders = ("/work", "/home", "/tmp", str(Path.home()))
    assert not [folder for folder in folders if f"{folder}/" in text]


def test_what_an_earlier_prompt_gave_is_in_no_other_table() -> None:
    kept = [one for one in read() if one.system == "clew"]
    assert {one.configuration for one in current(kept)} >= {"default", "before"}
    stale = [msgspec.structs.replace(one, fingerprint="0" * 12) for one in kept]
    text = page.page(stale)
    tables, _, earlier = text.partition("## Earlier forms")
    assert tables.count("not run |") == 2 * len(NAMES) + len(SYSTEMS)
    assert "| `default` | `000000000000` | `docs`, `calc` | unseen |" in earlier


def test_a_long_run_says_how_much_came_from_the_cache(
    tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(long, "FILE", tmp_path / "long.json")
    assert "Not run" in long.section()
    anyio.run(long.measure, lambda records: Asker(file, records, threads=1, context=60_000))
    record = long.read()
    assert record is not None
    assert len(record.input) == len(record.cached) > 1
    assert f"a run of {len(record.input)} steps" in long.section()


def test_a_run_in_a_small_window_says_what_came_from_the_cache(
    tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(long, "WINDOWED", tmp_path / "window.json")
    monkeypatch.setattr(long, "WINDOW", 9_000)  # to this model a letter is a token
    anyio.run(long.measure_window, file, 1)
    record = long.read(long.WINDOWED)
    assert record is not None
    assert len(record.input) == len(record.cached) == 31
    assert record.shorter, "thirty pages are more than the window holds"
    assert 0 < record.share < record.again <= 1
    assert f"a run of {len(record.input)} steps, whose replies are scripted" in long.section()


def test_a_long_run_goes_on_until_every_page_is_read() -> None:
    made = Trajectory("run", ())
    assert long.all_read("", made) == "page 1 is not read yet"


def refused(
    capsys: pytest.CaptureFixture[str], folder: Path, *args: str | Path
) -> tuple[int, int, str]:
    """How it ends where nothing can be asked, in how many lines, and in which words."""
    code = main([*map(str, args), "--records", str(folder / "records.sqlite")])
    output = capsys.readouterr()
    assert output.out == ""
    return code, output.err.count("\n"), output.err


@pytest.mark.parametrize(
    ("name", "body", "text"),
    [
        ("missing.gguf", None, "cannot be read (No such file or directory): name a GGUF file"),
        ("text.gguf", b"this is no model", "is no GGUF file, or only the beginning of one"),
    ],
)
def test_a_file_that_is_no_model_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, body: bytes | None, text: str
) -> None:
    path = tmp_path / name
    if body is not None:
        path.write_bytes(body)
    code, many, err = refused(capsys, tmp_path, path, *ASKED)
    assert (code, many) == (2, 1)
    assert text in err


@pytest.mark.parametrize(
    ("args", "text"),
    [
        (("--parts", "tuning"), "no recordings in"),
        (("--parts", "halves"), "no part 'halves': there are tuning, unseen, others, slots"),
        (("--only", "fancy"), "no configuration 'fancy': there are default, before"),
        (("--parts", "tuning", "--sources", "mine"), "no source 'mine': there are gold, foreign"),
    ],
)
def test_what_cannot_be_asked_is_one_line(
    tmp_path: Path,
    file: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    args: Sequence[str],
    text: str,
) -> None:
    monkeypatch.setenv("CLEW_RECORDINGS", str(tmp_path / "none"))
    code, many, err = refused(capsys, tmp_path, file, *args)
    assert (code, many) == (2, 1)
    assert text in err


def test_without_a_model_it_says_how_to_name_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = refused(capsys, tmp_path)
    assert (code, err) == (2, "no model: name its file (make live GGUF=path/to/model.gguf)\n")
