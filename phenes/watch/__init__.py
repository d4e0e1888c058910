"""Looking at runs, while they go and after.

What `phenes runs`, `show` and `watch` are made of (`snapshot`, `terminal`, `server`), and a
callback for TensorBoard.
"""

from phenes.watch.tensorboard import TensorBoard

__all__ = ["TensorBoard"]
