"""Double precision, checked shapes, and no silent promotion of ranks or dtypes."""

import gc
import os
import shutil

# most of the time of a test is its compiler's: programs that run once are not worth optimising.
# There is a process of tests for each core: threads of libraries would only wait for each other,
# and a program that is split for the threads of its compiler takes a tenth longer.
# Who sets these himself is obeyed
os.environ.setdefault(
    "XLA_FLAGS",
    "--xla_backend_optimization_level=0 --xla_cpu_use_fusion_emitters=false"
    " --xla_cpu_multi_thread_eigen=false --xla_cpu_parallel_codegen_split_count=1",
)
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# A batched factorisation of jaxlib waits, inside a thread of XLA's pool, for tasks that it gives to
# the same pool. With as many of them at once as the pool has threads, one for each core, all wait
# for ever: seen on two cores with two Cholesky factorisations that do not depend on each other
os.environ.setdefault("PJRT_NPROC", "8")

import jax
import jaxtyping
import pytest
import threadpoolctl

from tests.compiled import COMPILED, settings
from tests.shapes import MODULES

# a plugin of pytest imports NumPy before this file is read, whose BLAS has counted the cores by
# then; two threads that wait for each other took seven times the CPU of one
threadpoolctl.threadpool_limits(int(os.environ["OPENBLAS_NUM_THREADS"]), "blas")

pytest_plugins = ["tests.tiers", "tests.reruns", "tests.costs"]

# before phenes is imported: every annotated shape of the core is checked
jaxtyping.install_import_hook(MODULES, "tests.shapes.shapes_only")

# tracing makes many objects and few cycles: looking for these every 700 takes a tenth of the time
gc.set_threshold(50_000)

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_numpy_rank_promotion", "raise")
jax.config.update("jax_numpy_dtype_promotion", "strict")

LARGEST = 2**30  # bytes of compiled programs, beyond which they are thrown away


def keep_compiled():
    """Keep what is compiled for the next run, and for the other processes of this one."""
    if compiled := settings():
        jax.config.update("jax_compilation_cache_dir", compiled["JAX_COMPILATION_CACHE_DIR"])
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
        jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
        jax.config.update("jax_persistent_cache_enable_xla_caches", "none")


keep_compiled()

from phenes.optimizer import engines  # noqa: E402

# small budgets stand for large ones: the evolution strategy asks, as it does beyond 2000
FEW_EVALUATIONS, SOME_EVALUATIONS = engines.FEW_EVALUATIONS, engines.SOME_EVALUATIONS
engines.FEW_EVALUATIONS = engines.SOME_EVALUATIONS = 0


def pytest_configure(config):
    """Before the first test, in the process that starts the others."""
    if not hasattr(config, "workerinput") and COMPILED.exists():
        size = sum(path.stat().st_size for path in COMPILED.rglob("*") if path.is_file())
        if size > LARGEST:
            shutil.rmtree(COMPILED, ignore_errors=True)


def pytest_collection_modifyitems(config, items):
    """Run again, once, what depends on the machine's scheduler; the summary names it (-rR).

    Everything else has its seed. `-p no:rerunfailures` runs nothing again.
    """
    if not config.pluginmanager.hasplugin("rerunfailures"):
        return
    for item in items:
        if item.get_closest_marker("machine"):
            item.add_marker(pytest.mark.flaky(reruns=1, reruns_delay=1))


@pytest.fixture
def key():
    return jax.random.key(20260101)


@pytest.fixture(autouse=True)
def engine_of_users(request):
    """Tests with the marker `few` have the engine that users have."""
    few = request.node.get_closest_marker("few") is not None
    if few:
        engines.FEW_EVALUATIONS, engines.SOME_EVALUATIONS = FEW_EVALUATIONS, SOME_EVALUATIONS
    yield
    engines.FEW_EVALUATIONS = engines.SOME_EVALUATIONS = 0


# of the 65,530 that Linux gives a process; a module of tests makes at most some thousands
MAPS = 30_000


def memory_maps():
    """How many memory maps this process has; None where the system does not say."""
    try:
        with open("/proc/self/maps", "rb") as maps:
            return sum(1 for _ in maps)
    except OSError:
        return None


@pytest.fixture(scope="module", autouse=True)
def forget_compiled():
    """Drop what was compiled before it is too much: thousands of live programs use up the process's
    memory maps, and XLA then dies without a word. Until then modules share what they compile.
    """
    yield
    count = memory_maps()
    if count is None or count > MAPS:
        jax.clear_caches()
        gc.collect()
