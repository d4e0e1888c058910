"""`run(settings, out, resume=, progress=)`."""

import functools

from phenes_lab import driver
from phenes_lab.bench.regimes import REGIMES

run = functools.partial(driver.run, REGIMES)
