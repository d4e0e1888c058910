"""Runs, listed, shown and followed: in the terminal, and on a page in a real browser where there is one."""

import contextlib
import json
import re
import shutil
import subprocess
import threading
import urllib.error
import urllib.request

import numpy as np
import pytest

import phenes
from phenes.store import Store
from phenes.watch import reading
from phenes.watch.server import serve
from tests.test_cli import call, one_line

BROWSER = next((name for name in ("chromium", "chromium-browser", "google-chrome") if shutil.which(name)), None)


def f(x):
    if x[0] > 1.9:
        raise ArithmeticError("<b>diverged</b>")
    return float(np.sum(x**2))


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("runs") / "runs.db"
    for seed in (1, 2):
        phenes.minimize(f, np.full(3, 1.5), 0.5, 0.1, budget=400, seed=seed, checkpoint=path, resume=False)
    return path


@contextlib.contextmanager
def page(path, number=None):
    with serve(path, number) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def fetch(address, **headers):
    with urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=30) as answer:
        return answer.read().decode(), answer.headers


def test_runs_are_listed(path, capsys):
    code, out, _ = call(capsys, "runs", path, "--json")
    assert code == 0
    listed = json.loads(out.splitlines()[-1])["runs"]
    assert [(run["id"], run["status"], run["settings"]["seed"]) for run in listed] == [(1, "done", 1), (2, "done", 2)]
    assert "minimize" in out


def test_a_run_is_shown_with_a_picture_and_exported(path, capsys, tmp_path):
    out_file, table = tmp_path / "run.png", tmp_path / "run.csv"
    code, out, err = call(capsys, "show", f"{path}:1", "--out", out_file, "--export", table, "--json")
    assert code == 0, err
    result = json.loads(out.splitlines()[-1])
    assert (result["done"], result["rows"], result["flying"]) == (400, 400, 0)
    assert result["failed"] > 0
    assert out_file.read_bytes()[:4] == b"\x89PNG"
    assert len(table.read_text().splitlines()) == 401
    straight = phenes.minimize(f, np.full(3, 1.5), 0.5, 0.1, budget=400, seed=1)
    np.testing.assert_array_equal(result["mean"], straight.x)
    assert result["curve"]["fun"][-1] == straight.fun
    assert "recommended theta" in out


def test_watching_a_finished_run_ends_at_once(path, capsys):
    code, out, _ = call(capsys, "watch", path, "--json")
    assert code == 0
    assert json.loads(out.splitlines()[-1])["id"] == 2


def test_what_is_not_there(path, capsys, tmp_path):
    for arguments in (("runs", tmp_path / "no.db"), ("show", f"{path}:9"), ("watch", "99"), ("show", path, "--export", "x.xls")):
        code, _, err = call(capsys, *arguments)
        assert code == 1
        assert one_line(err.replace(str(path.parent), "")), err


def test_a_live_run_shows_what_is_in_flight(tmp_path):
    path, seen = tmp_path / "live.db", []

    def look(result):
        with Store(path, create=False) as store:
            seen.append(reading.Reader(reading.open_run(store, None)).snapshot())

    phenes.minimize(f, np.full(3, 1.5), 0.5, 0.1, budget=60, seed=1, checkpoint=path, callback=look)
    assert seen[0]["status"] == "running"
    assert [each["done"] for each in seen] == [each["curve"]["nfev"][-1] for each in seen]


def test_long_runs_are_thinned_and_what_was_read_is_kept():
    class Fake(dict):
        reads = 0

        def __getitem__(self, key):
            Fake.reads += 1
            return {"f": np.zeros(2), "nfev": np.array(int(key))}

    reader = reading.Reader(Fake())
    for n in (10, 1000, 1001, 100_000):
        Fake.reads = 0
        parts = reader._thinned([f"{k:08d}" for k in range(n)])
        numbers = [int(part["nfev"]) for part in parts]
        assert (numbers[0], numbers[-1]) == (0, n - 1)
        assert len(numbers) <= 2 * reading.POINTS + 1
        assert n != 1001 or Fake.reads <= 1


def test_the_page_is_self_contained_and_for_this_machine_only(path):
    with page(path) as address:
        text, headers = fetch(address)
        assert not re.search(r"(src|href)\s*=|@import|url\(", text), "nothing is fetched from elsewhere"
        assert set(re.findall(r"https?://[^\s\"']+", text)) == {"http://www.w3.org/2000/svg"}
        assert "default-src 'none'" in headers["Content-Security-Policy"]
        data = json.loads(fetch(f"{address}/data.json")[0])
        assert (data["id"], data["done"]) == (2, 400)
        for bad, code in ((f"{address}/../etc/passwd", 404), (address, 403)):
            with pytest.raises(urllib.error.HTTPError) as error:
                fetch(bad, Host="evil.example" if code == 403 else "127.0.0.1")
            assert error.value.code == code
            error.value.close()


# the script of the page, with the elements that the page has: each knows its text, its attributes and its children
LOOK = """
const address = process.argv[1];
const html = await (await fetch(address)).text();
class Element {
  constructor(name) { this.name = name; this.attributes = {}; this.children = []; this.textContent = ""; }
  setAttribute(name, value) { this.attributes[name] = String(value); }
  appendChild(child) { this.children.push(child); }
  replaceChildren() { this.children = []; }
}
const elements = Object.fromEntries([...html.matchAll(/<(\\w+)(?: [^>]*)? id="(\\w+)"/g)].map(m => [m[2], new Element(m[1])]));
const page = {title: "", getElementById: id => elements[id], createElementNS: (space, name) => new Element(name)};
const script = html.match(/<script>([^]*)<\\/script>/)[1];
await new Promise(again => new Function("document", "fetch", "setTimeout", script)(page, path => fetch(new URL(path, address)), again));
const curves = id => elements[id].children.filter(child => child.name === "polyline");
const lines = id => curves(id).map(curve => curve.attributes.points.split(" ").length);
const text = Object.fromEntries(Object.entries(elements).map(([id, element]) => [id, element.textContent]));
console.log(JSON.stringify({text, title: page.title, lines: Object.fromEntries(["value", "steps", "gains"].map(id => [id, lines(id)]))}));
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no node on this machine")
def test_the_script_of_the_page_follows_a_live_run(tmp_path):
    """In a real engine of JavaScript, though not in a browser: what it fetches, and what it makes of it."""
    path, seen = tmp_path / "live.db", []

    def look(result):
        if result.nit == 4:
            with page(path) as address:
                command = ["node", "--input-type=module", "-e", LOOK, address]
                seen.append((result, subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout))

    phenes.minimize(f, np.full(3, 1.5), 0.5, 0.1, budget=100, seed=1, checkpoint=path, callback=look)
    ((result, out),) = seen
    shown = json.loads(out)
    assert shown["text"]["title"] == f"run 1 of {path}"
    assert shown["text"]["state"].startswith("running")
    assert shown["text"]["done"] == result.nfev
    assert shown["lines"] == {"value": [4], "steps": [4, 4], "gains": [4]}
    assert float(shown["text"]["mean"].split(", ")[0]) == pytest.approx(result.x[0], rel=1e-4)


@pytest.mark.skipif(BROWSER is None, reason="there is no chromium on this machine")
def test_the_page_in_a_browser(path, tmp_path):
    with page(path) as address:
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=4000", f"--user-data-dir={tmp_path}"]
        command = [str(BROWSER), *options, "--dump-dom", address]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert "<polyline" in done.stdout, done.stderr
    assert re.search(r'id="done">400<', done.stdout)
    assert "run 2 of" in done.stdout
