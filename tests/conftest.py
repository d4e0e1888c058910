"""Double precision, and no silent promotion of ranks or dtypes: what is not written down is an error here."""

import jax
import pytest

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_numpy_rank_promotion", "raise")
jax.config.update("jax_numpy_dtype_promotion", "strict")


@pytest.fixture
def key():
    return jax.random.key(20260101)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """What a module sets up is set up in one process only. Laws set up nothing and take turns."""
    for item in items:
        if "laws" not in item.path.parts:
            item.add_marker(pytest.mark.xdist_group(str(item.path)))
