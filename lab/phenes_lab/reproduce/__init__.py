"""The paper's experiments and ours: settings -> store -> figures and report, by `driver.run`."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from phenes_lab.driver import Experiment

# by the name of the command: the package, and its class of settings
PACKAGES = {
    "bbob": ("bbob", "BbobSettings"),
    "frozenlake": ("frozenlake", "FrozenlakeSettings"),
    "contexts": ("contexts", "ContextsSettings"),
    "cartpole": ("control", "CartpoleSettings"),
    "pendulum": ("control", "PendulumSettings"),
    "swimmer": ("control", "SwimmerSettings"),
    "untuned": ("held_out_environments", "HeldOutSettings"),
}


def experiment(name: str) -> "Experiment":
    """By the name of its command; nothing heavy is imported before it is asked for."""
    from phenes_lab.driver import Experiment

    package, settings = PACKAGES[name]
    return Experiment(name, f"phenes_lab.reproduce.{package}", settings)
