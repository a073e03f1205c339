"""Brings the files of the published bundles: `fetch(name) -> folder`, once, then all is offline.

Queries come from PolyAI's repository at a pinned commit and are known by digest. The encoder's
files come from the Hub at a pinned commit, by HF_ENDPOINT, or from its cache in HF_HOME: each must
be what the Hub says that commit holds, and the vocabulary what is known of it. Proxies are those of
the environment. Nothing else is ever put into the folder that bundles are made from.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import shutil
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

from filelock import FileLock

from grader import files
from grader.bundles import published
from grader.bundles.folder import cache, sha256
from grader.records import BundleError

_TRIES = 4  #: each goes on where the last was cut off
_LARGEST = 64 << 20  #: bytes; a file of queries has under 1 MB
_CHUNK = 1 << 16
_SECONDS = 30.0  #: without a byte

#: Told as bytes come: the file's name, how many there are, how many there will be.
Told = Callable[[str, int, int | None], None]


def fetch(name: str, mirror: str | None = None, told: Told = lambda *_: None) -> Path:
    """Bring what a published bundle needs into the user's cache folder; what is there stays.

    Args:
        name: the bundle.
        mirror: a base URL in place of that of the queries' repository.
        told: hears how far it is.

    Returns:
        The folder.

    Raises:
        BundleError: there is no such bundle, or a file did not come whole and right; what came of
            it is kept for the next try if it may be right.
    """
    if name not in published.BUNDLES:
        raise BundleError(
            f"bundle {name!r} is not one to fetch; these are: {', '.join(published.BUNDLES)}"
        )
    folder = cache().parent / "fetched"
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / ".lock"):
        base = (mirror or published.DATA_URL).rstrip("/")
        for path in ("train.csv", "test.csv"):
            if not _is_right(folder / path):
                _bring(f"{base}/{published.DATA_PATH}/{path}", folder / path, _is_right, told)
        if not _is_right(folder / "vocab.txt"):
            _vocabulary(folder, told)
        if name == "banking77":
            _weights(folder, told)
    return folder


def _is_right(path: Path) -> bool:
    return path.is_file() and sha256(path) == published.FILES[path.name.removesuffix(".part")]


def _bring(url: str, path: Path, right: Callable[[Path], bool], told: Told) -> None:
    """Download a file that can be told from others; one that was cut off goes on where it was."""
    part = path.with_name(path.name + ".part")
    problem = ""
    for _ in range(_TRIES):
        try:
            whole = _more(url, part, told)
        except (OSError, http.client.HTTPException, ValueError) as fault:
            problem = _reason(fault)
            continue
        if not whole:
            problem = f"cut off after {part.stat().st_size} bytes"
        elif right(part):
            part.replace(path)
            return
        else:
            part.unlink()  # whatever part of it is wrong, none of it can be used
            problem = "altered or incomplete: it is not the published file"
    raise BundleError(f"{url}: {problem}; look at the network, proxy or mirror and fetch it again")


def _more(url: str, part: Path, told: Told) -> bool:
    """Append what is missing of a file; whether it is all there, as far as the server says."""
    if not url.startswith(("http://", "https://")):
        raise BundleError(f"{url}: not an address of the web; mend --mirror")
    have = part.stat().st_size if part.exists() else 0
    request = urllib.request.Request(url, headers={"Range": f"bytes={have}-"} if have else {})  # noqa: S310
    try:
        answer = urllib.request.build_opener().open(request, timeout=_SECONDS)
    except urllib.error.HTTPError as fault:
        if fault.code == http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
            return True  # there is no more of it
        raise
    mode = "ab" if answer.status == http.HTTPStatus.PARTIAL_CONTENT else "wb"
    with answer, part.open(mode) as to:
        have = to.tell()
        length = answer.headers.get("Content-Length")
        total = have + int(length) if length else None
        while chunk := answer.read(_CHUNK):
            have += len(chunk)
            if have > _LARGEST:
                raise ValueError("far larger than the published file")
            to.write(chunk)
            told(part.stem, have, total)
    return total is None or have == total


def _vocabulary(folder: Path, told: Told) -> None:
    from huggingface_hub.errors import EntryNotFoundError

    try:
        _from_hub("vocab.txt", folder, told)
    except EntryNotFoundError:
        raise BundleError(f"{published.ENCODER}: the commit has no vocab.txt") from None


def _weights(folder: Path, told: Told) -> None:
    """The encoder's weights in whichever format the commit has, with what they were in a list."""
    from huggingface_hub.errors import EntryNotFoundError

    listed = folder / "fetched.json"
    known = json.loads(listed.read_text("utf-8")) if listed.is_file() else {}
    for name in published.WEIGHTS:
        if name in known and (folder / name).is_file() and sha256(folder / name) == known[name]:
            return
        try:
            _from_hub(name, folder, told)
        except EntryNotFoundError:
            continue
        files.write(listed, json.dumps({name: sha256(folder / name)}))
        return
    raise BundleError(f"{published.ENCODER}: the commit has none of {', '.join(published.WEIGHTS)}")


def _from_hub(name: str, folder: Path, told: Told) -> None:
    """A file of the encoder's repository at the pinned commit, if it is what the Hub says it is.

    From the Hub's own cache on this machine, where it is there; else from the Hub, which gives no
    library call that goes on with a download after the process has ended: the bytes are ours to
    bring, the address, the commit and the digest its library's.

    Raises:
        EntryNotFoundError: the commit has no such file.
    """
    from huggingface_hub import get_hf_file_metadata, hf_hub_url, try_to_load_from_cache
    from huggingface_hub.errors import EntryNotFoundError, LocalEntryNotFoundError

    repository, commit = published.ENCODER, published.ENCODER_COMMIT
    kept = try_to_load_from_cache(repository, name, revision=commit)
    if isinstance(kept, str) and _is_as_told(Path(kept), name, Path(kept).resolve().name):
        beside = folder / f"{name}.copy"
        shutil.copyfile(kept, beside)
        beside.replace(folder / name)
        return
    url = hf_hub_url(repository, name, revision=commit)
    try:
        facts = get_hf_file_metadata(url)
    except LocalEntryNotFoundError as fault:
        raise BundleError(f"{url}: {_reason(fault)}; look at the network") from None
    except EntryNotFoundError:
        raise
    except Exception as fault:  # noqa: BLE001 - the Hub's library has many; each is told, none used
        raise BundleError(f"{url}: {_reason(fault)}; look at the network or HF_ENDPOINT") from None
    if facts.commit_hash != commit or facts.etag is None:
        raise BundleError(f"{url}: not of the commit that was asked for; mend HF_ENDPOINT")
    tag = facts.etag
    _bring(url, folder / name, lambda path: _is_as_told(path, name, tag), told)


def _is_as_told(path: Path, name: str, tag: str) -> bool:
    """Whether a file has the digest by which the Hub knows it, and that which we know, if we do.

    Git's own for a blob, see https://git-scm.com/book/en/v2/Git-Internals-Git-Objects, or the
    SHA-256 of a large file.
    """
    content = path.read_bytes()
    blob = hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False)
    digest = hashlib.sha256(content).hexdigest()
    return tag in (digest, blob.hexdigest()) and published.FILES.get(name, digest) == digest


def _reason(fault: BaseException) -> str:
    """What went wrong, on one line."""
    return " ".join(str(fault).split())[:200] or type(fault).__name__
