"""How many evaluations are kept to verify the answer."""

VERIFYING = "verify"  # the phase of evaluations that verify the answer
SHARE = 0.1  # share of the budget that is reserved for the verification
LEAST_RESERVE, MOST_RESERVE = 8, 1000  # evaluations
LARGEST_SHARE = 1 / 3
AIMED = 3  # more of them for a risk: evaluations that are aimed at what none has met
# without noise: one evaluation at the mean of the search, two repeats of the best point
EXACT_RESERVE = 3


def reserved(
    budget: int,
    wanted: int | None,
    popsize: int | None,
    whole: bool,
    exact: bool,
    least: int,
    risky: bool = False,
) -> int:
    """Evaluations that are kept for the end; whole batches of the user's population.

    whole: the search asks for whole batches only, if that leaves it most of the budget. exact: f is
    deterministic. least: draws that show what is claimed, whatever share of the budget that is.
    risky: something else than E f is claimed.
    """
    if wanted is not None:
        return min(wanted, budget - 1)
    if exact:
        return min(EXACT_RESERVE, budget // 3)
    least = max(LEAST_RESERVE, least)
    reserve = min(max(least, round(SHARE * budget)), MOST_RESERVE, int(LARGEST_SHARE * budget))
    if risky:
        reserve = min(reserve + AIMED, budget // 2)
    if whole and popsize is not None:
        kept = budget - (budget - reserve) // popsize * popsize
        if kept <= LARGEST_SHARE * budget:
            return kept
    if popsize is None or reserve < popsize // 2:
        return reserve
    search = round((budget - reserve) / popsize) * popsize
    return budget - search if 0 < search < budget else reserve
