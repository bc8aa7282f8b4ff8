#pragma once

#include "lb/kernel.h"  // VALID and INVALID
