"""Fetching bundles from a server that fails in every way: nothing wrong is ever used."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.bundles import published
from grader.bundles.fetch import fetch
from grader.bundles.folder import cache
from grader.records import BundleError
from web import Fault, Site, serving

QUERIES = b"text,category\n" + b"".join(b"where is my card %d,card\n" % i for i in range(9000))
VOCABULARY = b"[PAD]\n[UNK]\n[CLS]\n[SEP]\n" + b"".join(b"word%d\n" % i for i in range(3000))
WEIGHTS = bytes(range(256)) * 4000
HUB = f"/{published.ENCODER}/resolve/{published.ENCODER_COMMIT}"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A server of files that are taken for the published ones, and an empty cache."""
    contents = {"train.csv": QUERIES, "test.csv": QUERIES[:50_000], "vocab.txt": VOCABULARY}
    digests = {name: hashlib.sha256(data).hexdigest() for name, data in contents.items()}
    monkeypatch.setattr(published, "FILES", digests)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    files = {f"/{published.DATA_PATH}/{name}": contents[name] for name in ("train.csv", "test.csv")}
    files |= {f"{HUB}/vocab.txt": VOCABULARY, f"{HUB}/model.safetensors": WEIGHTS}
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    with serving(Site(files, published.ENCODER_COMMIT)) as started:
        monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", started.url)
        template = started.url + "/{repo_id}/resolve/{revision}/{filename}"
        monkeypatch.setattr("huggingface_hub.constants.HUGGINGFACE_CO_URL_TEMPLATE", template)
        yield started


def _wrong_files() -> list[str]:
    """The files in the folder that bundles are made from that are not the published ones."""
    folder = cache().parent / "fetched"
    right = {**published.FILES, "model.safetensors": hashlib.sha256(WEIGHTS).hexdigest()}
    return [
        path.name
        for path in folder.iterdir()
        if path.name in right and hashlib.sha256(path.read_bytes()).hexdigest() != right[path.name]
    ]


def test_all_files_come_once(site: Site) -> None:
    folder = fetch("banking77", site.url)
    assert (folder / "train.csv").read_bytes() == QUERIES
    assert (folder / "vocab.txt").read_bytes() == VOCABULARY
    assert (folder / "model.safetensors").read_bytes() == WEIGHTS
    listed = json.loads((folder / "fetched.json").read_text())
    assert listed == {"model.safetensors": hashlib.sha256(WEIGHTS).hexdigest()}
    site.asked.clear()
    assert fetch("banking77", site.url) == folder
    assert site.asked == []


def test_weights_are_fetched_for_their_bundle_alone(site: Site) -> None:
    folder = fetch("banking77-random", site.url)
    assert not (folder / "model.safetensors").exists()
    assert not any("model" in path for _, path, _ in site.asked)


@pytest.mark.parametrize("name", ["train.csv", "test.csv"])
@pytest.mark.parametrize("fault", ["cut", "short", "altered", "broken", "absent"])
def test_queries_that_never_come_right_are_told_and_never_used(
    fault: Fault, name: str, site: Site
) -> None:
    site.faults[name] = [fault]
    if fault == "cut":
        site.faults[name] = ["cut", "broken"]
    with pytest.raises(BundleError) as problem:
        fetch("banking77-random", site.url)
    (line,) = str(problem.value).splitlines()
    assert f"{published.DATA_PATH}/{name}: " in line
    assert "fetch it again" in line
    assert not (cache().parent / "fetched" / name).exists()
    assert _wrong_files() == []
    site.faults.clear()
    fetch("banking77-random", site.url)
    assert _wrong_files() == []


def test_an_interrupted_fetch_goes_on_where_it_was(site: Site) -> None:
    site.faults["train.csv"] = ["cut", "broken"]
    with pytest.raises(BundleError, match="500"):
        fetch("banking77-random", site.url)
    part = cache().parent / "fetched" / "train.csv.part"
    half = len(QUERIES) // 2
    assert part.read_bytes() == QUERIES[:half]
    site.faults.clear()
    site.asked.clear()
    folder = fetch("banking77-random", site.url)
    ranges = [wanted for _, path, wanted in site.asked if path.endswith("train.csv")]
    assert ranges == [f"bytes={half}-"]
    assert (folder / "train.csv").read_bytes() == QUERIES


def test_a_part_that_is_wrong_is_not_gone_on_with_for_ever(site: Site) -> None:
    folder = cache().parent / "fetched"
    folder.mkdir(parents=True)
    (folder / "train.csv.part").write_bytes(b"x" * 1000)
    assert (fetch("banking77-random", site.url) / "train.csv").read_bytes() == QUERIES


def test_a_redirection_is_followed(site: Site) -> None:
    site.faults["train.csv"] = ["moved"]
    assert (fetch("banking77-random", site.url) / "train.csv").read_bytes() == QUERIES
    assert any(path.startswith("/elsewhere/") for _, path, _ in site.asked)


def test_what_was_altered_since_is_fetched_again(site: Site) -> None:
    folder = fetch("banking77", site.url)
    for name in ("train.csv", "vocab.txt", "model.safetensors"):
        (folder / name).write_bytes(b"other")
        fetch("banking77", site.url)
        assert _wrong_files() == []


@pytest.mark.parametrize("name", ["vocab.txt", "model.safetensors"])
@pytest.mark.parametrize("fault", ["cut", "short", "altered", "broken"])
def test_an_encoder_that_never_comes_right_is_told_and_never_used(
    fault: Fault, name: str, site: Site
) -> None:
    site.faults[name] = [fault, "broken"] if fault == "cut" else [fault]
    with pytest.raises(BundleError) as problem:
        fetch("banking77", site.url)
    (line,) = str(problem.value).splitlines()
    assert f"{HUB}/{name}: " in line
    assert not (cache().parent / "fetched" / name).exists()
    site.faults.clear()
    fetch("banking77", site.url)
    assert _wrong_files() == []


def test_another_commit_than_the_pinned_one_is_refused(site: Site) -> None:
    site.commit = "0" * 40
    with pytest.raises(BundleError, match="not of the commit"):
        fetch("banking77", site.url)
    assert not (cache().parent / "fetched" / "vocab.txt").exists()


def test_older_weights_are_taken_where_there_are_no_others(site: Site) -> None:
    files = dict(site.files)
    files[f"{HUB}/pytorch_model.bin"] = files.pop(f"{HUB}/model.safetensors")
    site.files = files
    assert (fetch("banking77", site.url) / "pytorch_model.bin").read_bytes() == WEIGHTS
    site.files = {path: data for path, data in files.items() if "pytorch" not in path}
    (cache().parent / "fetched" / "pytorch_model.bin").unlink()
    with pytest.raises(BundleError, match=r"has none of model\.safetensors, pytorch_model\.bin"):
        fetch("banking77", site.url)


@pytest.mark.parametrize(
    ("name", "mirror", "message"),
    [
        ("tiny", None, "'tiny' is not one to fetch"),
        ("banking77", "file:///etc", "not an address of the web; mend --mirror"),
        ("banking77", "http://127.0.0.1:9", "refused"),
    ],
)
def test_wrong_words(name: str, mirror: str | None, message: str, site: Site) -> None:
    with pytest.raises(BundleError, match=message):
        fetch(name, mirror)


def test_the_command_honours_proxy_mirror_and_home(
    site: Site, tmp_path: Path, shared_assets: Path
) -> None:
    """Names that no resolver knows, through a proxy; the published files themselves."""
    data = {path.name: path.read_bytes() for path in shared_assets.rglob("*.*")}
    site.files = {
        f"/{published.DATA_PATH}/{name}": data[name] for name in ("train.csv", "test.csv")
    }
    site.files |= {f"{HUB}/vocab.txt": data["vocab.txt"]}
    env = os.environ | {
        "http_proxy": site.url,
        "HF_ENDPOINT": "http://hub.invalid",
        "HF_HOME": str(tmp_path / "home"),
        "GRADER_MIRROR": "http://mirror.invalid",
        "XDG_CACHE_HOME": str(tmp_path / "other"),
    }
    for name in ("no_proxy", "NO_PROXY", "GRADER_BUNDLE_DIR", "HF_HUB_CACHE"):
        env.pop(name, None)
    command = [sys.executable, "-m", "grader", "bundles"]
    done = subprocess.run(
        [*command, "fetch", "banking77-random"], env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("banking77-random: ready ")
    where = subprocess.run([*command, "where", "banking77-random"], env=env, capture_output=True)
    folder = Path(where.stdout.decode().strip())
    assert (folder / "train.csv").read_bytes() == data["train.csv"]
    (folder / "encoder" / "config.json").write_text("{}")
    checked = subprocess.run(
        [*command, "check", "banking77-random"], env=env, capture_output=True, text=True
    )
    assert checked.returncode == 2
    assert "config.json: altered or incomplete" in checked.stderr


def test_interrupted_weights_go_on_where_they_were(site: Site) -> None:
    site.faults["model.safetensors"] = ["cut", "broken"]
    with pytest.raises(BundleError):
        fetch("banking77", site.url)
    site.faults.clear()
    site.asked.clear()
    folder = fetch("banking77", site.url)
    assert (folder / "model.safetensors").read_bytes() == WEIGHTS
    got = [wanted for method, path, wanted in site.asked if method == "GET" and "model" in path]
    assert got == [f"bytes={len(WEIGHTS) // 2}-"]


@pytest.mark.parametrize("spoiled", [False, True])
def test_what_the_hubs_own_cache_holds_is_not_fetched(
    spoiled: bool, site: Site, tmp_path: Path
) -> None:
    """As its library lays it out: a link into blobs by the name of their digests."""
    folder = tmp_path / "hub" / f"models--{published.ENCODER.replace('/', '--')}"
    snapshot, blobs = folder / "snapshots" / published.ENCODER_COMMIT, folder / "blobs"
    snapshot.mkdir(parents=True)
    blobs.mkdir()
    for name, content in (("vocab.txt", VOCABULARY), ("model.safetensors", WEIGHTS)):
        blob = blobs / hashlib.sha256(content).hexdigest()
        blob.write_bytes(content[:-1] if spoiled else content)
        (snapshot / name).symlink_to(blob)
    fetch("banking77", site.url)
    assert any(path.startswith(HUB) for _, path, _ in site.asked) is spoiled
    assert _wrong_files() == []
