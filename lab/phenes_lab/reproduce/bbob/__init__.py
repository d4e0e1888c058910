"""The paper's Gaussian experiments on BBOB (section 6.1, appendix)."""
