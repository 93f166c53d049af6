"""`_CLEW_COMPLETE` in the environment: the shell's question is answered, anything else is named."""

import os
import subprocess
import sys

import pytest


def run(**variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "clew.cli", "runs"],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_gets_its_script_and_its_completions(shell: str) -> None:
    source = run(_CLEW_COMPLETE=f"{shell}_source")
    assert (source.returncode, source.stderr) == (0, "")
    assert "_CLEW_COMPLETE" in source.stdout
    words = {"COMP_WORDS": "clew ru", "COMP_CWORD": "ru" if shell == "fish" else "1"}
    words |= {"COMP_LINE": "clew ru", "COMP_BREAKS": ":"}
    done = run(_CLEW_COMPLETE=f"{shell}_complete", **words)
    assert (done.returncode, done.stderr) == (0, "")
    assert "runs" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    "value",
    ["1", "bash", "tcsh_source", "zsh_complete", "_", "bash_sorce", "BASH_SOURCE", " bash_source"],
)
def test_any_other_value_is_named(value: str) -> None:
    done = run(_CLEW_COMPLETE=value)
    assert done.returncode == 2
    assert f"_CLEW_COMPLETE is {value!r}" in done.stderr
    assert "should not have happened" not in done.stderr
