"""What is run: environments, and how many episodes each method may play in them."""

from dataclasses import dataclass

from phenes_lab.settings import Checked

EXPERIMENT = "untuned"
METHODS = ("ES", "default")  # of `control.METHODS`


@dataclass(frozen=True)
class HeldOutSettings(Checked):
    """episodes: of every run in the environment of the same place."""

    environments: tuple[str, ...] = (
        "Acrobot-v1",
        "MountainCarContinuous-v0",
        "HalfCheetah-v5",
        "Hopper-v5",
    )
    episodes: tuple[int, ...] = (4000, 4000, 4000, 8000)
    seeds: int = 2
    seed: int = 2026  # added to the number of the run

    def __post_init__(self):
        self.tuples()
        self.counts("seeds")
        if len(self.environments) != len(self.episodes):
            raise ValueError(
                f"episodes must be one number for each of {len(self.environments)} environments,"
                f" got {self.episodes}"
            )

    @property
    def parts(self) -> tuple[str, ...]:
        return tuple(
            f"{env}/{method}/{k}"
            for k in range(self.seeds)
            for env in self.environments
            for method in METHODS
        )

    def budget(self, environment: str) -> int:
        return self.episodes[self.environments.index(environment)]

    @classmethod
    def quick(cls) -> "HeldOutSettings":
        """A minute or two, to see that it works."""
        return cls(environments=("Acrobot-v1", "Hopper-v5"), episodes=(200, 200), seeds=1)
