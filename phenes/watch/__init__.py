"""Looking at runs, while they go and after: what `phenes runs`, `show` and `watch` are made of; and
TensorBoard.
"""

from phenes.watch.tensorboard import TensorBoard

__all__ = ["TensorBoard"]
