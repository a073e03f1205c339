"""A web server on loopback that misbehaves as it is told, for tests of what is fetched.

It serves what a repository of queries and the Hub would, and is a proxy for any other name too.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Literal
from urllib.parse import urlsplit

#: `cut` closes midway; `short` says that half of it is all; `altered` changes a byte; `moved`
#: redirects; `broken` answers 500; `absent` 404.
Fault = Literal["cut", "short", "altered", "moved", "broken", "absent"]


@dataclass
class Site:
    """What a server has, how it fails, and what it was asked."""

    files: Mapping[str, bytes]  #: by path
    commit: str = ""  #: what it says a path of the Hub is of
    #: By the end of a path: the faults of the next answers to it; one at the end stays for ever.
    faults: dict[str, list[Fault | None]] = field(default_factory=dict)
    asked: list[tuple[str, str, str | None]] = field(default_factory=list)  #: method, path, range
    url: str = ""

    def fault(self, path: str) -> Fault | None:
        """How the next answer to a path fails."""
        for end, faults in self.faults.items():
            if path.endswith(end) and faults:
                return faults.pop(0) if len(faults) > 1 else faults[0]
        return None


class _Handler(BaseHTTPRequestHandler):
    site: Site

    def log_message(self, *_: object) -> None:
        pass

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def do_GET(self) -> None:
        self._answer(body=True)

    def _answer(self, *, body: bool) -> None:
        path, wanted = urlsplit(self.path).path, self.headers.get("Range")
        self.site.asked.append((self.command, path, wanted))
        hub = "/resolve/" in path
        fault = self.site.fault(path) if body else None
        content = self.site.files.get(path.removeprefix("/elsewhere"))
        if fault == "broken":
            self.send_error(500)
        elif content is None or fault == "absent":
            self._absent(hub=hub)
        elif fault == "moved" and not path.startswith("/elsewhere"):
            self.send_response(302)
            self.send_header("Location", f"{self.site.url}/elsewhere{path}")
            self.end_headers()
        else:
            self._send(content, fault, int(wanted[6:].split("-")[0]) if wanted else 0, hub=hub)

    def _absent(self, *, hub: bool) -> None:
        self.send_response(404)
        if hub:
            self.send_header("X-Error-Code", "EntryNotFound")
            self.send_header("X-Repo-Commit", self.site.commit)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _send(self, content: bytes, fault: Fault | None, start: int, *, hub: bool) -> None:
        tag, size = hashlib.sha256(content).hexdigest(), len(content)
        if fault == "altered":
            content = bytes([content[0] ^ 1]) + content[1:]
        if fault == "short":
            content = content[: size // 2]
        if start and start >= len(content):
            self.send_error(416)
            return
        rest = content[start:]
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(rest)))
        self.send_header("ETag", f'"{tag}"')
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        if hub:
            self.send_header("X-Repo-Commit", self.site.commit)
            self.send_header("X-Linked-Size", str(size))
            self.send_header("X-Linked-Etag", f'"{tag}"')
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(rest[: len(rest) // 2] if fault == "cut" else rest)


@contextmanager
def serving(site: Site) -> Iterator[Site]:
    """A server for a site, while the block lasts."""
    handler = type("Handler", (_Handler,), {"site": site})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        site.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield site
        finally:
            server.shutdown()
            thread.join()
