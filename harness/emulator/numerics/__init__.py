"""What the device computes, value by value: the matrix engine, the vector unit, and the kernels built on them."""
