"""phenes beside the libraries that people use today, on BBOB under input noise: run -> store ->
scores, picture, report.

outcome = run(PeersSettings(dims=(10,), sigmas=(0.1,)), Path("out/peers"), resume=True)
"""
