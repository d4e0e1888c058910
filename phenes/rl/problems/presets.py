"""Settings of networks by name."""

from collections.abc import Callable

from phenes.rl.problems.random_search import random_search, random_search_v1
from phenes.rl.problems.settings import Settings, default, network, paper, paper_es
from phenes.rl.rollouts.spaces import Spaces

PRESETS: dict[str | None, Callable[[Spaces], Settings]] = {
    None: default,
    "network": network,
    "paper": paper,
    "paper-es": paper_es,
    "ars": random_search,
    "ars-v1": random_search_v1,
}
