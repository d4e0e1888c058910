"""What is counted, what is concluded from it, and where hope leads."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from phenes.batch import Batch
from phenes.rl import tabular
from phenes.rl.tabular.memory import Model
from phenes.rl.tabular.playing import Episode, play
from phenes.search import Dirichlet
from tests.laws.statistics import once
from tests.rl.tabular import mdp

LIMITED = mdp.TABLE
Q = Dirichlet(jnp.ones((3, 2)))


def population(table, n):
    weights = jnp.ones((table.states, table.actions))
    x = once(lambda key: play(table, key, weights, n, True))(jax.random.key(0))
    return Batch(theta=None, x=x)


def remember(table, batches):
    """The memory after these generations, and the last direction."""
    p, q = tabular.Episodes(table, record=True), Dirichlet(jnp.ones((table.states, table.actions)))
    memory, g = tabular.remembered(400).start(p, q, batches[0]), q
    step = jax.jit(lambda memory, batch: memory.step(p, q, batch, batch.x.total))
    for batch in batches:
        g, memory = step(memory, batch)
    return memory, g.log_alpha


def test_every_step_is_counted_once_by_its_outcome():
    """Against a count of the recorded steps, one by one."""
    batch = population(LIMITED, 50)
    memory, _ = remember(LIMITED, [batch, batch])
    expected = np.zeros(LIMITED.next.shape)
    steps = jax.tree.map(np.asarray, batch.x.steps)
    for i, t in zip(*np.nonzero(steps.taken), strict=True):
        place = steps.state[i, t], steps.action[i, t], steps.outcome[i, t]
        expected[place] += 2
        assert steps.reward[i, t] == pytest.approx(LIMITED.reward[place])
        if t + 1 < steps.taken.shape[1] and steps.taken[i, t + 1]:
            assert steps.state[i, t + 1] == LIMITED.next[place]
    np.testing.assert_array_equal(memory.counts, expected)
    np.testing.assert_array_equal(memory.first, 2 * np.bincount(steps.state[:, 0], minlength=3))


def test_with_exact_counts_values_are_those_of_the_environment():
    """Discounted optimum by an independent iteration; the return of a policy by `value`."""
    model = Model(LIMITED, jnp.asarray(1e6 * LIMITED.probability))
    best = np.zeros(3)
    discount = float(model.discounts[2])
    assert discount == pytest.approx(0.8)  # 1 - 1 / (1 + limit)
    for _ in range(300):
        ahead = np.where(LIMITED.ends, 0.0, LIMITED.probability) * best[LIMITED.next]
        worth = np.sum(LIMITED.probability * LIMITED.reward + discount * ahead, axis=-1)
        best = worth.max(axis=1)
    found = once(lambda: model.swept(jnp.zeros(3), model.discounts[2], 300))()
    np.testing.assert_allclose(found, best, rtol=1e-9)
    policy = jnp.asarray([1, 0, 1])
    returned = once(lambda: model.worth(policy, jnp.asarray(LIMITED.start)))()
    assert float(returned) == pytest.approx(float(tabular.value(LIMITED, policy)), rel=1e-9)


def test_an_action_that_was_never_tried_is_hoped_for_and_not_known():
    counts = jnp.asarray(1e6 * LIMITED.probability).at[1, 1].set(0.0)
    model = Model(LIMITED, counts)
    values = jnp.asarray([0.5, 0.25, 2.0])
    hope = model.hope(values)
    assert float(hope) == pytest.approx(2.0 + (2.0 + 0.5))  # rewards seen: from -0.5 to 2
    known, hoped = (model.backed(values, model.discounts[0], h) for h in (None, hope))
    assert np.isneginf(known[1, 1])
    assert float(hoped[1, 1]) == pytest.approx(float(hope))
    seen = np.ones((3, 2), bool)
    seen[1, 1] = False
    np.testing.assert_allclose(hoped[seen], known[seen], atol=1e-5)  # 1 / (4 10^6) of the rest


def chain(length):
    """Left pays nothing and leads back to the start; only the last step to the right pays."""
    rows = [[[(1.0, 0, 0.0, False)], [(1.0, s + 1, 0.0, False)]] for s in range(length)]
    rows[-1][1] = [(1.0, length - 1, 1.0, True)]
    return tabular.Table(rows, 0, limit=2 * length, name="chain")


@pytest.mark.tier("rl")
def test_hope_crosses_a_chain_that_chance_does_not():
    """A reward that one episode in 10^9 finds by chance: a walk of 30 steps to the right. The
    score alone has nothing to go by.
    """
    table = chain(30)
    out = tabular.default(table, 20)
    state = out.strategy.init(out.start(jax.random.key(0)))

    @jax.jit
    def generation(key, state):
        batch = out.problem.realise(key, state.generation, out.strategy.ask(key, state))
        batch = batch._replace(f=out.problem.evaluate(batch.x))
        return out.strategy.tell(state, batch)[0], jnp.max(batch.f)

    found = []
    for _ in range(60):
        state, best = generation(jax.random.key(0), state)
        found.append(float(best))
    assert max(found) == 1
    assert np.all(np.argmax(np.asarray(state.q.mean), axis=1) == 1)


def test_misuse():
    with pytest.raises(ValueError, match="sweeps must be"):
        tabular.remembered(0)
    plain = Batch(theta=None, x=Episode(*4 * [jnp.zeros(4)]))
    with pytest.raises(ValueError, match="record=True"):
        tabular.remembered().start(tabular.Episodes(LIMITED), Q, plain)
