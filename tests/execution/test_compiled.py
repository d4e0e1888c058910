"""Functions in JAX over one, two and eight devices: the same values. Devices are counted when JAX
starts, so each count has a process.
"""

import json
import os
import subprocess
import sys

import jax.numpy as jnp
import numpy as np
import pytest

from phenes.execution.compiled import compiled

PROGRAM = """
import json, sys
import jax, jax.numpy as jnp, numpy as np, phenes
from phenes.execution.compiled import compiled
assert len(jax.devices()) == int(sys.argv[1])
a = np.random.default_rng(0).normal(size=(6, 6))
def f(x):
    return jnp.sum(jnp.tanh(a @ x) ** 2) + jnp.sum(jnp.cos(3 * x))
points = np.random.default_rng(1).normal(size=(13, 6))
values = compiled(f, points[0])(points)
law = phenes.inputs.LaplaceNoise(0.1)
search = dict(budget=120, seed=2, popsize=12, engine="adaptive")
result = phenes.minimize(f, np.full(6, 1.0), 0.5, law, **search)
print(json.dumps([values.tolist(), result.x.tolist(), result.fun]))
"""


def values(devices):
    flags = f"{os.environ['XLA_FLAGS']} --xla_force_host_platform_device_count={devices}"
    environment = os.environ | {"XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, "-c", PROGRAM, str(devices)]
    done = subprocess.run(
        command, capture_output=True, text=True, env=environment, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def alone():
    return values(1)


@pytest.mark.tier("runs")
@pytest.mark.parametrize("devices", [2, 8])
def test_the_devices_do_not_change_the_values(devices, alone):
    """Bit for bit: values of a population, and a whole run with random numbers of its own for each
    individual.
    """
    assert values(devices) == alone


def test_the_values_of_a_population_are_those_of_its_points():
    """What has no tier of the law above: on the devices that there are, in order."""
    points = np.random.default_rng(1).normal(size=(13, 6))
    values = compiled(lambda x: jnp.sum(jnp.cos(3 * x)), points[0])(points)
    np.testing.assert_allclose(values, np.cos(3 * points).sum(axis=1), rtol=1e-12)
