"""What was observed near a theta, and what may be claimed of it.

The search proposes, evidence decides.

`Observations` keeps every evaluation. `estimate` says what E f is at a theta, from draws made there
and from others that fell near it. `rank` orders many theta without a single new evaluation.
`Verification` spends the last share of a budget: a race between the proposal and its closest
rivals, and so fresh draws at the winner.
"""

from phenes.evidence.estimate import Estimate
from phenes.evidence.evaluations import Evaluations
from phenes.evidence.law import Law
from phenes.evidence.observations import Observations
from phenes.evidence.verification import Verification

__all__ = ["Estimate", "Evaluations", "Law", "Observations", "Verification"]
