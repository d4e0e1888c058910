"""Small clusters on this machine, started when a test asks for them, skipped where the package is
not there. Loopback only.
"""

import contextlib
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

DASK = {
    "distributed.worker.daemon": True,
    "distributed.admin.tick.limit": "60s",  # a loaded machine is no reason for a warning
    "distributed.comm.timeouts.connect": "60s",
    # in which a worker that was killed has to be back
    "distributed.deploy.lost-worker-timeout": "600s",
}


@contextlib.contextmanager
def dask_client(workers: int = 2) -> Iterator[Any]:
    distributed = pytest.importorskip(
        "distributed", reason="Dask is not installed: pip install 'phenes[dask]'"
    )
    import dask

    options = {
        "n_workers": workers,
        "threads_per_worker": 1,
        "processes": True,
        "dashboard_address": None,
        "host": "127.0.0.1",
    }
    with warnings.catch_warnings(), dask.config.set(DASK):
        warnings.simplefilter("ignore")  # Dask's own
        with (
            distributed.LocalCluster(
                **options, silence_logs=50, worker_dashboard_address=None
            ) as cluster,
            distributed.Client(cluster, set_as_default=False) as client,
        ):
            yield client


@contextlib.contextmanager
def ray_cluster(cores: int = 2) -> Iterator[Any]:
    ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'phenes[ray]'")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Ray's own
        ray.init(
            num_cpus=cores,
            include_dashboard=False,
            log_to_driver=False,
            logging_level="error",
            object_store_memory=80 * 1024 * 1024,
            _node_ip_address="127.0.0.1",
        )
        try:
            yield ray
        finally:
            ray.shutdown()
