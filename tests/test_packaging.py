"""`python -m build`: what is in the wheel and the sdist, and that the wheel works on its own."""

import importlib.metadata
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement

pytest.importorskip("build", reason="build is not installed: make test installs it")
pytest.importorskip("hatchling", reason="hatchling is not installed: make test installs it")

ROOT = Path(__file__).parents[1]


def run(*command, **options) -> str:
    done = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, timeout=120, **options
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The wheel, built from the sdist as `pip` would."""
    out = tmp_path_factory.mktemp("dist")
    # without isolation: what builds is in constraints.txt, and nothing is fetched
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", out, ROOT)
    (wheel,), (sdist,) = out.glob("*.whl"), out.glob("*.tar.gz")
    return wheel, sdist


def sources() -> set[str]:
    files = [path for path in (ROOT / "phenes").rglob("*") if path.is_file()]
    return {str(path.relative_to(ROOT)) for path in files if "__pycache__" not in path.parts}


def test_the_wheel_holds_the_library_and_nothing_else(built):
    wheel, _ = built
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0].split("-")[0] for name in names} == {"phenes"}
    assert {"phenes/py.typed", "phenes/watch/page.html", "phenes/cli/__init__.py"} <= set(names)
    code = {name for name in names if name.startswith("phenes/")}
    assert sources() == code
    kinds = {Path(name).suffix for name in code}
    assert kinds == {".py", ".html", ".typed"}
    assert not [name for name in names if re.search(r"tests?/|results/|lab/|docs/", name)]


def test_the_sdist_holds_what_builds_the_wheel(built):
    _, sdist = built
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    tops = {name.split("/")[0] for name in names}
    wanted = {"phenes", "README.md", "CHANGELOG.md", "LICENSE", "pyproject.toml", "PKG-INFO"}
    assert tops - {".gitignore"} == wanted
    assert sources() <= names


def requirements(of: list[str]) -> set[str]:
    """The distributions that are needed for these requirements, without extras of phenes."""
    found: set[str] = set()
    todo = [Requirement(text) for text in of]
    while todo:
        need = todo.pop()
        extras = need.extras or {""}
        if need.marker and not any(need.marker.evaluate({"extra": e}) for e in extras):
            continue
        name = need.name.lower().replace("_", "-")
        if name not in found:
            found.add(name)
            for text in importlib.metadata.distribution(name).requires or []:
                below = Requirement(text)
                if below.marker is None or any(
                    below.marker.evaluate({"extra": extra}) for extra in extras
                ):
                    below.marker = None
                    todo.append(below)
    return found


@pytest.fixture(scope="module")
def environment(built, tmp_path_factory):
    """An environment with the wheel, and of all that is installed here only what it asks for."""
    wheel, _ = built
    home = tmp_path_factory.mktemp("environment")
    run(sys.executable, "-m", "venv", "--without-pip", home)
    python = home / "bin" / "python"
    install = ("install", "--quiet", "--no-deps", "--no-index", "--disable-pip-version-check")
    run(sys.executable, "-m", "pip", "--python", python, *install, wheel)
    (packages,) = home.glob("lib/python*/site-packages")
    (about,) = packages.glob("phenes-*.dist-info")
    needed = importlib.metadata.PathDistribution(about).requires or []
    for name in requirements([text for text in needed if "extra ==" not in text]):
        files = importlib.metadata.distribution(name).files or []
        for top in {file.parts[0] for file in files} - {"..", "__pycache__"}:
            source = Path(str(files[0].locate())).parents[len(files[0].parts) - 1] / top
            if source.exists() and not (packages / top).exists():
                (packages / top).symlink_to(source)
    return home


def clean() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


def test_the_first_script_of_the_readme_runs_where_only_the_wheel_is_installed(
    environment, tmp_path
):
    script = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert script is not None
    code = script[1] + "\nprint(phenes.__file__)"
    out = run(environment / "bin" / "python", "-c", code, cwd=tmp_path, env=clean())
    assert Path(out.splitlines()[-1]).is_relative_to(environment)
    assert "success  True" in out


def test_the_command_is_installed_and_says_how_to_get_the_laboratory(environment, tmp_path):
    phenes = environment / "bin" / "phenes"
    assert "--seeds" in run(phenes, "demo", "--help", cwd=tmp_path, env=clean())
    done = subprocess.run(
        [phenes, "bench", "peers"], capture_output=True, text=True, cwd=tmp_path, env=clean()
    )
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "pip install phenes-lab" in done.stderr
