"""One page on this machine that follows a run.

It loads nothing from other hosts, and answers requests from this machine only.
"""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from pathlib import Path
from typing import Any

from phenes.store import Store
from phenes.watch.snapshot import Reader, open_run

HOST = "127.0.0.1"
TIMEOUT = 10  # seconds in which a request has to come, and its answer to be taken
CONNECTIONS = 32  # at once; those beyond are closed
HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src"
        " 'self'"
    ),
}


def serve(path: Path, number: int | None, port: int = 0) -> ThreadingHTTPServer:
    """A server, ready for serve_forever(); port 0 takes any that is free."""
    with Store(path, create=False) as store:
        number = open_run(store, number).about.id
    page = resources.files("phenes.watch").joinpath("page.html").read_bytes()

    class Handler(BaseHTTPRequestHandler):
        timeout = TIMEOUT

        def do_GET(self) -> None:
            # DNS rebinding: a foreign page may resolve its own name to this address, but its
            # requests then carry that name in the Host header
            if self.headers.get("Host", "").rsplit(":", 1)[0] not in (HOST, "localhost"):
                self._answer(403, "text/plain", b"this page is for this machine only")
            elif self.path == "/":
                self._answer(200, "text/html; charset=utf-8", page)
            elif self.path == "/data.json":
                self._answer(200, "application/json", self._data())
            else:
                self._answer(404, "text/plain", b"there is nothing here")

        def _data(self) -> bytes:
            try:
                with one_at_a_time, Store(path, create=False) as store:
                    reader.run = store[number]
                    return json.dumps(reader.snapshot()).encode()
            except ValueError as error:
                return json.dumps({"error": str(error)}).encode()

        def _answer(self, code: int, kind: str, body: bytes) -> None:
            self.send_response(code)
            for name, value in {
                "Content-Type": kind,
                "Content-Length": str(len(body)),
                **HEADERS,
            }.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Log nothing: the page asks every second."""

    reader, one_at_a_time = Reader(None), threading.Lock()  # pyright: ignore[reportArgumentType]
    return _Server((HOST, port), Handler)


class _Server(ThreadingHTTPServer):
    """A thread for each connection, and no more than `CONNECTIONS` of them."""

    def __init__(self, *args: Any):
        super().__init__(*args)
        self.free = threading.Semaphore(CONNECTIONS)

    def process_request(self, request: Any, client_address: Any) -> None:
        if self.free.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Do not report clients that disconnected: the page repeats its request."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)
