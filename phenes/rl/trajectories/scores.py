"""The plain scores: of the search law, of the actions at theta_i, and at the mean."""

from jaxtyping import Array, Float

from phenes.batch import Batch
from phenes.rl.trajectories._linear_algebra import along, scored
from phenes.rl.trajectories.base import ByTrajectory, Trajectories, individually
from phenes.search.gaussian import IsotropicGaussian


class Genotype(ByTrajectory):
    """s_q = (theta_i - m) / s^2, the evolution strategy: it looks at the return alone.

    Unbiased.
    """

    def scores(
        self,
        p: Trajectories,
        q: IsotropicGaussian,
        batch: Batch,
        weight: Float[Array, "n t"] | None = None,
    ) -> Float[Array, "n d"]:
        if weight is not None:
            raise ValueError(
                "weights of single steps need a score of single steps, which the genotype score"
                " has not"
            )
        return q.covariance.solve(batch.theta - q.mean[None])


class Reparameterised(ByTrajectory):
    """s_p = sum_t d log pi(a_t | s_t) / d theta at theta_i, never at the mean (errata 16-19).

    Unbiased. Worse than the genotype score when the actions say more about theta than the search
    law does: long episodes, little noise.
    """

    def scores(
        self,
        p: Trajectories,
        q: IsotropicGaussian,
        batch: Batch,
        weight: Float[Array, "n t"] | None = None,
    ) -> Float[Array, "n d"]:
        def one(theta, x, weight):
            return scored(p.policy, theta, x, weight).total

        return individually(one, *along(batch), batch.theta, batch.x, weight)


class ScoreAtMean(ByTrajectory):
    """sum_t d log pi(a_t | s_t) / d theta at the mean m: the paper's text (erratum 17).

    The actions are those that theta_i took. BIASED, by many times the gradient on long episodes,
    and here because the paper's experiments are.
    """

    def scores(
        self,
        p: Trajectories,
        q: IsotropicGaussian,
        batch: Batch,
        weight: Float[Array, "n t"] | None = None,
    ) -> Float[Array, "n d"]:
        def one(x, weight):
            return scored(p.policy, q.mean, x, weight).total

        return individually(one, *along(batch), batch.x, weight)
