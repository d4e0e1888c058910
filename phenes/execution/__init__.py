"""Where f runs: here, compiled here if it is written in JAX, or on workers.

Workers are processes, Dask, Ray or any `concurrent.futures.Executor`::

    evaluate = Evaluate(f, workers=8, timeout=60)
    pool = evaluate.open()
    pool.send(tag, point)                 # as many as there are
    for tag, outcome in pool.take(): ...  # as they come back

An exception in f is a failed evaluation and comes back as data: one part that broke must not cost
the others. A worker that dies costs nothing but time: what it had in hand is sent again, what came
back is not.
"""

from phenes.execution.backends import Backend
from phenes.execution.evaluate import Evaluate, executor
from phenes.execution.pool import Pool
from phenes.execution.task import Outcome

__all__ = ["Backend", "Evaluate", "Outcome", "Pool", "executor"]
