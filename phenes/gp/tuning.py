"""Every number of the Gaussian-process search: its meaning, and where it comes from.

The source stands in brackets:

- [few]: set on the tuning problems of `phenes bench few`; docs/few.md has what was tried.
- [prior]: what is believed before anything is seen, in units of the box and of the standard
  deviation of the values.
- [guard]: keeps arithmetic, memory or time within bounds; results hardly depend on it.
"""

# --- kernel ---

# Keeps a division finite. [guard]
TINY = 1e-300
# Smallest distance of a probability from one. [guard]
ROUNDING = 1e-16
# Nodes of the scale mixture for Matern 5/2, which errs by less than 0.005. [guard]
MATERN_NODES = 5
MATERN_ORDER = 2.5
# Jitter on the diagonal, relative to it, tried in this order. [guard]
JITTERS = (1e-10, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3)

# --- likelihood ---

# log l ~ N(log 0.6 + log(d) / 2, 1.2^2): functions vary over about the box. [prior]
LENGTH, LENGTH_SD = 0.6, 1.2
# Variance of noise on the values, relative to the variance of f. [prior]
ETA, ETA_SD = 1e-4, 2.0
# Amplitudes of squares and of products, for d = 1; divided by d. [prior]
AXES, AXES_SD = 0.3, 3.0
PRODUCTS, PRODUCTS_SD = 0.03, 4.0
# Lengths of main effects, and the amplitude of all of them. [prior]
EFFECT_LENGTH, EFFECT_LENGTH_SD = 0.3, 1.0
EFFECTS, EFFECTS_SD = 1.0, 3.0
# By so much less cost, beside the prior odds of d lengths more. [prior]
EFFECT_ODDS = 3.0
# Ranges of lengths, of eta and of amplitudes. [guard]
LENGTHS = (0.01, 50.0)
ETAS = (1e-9, 2.0)
AMPLITUDES = (1e-6, 1e6)

# --- fit ---

# Steps of L-BFGS where kernels are chosen, and where the last one is followed. [guard]
CHOICE_STEPS, FOLLOW_STEPS = 40, 15
# Rows by which kernels are chosen; of more, so many that came all along. [guard]
CHOICE_ROWS = 120
# Kernels are chosen anew when there are so many times as many rows. [guard]
CHOICE_GROWTH = 1.3
# Parameters follow after one row more, and after one in so many rows. [guard]
FOLLOW_SHARE = 1 / 25
# A second start has lengths shorter by this factor. [few]
SHORT = 0.3
# Values up to which several starts are tried. Of more, the last parameters ended within 0.1 of the
# best of four other starts, in all of 24 choices (hart6, rosen4, branin2, one of our own). [few]
SEVERAL_STARTS = 60
# Rows nearest to the answer that the model is made of. [guard]
MOST_ROWS = 400

# --- scale of the values ---

# Values whose largest is so many times as far above the median as the least is below it may be
# better explained by their logarithm. [few]
WIDE = 100.0
# By so much less cost, beside the prior odds of a scale that has two parameters. [prior]
PLAIN = 3.0
# Largest logarithm of a value, in units of the scale. [guard]
MOST_EXPONENT = 600.0

# Probability beyond which rows are not needed to average over a law of x. [guard]
BEYOND = 1e-4
# Rows around an answer by which it is explained, and by which a second opinion is formed: so many
# for each coordinate and one more, and at most. 100 in two coordinates leave a regret of 3e-7 of
# Branin's function, 250 of 7e-8; a verification explains a hundred times. [few]
ROWS_EACH, MOST_EXPLAINED = 25, 250
# Below this times (d + 1) values there is no second opinion. [guard]
LEAST_FOR_OPINION = 2

# Draws of the noise by which constraints are judged, and by which their shape is. [guard]
LIMIT_DRAWS, SHAPE_DRAWS = 32, 4096
# Probability up to which the shape is taken from draws; beyond, its tail is taken to go on. [guard]
SEEN_LEVEL = 0.99
# Ranges of the quantile of a constraint, in units of the normal one. [guard]
SHAPES = (0.5, 2.0)
# Share of the allowed violations that a proposal uses: what is exactly at its limit is half of the
# time beyond. [guard]
LIMIT_USED = 0.95
# The same of a limit that jumps: its edge lies somewhere between two rows, and only draws confirm
# it, of which hardly any may violate. [guard]
LIMIT_USED_OF_JUMPS = 0.2
# Standard deviations of a constraint's model that count against an answer. [guard]
LIMIT_CAUTION = 1.0
# The least error of a margin, in units of its constraint. [guard]
LEAST_LIMIT_ERROR = 1e-3
# Reach of an answer from a theta that was tried, as `NEAR`. [guard]
LIMIT_NEAR = 0.25
# Steps of the descent within the constraints. [guard]
LIMIT_STEPS = 12
# What counts as met, what ends the descent, and steps of differences. [guard]
LIMIT_TOLERANCE, LIMIT_FTOL, DIFFERENCE = 1e-6, 1e-9, 1e-4
# Candidates with constraints, all over and around the best, and sizes of their steps in each round:
# each costs as many predictions as there are draws. [guard]
LIMIT_CANDIDATES = 128
LIMIT_ROUNDS = (1.0, 0.3, 0.1, 0.03)
# Rows for each coordinate, and one more, that a model of a constraint has at least, if there are as
# many: a plane in d coordinates needs d + 1. [guard]
LIMIT_ROWS = 2
# Coordinates up to which constraints may have products: beyond, these are too many. [guard]
MOST_PRODUCTS = 30

# Up to so many failures, or values, are taken to depend on x; of more, the log of the probability
# of the labels must gain so much by a kernel. Labels at random, 30 to 150 in 1 to 8 coordinates,
# gain less in 95 of 100 cases as a rule, walls more. What predicts them as well as the best is
# worse by no more than the last. [few]
FEW_FAILURES, PLACED, AS_GOOD = 3, 4.0, 2.0
# Lengths of the kernel of labels that are tried, alike in all coordinates and in units of `LENGTH`,
# and variances of noise. [guard]
LABEL_LENGTHS = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0, 2.0)
LABEL_ETAS = (1e-4, 0.1, 1.0)

# --- acquisition ---

# Where formulas for the tail of the expected improvement take over. [guard]
TAIL, FAR_TAIL = -1.0, -1e3
# Beyond, squares overflow. [guard]
LARGEST_Z = 1e100
# Candidates all over the region, and around the best. [guard]
GLOBAL_CANDIDATES, LOCAL_CANDIDATES = 384, 384
# Sizes of local steps, in standard deviations of kernel and noise together. [few]
LOCAL_STEPS = (0.02, 1.0)
# Candidates that are polished, and steps of L-BFGS for each. [guard]
POLISHED, POLISH_STEPS = 2, 12
# Dimensions up to which local steps change all coordinates; beyond, half of them change so many.
# [few]
ALL_COORDINATES, SOME_COORDINATES = 4, 3

# Whole numbers and options that change in a local candidate, on average. [guard]
JUMPS = 1.0

# Draws of the law of x by which a risk is averaged over the model; less where that would take more
# covariances than these, but so many at least. [guard]
RISK_DRAWS, LEAST_RISK_DRAWS = 128, 16
CLAIM_DRAWS = 1024
RISK_ENTRIES = 2_000_000
# Evaluations of slopes, for each step of L-BFGS; of E f at most so many in all. [guard]
RISK_SLOPES, MOST_SLOPES = 1.5, 15_000
# Candidates that are compared by all draws. [guard]
SHORT_LIST = 24

# --- search ---

# Rows of the space-filling design for each coordinate, and one more: the first up to this budget,
# the second from twice as much on. At 30 evaluations two for each are worse by a factor of two; at
# 60 with one for each 4 of 5 runs on Hartmann's function end in its second basin. [few]
DESIGN, DESIGN_BUDGET = (1, 2), 30
# Values below which there is no model. [guard]
LEAST_ROWS = 3
# One in so many points is of the space-filling sequence. [few]
EXPLORE = 10
# While all values are equal: every fourth point is a draw around x0, so many sigma0 wide, as
# `LOST_WIDTH` of the evolution strategy. What lies 2 (2.5) sigma0 away in 4 (5) coordinates, of a
# radius of 1.5, is met within 150 (400) points by 0.77 (0.57) of 60 seeds, and with points in boxes
# alone by 0.42 (0.20); what lies 3 away in each of 5 coordinates by as many. [prior]
FLAT_WIDTH = 2.0
# Where most evaluations fail, these draws are of so many widths, each half of the one before: what
# works may be a ball of sigma0 in 20 coordinates, where draws are 1.1 sigma0 away at 1/4. [prior]
HALVINGS = 4
# Halvings, after a failure, of the box in which improvements are sought, and at most. A value takes
# one back: two failures for each value keep it as it is. [guard]
RETREAT, MOST_RETREAT = 0.5, 6.0
# Where no evaluation promises more than this share of how much E f differs between the places that
# were tried, one point in so many is sought away from the answer: further, in each coordinate on
# average, than this share of a length and the noise. [few]
RESOLVED, ELSEWHERE, BASIN = 0.01, 2, 1.0
# Not before so many points: the campaign of docs/tutorial.md ends with 84.0 % of yield after 96
# with none elsewhere, and with 82.8 % where half of them are as soon as little is promised. [few]
ELSEWHERE_FROM = 100
# The first region reaches so many sigma0 from x0. [few]
REACH = 4.0
# A side without bound reaches this share of the region beyond the answer. [few]
GROW = 0.25
# Points that are asked for at once, unless the caller says: one in so many rows, at most so many.
# Small batches lose nothing beyond 60 rows, and cost less time. [few]
BATCH_SHARE, LARGEST_BATCH = 1 / 15, 4
# Evaluations under way that are remembered. [guard]
MOST_PENDING = 256

# --- answer ---

# The answer is near a theta that was tried: within a standard deviation of the noise and this share
# of a length. [few]
NEAR = 0.1
# Standard deviations that count against an answer. [few]
CAUTION = 1.0
# Tried theta from which the answer is sought, and steps of L-BFGS for each. [guard]
ANSWERS, ANSWER_STEPS = 3, 30
# Draws of a law that is not Gaussian by which answers are compared. [guard]
LAW_DRAWS = 128
# Points near the best that are compared by them. [guard]
LAW_ANSWERS = 63
# Share of a length that stands for the spread of the search. [guard]
SPREAD = 0.1
