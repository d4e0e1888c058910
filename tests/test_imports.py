"""What `import phenes` costs and drags in, in a fresh interpreter."""

import json
import statistics
import subprocess
import sys

import pytest

import phenes

# names are loaded when they are first used: touch them all
EVERYTHING = "import phenes; [getattr(phenes, name) for name in phenes.__all__]"
FORBIDDEN = [
    "matplotlib",
    "gymnasium",
    "typer",
    "rich",
    "dask",
    "ray",
    "cma",
    "cmaes",
    "evosax",
    "cocoex",
    "scipy.stats",
]
ROOMS = (
    "contexts.Cases execution.Evaluate store.Store plots.save watch.TensorBoard"
    " evidence.Observations adaptive.Adaptive problems.bbob problems.robust.POLYNOMIAL"
    " problems.engineering.FILTER"
)


def fresh(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


# one interpreter for all that it is asked: it takes two seconds to start
CODE = f"""
import json, operator, sys, jax
before = dict(jax.config.values)
{EVERYTHING}
heavy = [name for name in {FORBIDDEN!r} if name in sys.modules]
flags = before == dict(jax.config.values)
rooms = [callable(operator.attrgetter(name)(phenes)) for name in {ROOMS.split()!r}]
print(json.dumps(dict(heavy=heavy, same_flags=flags, rooms=rooms)))
"""


@pytest.fixture(scope="module")
def imported():
    """What there is in a fresh interpreter after `import phenes` and a touch of every name."""
    return fresh(CODE)


def test_the_core_imports_nothing_heavy(imported):
    assert imported["heavy"] == []


def test_import_sets_no_global_flags(imported):
    assert imported["same_flags"] is True


def test_rooms_are_there_without_an_import_of_their_own(imported):
    """`import phenes` is enough for every room that the documentation names."""
    assert imported["rooms"] == [True] * 10


def test_names_that_are_not_there_are_refused():
    for module in (phenes, phenes.problems):
        with pytest.raises(AttributeError, match=f"'{module.__name__}' has no attribute 'nothing'"):
            _ = module.nothing
    assert {"contexts", "plots", "__version__"} <= set(dir(phenes))
    assert dir(phenes.problems) == ["Problem", "bbob", "engineering", "robust"]


@pytest.mark.machine
def test_import_adds_less_than_three_tenths_of_a_second():
    """Median of three fresh interpreters: phenes on top of jax, equinox and optax."""
    code = (
        "import json, time, jax, equinox, optax; start = time.process_time(); import phenes;"
        " print(json.dumps(time.process_time() - start))"
    )
    assert statistics.median(fresh(code) for _ in range(3)) < 0.3
