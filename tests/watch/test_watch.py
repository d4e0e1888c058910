"""Runs, listed, shown and followed: in the terminal, and on a page in a real browser where there is
one.
"""

import contextlib
import json
import re
import socket
import threading
import time
import urllib.error
import urllib.request

import numpy as np
import pytest

import phenes
from phenes.store import Store
from phenes.watch import server, snapshot, terminal
from phenes.watch.server import serve
from tests.cli.calling import call, one_line
from tests.watch.browser import CHROMIUM, DRIVER, browser


def f(x):
    if x[0] > 1.7:
        raise ArithmeticError("<b>diverged</b>")
    return float(np.sum(x**2))


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("runs") / "runs.db"
    for seed in (1, 2):
        phenes.minimize(
            f, np.full(3, 1.5), 0.5, 0.1, budget=400, seed=seed, checkpoint=path, resume=False
        )
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
    with urllib.request.urlopen(
        urllib.request.Request(address, headers=headers), timeout=30
    ) as answer:
        return answer.read().decode(), answer.headers


def test_runs_are_listed(path, capsys):
    code, out, _ = call(capsys, "runs", path, "--json")
    assert code == 0
    listed = json.loads(out.splitlines()[-1])["runs"]
    assert [(run["id"], run["status"], run["settings"]["seed"]) for run in listed] == [
        (1, "done", 1),
        (2, "done", 2),
    ]
    assert "minimize" in out


def test_a_run_is_shown_with_a_picture_and_exported(path, capsys, tmp_path):
    out_file, table = tmp_path / "run.png", tmp_path / "run.csv"
    code, out, err = call(
        capsys, "show", f"{path}:1", "--out", out_file, "--export", table, "--json"
    )
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
    for arguments in (
        ("runs", tmp_path / "no.db"),
        ("show", f"{path}:9"),
        ("watch", "99"),
        ("show", path, "--export", "x.xls"),
    ):
        code, _, err = call(capsys, *arguments)
        assert code == 2
        assert one_line(err.replace(str(path.parent), "")), err


def test_a_live_run_shows_what_is_in_flight(tmp_path):
    path, seen = tmp_path / "live.db", []

    def look(result):
        with Store(path, create=False) as store:
            seen.append(snapshot.Reader(snapshot.open_run(store, None)).snapshot())

    phenes.minimize(f, np.full(3, 1.5), 0.5, 0.1, budget=60, seed=1, checkpoint=path, callback=look)
    assert seen[0]["status"] == "running"
    assert [each["done"] for each in seen] == [each["curve"]["nfev"][-1] for each in seen]


def test_long_runs_are_thinned_and_what_was_read_is_kept():
    class Fake(dict):
        reads = 0

        def __getitem__(self, key):
            Fake.reads += 1
            return {"f": np.zeros(2), "nfev": np.array(int(key))}

    reader = snapshot.Reader(Fake())
    for n in (10, 1000, 1001, 100_000):
        Fake.reads = 0
        parts = reader._thinned([f"{k:08d}" for k in range(n)])
        numbers = [int(part["nfev"]) for part in parts]
        assert (numbers[0], numbers[-1]) == (0, n - 1)
        assert len(numbers) <= 2 * snapshot.POINTS + 1
        assert n != 1001 or Fake.reads <= 1


EVIL = "\x1b]0;owned\x07\x1b[2J\u202e[red]bold[/red]\x9b1m"


def test_what_a_file_says_does_not_reach_the_terminal_as_commands(tmp_path, capsys):
    """Neither escape sequences nor markup, in settings, names of runs and of files, and errors."""
    path = tmp_path / f"{EVIL[:-6]}[bold].db".replace("/", "")
    with Store(path) as store:
        store.begin(EVIL, {"seed": EVIL, EVIL: [EVIL]}).finish()
        store.database.commit(("UPDATE runs SET started = ?, version = ?", (EVIL, EVIL)))
    said = []
    for command in ("runs", "show", "watch"):
        code, out, err = call(capsys, command, path)
        assert code == 0, err
        said.append(out)
    code, out, err = call(capsys, "show", f"{path}:7")
    assert code == 2
    said += [out, err]
    text = "".join(said)
    assert not set(text) & set("\x1b\x07\x9b\u202e")
    assert r"\x1b]0;owned\x07" in text
    assert text.count("[red]bold") >= 4, "it is not taken for markup"
    assert "[bold].db" in text.replace("\n", "")


def test_a_run_that_is_no_run_is_one_sentence(tmp_path, capsys):
    path = tmp_path / "odd.db"
    with Store(path) as store:
        run = store.begin("minimize", {})
        run.add("00000000", {"f": np.zeros(2), "nfev": np.zeros(2)}, 0.0)
    code, _, err = call(capsys, "show", path)
    assert code == 1
    assert "run 1 of" in err
    assert "is damaged" in err
    assert one_line(err.replace(str(tmp_path), ""))


def test_the_page_is_self_contained_and_for_this_machine_only(path):
    with page(path) as address:
        text, headers = fetch(address)
        assert not re.search(r"(src|href)\s*=|@import|url\(", text), (
            "nothing is fetched from elsewhere"
        )
        assert set(re.findall(r"https?://[^\s\"']+", text)) == {"http://www.w3.org/2000/svg"}
        assert "default-src 'none'" in headers["Content-Security-Policy"]
        data = json.loads(fetch(f"{address}/data.json")[0])
        assert (data["id"], data["done"]) == (2, 400)
        assert refused(address, Host="evil.example") == 403


def refused(address, **headers):
    """The code of the error that comes back."""
    with pytest.raises(urllib.error.HTTPError) as error:
        fetch(address, **{"Host": "127.0.0.1"} | headers)
    error.value.close()
    return error.value.code


def test_the_page_is_served_on_this_machine_alone(path):
    """Not on 0.0.0.0, which 127.0.0.1 reaches too."""
    with serve(path, None) as server:
        assert server.server_address[0] == "127.0.0.1"


def test_no_file_is_served(path):
    """Neither what lies beside the file of runs, nor the file itself, nor the page by its name."""
    (path.parent / "beside.txt").write_text("secret")
    names = [
        path.name,
        "beside.txt",
        "page.html",
        "server.py",
        "../etc/passwd",
        "/etc/passwd",
        "%2e%2e/%2e%2e/etc/passwd",
        f"{path}",
        f"data.json/../{path.name}",
        f"?file={path.name}",
        "data.json?x",
    ]
    with page(path) as address:
        assert [refused(f"{address}/{name}") for name in names] == [404] * len(names)


@pytest.mark.machine
def test_the_page_lets_go_of_those_who_say_nothing_and_bounds_their_number(path, monkeypatch):
    monkeypatch.setattr(server, "TIMEOUT", 0.3)
    monkeypatch.setattr(server, "CONNECTIONS", 4)
    with page(path) as address, contextlib.ExitStack() as stack:
        port = int(address.rpartition(":")[2])
        silent = [
            stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=20))
            for _ in range(4)
        ]
        for each in silent:
            each.sendall(b"GET / HT")
        time.sleep(0.05)
        with socket.create_connection(("127.0.0.1", port), timeout=20) as beyond:
            start = time.monotonic()
            with contextlib.suppress(ConnectionError):
                assert beyond.recv(10) == b"", "closed at once: there are four already"
            assert time.monotonic() - start < 0.25
        for each in silent:
            with contextlib.suppress(ConnectionError):
                assert each.recv(10) == b"", "closed after the time-out"
        assert time.monotonic() - start < 10
        assert json.loads(fetch(f"{address}/data.json")[0])["id"] == 2


@pytest.mark.machine
@pytest.mark.skipif(
    None in (CHROMIUM, DRIVER), reason="there is no chromium with its chromedriver on this machine"
)
def test_the_page_in_a_browser_follows_a_live_run(tmp_path):
    """What it draws after a few generations, after more of them, at the end, and when the server is
    gone.
    """
    path, seen = tmp_path / "live.db", []

    def look(result):
        if result.nit == 1:
            address = stack.enter_context(page(path))
            shown.go(address)
        if result.nit in (4, 8):
            seen.append((result, until(shown, "done", str(result.nfev))))

    with browser(tmp_path / "profile") as shown:
        with contextlib.ExitStack() as stack:
            end = phenes.minimize(
                f, np.full(3, 1.5), 0.5, 0.1, budget=100, seed=1, checkpoint=path, callback=look
            )
            last = until(shown, "done", "100")
            last_state = until(shown, "state", "done")
            assert shown.complaints() == []
        assert "cannot be read now" in until(shown, "state", "cannot")["state"]
    assert [result.nit for result, _ in seen] == [4, 8]
    for result, text in seen:
        assert text["title"] == f"run 1 of {path}"
        assert text["state"].startswith("running")
        assert float(text["mean"].split(", ")[0]) == pytest.approx(result.x[0], rel=1e-4, abs=1e-6)
        assert (text["points"]["value"], text["points"]["steps"]) == (
            [result.nit],
            [result.nit] * 2,
        )
        assert 0 < text["points"]["gains"][0] <= result.nit  # an infinite gain is not drawn
    assert int(last["failed"]) == end.failed > 0
    assert last_state["state"].startswith("done")


POINTS = """return Object.fromEntries(["value", "steps", "gains"].map(id => [id,
    [...document.querySelectorAll(`#${id} polyline`)].map(line => line.points.length)]))"""


def until(shown, name, start):
    """The texts of the page as soon as one of them starts like this; it asks for news every
    second.
    """
    deadline = time.monotonic() + 20
    while True:
        text = shown.texts("title", "state", "done", "failed", "mean") | {
            "points": shown.run(POINTS)
        }
        if text[name].startswith(start):
            return text
        assert time.monotonic() < deadline, text
        time.sleep(0.05)


def wild(width, feed, alloy):
    if width > 280:
        raise ArithmeticError("broke")
    return (width - 150) ** 2 / 1e4 + np.log(feed) ** 2 * (2 if alloy == "A" else 1)


def test_a_run_says_what_is_minimised_what_it_rests_on_and_when_it_ends(tmp_path):
    space = phenes.Space(
        width=phenes.Real(50, 300, unit="mm", noise=8.0),
        feed=phenes.Log(1e-2, 10, noise=0.1),
        alloy=phenes.Choice("A", "B"),
    )
    path, seen = tmp_path / "named.db", []

    def look(result):
        with Store(path, create=False) as store:
            seen.append(snapshot.Reader(snapshot.open_run(store, None)).snapshot())

    options = {"objective": phenes.risk.cvar(0.8), "budget": 50, "seed": 0}
    end = phenes.minimize(wild, space, checkpoint=path, callback=look, **options)
    early, last = seen[len(seen) // 2], seen[-1]
    assert early["what"] == "CVaR 80 % of f(x)"
    assert early["budget"] == 50
    assert early["drawn"] < 2
    assert early["seconds_left"] > 0
    assert last["seconds_left"] == 0
    assert last["drawn"] - last["lost"] == end.verified
    assert list(last["paths"]) == ["width, mm", "feed", "alloy"]
    assert [len(path) for path in last["paths"].values()] == [len(last["curve"]["nfev"])] * 3
    assert last["paths"]["alloy"][-1] == end.x["alloy"]
    assert last["paths"]["width, mm"][-1] == pytest.approx(end.x["width"])
    with Store(path, create=False) as store:
        done = snapshot.Reader(snapshot.open_run(store, None)).snapshot()
    assert done["seconds_left"] is None
    shown = dict(terminal._of_search(done))
    assert f"verified by {end.verified} evaluations" in shown["CVaR 80 % of f(x)"]
    assert "not verified yet" in dict(terminal._of_search(early))["CVaR 80 % of f(x)"]
    assert "time left" not in shown
    assert f"50 of 50 done, {end.failed} failed" in shown["evaluations"]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, "not known"),
        (7.4, "about 7 seconds"),
        (500, "about 8 minutes"),
        (2e5, "about 2 days"),
    ],
)
def test_time_is_said_as_people_say_it(seconds, text):
    assert terminal.duration(seconds) == text
