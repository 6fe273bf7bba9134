"""What the grids of runs share: how they are carried out, and how their JSONs become tables and verdicts."""
