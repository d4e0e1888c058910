"""What a descent carries from one tell to the next."""

from dataclasses import dataclass, field

import numpy as np

from phenes.adaptive.archive import Archive
from phenes.adaptive.cma import Paths
from phenes.adaptive.normal import Normal
from phenes.adaptive.surrogate import Surrogate


@dataclass
class Run:
    """State of a descent; plain data only."""

    normal: Normal
    paths: Paths
    archive: Archive
    popsize: int
    phase: str = "search"
    finished: str = ""  # why there is nothing more to gain, if so
    evaluations: int = 0
    generation: int = 0
    # told since the last generation
    x_new: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))
    f_new: np.ndarray = field(default_factory=lambda: np.empty(0))
    surrogate: Surrogate = field(default_factory=Surrogate)  # orders candidates
    agreement: float = 0.0  # rank correlation of the surrogate with f at points it had not seen
    breadth: float = 1.0  # size of the population over evaluations
    # the last draw, if its mirror image is still to come
    unpaired: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))
    # candidates of this generation that are not evaluated, in x
    pool: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))
    at_floor: int = 0  # generations in a row with half of the directions at the noise
    early_median: float = np.inf  # of the values of the generation before the last early step
    failures: int = 0  # models in a row that explained too little
    # before the last early step, until it has proved good
    kept_mean: np.ndarray = field(default_factory=lambda: np.empty(0))
    kept_cov: np.ndarray = field(default_factory=lambda: np.empty(0))
    bar: float = np.inf
    near: int = 0  # early steps in a row that stayed close, at the noise
    next_fit: int = 0  # evaluations at which the next model is due
    # in many dimensions: evaluations at which all of the curvature is fitted again on the way
    next_full: int = 0
    entered: int = 0  # evaluations when the final phase began
    best_median: float = np.inf
    best_at: int = 0
    # of the model when it last stopped explaining the values, and the log width of the search then
    blind_residual: float = 0.0
    blind_width: float = 0.0
    value_noise: float = 0.0  # standard deviation of f at one x, once it is known not to be zero
    value: float = np.nan  # estimate of F at the mean, when a model gave one
    error: float = np.nan
    # the part of F that the noise of the inputs is responsible for, by the last model
    noise_cost: float = 0.0
    barren: int = 0  # evaluations in a row that failed
    flat: int = 0  # generations in a row whose values were all equal
    stepped: int = 0  # evaluations when the last step of the final phase was made
    promise: float = np.inf  # what the last step of the final phase promised to gain
