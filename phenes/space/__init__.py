"""Named parameters with ranges, units and tolerances, and the plain vectors that are searched.

`Real`, `Log`, `Integer` and `Choice` are the kinds of parameters, a `Space` has them by name::

    space = Space(
        width=Real(50, 300, unit="mm", noise=4.0),  # realised as intended, give or take 4 mm
        feed=Log(1e-3, 10, noise=0.05),             # searched by its logarithm; 5 % off
        turns=Integer(3, 40),                       # realised exactly
        alloy=Choice("A", "B", "C"),
    )

The searches know nothing of this: they see vectors. A Real is one coordinate, its value; a Log one,
the natural logarithm; an Integer one, which is always whole where f is evaluated; a Choice has one
for each option, 1 for the one that is taken and 0 for the others. The noise is a law of these
coordinates: a standard deviation for each (of the logarithm for a Log, which is a relative error),
or one covariance or law for all. Coordinates need no common scale, because the first steps are a
quarter of each range and the searches measure in these.

`Space.encode` and `Space.decode` are that map; `Lattice` knows which vectors there are, and what
lies next to one of them.
"""

from phenes.space.columns import Columns, Point
from phenes.space.files import read_file
from phenes.space.lattice import Lattice
from phenes.space.parameters import Choice, Integer, Log, Parameter, Real
from phenes.space.space import Space

__all__ = [
    "Choice",
    "Columns",
    "Integer",
    "Lattice",
    "Log",
    "Parameter",
    "Point",
    "Real",
    "Space",
    "read_file",
]
