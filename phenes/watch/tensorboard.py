"""Runs in TensorBoard.

Needs `pip install 'phenes[tensorboard]'`; `tensorboard --logdir FOLDER` shows runs while they go.
"""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np


class TensorBoard:
    """A callback that writes event files for TensorBoard, on disk when it returns.

    Parameters
    ----------
    folder : str or pathlib.Path
        Where the event files go: `tensorboard --logdir FOLDER`.

    Raises
    ------
    ValueError
        If the package tensorboard is not installed.

    Examples
    --------
    Over evaluations, and over the generations of a training::

        phenes.minimize(f, ..., callback=TensorBoard("out/board"))
        phenes.rl.train("CartPole-v1", callback=TensorBoard("out/board"))
    """

    def __init__(self, folder: str | Path):
        try:
            from tensorboard.compat.proto import event_pb2, summary_pb2
            from tensorboard.summary.writer.event_file_writer import EventFileWriter
        except ImportError as error:
            raise ValueError(
                "TensorBoard needs a package of its own: pip install 'phenes[tensorboard]'"
            ) from error
        # protobuf makes these classes when it is imported
        self.event: Any = getattr(event_pb2, "Event")  # noqa: B009
        self.summary: Any = getattr(summary_pb2, "Summary")  # noqa: B009
        self.file = EventFileWriter(str(folder))
        self.generations = self.looks = 0  # how many of a training are written

    def __call__(self, result: Any) -> None:
        """The present `Result` of minimize or maximize, or `Moment` of a training."""
        if hasattr(result, "curve"):
            self.training(result.done, result.total, result.curve)
            return
        spread = float(np.sqrt(np.mean(np.square(result.spread))))
        values = {
            "E f": result.fun,
            "E f/standard error": result.fun_se,
            "step size": spread,
            "failed": result.failed,
        }
        self.write(result.nfev, values)

    def training(self, done: int, total: int, curve: Any) -> None:
        """Write the generations of `phenes.rl.train` that are new since the last call.

        Parameters
        ----------
        done, total : int
            Generations; not used.
        curve : Curve or None
            The learning curve so far; tables have none.
        """
        if curve is None:  # tables have none
            return
        signal = curve.signal()
        for k in range(self.generations, curve.generations):
            values = {
                "return/population": curve.mean[k],
                "return/best": curve.best[k],
                "signal": signal[k],
                "steps": curve.steps[k],
            }
            self._add(k + 1, values)
        for k in range(self.looks, curve.at.size):
            self._add(int(curve.at[k]), {"return/mean policy": curve.deterministic[k]})
        self.generations, self.looks = curve.generations, curve.at.size
        self.file.flush()

    def write(self, step: int, values: Mapping[str, Any]) -> None:
        """Write anything else, for callbacks of your own.

        Parameters
        ----------
        step : int
            The place on the horizontal axis.
        values : mapping of str to float
            By name; what is not finite is left out.
        """
        self._add(step, values)
        self.file.flush()

    def close(self) -> None:
        """Close the file and its thread; nothing is lost if this is not called."""
        self.file.close()

    def _add(self, step: int, values: Mapping[str, Any]) -> None:
        finite = {name: float(value) for name, value in values.items() if np.isfinite(value)}
        each = [self.summary.Value(tag=name, simple_value=value) for name, value in finite.items()]
        self.file.add_event(
            self.event(wall_time=time.time(), step=int(step), summary=self.summary(value=each))
        )
