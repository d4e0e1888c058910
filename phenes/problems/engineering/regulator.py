"""An inverted pendulum that is held upright by feedback, with an actuator that is not exact.

u = -k_t s: in each of the 15 steps the torque is the gain k_t (intended) times the state s =
(angle, rate), and the gain that is realised, k_t + eps_t, is off by a Gaussian error: an error of
the torque in proportion to the state, as amplifiers and valves have it. The cost is
linear-quadratic, summed over two pushes, s_0 = (1, 0) and (0, 1). E f has its maximum where a
Riccati equation with one more term says:

    P_T = Q,   k_t = (R + B'PB)^-1 B'PA,   P = P_{t+1},   W = Cov[eps_t],
    P_t = Q + k_t'R k_t + (A - B k_t)'P(A - B k_t) + (R + B'PB) W

W = 0 is the usual regulator. Errors make a state that is still large dear, and all earlier gains
have to be chosen with that in mind.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from phenes.problems.engineering.problem import EngineeringProblem, Readings

STEP, GRAVITY = 0.1, 9.81  # seconds, and g / l in 1/s^2
STEPS = 15
# exact for a torque that is held over a step: s'' = (g / l) s + u
_RATE = GRAVITY**0.5
A = np.array(
    [
        [np.cosh(_RATE * STEP), np.sinh(_RATE * STEP) / _RATE],
        [_RATE * np.sinh(_RATE * STEP), np.cosh(_RATE * STEP)],
    ]
)
B = np.array([(np.cosh(_RATE * STEP) - 1) / GRAVITY, np.sinh(_RATE * STEP) / _RATE])
Q, R = np.diag([10.0, 1.0]), 0.1
# standard deviations of the two gains: the rate is known less well than the angle
ERRORS = np.array([1.0, 4.0])
STARTS = np.eye(2)


class Motion(NamedTuple):
    """state [..., 2 pushes, T + 1, 2] and torque [..., 2 pushes, T] of realised gains."""

    state: np.ndarray
    torque: np.ndarray


def motion(x: npt.ArrayLike) -> Motion:
    """Motion under gains x [..., 30]: those of the first step, of the second, and so on."""
    x = np.asarray(x, float)
    gains = x.reshape(*x.shape[:-1], STEPS, 1, 2)
    state = np.broadcast_to(STARTS, (*x.shape[:-1], 2, 2))
    states, torques = [state], []
    for t in range(STEPS):
        torque = -np.sum(gains[..., t, :, :] * state, axis=-1)
        state = state @ A.T + torque[..., None] * B
        states.append(state)
        torques.append(torque)
    return Motion(np.stack(states, axis=-2), np.stack(torques, axis=-1))


def cost(x: npt.ArrayLike) -> np.ndarray:
    """sum_t s'Qs + R u^2, over both pushes [...]."""
    state, torque = motion(x)
    return np.einsum("...ptk,kl,...ptl->...", state, Q, state) + R * np.sum(
        torque**2, axis=(-2, -1)
    )


def expected_cost(theta: npt.ArrayLike, errors: npt.ArrayLike = ERRORS) -> float:
    """Exact E cost of intended gains [30], by backward recursion of the cost-to-go matrix."""
    p, w = Q, np.diag(np.asarray(errors, float) ** 2)
    for k in np.asarray(theta, float).reshape(STEPS, 2)[::-1]:
        p = _before(p, k, w)
    return float(np.trace(p))


def best_gains(errors: npt.ArrayLike = ERRORS) -> np.ndarray:
    """The gains [30] with the least expected cost; errors of zero give the usual regulator."""
    p, w, gains = Q, np.diag(np.asarray(errors, float) ** 2), []
    for _ in range(STEPS):
        k = B @ p @ A / (R + B @ p @ B)
        p = _before(p, k, w)
        gains.append(k)
    return np.concatenate(gains[::-1])


def _before(p: np.ndarray, k: np.ndarray, w: np.ndarray) -> np.ndarray:
    """The cost-to-go matrix one step earlier, under the gains k with errors of covariance w."""
    closed = A - np.outer(B, k)
    return Q + R * np.outer(k, k) + closed.T @ p @ closed + (R + B @ p @ B) * w


NOMINAL, ROBUST = best_gains(np.zeros(2)), best_gains()
# within the specification: at most half more than without errors
LIMIT = 1.5 * expected_cost(NOMINAL, np.zeros(2))


def simulate(x: npt.ArrayLike) -> Readings:
    each = cost(x)
    return Readings(-each, each <= LIMIT, each)


def _design(x: npt.ArrayLike) -> np.ndarray:
    return np.asarray(x).reshape(*np.shape(x)[:-1], STEPS, 2)


REGULATOR = EngineeringProblem(
    name="pendulum regulator",
    simulate=simulate,
    unit="cost",
    design=_design,
    noise=np.tile(ERRORS, STEPS),
    x0=NOMINAL,
    sigma0=np.tile(ERRORS / 2, STEPS),
    nominal=NOMINAL,
    optimum=ROBUST,
    value=-expected_cost(ROBUST),
    budget=10_000,
    exact=True,
)
