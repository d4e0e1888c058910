"""`run(settings, out, resume=, progress=)`."""

import functools

from phenes_lab import driver
from phenes_lab.bench.engineering import ENGINEERING

run = functools.partial(driver.run, ENGINEERING)
