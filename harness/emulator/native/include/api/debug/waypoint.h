// Waypoints compile to nothing: a fault's report says where each thread is.
#pragma once

#define WAYPOINT(x)
