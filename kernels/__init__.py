"""tt-metal C++ kernels, a folder for each; launched by the files in `layer_impls/`."""
