"""Short seeded runs through the public names; `golden.py` compares their results bit for bit.

This file runs against two trees, the work tree and an older commit, so it uses only names that both
have. Results are dictionaries of arrays.
"""

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

Arrays = dict[str, np.ndarray]
RUNS: dict[str, Callable[[], Arrays]] = {}

# of Result.history: what both trees have; new columns may come
COLUMNS = ("nfev", "x", "fun", "fun_se", "f_median", "spread")


def golden(make: Callable[[], Arrays]) -> Callable[[], Arrays]:
    RUNS[make.__name__] = make
    return make


def sphere(x: np.ndarray) -> float:
    return float(np.sum((x - 0.3) ** 2))


def ellipsoid(x: np.ndarray) -> float:
    return float(np.sum(np.logspace(0, 4, x.size) * (x - 0.2) ** 2))


def rosenbrock(x: np.ndarray) -> float:
    return float(np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2))


def rastrigin(x: np.ndarray) -> float:
    return float(np.sum(x**2 + 3 * (1 - np.cos(2 * np.pi * x))))


def scatter(x: np.ndarray) -> float:
    """Noise that depends on x alone, so that the run is the same on any number of workers."""
    bits = np.frombuffer(np.ascontiguousarray(x).tobytes(), dtype=np.uint32)
    return float(np.random.default_rng(bits).standard_normal())


def noisy_sphere(x: np.ndarray) -> float:
    return sphere(x) + scatter(x)


def failing_sphere(x: np.ndarray) -> float:
    if x[0] > 0.8:
        raise RuntimeError("broken")
    return float("nan") if x[1] < -0.5 else sphere(x)


def stairs(x: np.ndarray) -> float:
    return float(np.sum(np.floor(4 * np.abs(x))))


def realised_sphere(theta: np.ndarray) -> tuple[np.ndarray, float]:
    x = theta + 0.1 + 0.2 * scatter(theta) * np.ones(theta.size)
    return x, sphere(x)


def of(result: Any) -> Arrays:
    history = {f"history/{name}": np.asarray(result.history[name]) for name in COLUMNS}
    numbers = [result.fun, result.fun_se, *result.interval, result.nfev, result.nit, result.failed]
    told = result.evaluations
    return {
        "x": result.x,
        "numbers": np.array([*numbers, float(result.success)]),
        "theta": told.theta,
        "realised": told.x,
        "f": told.f,
        **history,
    }


def minimized(f: Callable[..., Any], dim: int, noise: Any, budget: int, **options: Any) -> Arrays:
    import phenes

    return of(phenes.minimize(f, np.full(dim, 1.0), 0.5, noise, budget=budget, seed=7, **options))


@golden
def minimize_2_exact() -> Arrays:
    return minimized(rosenbrock, 2, None, 600)


@golden
def minimize_2_noise() -> Arrays:
    return minimized(rastrigin, 2, 0.1, 2000)


@golden
def minimize_10_exact() -> Arrays:
    return minimized(ellipsoid, 10, None, 3000)


@golden
def minimize_10_noise() -> Arrays:
    return minimized(ellipsoid, 10, 0.1, 4000)


@golden
def minimize_10_rosenbrock() -> Arrays:
    return minimized(rosenbrock, 10, 0.05, 4000)


@golden
def minimize_10_correlated() -> Arrays:
    cov = 0.05 * np.eye(10) + 0.02
    return minimized(rastrigin, 10, cov, 3000)


@golden
def minimize_40_exact() -> Arrays:
    return minimized(rosenbrock, 40, None, 2500)


@golden
def minimize_40_noise() -> Arrays:
    return minimized(ellipsoid, 40, 0.1, 4000)


@golden
def minimize_long_restarts() -> Arrays:
    return minimized(rastrigin, 3, 0.05, 8000, verify=0)


@golden
def minimize_bounds() -> Arrays:
    return minimized(rosenbrock, 5, 0.1, 1500, bounds=(-1.0, 1.1))


@golden
def minimize_learn() -> Arrays:
    return minimized(realised_sphere, 6, "learn", 800, realises=True)


@golden
def minimize_value_noise() -> Arrays:
    return minimized(noisy_sphere, 4, None, 2500)


@golden
def minimize_failing() -> Arrays:
    return minimized(failing_sphere, 4, 0.2, 600)


@golden
def minimize_flat() -> Arrays:
    return minimized(stairs, 3, 0.05, 800)


@golden
def minimize_small_budget() -> Arrays:
    return minimized(rosenbrock, 3, 0.1, 30)


@golden
def minimize_law() -> Arrays:
    import phenes

    return minimized(sphere, 3, phenes.inputs.LaplaceNoise(0.2), 500)


@golden
def minimize_workers() -> Arrays:
    return minimized(sphere, 4, 0.1, 300, workers=2)


@golden
def minimize_asynchronous() -> Arrays:
    return minimized(sphere, 4, 0.1, 300, asynchronous=True)


@golden
def minimize_resumed() -> Arrays:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.db"
        minimized(rosenbrock, 4, 0.1, 200, checkpoint=path, verify=0)
        return minimized(rosenbrock, 4, 0.1, 500, checkpoint=path, verify=0)


@golden
def maximize_target() -> Arrays:
    import phenes

    f = lambda x: 5 - np.sum((x - 1) ** 2, axis=1)  # noqa: E731
    return of(
        phenes.maximize(f, np.zeros(6), 0.5, 0.1, budget=4000, target=4.5, vectorized=True, seed=3)
    )


@golden
def optimizer_learns_in_parts() -> Arrays:
    import phenes

    rng = np.random.default_rng(5)
    opt = phenes.Optimizer(np.zeros(5), 0.5, "learn", popsize=12, budget=600, seed=2)
    while not opt.stop():
        theta = opt.ask()
        x = theta + 0.1 * rng.standard_normal(theta.shape)
        f = np.sum((x - 1) ** 2, axis=1)
        x[rng.random(x.shape) < 0.2] = np.nan
        half = len(theta) // 2
        opt.tell(theta[half:], f[half:], realised=x[half:])
        opt.tell(theta[:half], f[:half], realised=x[:half])
    return of(opt.result)


@golden
def optimizer_without_x() -> Arrays:
    import phenes

    rng = np.random.default_rng(6)
    opt = phenes.Optimizer(np.zeros(5), 0.5, 0.1, budget=800, seed=2)
    while not opt.stop():
        theta = opt.ask()
        x = theta + 0.1 * rng.standard_normal(theta.shape)
        opt.tell(theta, np.sum((x - 1) ** 2, axis=1))
    return of(opt.result)


def _lab(budget: int, constrained: bool = False, **options: Any) -> Arrays:
    import phenes

    rng = np.random.default_rng(8)
    opt = phenes.Optimizer(np.zeros(2), 0.5, 0.1, budget=budget, batch=5, seed=4, **options)
    while not opt.stop():
        theta = opt.ask()
        x = theta + 0.1 * rng.standard_normal(theta.shape)
        held = {"constraints": {"limit": x[:, 0] - 0.8}} if constrained else {}
        opt.tell(theta, np.sum((x - 1) ** 2, axis=1), realised=x, **held)
    return of(opt.result)


@golden
def optimizer_gp() -> Arrays:
    return _lab(40, engine="gp")


@golden
def optimizer_relay() -> Arrays:
    return _lab(120, engine="relay")


@golden
def optimizer_chance() -> Arrays:
    import phenes

    wanted = phenes.chance(0.95)
    return _lab(200, constrained=True, constraints=wanted, engine="adaptive")


@golden
def optimizer_risk() -> Arrays:
    import phenes

    return _lab(200, objective=phenes.risk.cvar(0.9), engine="adaptive")


def _evolved(estimator: Any, p: Any, steps: int = 30, **options: Any) -> Arrays:
    import jax
    import jax.numpy as jnp
    import optax

    import phenes

    problem = phenes.OIU(p=p, f=lambda x: -jnp.sum((x - 0.5) ** 2))
    strategy = phenes.es(
        p, estimator, phenes.weightings.standardise, optax.sgd(0.1), popsize=40, **options
    )
    q0 = phenes.search.Gaussian(mean=jnp.full(4, 1.5), cov=0.25 * jnp.eye(4))
    state, info = jax.jit(lambda k: phenes.run(k, problem, strategy, q0, steps=steps))(
        jax.random.key(0)
    )
    leaves = jax.tree.leaves((state.q, info))
    return {str(i): np.asarray(leaf) for i, leaf in enumerate(leaves)}


@golden
def run_phenotype() -> Arrays:
    import phenes

    return _evolved(phenes.estimators.phenotype, phenes.inputs.GaussianNoise(0.2))


@golden
def run_genotype_student_t() -> Arrays:
    import phenes

    return _evolved(phenes.estimators.genotype, phenes.inputs.StudentTNoise(0.2, df=5.0))


@golden
def run_information_mix() -> Arrays:
    import phenes

    return _evolved(phenes.estimators.information_mix(), phenes.inputs.LaplaceNoise(0.2))


@golden
def run_host() -> Arrays:
    import jax
    import jax.numpy as jnp
    import optax

    import phenes

    p = phenes.inputs.GaussianNoise(0.2)
    strategy = phenes.es(
        p, phenes.estimators.phenotype, phenes.weightings.standardise, optax.sgd(0.1), popsize=20
    )
    q0 = phenes.search.Gaussian(mean=jnp.zeros(3), cov=0.25 * jnp.eye(3))
    problem = phenes.OIU(p=p, f=lambda x: -sphere(np.asarray(x)))
    state, info = phenes.run_host(jax.random.key(1), problem, strategy, q0, steps=10)
    return {str(i): np.asarray(v) for i, v in enumerate(jax.tree.leaves((state.q, info)))}


@golden
def train_table() -> Arrays:
    import phenes

    trained = phenes.rl.train("FrozenLake-v1", seed=3, generations=40, popsize=60)
    return {"probabilities": np.asarray(trained.probabilities)}


def _trained(env_id: str, **options: Any) -> Arrays:
    import phenes

    trained = phenes.rl.train(env_id, seed=3, target=None, **options)
    curve = trained.curve
    return {
        "theta": np.asarray(trained.theta),
        "mean": np.asarray(curve.mean),
        "steps": np.asarray(curve.steps),
        "deterministic": np.asarray(curve.deterministic),
    }


@golden
def train_cartpole() -> Arrays:
    return _trained(
        "CartPole-v1", generations=6, popsize=8, hidden=(8,), options={"max_episode_steps": 60}
    )


@golden
def train_pendulum() -> Arrays:
    return _trained(
        "Pendulum-v1", generations=3, popsize=8, hidden=(8,), options={"max_episode_steps": 50}
    )


def main() -> None:
    out, names = Path(sys.argv[1]), sys.argv[2:]
    for name in names:
        np.savez(out / f"{name}.npz", **RUNS[name]())
        print(name, flush=True)


if __name__ == "__main__":
    main()
