"""clew needs none of the other packages: its tests pass in an environment that has none of them.

The environment has the libraries of this one, by links, and of clew's packages clew alone. Tests
find the test kit too, which is to clew's tests what any other library is.
"""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests import unmeasured
from tests.test_layers import HOUSE, ROOT

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name == "nt", reason="links"),
]

PACKAGES = sorted(path.name for path in ROOT.glob("packages/clew-*"))
FOLDERS = sorted(path.name for path in (HOUSE / "tests").iterdir() if any(path.glob("test_*.py")))
OURS = ("clew", "_editable_impl_clew", "__editable__.clew", "__editable___clew")


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of the environment."""
    venv = tmp_path_factory.mktemp("alone")
    within = Path(sysconfig.get_path("purelib")).relative_to(sys.prefix)
    site = venv / within
    site.mkdir(parents=True)
    for path in Path(sysconfig.get_path("purelib")).iterdir():
        if not path.name.startswith(OURS) or path.match("clew-*.dist-info"):
            (site / path.name).symlink_to(path)
    (site / "clew.pth").write_text(f"{HOUSE / 'src'}\n")
    (venv / "bin").mkdir()
    for path in Path(sys.prefix, "bin").iterdir():
        (venv / "bin" / path.name).symlink_to(path.resolve())
    home = Path(sys.base_prefix, "bin")
    text = f"home = {home}\ninclude-system-site-packages = false\n"
    (venv / "pyvenv.cfg").write_text(text)
    return venv / "bin" / "python"


def ran(python: Path, *words: str, kit: bool = False) -> subprocess.CompletedProcess[str]:
    env = unmeasured.environment()
    if kit:
        env["PYTHONPATH"] = str(ROOT / "packages" / "clew-testing" / "src")
    return subprocess.run(
        [str(python), *words], cwd=ROOT, env=env, capture_output=True, text=True, check=False
    )


def test_the_environment_has_clew_alone(alone: Path) -> None:
    modules = [name.replace("-", "_") for name in PACKAGES]
    code = f"import clew, importlib.util as u; print([n for n in {modules} if u.find_spec(n)])"
    done = ran(alone, "-c", code)
    assert (done.stdout, done.returncode) == ("[]\n", 0), done.stderr
    told = ran(alone, "-m", "clew_cli", "eval", "run")
    assert told.returncode == 2
    assert "eval needs clew-evals, which is not installed: run " in told.stderr


@pytest.mark.share(4)
@pytest.mark.parametrize("folder", FOLDERS)
def test_its_tests_pass_without_the_others(alone: Path, folder: str) -> None:
    words = ("-q", "-n", "0", "-m", "not slow and not rest", "-p", "no:cacheprovider")
    done = ran(alone, "-m", "pytest", str(HOUSE / "tests" / folder), *words, kit=True)
    told = done.stdout[-6000:] + done.stderr[-2000:]
    assert done.returncode in {0, 5}, told  # 5: all of them are slow


@pytest.mark.parametrize(
    ("words", "asked", "package"),
    [
        ("worker --driver dbos", "the driver dbos", "clew-cluster[dbos]"),
        ("worker --driver ray", "the driver ray", "clew-cluster[ray]"),
        ("worker --driver temporal", "the driver temporal", "clew-cluster[temporal]"),
        ("runs --store postgres://h/d", "postgres", "clew-cluster[postgres]"),
        ("ask Why? --model offline --workspace .", "--workspace", "clew-code"),
        ("ask Why? --model offline --mcp x=y", "--mcp", "clew-mcp"),
        ("ask Why? --model offline --votes 3", "--votes", "clew-strategies"),
        ("ask Why? --model offline --strategy auto", "the strategy auto", "clew-strategies"),
        ("ask Why? --agent own.toml", "the key workspace", "clew-code"),
        ("ask Why? --model local:x", "local", "clew-local"),
        ("ask Why? --model vllm:m --codec code", "run_code", "clew-code"),
        ("ask Why? --agent programs.toml", "the key programs", "clew-code"),
    ],
)
def test_what_needs_another_package_is_told_as_it_was_asked_for(
    alone: Path, tmp_path: Path, words: str, asked: str, package: str
) -> None:
    (tmp_path / "own.toml").write_text('model = "offline"\nworkspace = "."\n')
    program = '[[programs]]\nname = "ls"\ndescription = "List."\nargv = ["ls"]\n'
    (tmp_path / "programs.toml").write_text(f'model = "offline"\n{program}')
    store = () if "--store" in words else ("--store", str(tmp_path / "store"))
    command = [str(alone), "-m", "clew.cli", *words.split(), *store]
    done = subprocess.run(
        command,
        cwd=tmp_path, env=unmeasured.environment(), capture_output=True, text=True, check=False,
    )  # fmt: skip
    line = done.stderr.splitlines()[-1]
    name = package.partition("[")[0]
    assert f"{asked} needs {name}, which is not installed: run " in line
    extra = package.removeprefix(name)
    short = name.removeprefix("clew-")
    assert f"{name}{extra}'" in line or (not extra and f"WITH={short} " in line)


def test_a_strategy_that_is_none_is_told_with_those_that_there_are(alone: Path) -> None:
    done = ran(alone, "-m", "clew.cli", "ask", "Why?", "--model", "offline", "--strategy", "nope")
    assert "there is no strategy 'nope': there are auto, " in done.stderr
