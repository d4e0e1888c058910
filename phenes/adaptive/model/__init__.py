"""Models of f by one least squares: a quadratic for Newton steps, a surrogate for screening."""
