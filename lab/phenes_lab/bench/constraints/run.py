"""`run(settings, out, resume=, progress=)`."""

import functools

from phenes_lab import driver
from phenes_lab.bench.constraints import CONSTRAINTS

run = functools.partial(driver.run, CONSTRAINTS)
