"""Whether to go on: what the next batch is expected to gain, against what it costs."""

import math
from typing import NamedTuple


class Advice(NamedTuple):
    """What `Optimizer.suggest_stop` says.

    Attributes
    ----------
    stop : bool
        The batch is expected to gain less than it costs.
    gain : float
        Expected improvement of E f by the batch; infinity while nothing is known, NaN if the
        search cannot say.
    text : str
        The same in a sentence.
    """

    stop: bool
    gain: float
    text: str


def advise(gain: float, cost: float, n: int) -> Advice:
    """Advice on n evaluations that cost `cost` each and gain `gain` together."""
    batch = f"the next {n} evaluation{'s' if n > 1 else ''}"
    if math.isnan(gain):
        return Advice(False, gain, "the evolution strategy does not say what is to gain: go on")
    if math.isinf(gain):
        return Advice(False, gain, "no two values differ yet: go on")
    price = n * cost
    verdict = f"{batch} may gain {gain:.3g} and cost {price:.3g}"
    if gain < price:
        return Advice(True, gain, f"{verdict}: stop")
    return Advice(False, gain, f"{verdict}: go on")
