"""What all policies of a descent may read. Only `descent` writes it."""

from dataclasses import dataclass, field

from phenes.adaptive.archive import Archive
from phenes.adaptive.cma import Paths
from phenes.adaptive.coordinates import Coordinates
from phenes.adaptive.marginal import Marginal
from phenes.adaptive.phases import Claim, Phase


@dataclass
class State:
    """A descent without what its policies keep for themselves."""

    coords: Coordinates
    marginal: Marginal
    paths: Paths
    archive: Archive
    popsize: int
    phase: Phase = Phase.SEARCH
    why: str = ""  # the reason of the last End
    evaluations: int = 0
    generation: int = 0
    claim: Claim = field(default_factory=Claim)  # from the last step or end that estimated F
