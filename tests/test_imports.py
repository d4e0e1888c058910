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


def fresh(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def test_the_core_imports_nothing_heavy():
    loaded = fresh(
        f"import json, sys; {EVERYTHING}; print(json.dumps([m for m in {FORBIDDEN!r} if m in"
        " sys.modules]))"
    )
    assert loaded == []


def test_rooms_are_there_without_an_import_of_their_own():
    """`import phenes` is enough for every room that the documentation names."""
    rooms = (
        "contexts.Cases execution.Evaluate store.Store plots.save watch.TensorBoard"
        " evidence.Observations adaptive.Adaptive problems.bbob problems.robust.POLYNOMIAL"
        " problems.engineering.FILTER"
    )
    reached = fresh(
        "import json, operator, phenes;"
        f" print(json.dumps([callable(operator.attrgetter(n)(phenes)) for n in {rooms.split()!r}]))"
    )
    assert reached == [True] * 10


def test_names_that_are_not_there_are_refused():
    for module in (phenes, phenes.problems):
        with pytest.raises(AttributeError, match=f"'{module.__name__}' has no attribute 'nothing'"):
            _ = module.nothing
    assert {"contexts", "plots", "__version__"} <= set(dir(phenes))
    assert dir(phenes.problems) == ["Problem", "bbob", "engineering", "robust"]


@pytest.mark.machine
def test_import_adds_less_than_three_tenths_of_a_second():
    """Median of five fresh interpreters: phenes on top of jax, equinox and optax."""
    code = (
        "import json, time, jax, equinox, optax; start = time.process_time(); import phenes;"
        " print(json.dumps(time.process_time() - start))"
    )
    assert statistics.median(fresh(code) for _ in range(5)) < 0.3


def test_import_sets_no_global_flags():
    flags = fresh(
        "import json, jax; before = dict(jax.config.values); "
        + EVERYTHING
        + "; print(json.dumps(before == dict(jax.config.values)))"
    )
    assert flags is True
