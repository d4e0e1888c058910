"""What `phenes train` does for an environment with a table: learn, draw, save, and say how it
went.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from phenes.rl.tabular import show
from phenes.rl.tabular.environment import load
from phenes.rl.tabular.training import train


def run(
    name: str, out: Path, given: Sequence[str], progress: Callable[[int, int], Any], **settings: Any
) -> tuple[str, dict[str, Any]]:
    """The text to print, with the policy as arrows on the map, and the result for machines.

    given: NAME=VALUE for the environment. settings: those of `train` that are not left to their
    defaults. Picture and policy go to `out`.
    """
    from phenes.rl.tabular import picture

    options = show.parse_options(list(given))
    environment = load(name, **options)
    trained = train(name, options=options, progress=progress, **settings)
    stem = name.replace("/", "-")
    drawn, saved = (
        picture.save(trained, environment, out / f"{stem}.png"),
        trained.save(out / f"{stem}.phenes"),
    )
    policy = show.arrows(environment, np.argmax(trained.probabilities, axis=1))
    text = f"{policy}\n\n{show.summary(trained)}\nThe picture is {drawn}, the policy {saved}."
    return text, {**show.as_json(trained, environment), "picture": str(drawn), "file": str(saved)}
