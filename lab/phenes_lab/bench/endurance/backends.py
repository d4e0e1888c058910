"""Clusters that outlive the program which is killed: on this machine, on the loopback address."""

import contextlib
import importlib.util
import os
from collections.abc import Iterator
from typing import Any

NAMES = ("loky", "dask", "ray")


def there(name: str) -> bool:
    return (
        importlib.util.find_spec({"loky": "loky", "dask": "distributed", "ray": "ray"}[name])
        is not None
    )


@contextlib.contextmanager
def engine(name: str, workers: int = 2) -> Iterator[str]:
    """What to give as workers=."""
    with {"loky": _loky, "dask": _dask, "ray": _ray}[name](workers) as where:
        yield where


@contextlib.contextmanager
def _loky(workers: int) -> Iterator[str]:
    yield str(workers)


@contextlib.contextmanager
def _dask(workers: int) -> Iterator[str]:
    from dask import config
    from distributed import LocalCluster

    options: dict[str, Any] = {
        "dashboard_address": None,
        "worker_dashboard_address": None,
        "host": "127.0.0.1",
        "silence_logs": 50,
    }
    patience = {
        "distributed.admin.tick.limit": "60s",
        "distributed.comm.timeouts.connect": "60s",
        # a busy machine may need more than 15 s to start one in its place
        "distributed.deploy.lost-worker-timeout": "600s",
    }
    with (
        config.set(patience),
        LocalCluster(n_workers=workers, threads_per_worker=1, processes=True, **options) as cluster,
    ):
        yield cluster.scheduler_address.replace("tcp://", "dask://")  # pyright: ignore[reportAttributeAccessIssue]


@contextlib.contextmanager
def _ray(workers: int) -> Iterator[str]:
    import logging

    import ray

    options: dict[str, Any] = {
        "include_dashboard": False,
        "log_to_driver": False,
        "logging_level": logging.ERROR,
    }
    here: Any = ray.init(
        num_cpus=workers,
        object_store_memory=80 * 1024 * 1024,
        _node_ip_address="127.0.0.1",
        **options,
    )
    before = os.environ.get("RAY_ADDRESS")
    # for the program, which connects to it
    os.environ["RAY_ADDRESS"] = here.address_info["gcs_address"]
    try:
        yield "ray"
    finally:
        os.environ.pop("RAY_ADDRESS") if before is None else os.environ.update(RAY_ADDRESS=before)
        ray.shutdown()
