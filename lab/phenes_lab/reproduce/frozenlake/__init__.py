"""The paper's FrozenLake experiments (section 6.2, appendix), and a clean comparison."""
