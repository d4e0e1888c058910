"""Double precision, checked shapes, and no silent promotion of ranks or dtypes."""

import gc
import os

# most of the time of a test is its compiler's: programs that run once are not worth optimising.
# There is a process of tests for each core: threads of libraries would only wait for each other.
# Who sets these himself is obeyed
os.environ.setdefault(
    "XLA_FLAGS",
    "--xla_backend_optimization_level=0 --xla_cpu_use_fusion_emitters=false"
    " --xla_cpu_multi_thread_eigen=false",
)
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import jax
import jaxtyping
import pytest

from tests.shapes import MODULES

# before phenes is imported: every annotated shape of the core is checked
jaxtyping.install_import_hook(MODULES, "tests.shapes.shapes_only")

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_numpy_rank_promotion", "raise")
jax.config.update("jax_numpy_dtype_promotion", "strict")


def pytest_collection_modifyitems(items):
    """Run again, once, what depends on the machine's scheduler; the summary names it (-rR).

    Everything else has its seed.
    """
    for item in items:
        if item.get_closest_marker("machine"):
            item.add_marker(pytest.mark.flaky(reruns=1, reruns_delay=1))


@pytest.fixture
def key():
    return jax.random.key(20260101)


@pytest.fixture(scope="module", autouse=True)
def forget_compiled():
    """Drop what a module compiled: thousands of live programs use up the process's memory maps, and
    XLA then dies without a word.
    """
    yield
    jax.clear_caches()
    gc.collect()
