"""One call: NumPy, JAX and vectorised functions, experiments that realise x, failures, workers,
checkpoints.
"""

import inspect
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import jax.numpy as jnp
import numpy as np
import pytest

import phenes
from phenes import inputs, store

X0 = np.full(3, 1.5)


def sphere(x):
    return float(np.sum(np.asarray(x) ** 2))


@pytest.mark.tier("runs")
def test_the_script_of_the_readme():
    result = phenes.minimize(
        lambda x: np.sum(x**2),
        x0=np.full(10, 2.0),
        sigma0=0.5,
        noise=phenes.inputs.GaussianNoise(0.1),
        budget=20_000,
        seed=0,
    )
    assert np.linalg.norm(result.x) < 1e-3
    assert result.fun == pytest.approx(0.1, abs=max(5 * result.fun_se, 1e-4))
    assert result.nfev <= 20_000
    assert result.success
    assert result["x"] is result.x
    assert len(result.history["nfev"]) == result.nit
    assert "E f(x)" in str(result)


def test_numpy_jax_and_vectorised_functions_see_the_same_theta():
    calls = []

    def traced(x):
        calls.append(1)
        return jnp.sum((x - 0.3) ** 2)

    kinds = {
        "NumPy": lambda: phenes.minimize(
            lambda x: np.sum((x - 0.3) ** 2), X0, 0.5, 0.1, budget=400, seed=2
        ),
        "JAX": lambda: phenes.minimize(traced, X0, 0.5, 0.1, budget=400, seed=2),
        "vectorised": lambda: phenes.minimize(
            lambda x: np.sum((x - 0.3) ** 2, axis=1),
            X0,
            0.5,
            0.1,
            budget=400,
            seed=2,
            vectorized=True,
        ),
    }
    results = {kind: run() for kind, run in kinds.items()}
    for kind, result in results.items():
        np.testing.assert_allclose(
            result.history["x"], results["NumPy"].history["x"], rtol=1e-6, atol=1e-9, err_msg=kind
        )
    assert len(calls) < 20, "compiled: called to be traced, not to be evaluated"


def test_each_x_is_evaluated_once():
    seen = []

    def f(x):
        seen.append(x.copy())
        return np.sum(x**2)

    result = phenes.minimize(f, X0, 0.5, 0.1, budget=300, seed=0)
    assert len(seen) == result.nfev == 300
    assert len(np.unique(np.array(seen), axis=0)) == 300


def test_maximize():
    result = phenes.maximize(lambda x: 5 - np.sum(x**2), X0, 0.5, 0.1, budget=3000, seed=0)
    assert result.fun == pytest.approx(5 - 0.03, abs=0.005)
    assert np.linalg.norm(result.x) < 0.01


def test_an_experiment_that_realises_x_itself():
    rng = np.random.default_rng(0)

    def lab(theta):
        x = theta + 0.2 * rng.standard_normal(theta.shape)
        return x, np.sum(x**2)

    result = phenes.minimize(lab, X0, 0.5, "learn", realises=True, budget=3000, seed=0)
    assert np.linalg.norm(result.x) < 0.02
    assert result.fun == pytest.approx(0.12, rel=0.05)
    learnt = re.fullmatch(
        r"isotropic noise: standard deviation (.*), no bias \(from (.*) measured inputs\)",
        result.noise,
    )
    assert learnt
    # 4 standard errors
    assert float(learnt[1]) == pytest.approx(0.2, abs=4 * 0.2 / np.sqrt(2 * 3 * float(learnt[2])))


@pytest.mark.parametrize(
    "law",
    [
        pytest.param(inputs.LaplaceNoise(0.1), id="Laplace"),
        pytest.param(inputs.UniformNoise(0.2), id="uniform", marks=pytest.mark.tier("runs")),
        pytest.param(inputs.StudentTNoise(0.1, 5.0), id="t", marks=pytest.mark.tier("runs")),
        pytest.param(inputs.RoundingNoise(0.05), id="rounding", marks=pytest.mark.tier("runs")),
        pytest.param(np.diag([0.01, 0.04, 0.0]), id="matrix"),
    ],
)
def test_any_noise_law(law):
    result = phenes.minimize(lambda x: np.sum((x - 0.4) ** 2), X0, 0.5, law, budget=1500, seed=0)
    np.testing.assert_allclose(result.x, 0.4, atol=0.03)


def test_failures_are_counted_and_survived():
    def f(x):
        if x[0] > 1.6:
            raise ArithmeticError("the solver diverged")
        return np.nan if x[1] > 1.7 else np.sum(x**2)

    result = phenes.minimize(f, X0, 0.5, 0.1, budget=2000, seed=0)
    assert np.linalg.norm(result.x) < 0.02
    assert result.failed > 0
    assert result.errors == ("ArithmeticError: the solver diverged",)
    assert "without a value" in str(result)


NO_VALUES = {
    "None": (None, r"f returned None on all of the first 5 evaluations: is there a return"),
    "NaN": (np.nan, r"f returned NaN on all of the first 5 evaluations: start where"),
    "infinity": (np.inf, r"f returned infinity on all of the first 5 evaluations: start where"),
    "minus infinity": (-np.inf, r"f returned minus infinity on all of the first 5 .* no minimum"),
}


@pytest.mark.parametrize(("value", "message"), NO_VALUES.values(), ids=NO_VALUES)
def test_a_first_generation_without_values_has_a_sentence_of_its_own(value, message):
    options = {"popsize": 5, "budget": 50}
    forms = {
        "plain": (lambda x: value, {}),
        "a lab": (lambda x: (x, value), {"realises": True}),
        "rows": (lambda x: [value] * len(x), {"vectorized": True}),
        "workers": (lambda x: value, {"workers": ThreadPoolExecutor(2)}),
        "no generations": (lambda x: value, {"asynchronous": True}),
    }
    for f, more in forms.values():
        with pytest.raises(RuntimeError, match=message):
            phenes.minimize(f, X0, 0.5, 0.1, **options, **more)


def test_one_value_in_the_first_generation_is_enough_to_go_on():
    calls = []

    def f(x):
        calls.append(1)
        return sphere(x) if len(calls) == 3 or len(calls) > 5 else None

    result = phenes.minimize(f, X0, 0.5, 0.1, popsize=5, budget=50)
    assert (result.failed, result.errors) == (4, ("f returned None",))


def test_failures_of_several_kinds_are_told_by_the_first_exception():
    def f(x):
        if x[0] > X0[0]:
            raise ZeroDivisionError("by nothing")
        return np.nan

    with pytest.raises(RuntimeError, match=r"failed on all .* ZeroDivisionError: by nothing"):
        phenes.minimize(f, X0, 0.5, 0.1, popsize=12, budget=50)
    with pytest.raises(RuntimeError, match="f returned None or NaN on all of the first 12"):
        phenes.minimize(lambda x: None if x[0] > X0[0] else np.nan, X0, 0.5, 0.1, popsize=12)


def test_a_function_that_never_works_says_so_at_once():
    with pytest.raises(RuntimeError, match=r"failed on all of the first .* NameError: name 'oops'"):
        phenes.minimize(lambda x: oops(x), X0, 0.5)


def test_budget_target_and_callback_end_a_run():
    assert phenes.minimize(sphere, X0, 0.5, 0.1, budget=77, seed=0).nfev == 77
    reached = phenes.minimize(sphere, X0, 0.5, 0.1, target=0.5, seed=0)
    assert "target" in reached.message
    assert reached.fun < 0.5
    seen = []
    stopped = phenes.minimize(
        sphere,
        X0,
        0.5,
        0.1,
        callback=lambda result: seen.append(result.nfev) or len(seen) == 3,
        seed=0,
    )
    assert stopped.nit == len(seen) == 3

    def enough(result):
        raise StopIteration

    assert phenes.minimize(sphere, X0, 0.5, 0.1, callback=enough, seed=0).nit == 1


def test_workers_give_the_same_run():
    alone = phenes.minimize(sphere, X0, 0.5, 0.1, budget=200, seed=3)
    for workers in (2, ThreadPoolExecutor(3)):
        result = phenes.minimize(sphere, X0, 0.5, 0.1, budget=200, seed=3, workers=workers)
        np.testing.assert_array_equal(result.history["x"], alone.history["x"])


def test_progress_is_shown(capsys):
    phenes.minimize(sphere, X0, 0.5, 0.1, budget=200, seed=0, progress=True)
    assert "E f =" in capsys.readouterr().out


PROGRAM = """
import sys, time, numpy as np, phenes
def f(x):
    time.sleep(0.002)
    return float(np.sum(x**2))
result = phenes.minimize(f, np.full(3, 1.5), 0.5, 0.1, budget=40, seed=5, checkpoint=sys.argv[1])
print(result.nfev, repr(result.x.tolist()))
"""


@pytest.mark.few  # the program has it, too
@pytest.mark.machine
@pytest.mark.tier("runs")
def test_a_killed_run_goes_on_where_it_was(tmp_path):
    path, command = tmp_path / "run.db", [sys.executable, "-c", PROGRAM, str(tmp_path / "run.db")]
    with subprocess.Popen(command) as process:
        try:
            deadline = time.monotonic() + 60
            while time.monotonic() < deadline and not (path.exists() and on_file(path) >= 12):
                time.sleep(0.02)
        finally:
            process.kill()
    before = on_file(path)
    assert before >= 12
    evaluated = []

    def f(x):
        evaluated.append(1)
        return float(np.sum(x**2))

    result = phenes.minimize(f, X0, 0.5, 0.1, budget=40, seed=5, checkpoint=path, resume="anyway")
    straight = phenes.minimize(sphere, X0, 0.5, 0.1, budget=40, seed=5)
    np.testing.assert_array_equal(result.x, straight.x)
    assert len(evaluated) <= 40 - before, "what was evaluated before is not evaluated again"
    again = phenes.minimize(f, X0, 0.5, 0.1, budget=40, seed=5, checkpoint=path)
    np.testing.assert_array_equal(again.x, straight.x)
    with pytest.raises(ValueError, match="cannot be resumed: seed was 5 and is now 6"):
        phenes.minimize(f, X0, 0.5, 0.1, budget=40, seed=6, checkpoint=path)


def on_file(path):
    """Evaluations that the checkpoint holds."""
    try:
        with store.Store(path, create=False) as record:
            run = record.last("minimize")
            return sum(len(run[key]["f"]) for key in run if key != "now")
    except (ValueError, KeyError):  # not a run yet, or its rows were just merged into one part
        return 0


def test_minimize_and_maximize_have_one_signature_and_the_same_documentation():
    signature = inspect.signature(phenes.minimize)
    assert inspect.signature(phenes.maximize) == signature
    assert list(signature.parameters)[:4] == ["f", "space", "sigma0", "noise"]
    for name in signature.parameters:
        assert re.search(rf"^    (\*\*)?{name}( : |$)", phenes.minimize.__doc__, flags=re.M), name
    words = {"Maximise": "Minimise", "maximize": "minimize", "above": "below", "x: -np": "x: np"}
    translated = phenes.maximize.__doc__
    for there, here in words.items():
        translated = translated.replace(there, here)
    assert translated == phenes.minimize.__doc__
    with pytest.raises(TypeError, match="unexpected keyword argument 'nosie'"):
        phenes.minimize(sphere, X0, 0.5, nosie=0.1)


NUMBERS = """
import sys, numpy as np, phenes
f = lambda x: float(np.sum(x**2))
for noise in (0.1, [0.1, 0.2], np.eye(2) / 100, np.float32(0.1)):
    for engine in ("gp", "adaptive"):
        phenes.minimize(f, np.ones(2), 0.5, noise=noise, budget=12, engine=engine)
    phenes.Optimizer(np.ones(2), 0.5, noise=noise)
for wrong in (-0.1, np.nan, [0.1] * 3, "some"):
    try:
        phenes.Optimizer(np.ones(2), 0.5, noise=wrong)
    except ValueError:
        pass
print([name for name in ("jax", "equinox", "optax") if name in sys.modules])
"""


def test_noise_in_numbers_does_not_wait_for_jax():
    done = subprocess.run(
        [sys.executable, "-c", NUMBERS], capture_output=True, text=True, check=False
    )
    assert done.stdout == "[]\n", done.stderr
