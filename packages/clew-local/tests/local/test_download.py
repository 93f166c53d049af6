"""Listed models come from a hub: the real client, against a local server that answers as one."""

from pathlib import Path

import pytest

import clew
from clew.models.resolve import resolve
from clew_local import ListedModel, download, downloaded, listed, local_model
from tests.cli.shell import clew as shell
from tests.local.hub import hub
from tests.local.tiny_gguf import write_model

MODEL = ListedModel("tiny", "somebody/tiny-gguf", "tiny.gguf", 0.1)


@pytest.fixture
def body(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> bytes:
    """A model file, and a cache of its own for the test."""
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
    return write_model(tmp_path / "tiny.gguf").read_bytes()


def test_a_model_is_fetched_once_and_held_to_the_sum_that_the_hub_says(
    body: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert downloaded(MODEL) is None
    with hub(body) as (address, ranges):
        monkeypatch.setenv("HF_ENDPOINT", address)
        path = download(MODEL)
        assert path.read_bytes() == body
        assert download(MODEL) == path
        assert len(ranges) == 1
    assert downloaded(MODEL) == path
    assert local_model(str(path)).info.name == f"local:{path}"


@pytest.mark.usefixtures("body")
def test_a_download_that_was_cut_goes_on_where_it_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    large = bytes(25 << 20)  # the client writes pieces of 10 MB
    with hub(large, cut=True) as (address, ranges):
        monkeypatch.setenv("HF_ENDPOINT", address)
        assert download(MODEL).stat().st_size == len(large)
    assert ranges == ["", f"bytes={10 << 20}-"]


@pytest.mark.parametrize("pinned", ["", "a" * 64])
def test_a_file_with_another_sum_is_removed(
    pinned: str, body: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = ListedModel("tiny", "somebody/tiny-gguf", "tiny.gguf", 0.1, sha256=pinned)
    with hub(body, said="" if pinned else "b" * 64) as (address, _):
        monkeypatch.setenv("HF_ENDPOINT", address)
        with pytest.raises(clew.ModelError, match="is not what it should be"):
            download(model)
    assert downloaded(model) is None


def test_what_cannot_be_fetched_is_said_in_one_line(
    body: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = ListedModel("gone", "somebody/tiny-gguf", "missing.gguf", 0.1)
    with hub(body) as (address, _):
        monkeypatch.setenv("HF_ENDPOINT", address)
        with pytest.raises(clew.ModelError, match="was not downloaded") as error:
            download(gone)
    assert "\n" not in str(error.value)
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(clew.ModelError, match="was not downloaded"):
        download(MODEL)


@pytest.mark.usefixtures("body")
def test_a_listed_model_that_is_not_here_says_how_to_get_it() -> None:
    assert listed("qwen2.5-1.5b-instruct") is not None
    with pytest.raises(clew.ConfigError, match=r"clew doctor models --download qwen2\.5-1\.5b"):
        resolve("local:qwen2.5-1.5b-instruct")


def test_a_listed_model_that_was_fetched_is_found_by_its_name(
    body: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = listed("qwen2.5-0.5b-instruct")
    assert small is not None
    with hub(body) as (address, _):
        monkeypatch.setenv("HF_ENDPOINT", address)
        download(small)
    assert resolve("local:qwen2.5-0.5b-instruct").info.name == "local:qwen2.5-0.5b-instruct"


def test_the_command_line_fetches_what_it_is_asked_for(body: bytes, tmp_path: Path) -> None:
    env = {"HF_HUB_CACHE": str(tmp_path / "cache")}
    before = shell("doctor", "models", "local", env=env)
    assert "--  local:smollm2-1.7b-instruct" in before.out
    assert "--download smollm2-1.7b-instruct, 1.1 GB, Apache-2.0" in before.out
    with hub(body) as (address, _):
        env |= {"HF_ENDPOINT": address}
        done = shell("doctor", "models", "--download", "local:smollm2-1.7b-instruct", env=env)
    assert done.code == 0
    assert "licence Apache-2.0" in done.err
    assert done.out.startswith("ok  local:smollm2-1.7b-instruct")
    unknown = shell("doctor", "models", "--download", "gpt-9", env=env)
    assert (unknown.code, unknown.err.startswith("clew: there is no listed model 'gpt-9'")) == (
        2,
        True,
    )
