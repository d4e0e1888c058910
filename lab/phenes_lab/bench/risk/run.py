"""`run(settings, out, resume=, progress=)`."""

import functools

from phenes_lab import driver
from phenes_lab.bench.risk import RISK

run = functools.partial(driver.run, RISK)
