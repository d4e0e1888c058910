"""Where f runs: in this process (compiled if f is written in JAX) or on workers.

Workers are processes, Dask, Ray or any `concurrent.futures.Executor`::

    evaluate = Evaluate(f, workers=8, timeout=60)
    pool = evaluate.open()
    pool.send(tag, point)                 # any number of points
    for tag, outcome in pool.take(): ...  # in the order in which they finish

An exception in f is a failed evaluation and is returned as data: it does not affect the others. If
a worker dies, its unfinished evaluations are sent again; finished ones are not repeated.
"""

from phenes.execution.backends import Backend
from phenes.execution.evaluate import Evaluate, executor
from phenes.execution.pool import Pool
from phenes.execution.task import Outcome

__all__ = ["Backend", "Evaluate", "Outcome", "Pool", "executor"]
