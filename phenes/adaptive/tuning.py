"""Every tuned number of the adaptive search: its meaning, and where it comes from.

The source stands in brackets:

- [tutorial, eq.]: N. Hansen, The CMA evolution strategy: a tutorial (arXiv 1604.00772). Formulas
  of the tutorial with more than one number in them are in `cma.rates`, with their equations.
- [BIPOP]: N. Hansen, Benchmarking a BI-population CMA-ES on the BBOB-2009 function testbed.
- [bench]: set on the tuning instances of `phenes bench peers` (BBOB functions in 10 dimensions,
  noise 0.1, instances 1 to 3) unless another setting is given. `docs/adaptive.md` has what was
  tried; `phenes bench ablate` measures whole policies, no bench has measured every number alone.
- [guard]: keeps arithmetic, memory or time within bounds; results hardly depend on it.

Widths and distances are in standard deviations of the search (whitened), unless another unit is
given. p is the number of features of the richest model in this dimension.
"""

# --- arithmetic ---

# Keeps a division finite; far below any variance or sum of squares that means something. [guard]
TINY = 1e-300
# Values whose spread is below this share of their level are constant in double precision. [guard]
LEAST_SPREAD = 1e-14

# --- coordinates and the marginal ---

# Coordinates beyond which covariances are diagonal: a matrix would cost more than O(n d) for each
# generation. [guard]
LARGEST_MATRIX = 200
# Noise below this share of the start width counts as none: double precision does not resolve it.
# [guard]
SMALLEST_NOISE = 1e-7
# Eigenvalues are kept above the largest over this: beyond it a decomposition is rounding error.
# [guard]
LARGEST_CONDITION = 1e14
# Variances below this are zero, and must still have a square root and an inverse. [guard]
SMALLEST_VARIANCE = 1e-200

# --- the archive ---

# Rows that a run keeps: so many times p, with a diagonal covariance ... [guard]
KEPT_PER_FEATURE = 20
KEPT_PER_FEATURE_DIAGONAL = 2
# ... or so many for each product of coordinates ... [guard]
KEPT_PER_PRODUCT = 2
# ... or so many populations, but no more rows than this because of the population ... [guard]
KEPT_POPULATIONS = 20
KEPT_FOR_POPULATION = 20_000
# ... and always so many populations, and so many rows. [guard]
KEPT_POPULATIONS_AT_LEAST = 2
KEPT_AT_LEAST = 1000
# Rows for which room is made at first. [guard]
FIRST_ROOM = 256
# Failures depend on x if so many nearest neighbours of rows are of their kind more often than by
# chance. [bench: `phenes bench trust`]
FAILURE_NEIGHBOURS = 3
# Newest rows by which this is tested. [guard]
FAILURE_ROWS = 400
# Up to so many failures are taken to depend on x. [bench: `phenes bench trust`]
FEW_FAILURES = 5
# Standard errors by which neighbours must be of one kind more often, or means differ. [bench:
# `phenes bench trust`]
FAILURE_SURE = 2.0

# --- models ---

# Features beyond which products of coordinates are fitted by conjugate gradients, and do not tell
# how long to wait (d > 43): a design of so many columns costs too much time and memory. [guard]
LARGEST_FULL_MODEL = 1000
# Steps of these conjugate gradients: each divides the error by sqrt(rows / features), so that it is
# 2e-4 at 1.15 rows for each feature. [guard]
PRODUCT_STEPS = 120
# One row in so many is held out; the steps end when so many of them have not reduced the squared
# error there below this share of what it was. [guard]
HELD_OUT = 8
PRODUCT_PATIENCE = 3
PRODUCT_HELPS = 0.98
# Features up to which the normal equations are solved directly; conjugate gradients beyond. [guard:
# with 1041 and 2001 features (d = 520, 1000) that takes a half to a third of the time]
LARGEST_DIRECT = 2500
# Steps of conjugate gradients: enough for a random design of 1.3 rows for each column, that of the
# first model, whose condition is about 230; and the share of the squared residual at which they
# end, with twice as many rows after some 50 steps. [guard]
CG_STEPS = 150
CG_ENOUGH = 1e-16
# Features beyond which models are fitted rarely (d > 27): their cost grows like p^3. [guard]
DEAR_FEATURES = 400
# Features up to which a model costs less time than a generation or two. [guard]
CHEAP_FEATURES = 100
# Keeps nearly collinear designs solvable, far below any real signal. [guard]
RIDGE = 1e-7
# Rows for each feature below which no model is tried: its errors would be larger than what it
# explains. [bench]
LEAST_ROWS_PER_FEATURE = 1.15
# The same for features of third and fourth order, which only reduce the residuals. [bench]
LEAST_ROWS_PER_RICH_FEATURE = 2.0
# Newest rows for each feature that a model is fitted to ... [bench]
ROWS_PER_FEATURE = 2
# ... if it has curvature along the axes only in many dimensions, and for all of its curvature in
# the refinement there. [bench: d = 40]
ROWS_PER_AXIS_FEATURE = 4
DEAR_ROWS_PER_FEATURE = 4
# Rows beyond those of a generation: in few dimensions a handful of points would fit anything.
# [bench]
SPARE_ROWS = 10
# Rows further than this times sqrt(d) from the mean belong to another part of the landscape.
# [bench]
FARTHEST = 3.0
# Rows whose squared distance is within so many standard deviations of that of a draw are those
# that the present search could have drawn. [bench]
DRAWN_SIGMAS = 4
# Unexplained share of the variance of near rows below which a model of rows further away as well is
# one of the same function. [bench: `phenes bench regimes`]
SAME_FUNCTION = 1e-4
# R^2 above which a model with a diagonal Hessian is enough. [bench: d = 40]
AXES_SUFFICE = 0.99

# --- the estimate of E f ---

# Effective rows below which a weighted mean of the residuals is worse than the model alone. [bench]
LEAST_EFFECTIVE = 50
# Nearest rows that correct the model then: so many, or one row in so many. [bench]
LEAST_NEAREST = 20
NEAREST_SHARE = 10
# Standard errors below which such a correction is not significant. [bench]
NOTICEABLE = 2
# The square of the correction over this is added to the squared error.
# [bench]
CORRECTION_DOUBT = 4

# --- CMA-ES ---

# Standard deviation of a search over the width of its box, at most. [guard]
WIDEST_IN_BOX = 0.5
# Whitened points are clipped to a length of sqrt(d) plus this: no draw lies further out.
# [guard]
LONGEST_BEYOND = 3
# Share of the covariance that is new since it was decomposed beyond which it is again: every
# generation below about 20 dimensions. [guard]
STALE_SHARE = 0.02
# Least variance of a step under neutral selection. [guard]
LEAST_NEUTRAL = 1e-9

# --- screening ---

# Coordinates below which candidates are neither mirrored nor screened: a few pairs leave most
# directions unseen. [bench: `phenes bench engineering`, the launch in 3 dimensions]
FEWEST_DIMENSIONS = 8
# Largest number of candidates per evaluation. [bench]
BROADEST = 5.0
# Rank correlation of surrogate and f above which the population doubles; by chance it is
# 0 +- 0.15. [bench]
AGREEMENT = 0.3
# Evaluations that the agreement is averaged over. [bench]
AGREEMENT_MEMORY = 33.0
# Newest rows for each feature of the surrogate. [bench]
SURROGATE_ROWS_PER_FEATURE = 5
# It is fitted again after its features over this many new rows: every generation below 18
# dimensions. [guard]
SURROGATE_WAIT = 3
# Weight of the best row over that of the worst: good points are where the search is going. [bench]
BEST_OVER_WORST = 20.0
# Number of values below which rank correlations are not computed. [guard]
FEWEST_RANKED = 3

# --- early Newton steps ---

# The first model is tried after this times the features of the axes. [bench]
FIRST_MODEL = 1.3
# R^2 above which a model advises a step. [bench]
STEP_R2 = 0.95
# Failed models in a row after which the wait for the next one grows by one unit. [bench]
FAILURES_PER_WAIT = 3
# A step that is taken back counts as so many failed models. [bench]
FAILURES_PER_REVERT = 3
# The trust region is this times sqrt(d); no coordinate of a step is longer than ... [bench]
TRUST_RADIUS = 1.5
LONGEST_COORDINATE = 3
# Steps of bisection for the multiplier of the trust region. [guard]
BISECTIONS = 50
# Curvatures are clear beyond so many times what errors make, slopes beyond so many standard errors.
# [bench]
CLEAR_CURVATURE = 3
CLEAR_SLOPE = 3
# Least curvature over the largest. [guard]
LEAST_CURVATURE = 1e-12
# Variance of the search over that of the noise below which a direction is at the noise. [bench]
FREE_EXCESS = 0.5
# Variances grow by this along clear slopes, and where the step is longer than the trust region.
# [bench]
EARLY_GROWTH = 2.0
# Variances change at most by this factor to the shape of the inverse Hessian. [bench]
MOST_RESHAPED = 10
# Near the optimum variances shrink by this times the unexplained share, at most to ... [bench]
SHRINK_PER_UNEXPLAINED = 10
MOST_SHRUNK = 0.1

# --- the trend ---

# Draws, for each feature, of the first restart that begins with the trend; twice as many for each
# after it, but no more than this: models of all of them cost time. [bench; guard]
TREND_ROWS_PER_FEATURE = 10
MOST_TREND_ROWS_PER_FEATURE = 40
# Variances shrink to this along curvatures that are so many times what errors make. [bench]
TREND_SHRINK = 0.5
TREND_CLEAR = 2
# The search that goes on is not narrower than this share of the width. [guard]
TREND_NARROWEST = 0.01
# Width of the search for the trend over the user's. [bench]
TREND_WIDTH = 1.0

# --- pursuit ---

# Longest coordinate of an early step, with a full model that is not the first, beyond which the
# model is followed evaluation by evaluation. [bench: f2, f8 to f14 without noise, instance 1]
FAR = 2.0
# Rows beyond the region weigh less by this power of their distance in units of its radius. [bench:
# the same, of 2, 3 and 4]
WEIGHT_ORDER = 2
# Weight of the Hessian so far beside that of the rows. [bench: the same, of 1e-3, 1e-4 and 1e-5]
LEAST_CHANGE = 1e-4
# Share of the promised decrease below which a promise is broken, and above which it is kept.
# [bench: the same; usual ones of trust regions]
BROKEN = 0.1
KEPT = 0.5
# Share of the radius beyond which a step ends where the region does. [guard]
LIMITED = 0.9
# The radius grows by this where a promise of a step as long as it is kept, and shrinks by this
# where it is broken. [bench: the same, of 1.5 and 0.7, 2 and 0.5]
PURSUIT_GROWTH = 1.5
PURSUIT_SHRINK = 0.7
# Steps over which kept promises are averaged, as a rate, and the share of them below which the
# pursuit ends. [bench: the same, of 0.3 and 0.5]
TRUST_RATE = 0.1
LEAST_TRUST = 0.3
# Times that the region becomes narrower while promises fall by less than this power of it: a kink.
# [bench: the sharp ridge, f13]
KINK_NARROWING = 300.0
KINK_ORDER = 1.5

# --- noise of the values ---

# R^2 below which a model sees nothing but noise. [bench]
BLIND_R2 = 0.5
# Residuals below this times the value noise of an earlier run are the same noise. [bench]
KNOWN_NOISE = 1.5
# Residuals below this share of what they were: not noise, they shrink with the search. [bench]
SHRUNK_RESIDUAL = 0.4
# Times that the search becomes narrower while residuals stay: ripples in f that a wide search
# cannot explain are smooth by then. [bench]
BLIND_NARROWING = 30
# Times the width at which the signal was lost beyond which the search does not widen, if the scale
# of the unmeasured noise is known. [bench: `phenes bench robust`]
WIDEST_LOST = 2

# --- into the refinement ---

# Variance of the search over that of the noise below which a direction is at the floor; share of
# the directions that has to be there. [bench]
FLOOR_EXCESS = 0.05
FLOOR_SHARE = 0.5
# Generations in a row at the floor: this, and one more for every so many coordinates. [bench]
FLOOR_GENERATIONS = 5
FLOOR_COORDINATES = 5
# Short early steps in a row, while noise dominates the variance of f. [bench]
NEAR_STEPS = 2
# Unexplained share of the variance below which a model is exact: one step, as long as it can be
# trusted for, is then enough. [bench: `phenes bench regimes`]
EXACT = 1e-6
# Rows of the search, for each feature, that count as the first of the refinement. [bench]
FIRST_ROWS_PER_FEATURE = 2

# --- refinement ---

# The next model is due after this share more rows, and not before p over this (with few features,
# with many). [bench]
MORE_ROWS = 0.3
WAIT_FEW = 4
WAIT_MANY = 2
# R^2 above which a model is good. [bench]
GOOD_R2 = 0.9
# Longest coordinate of a step, and with a good model. [bench]
FINAL_LONGEST = 1.0
FINAL_LONGEST_GOOD = 2.0
# Residuals of the outer half of the rows over those of the inner below which they are noise of the
# values. [bench]
NOISE_LIKE = 1.3
# R^2 below which the search is far too narrow beside that noise, and the factors by which its
# variances grow then, and otherwise. [bench]
VERY_BLIND_R2 = 0.2
BLIND_GROWTH = 4.0
WEAK_GROWTH = 1.5
# Variances shrink to this along clear curvatures, grow by this where they are unclear, and by this
# where the way is longer than the search is wide. [bench]
FINAL_SHRINK = 0.3
UNCLEAR_GROWTH = 1.5
LATE_GROWTH = 2.0
# It settles after so many rows for each feature, and so many rows ... [bench]
SETTLED_PER_FEATURE = 3
SETTLED_ROWS = 400
# ... with no variance growing by more than this, steps shorter than this, or a promise below so
# many times what errors alone promise ... [bench]
SETTLED_GROWTH = 1.5
SETTLED_LENGTH = 0.15
CLEAR_SIGNAL = 4
# ... and F known to this share of what the noise costs, or so many rows for each feature. [bench]
SURE_SHARE = 0.1
UNSURE_PER_FEATURE = 12
# Older rows are forgotten down to so many for each feature. [bench]
REMEMBERED_PER_FEATURE = 2

# --- failures, plateaus, stagnation ---

# Populations in a row without any value after which a search is lost among failures. [bench:
# `phenes bench trust`]
BARREN_POPULATIONS = 3
# Generations in a row of equal values after which a run is given up. [bench: `phenes bench trust`]
FLAT_GENERATIONS = 20
# The same where values were equal from the start on: other places are as promising. [bench: yields
# of zero at the start, in 5 and 12 dimensions]
LOST_GENERATIONS = 1
# Width of the searches that follow, over the user's. [bench: most draws of a normal law of this
# width fall into a ball a few of the user's widths away, in 5 and 12 dimensions]
LOST_WIDTH = 2
# Width of a search that goes back to where values differed, over what it was. [bench: `phenes bench
# trust`]
RETURN_WIDTH = 0.5
# Values whose median tells whether a search improves: so many, or so many populations. [bench]
MEDIAN_ROWS = 300
MEDIAN_POPULATIONS = 10
# Newest values (or a population) that may all be equal, up to this share of their level. [guard]
EQUAL_ROWS = 20
EQUAL = 1e-15
# It stagnates after so many evaluations for each feature without a better median, more of them for
# populations larger than this. [bench]
PATIENCE_PER_FEATURE = 60
PATIENCE_POPULATION = 30
# Width of the search over the size of its mean below which double precision ends. [guard]
NARROWEST = 1e-14

# --- restarts ---

# The default population is 4 + 3 ln d. [tutorial, eq. 48; of 10, 18 and 30 in 10 dimensions with
# noise, 10 was best]
POPULATION_BASE = 4
POPULATION_PER_LOG = 3
# The first large population over the small one, and the width of its start over the user's.
# [bench]
LARGE_FACTOR = 3.3
LARGE_WIDTH = 1.0
# Largest population of a restart, unless this times the user's own is more. [guard]
LARGEST_POPULATION = 20_000
LARGEST_OVER_SMALL = 4
# Small restarts are this wide at most, and narrower by up to so many powers of ten: a wide search
# falls into the same basin again. [BIPOP; bench]
SMALL_WIDTH = 3
SMALL_POWERS = 2
# Standard deviation of the starts around x0 over the user's width, without bounds. [bench]
START_SPREAD = 2
# Restarts at the same place and elsewhere that the share of the refinement begins with. [bench]
PRIOR_SAME = 2
PRIOR_ELSEWHERE = 2
# Restarts in a row that came to the same place, or to no better one, after which more are
# pointless. [bench; BIPOP: as many as its default]
POINTLESS_SAME = 3
POINTLESS_IN_VAIN = 9
# Standard errors by which a challenger is clearly worse. [bench]
CLEARLY_WORSE = 3
# Standard errors, or this share of the value, within which two values are one. [bench]
SAME_VALUE = 5
SAME_ROUNDING = 1e-9
# Distance of two means over the spread there within which they are one place; and over their own
# size. [bench, guard]
SAME_PLACE = 0.5
SAME_PLACE_ROUNDING = 1e-6
# Width of a search that the evidence sends elsewhere, over that of the first. [bench: `phenes bench
# trust`]
ELSEWHERE_WIDTH = 0.5

# --- whole numbers and choices ---

# Points that were asked and whose real numbers are kept until they are told. [guard]
MOST_DRAWN = 10_000
# Probabilities of options move by mu_eff / (mu_eff + this * free parameters of the search). [bench:
# docs/space.md]
CHOICE_DAMPING = 1.0
