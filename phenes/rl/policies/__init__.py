"""Policies: networks (equinox), heads that make actions, and the scale of observations.

Any equinox module obs -> output can be a policy: `from_network(net, Softmax(3))`.
"""

from phenes.rl.policies.heads import Choices, GaussianHead, Head, Mixed, Softmax
from phenes.rl.policies.network import MLP
from phenes.rl.policies.normalise import Normaliser
from phenes.rl.policies.policy import Policy, from_network, head_for, policy, quiet

__all__ = [
    "MLP",
    "Choices",
    "GaussianHead",
    "Head",
    "Mixed",
    "Normaliser",
    "Policy",
    "Softmax",
    "from_network",
    "head_for",
    "policy",
    "quiet",
]
