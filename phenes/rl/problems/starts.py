"""Where a training of a network begins: the policy and its first theta."""

from jaxtyping import Array, Float, PRNGKeyArray

from phenes.rl.policies import Normaliser, Policy, from_network, head_for, policy, quiet
from phenes.rl.policies.policy import Network
from phenes.rl.problems.settings import Settings
from phenes.rl.rollouts.spaces import Spaces


def begin(
    key: PRNGKeyArray, spaces: Spaces, settings: Settings, network: Network | None
) -> tuple[Policy, Float[Array, " d"]]:
    """The policy of these settings, or that of a network of the user's own, and its theta."""
    noise = settings.action_noise or settings.sigma[0]
    if network is None:
        made, theta = policy(key, spaces, settings.hidden, noise, settings.normalise, settings.bias)
        return made, quiet(made, theta, settings.last)
    scale = Normaliser.start(spaces.obs_dim) if settings.normalise else None
    return from_network(network, head_for(spaces, noise), scale)
