"""A real browser without a window, driven through ChromeDriver's WebDriver protocol on this
machine.
"""

import contextlib
import json
import re
import shutil
import subprocess
import urllib.request
from base64 import b64decode
from pathlib import Path
from typing import Any

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
DRIVER = shutil.which("chromedriver")

# nothing but the page is fetched: a browser would otherwise ask its makers for news at each start
QUIET = [
    "background-networking",
    "component-update",
    "sync",
    "quic",
    "gpu",
    "default-apps",
    "extensions",
    "domain-reliability",
]
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--no-first-run",
    "--window-size=1200,900",
    *(f"--disable-{name}" for name in QUIET),
]


class Page:
    """One open page."""

    def __init__(self, session: str):
        self.session = session

    def _ask(self, path: str, body: dict[str, Any] | None = None) -> Any:
        return _ask(f"{self.session}/{path}", body)

    def go(self, address: str) -> None:
        self._ask("url", {"url": address})

    def run(self, script: str) -> Any:
        """What the JavaScript returns."""
        return self._ask("execute/sync", {"script": script, "args": []})

    def texts(self, *names: str) -> dict[str, str]:
        return {
            name: self.run(f"return document.getElementById('{name}').textContent")
            for name in names
        }

    def complaints(self) -> list[str]:
        """What went to the console since the last call."""
        return [entry["message"] for entry in self._ask("se/log", {"type": "browser"})]

    def picture(self, path: Path) -> None:
        path.write_bytes(b64decode(self._ask("screenshot")))


def _ask(address: str, body: dict[str, Any] | None = None, method: str | None = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(
        address, data, {"Content-Type": "application/json"}, method=method
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.loads(answer.read())["value"]


@contextlib.contextmanager
def browser(folder: Path):
    """A page of a browser that starts empty in `folder` and ends with the block."""
    assert DRIVER is not None
    with subprocess.Popen([DRIVER, "--port=0"], stdout=subprocess.PIPE, text=True) as driver:
        try:
            assert driver.stdout is not None
            port = next(
                found[1]
                for line in driver.stdout
                if (found := re.search(r"started successfully on port (\d+)", line))
            )
            options = {"binary": CHROMIUM, "args": [*FLAGS, f"--user-data-dir={folder}"]}
            wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
            server = f"http://127.0.0.1:{port}/session"
            session = (
                f"{server}/{_ask(server, {'capabilities': {'alwaysMatch': wanted}})['sessionId']}"
            )
            yield Page(session)
            _ask(session, method="DELETE")
        finally:
            driver.terminate()
