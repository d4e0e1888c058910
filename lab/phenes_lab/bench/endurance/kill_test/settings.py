"""What is run, and what became of a run."""

from dataclasses import dataclass, field

from phenes_lab.bench.endurance.backends import NAMES
from phenes_lab.settings import Checked


@dataclass(frozen=True)
class KillTestSettings(Checked):
    """kills: in all, shared among the engines. budget: evaluations of a run. pause: seconds, the
    longest between progress and a kill.
    """

    kills: int = 200
    engines: tuple[str, ...] = NAMES
    budget: int = 240
    pause: float = 0.5
    seed: int = 0

    def __post_init__(self):
        self.tuples()
        self.among("engines", NAMES)
        self.counts("kills")
        self.counts("budget", least=24)

    @classmethod
    def quick(cls) -> "KillTestSettings":
        return cls(kills=12, budget=120)


Seen = tuple[int, set[str]]  # lines of the log, points in the record


@dataclass
class Round:
    """What was done to a run, and what became of it: numbers that must be 0, and whether the end
    was the same.
    """

    engine: str
    seed: int
    of_workers: int = 0
    of_program: int = 0
    lost: int = 0
    doubled: int = 0
    interrupted: int = 0  # evaluations that began once more, because nobody had their value
    repeated: int = 0  # in the record already at a kill, and begun again after it
    same: bool = False
    kept: list[Seen] = field(default_factory=list, repr=False)  # at each kill

    @property
    def kills(self) -> int:
        return self.of_workers + self.of_program

    def hit(self, kind: str, seen: Seen) -> None:
        setattr(self, kind, getattr(self, kind) + 1)
        self.kept.append(seen)

    @property
    def survived(self) -> bool:
        return self.same and not (self.lost or self.doubled or self.repeated)
