"""The code of the documentation runs as it stands, and prints what the page says that it prints."""

import importlib.util
import re
from pathlib import Path

import jax
import pytest

DOCS = Path(__file__).parents[1] / "docs"
pytestmark = pytest.mark.few


def load(name: str):
    spec = importlib.util.spec_from_file_location(name, DOCS / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


blocks = load("blocks")

AS_USERS_HAVE_IT = {
    "jax_enable_x64": False,
    "jax_numpy_rank_promotion": "allow",
    "jax_numpy_dtype_promotion": "standard",
}


@pytest.fixture
def as_users_have_it():
    before = {name: getattr(jax.config, name) for name in AS_USERS_HAVE_IT}
    for name, value in AS_USERS_HAVE_IT.items():
        jax.config.update(name, value)
    yield
    for name, value in before.items():
        jax.config.update(name, value)


# pages whose runs, or their compilers, take more than half a second
LONG = {
    *("adaptive", "choosing", "constraints", "engineering", "parts/inputs", "risk", "running"),
    *("space", "start", "tutorial", "front", "rl", "estimators/exchangeable", "problems", "few"),
    *("scale", "contexts", "lab", "gain", "estimators/rao_blackwellise", "planned"),
    *("parts/weightings", "estimators/reuse", "estimators/biased_linear", "estimators/pairs"),
    *("estimators/genotype", "estimators/information_mix", "estimators/biased_imitation"),
    *("estimators/index",),
}


def page_of(path):
    name = str(path.relative_to(DOCS).with_suffix(""))
    return pytest.param(path, id=name, marks=pytest.mark.tier("pages") if name in LONG else ())


@pytest.mark.parametrize("page", [page_of(path) for path in blocks.pages()])
def test_code_of_a_page(page, as_users_have_it):
    printed = {block.line: text for block, text in blocks.outputs(page)}
    wrong = {
        f"{page.name}:{line}": blocks.differences(shown, printed[line])
        for line, shown in blocks.promised(page).items()
    }
    assert not any(wrong.values()), {place: what for place, what in wrong.items() if what}


def test_what_a_page_writes_does_not_stay(tmp_path, monkeypatch):
    page = tmp_path / "page.md"
    page.write_text('```python\nopen("left", "w").close()\nprint(2)\n```\n```output\n1\n```\n')
    monkeypatch.chdir(tmp_path)
    blocks.namespace(Path(page.name), 1)
    blocks.rewrite(Path(page.name))  # a relative path, as on the command line
    assert page.read_text().endswith("```output\n2\n```\n")
    assert list(tmp_path.iterdir()) == [page]


def test_outputs_are_compared_by_words_and_numbers():
    assert not blocks.differences("x [ 1.00 2.5]\n", "x [1.01   2.5]")
    assert blocks.differences("x 1.00", "y 1.00")
    assert blocks.differences("x 1.00", "x 1.20") == ["1.00 is now 1.20"]
    assert blocks.differences("after 100 evaluations", "after 110 evaluations")
    assert not blocks.differences("0.0001", "-0.0003")
    assert blocks.differences("0.0001", "-0.0009")


# blocks tagged `py` need what `dev` does not install; these tests run them where it is
RUN_ELSEWHERE = {"planned": "tests/integrations/test_ax.py"}


def test_pages_show_only_known_languages():
    """A block with another tag would neither run nor be noticed."""
    for page in DOCS.rglob("*.md"):
        if "_build" not in page.parts:
            tags = set(re.findall(r"^```(\S+)$", page.read_text(), flags=re.MULTILINE))
            if "py" in tags:
                assert page.name in (DOCS.parent / RUN_ELSEWHERE[page.stem]).read_text()
                tags.remove("py")
            assert {tag for tag in tags if not tag.startswith("{")} <= {
                "python",
                "output",
                "text",
                "console",
            }, page


def test_every_figure_has_a_script_and_every_script_a_page():
    text = "".join(page.read_text() for page in DOCS.rglob("*.md") if "_build" not in page.parts)
    used = set(re.findall(r"_figures/(\w+)\.png", text))
    assert used == {path.stem for path in (DOCS / "figures").glob("*.py")}


def test_the_tests_that_pages_name_exist():
    root = DOCS.parent
    named = re.findall(
        r"`((?:lab/)?tests/[\w/]+\.py)(?:::(\w+))?`",
        "".join(page.read_text() for page in DOCS.glob("*.md")),
    )
    assert len(named) > 20
    missing = [
        (path, name)
        for path, name in named
        if not re.search(rf"^(class|def) {name}\b", (root / path).read_text(), re.MULTILINE)
    ]
    assert not [(path, name) for path, name in missing if name]


def test_the_pages_that_the_code_cites_exist():
    root = DOCS.parent
    cited = {
        page
        for path in (root / "phenes").rglob("*.py")
        for page in re.findall(r"\bdocs/[\w/]+\.md\b", path.read_text())
    }
    assert len(cited) > 5
    assert not [page for page in cited if not (root / page).exists()]


def test_the_links_of_the_readme_lead_somewhere():
    root = DOCS.parent
    links = re.findall(r"\]\(([^)#:]+)\)", (root / "README.md").read_text())
    assert len(links) > 20
    assert not [link for link in links if not (root / link).exists()]
