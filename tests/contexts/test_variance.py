"""The phenotype estimate never has more variance than the genotype, and what lies between them is
unbiased.
"""

import jax.numpy as jnp
import numpy as np
import pytest

from phenes import contexts, estimators
from phenes.batch import Batch
from phenes.contexts import Answer
from phenes.diagnostics import individual_scores
from tests.laws.statistics import SIGMAS, assert_within, chunks_of, estimate, once, population

from . import enumerable as small

N = 2000  # individuals in a chunk
CHUNKS = 20
KINDS = ("value", "belief")


def weights_of(kind, p, q, x, c):
    if kind == "value":
        return small.WORTH[c, x.answer]
    return contexts.belief(p, q, small.batch_of(x)._replace(f=small.RIGHT[c, x.answer]))


@pytest.mark.tier("laws")
def test_mixture_by_enumeration():
    """E[w^2 (s_q s_q' - s s')] over everything there is has no negative eigenvalue, for four
    mixtures and two kinds of weights.
    """

    @once
    def gap(q):
        p = contexts.HiddenExpert()
        theta, probability, c = small.all_said(q)
        batch = Batch(theta=theta, x=Answer(theta.context, theta.answer))
        g, h = (
            individual_scores(e, p, q, batch) for e in (estimators.genotype, estimators.phenotype)
        )
        each = [(probability * weights_of(kind, p, q, batch.x, c) ** 2)[:, None] for kind in KINDS]
        return [g.T @ (w * g) - h.T @ (w * h) for w in each]

    for seed in range(4):
        for matrix in gap(small.mixture(seed)):
            values = np.linalg.eigvalsh(matrix)
            assert values[0] > -1e-12
            assert values[-1] > 1e-4


def context_index(c):
    """Which of the listed contexts it is."""
    return jnp.argmin(jnp.sum((small.ROWS[None] - c[:, None]) ** 2, axis=2), axis=1)


@pytest.mark.tier("laws")
def test_dirichlet_policy_by_simulation(key):
    """In the direction that looks worst on one half of the individuals, tested on the other half;
    and the means of genotype, information mix and exchangeable estimate are that of the phenotype,
    known exactly. Standard errors over 20 chunks of 2000."""
    q, p = small.network_policy(), contexts.Draw()
    mix = estimators.information_mix(info=(np.full(27, 1.0), np.full(27, 0.7)))
    others = {
        "genotype": estimators.genotype,
        "mix": mix,
        "exchangeable": estimators.exchangeable(3),
    }

    def chunk(key):
        batch = population(q, p, key, N)
        rows = {name: individual_scores(e, p, q, batch) for name, e in others.items()}
        h = individual_scores(estimators.phenotype, p, q, batch)
        found = {}
        for kind in KINDS:
            w = weights_of(kind, p, q, batch.x, context_index(batch.x.context))
            g, s = w[:, None] * rows["genotype"], w[:, None] * h
            found[kind] = (g.T @ g - s.T @ s) / N, {name: w @ row / N for name, row in rows.items()}
        return found

    values = chunks_of(chunk, key, CHUNKS)
    x, probability, c = once(small.all_answers)(q)
    scores = small.scores(estimators.phenotype, p, q, small.batch_of(x))
    for kind, (gaps, means) in values.items():
        exact = (probability * once(lambda q, kind=kind: weights_of(kind, p, q, x, c))(q)) @ scores
        for name in others:
            assert_within(estimate(means[name]), exact)
        first, second = np.split(gaps, 2)
        worst = np.linalg.eigh(first.mean(0))[1][:, 0]
        along = estimate(np.einsum("i,nij,j->n", worst, second, worst))
        assert along.mean >= -SIGMAS * along.se - 1e-12
        assert np.trace(gaps.mean(0)) > 0
