"""The emulated Blackhole: ttnn's names over torch, with the device's rounding at every op boundary."""
