"""Problems that engineers recognise.

Each has a simulator, the tolerances of its production, a specification and the usual design::

    problem = engineering.FILTER
    result = phenes.maximize(
        problem, problem.x0, problem.sigma0, problem.noise, vectorized=True, budget=problem.budget
    )
    problem.assess(result.x)       # E f, yield and p95 on 20,000 fresh builds
    problem.design(result.x)       # what goes on the drawing

docs/engineering.md has the definitions.
"""

from phenes.problems.engineering.coating import COATING, COATING_SHARED
from phenes.problems.engineering.filter import FILTER
from phenes.problems.engineering.launch import LAUNCH
from phenes.problems.engineering.problem import Assessment, EngineeringProblem
from phenes.problems.engineering.regulator import REGULATOR

ENGINEERING = {
    "filter": FILTER,
    "coating": COATING,
    "coating-shared": COATING_SHARED,
    "launch": LAUNCH,
    "regulator": REGULATOR,
}

__all__ = [
    "COATING",
    "COATING_SHARED",
    "ENGINEERING",
    "FILTER",
    "LAUNCH",
    "REGULATOR",
    "Assessment",
    "EngineeringProblem",
]
