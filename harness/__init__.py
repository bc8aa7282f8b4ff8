"""The workbench: contract, oracle, targets, checks, comparisons and the command line."""
