"""Every value of oracles.json, within 1e-9, through the public classes. WRONG_* entries are what
the printed paper gives.
"""

import json
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from phenes import Batch, estimators, inputs, metric, search, weightings
from phenes._trees import replace
from phenes.search.full_gaussian import exponential
from tests.laws.statistics import once

ORACLES = {
    entry["name"]: entry
    for entry in json.loads((Path(__file__).parent / "oracles.json").read_text())
}
ONE = jnp.ones(1)


USED = set()


def oracles(*prefixes):
    """Parametrise a test by the entries whose name starts with one of these."""
    names = [name for name in ORACLES if name.split()[0] in prefixes]
    USED.update(names)
    cases = [
        pytest.param((ORACLES[name]["inputs"], ORACLES[name]["outputs"]), id=name) for name in names
    ]
    return pytest.mark.parametrize("case", cases)


def close(got, expected):
    np.testing.assert_allclose(np.asarray(got), np.asarray(expected), rtol=1e-9, atol=1e-12)


def phenotype(p, q, x, w=ONE):
    x = jnp.asarray(x, float)
    x = x if x.ndim and x.shape[0] == w.size else x[None]
    return once(lambda q, x: estimators.phenotype(p, q, Batch(theta=None, x=x), w))(q, x)


def natural(p, q, g):
    return once(lambda q, g: metric.natural(p, q, g))(q, g)


def natural_marginal(p, q, g):
    return once(lambda q, g: metric.natural_marginal(p, q, g))(q, g)


def log_marginal(p, q, x):
    return once(lambda q, x: p.marginal(q).log_prob(x))(q, x)


def alone(x):
    return jnp.asarray(x, float)[None]


@oracles("G1")
def test_g1_full_covariance(case):
    given, expected = case
    q, p, x = (
        search.Gaussian(given["m"], given["S"]),
        inputs.GaussianNoise(given["C"]),
        jnp.array(given["x"]),
    )
    g = phenotype(p, q, alone(x))
    close(log_marginal(p, q, x), expected["logP"])
    close(g.mean, expected["score_m"])
    close(g.cov, expected["score_S"])
    nat_p, nat_q = natural_marginal(p, q, g), natural(p, q, g)
    close(nat_p.mean, expected["natP_m"])
    close(nat_p.cov, expected["natP_S"])
    close(nat_q.mean, expected["natq_m"])
    close(nat_q.cov, expected["natq_S"])
    posterior = p.posterior(q, x)
    close(posterior.cov.matrix(2), expected["posterior_cov"])
    close(posterior.mean - q.mean, np.array(expected["K"]) @ (x - q.mean))


@oracles("G2", "G3")
def test_g2_g3_independent_coordinates(case):
    given, expected = case
    family = search.IsotropicGaussian if "s" in given else search.DiagonalGaussian
    q = family(given["m"], given.get("s") or np.sqrt(given["s2"]))
    p = inputs.GaussianNoise(np.sqrt(given["c2"]))
    g = phenotype(p, q, alone(given["x"]))
    for label, direction in (
        ("score", g),
        ("natq", natural(p, q, g)),
        ("natP", natural_marginal(p, q, g)),
    ):
        close(direction.mean, expected[f"{label}_m"])
        close(direction.log_std, expected[f"{label}_logs"])


@oracles("G4")
def test_g4_population_update(case):
    given, expected = case
    q, p = search.Gaussian(given["m"], given["S"]), inputs.GaussianNoise(given["C"])
    w = weightings.truncated_ranks(0.8, 0.1)(jnp.array(given["f"]))
    close(w, expected["W"])
    g = phenotype(p, q, given["X"], w)
    nat_p, nat_q = natural_marginal(p, q, g), natural(p, q, g)
    close(nat_p.mean, expected["natP_m"])
    close(nat_p.cov, expected["natP_S_correct"])
    close(nat_q.mean, expected["natq_m"])
    close(nat_q.cov, expected["natq_S"])
    assert np.abs(nat_p.cov - np.array(expected["WRONG_paper_literal_S"])).max() > 1


@oracles("G5")
def test_g5_mirrored_pair(case):
    given, expected = case
    q, p = search.Gaussian(given["m"], given["S"]), inputs.GaussianNoise(given["C"])
    x, w = jnp.array([given["x1"], given["x2"]]), jnp.array([given["W1"], given["W2"]])
    g = estimators.mirrored_phenotype(p, q, Batch(theta=None, x=x), w)
    nat = natural(p, q, g)
    close(g.mean, expected["U_odd"])
    close(nat.cov, expected["natq_S_even"])
    close(nat.mean / (0.5 * (w[0] - w[1])), expected["E_Lz"])
    close(nat.cov / (0.5 * (w[0] + w[1])) + q.cov, expected["E_LzzL"])
    close(phenotype(p, q, x, w).mean, expected["U_onepoint"])
    # the noise score of the pair's mean is that of a search law without spread under C/2
    still = replace(q, cov=jnp.zeros((2, 2)))
    pair_mean = phenotype(
        inputs.GaussianNoise(np.array(given["C"]) / 2), still, alone(jnp.mean(x, axis=0))
    )
    close(0.5 * (w[0] + w[1]) * pair_mean.mean, expected["U_sum"])


@oracles("G9")
def test_g9_z_space_and_exponential_step(case):
    given, expected = case
    q, p, x = (
        search.Gaussian(given["m"], given["S"]),
        inputs.GaussianNoise(given["C"]),
        jnp.array(given["x"]),
    )
    posterior, white = p.posterior(q, x), q.covariance.whitener
    mean = q.pull(posterior.mean)
    close(mean, expected["E_z"])
    spread = white @ posterior.cov.matrix(2) @ white.T
    close(jnp.outer(mean, mean) + spread, expected["E_zz"])
    close(jnp.eye(2) - spread, expected["LtMinvL"])
    direction = natural(p, q, phenotype(p, q, alone(x)))
    moved, _ = exponential(q, jax.tree.map(lambda leaf: 0.3 * leaf, direction))
    close(moved.cov, expected["xnes_S_new"])


@oracles("N1", "N2", "N2b", "N3")
def test_n_one_dimensional_laws(case):
    given, expected = case
    q = search.DiagonalGaussian([given["m"]], [np.sqrt(given["s2"])])
    if "a" in given:
        p = inputs.UniformNoise(given["a"])
    elif "step" in given:
        p = inputs.RoundingNoise(given["step"], np.sqrt(given["c2"]))
    else:
        p = inputs.SaturatingNoise(np.sqrt(given["c2"]), -1.0, 1.0)
    g = phenotype(p, q, alone([given["x"]]))
    close(g.mean[0], expected["score_m"])
    if "score_logs" in expected:
        close(g.log_std[0], expected["score_logs"])


@oracles("D1", "D2")
def test_d1_d2_dirichlet(case):
    given, expected = case
    q, p, j = search.Dirichlet(given["alpha"]), inputs.Multinomial(4), jnp.array(given["j"])
    g = phenotype(p, q, alone(j))
    by_alpha = g.log_alpha / q.alpha
    close(by_alpha, expected["score_alpha"])
    if "logP" in expected:
        close(log_marginal(p, q, j), expected["logP"])
        close(g.log_alpha, expected["score_log_alpha"])
        close(natural(p, q, g).log_alpha * q.alpha, expected["natq_alpha"])
        # mean and concentration: alpha = A softmax(rho)
        close(g.log_alpha - q.mean * jnp.sum(g.log_alpha), expected["score_mean_logits"])
        close(jnp.sum(g.log_alpha), expected["score_log_conc"])


@oracles("D2")
def test_d2_in_float32(case):
    given, expected = case
    q = jax.tree.map(lambda leaf: leaf.astype(jnp.float32), search.Dirichlet(given["alpha"]))
    x, w = jnp.array(given["j"], jnp.float32)[None], jnp.ones(1, jnp.float32)
    by_alpha = inputs.Multinomial(4).marginal_score(q, x, w).log_alpha / q.alpha
    assert by_alpha.dtype == jnp.float32
    np.testing.assert_allclose(by_alpha, expected["score_alpha"], rtol=2e-6)


def trajectories(given):
    """All (probability without the policy, visits j[s, a], return) of the little MDP."""
    transition, reward, steps = np.array(given["Tr"]), np.array(given["R"]), given["T"]
    alive = [(1.0, np.zeros((2, 2)), 0.0, 0)]
    for _ in range(steps):
        alive = [
            (
                chance * transition[s, a, s2],
                visits + np.eye(4)[2 * s + a].reshape(2, 2),
                total + reward[s, a],
                s2,
            )
            for chance, visits, total, s in alive
            for a in range(2)
            for s2 in range(2)
        ]
    return tuple(np.array([path[i] for path in alive]) for i in range(3))


@oracles("D3")
def test_d3_markov_decision_process(case):
    """The phenotype score on trajectories, by enumeration of all of them: gradient and variance are
    exact.
    """
    given, expected = case
    chance, visits, total = trajectories(given)
    q, p = search.Dirichlet(given["alpha"]), inputs.Multinomial(1)
    log_p = once(jax.vmap(p.marginal(q).log_prob))(jnp.asarray(visits))
    weight = chance * np.exp(log_p)
    F = weight @ total
    close(F, expected["F"])
    score = jax.vmap(lambda j: phenotype(p, q, j[None]).log_alpha / q.alpha)(jnp.asarray(visits))
    g = (total - F)[:, None, None] * np.asarray(score)
    mean = np.einsum("n,nij->ij", weight, g)
    close(mean, expected["grad_alpha"])
    close(np.einsum("n,nij->ij", weight, g**2) - mean**2, expected["var_pheno_N1_baseline"])
    # the genotype's second moment, given the trajectory, from the posterior: Var[log pi] + (its
    # mean)^2
    after = np.asarray(q.alpha)[None] + visits
    psi, psi1 = jax.scipy.special.digamma, lambda a: jax.scipy.special.polygamma(1, a)
    prior = psi(q.alpha) - psi(jnp.sum(q.alpha, axis=1, keepdims=True))
    centre = psi(after) - psi(after.sum(2, keepdims=True)) - prior[None]
    spread = psi1(after) - psi1(after.sum(2, keepdims=True))
    second = np.einsum("n,nij->ij", weight * (total - F) ** 2, np.asarray(spread + centre**2))
    close(second - mean**2, expected["var_geno_N1_baseline"])


@oracles("E1")
def test_e1_gamma_poisson(case):
    given, expected = case
    q = search.Gamma(given["k"], given["b"])
    g = phenotype(inputs.Poisson(1.0), q, alone(given["x"]))
    close(g.log_k, expected["score_logk"])
    close(g.log_b, expected["score_logb"])
    close(g.log_k / q.k, expected["score_k"])
    close(g.log_b / q.b, expected["score_b"])


@oracles("E3")
def test_e3_beta_binomial(case):
    given, expected = case
    q = search.Beta(given["a"], given["b"])
    g = phenotype(inputs.Bernoulli(given["n"]), q, alone(given["h"]))
    close(g.log_a / q.a, expected["score_a"])
    close(g.log_b / q.b, expected["score_b"])


@oracles("E4")
def test_e4_general_conjugate_family(case):
    given, expected = case
    A = jax.nn.softplus if given["phi"] < 1 else jnp.exp
    q = search.Conjugate(given["phi"], given["nu"], A)
    p = inputs.NaturalFamily(A, lambda x: x, lambda key, theta: theta)
    g = phenotype(p, q, alone(given["u"]))
    close(g.phi, expected["score_phi"])
    close(g.nu, expected["score_nu"])
    close(g.phi / q.nu, expected["score_chi"])
    close(g.nu - g.phi * q.phi / q.nu, expected["score_nu_at_fixed_chi"])
    assert abs(g.phi - expected["WRONG_printed_phi"]) > 0.1
    assert abs(g.nu - expected["WRONG_printed_nu"]) > 0.1


@oracles("R1")
def test_r1_softmax_logits(case):
    given, expected = case
    p = inputs.Law(
        lambda key, theta: theta,
        lambda x, theta: jnp.sum(x * jax.nn.log_softmax(theta.reshape(2, 3), axis=1)),
    )
    theta, j = jnp.array(given["theta"]).reshape(1, -1), jnp.array(given["j"])[None]
    q = search.IsotropicGaussian(np.zeros(6), 1.0)
    g = estimators.reparameterised(p, q, Batch(theta=theta, x=j, xi=theta), ONE)
    close(g.mean.reshape(2, 3), expected["score"])


@oracles("R2")
def test_r2_gaussian_actions(case):
    given, expected = case
    states, sigma = jnp.array(given["s"]), given["sigma_a"]

    def log_prob(actions, w):
        return jnp.sum(jax.scipy.stats.norm.logpdf(actions, states[:, None] * w[None], sigma))

    p = inputs.Law(lambda key, theta: theta, log_prob)
    theta = jnp.array(given["w"])[None]
    q = search.IsotropicGaussian(np.zeros(2), 1.0)
    g = estimators.reparameterised(
        p, q, Batch(theta=theta, x=jnp.array(given["a"])[None], xi=theta), ONE
    )
    close(g.mean, expected["score"])


class FixedScore(eqx.Module):
    """A law known only by d log p / d theta."""

    value: jax.Array

    def sample(self, key, theta):
        return theta

    def log_prob(self, x, theta):
        return jnp.sum(self.value * theta)


@pytest.mark.parametrize(
    ("shape", "label"), [(estimators.full, "mix_full"), (estimators.diagonal, "mix_diag")]
)
@oracles("R3")
def test_r3_information_mix(case, shape, label):
    given, expected = case
    S = np.linalg.inv(given["Iq"])
    q = search.Gaussian(np.zeros(2), S)
    info = np.array(given["Ip"])
    mix = estimators.information_mix(
        shape, info=info if shape is estimators.full else np.diag(info)
    )
    theta = (S @ np.array(given["sq"]))[None]
    g = mix(
        FixedScore(jnp.array(given["sp"])),
        q,
        Batch(theta=jnp.asarray(theta), x=jnp.asarray(theta)),
        ONE,
    )
    close(g.mean, expected[label])


@oracles("R4")
def test_r4_mix_is_phenotype_for_gaussians(case):
    given, expected = case
    q, p = search.Gaussian(given["m"], given["S"]), inputs.GaussianNoise(given["C"])
    batch = Batch(
        theta=alone(given["theta"]), x=alone(given["x"]), xi=q.pull(jnp.array(given["theta"]))[None]
    )
    close(
        once(lambda q, batch: estimators.genotype(p, q, batch, ONE))(q, batch).mean, expected["sq"]
    )
    close(
        once(lambda q, batch: estimators.reparameterised(p, q, batch, ONE))(q, batch).mean,
        expected["sp"],
    )
    mix = estimators.information_mix(estimators.full, info=np.linalg.inv(given["C"]))
    close(once(lambda q, batch: mix(p, q, batch, ONE))(q, batch).mean, expected["mix"])


class FixedProposal(eqx.Module):
    """Auxiliaries given in advance, as if drawn from q."""

    q: search.DiagonalGaussian
    aux: jax.Array

    def sample(self, key, x):
        # each key takes its own entry: the order of the auxiliaries does not matter
        index = jnp.argmax(
            jax.vmap(lambda k: jnp.all(jax.random.key_data(k) == jax.random.key_data(key)))(KEYS)
        )
        return self.aux[index][None]

    def log_prob(self, a, x):
        return self.q.log_prob(a)


KEYS = jax.random.split(jax.random.split(jax.random.key(3), 1)[0], 3)


@oracles("R5")
def test_r5_exchangeable(case):
    given, expected = case
    q, p = search.DiagonalGaussian([0.0], [1.0]), inputs.GaussianNoise(0.5)
    proposal = FixedProposal(q, jnp.array(given["aux"]))
    batch = Batch(
        theta=jnp.array([[given["own"]]]), x=jnp.array([[given["x"]]]), key=jax.random.key(3)
    )
    g = once(lambda q, batch: estimators.exchangeable(3, proposal)(p, q, batch, ONE))(q, batch)
    close(g.mean[0], expected["score_m"])
    candidates = np.array([given["own"], *given["aux"]])
    close(np.array(expected["weights"]) @ candidates, expected["score_m"])


def check_weights(weighting, case):
    given, expected = case
    f = jnp.arange(100.0) if given["f"] == "arange(100)" else jnp.array(given["f"], float)
    w = np.asarray(once(weighting)(f))
    if "W" in expected:
        close(w, expected["W"])
    else:
        ranked = np.sort(w)[::-1]
        close(ranked[[0, 1, 78, 79]], [expected[k] for k in ("best", "rank2", "rank79", "rank80")])
        close(
            [w.sum(), w.mean(), w.sum() ** 2 / (w**2).sum()],
            [expected[k] for k in ("sum", "mean", "mu_eff")],
        )


@oracles("W1", "W1c")
def test_w1_truncated_ranks(case):
    check_weights(weightings.truncated_ranks(0.8, 0.1), case)


@oracles("W2", "W2b")
def test_w2_centred_ranks(case):
    check_weights(weightings.centred_ranks, case)


@oracles("W3", "W3b")
def test_w3_standardise(case):
    check_weights(weightings.standardise, case)


@oracles("C1")
def test_c1_bandit_classification(case):
    given, expected = case
    q = search.Dirichlet(given["alpha"])
    x = jnp.zeros((2, 3)).at[given["c"], given["x"]].set(1.0)
    by_alpha = phenotype(inputs.Multinomial(1), q, x[None]).log_alpha / q.alpha
    close(by_alpha, expected["score"])
    assert np.abs(by_alpha - np.array(expected["WRONG_printed"])).max() > 0.1


@oracles("C3")
def test_c3_mixture_of_experts(case):
    given, expected = case
    log_gate, outputs = jnp.log(jnp.array(given["gate"])), np.log(given["pi_k_of_x"])
    q = search.Gate(eqx.nn.Lambda(lambda c: c), lambda key: log_gate)
    p = inputs.Experts(
        lambda c: jnp.stack(
            [jnp.asarray(outputs), jnp.log1p(-jnp.exp(jnp.asarray(outputs)))], axis=1
        )
    )
    x = search.Choice(log_gate, jnp.array(0))
    close(p.posterior(q, x).probabilities(), expected["posterior"])
    close(log_marginal(p, q, x), expected["logP"])
    by_logits = jax.grad(
        lambda logits: p.marginal(q).log_prob(search.Choice(logits, jnp.array(0)))
    )(log_gate)
    close(by_logits, expected["score_gate_logits"])


@oracles("T1")
def test_t1_two_point_scale(case):
    given, expected = case
    eps, a, sigma = (np.array(given[k]) for k in ("eps", "a", "sigma"))
    q = search.IsotropicGaussian(np.zeros(2), sigma)
    theta = jnp.asarray(np.stack([sigma * eps, -sigma * eps]))
    w = theta @ a
    close(w[0] - w[1], expected["W1_minus_W2"])
    close(
        estimators.mirrored(inputs.GaussianNoise(1.0), q, Batch(theta=theta), w).mean,
        expected["right"],
    )


def test_every_oracle_is_used():
    """A value that nobody compares proves nothing."""
    assert set(ORACLES) == USED
