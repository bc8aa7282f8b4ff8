// What moves between wo and the output.
#pragma once

#include "../shared/norm_multicast.h"
#include "../shared/norm_owners.h"

// From the partial results of wo to those of w2: to their owners, x1 to the leaders, its norm from them, columns of the
// product of w1 and w3 to the group, partial results of w2 to their owners. Runtime args of the leaders' coordinates
// follow those of w2; filled: semaphore of a leader; norm_over: what to do when nobody needs the norm any more.
template <uint32_t rows, uint32_t columns, uint32_t groups, uint32_t parts, typename Work>
inline void move_sums(const Split& wo, const Split& w2, uint32_t filled, uint32_t hidden, Work norm_over) {
    scatter<rows, columns, groups, parts>(wo);
    send_to_leaders<rows>(wo, filled, w2.end());
    receive_norm(rows, hidden);
    gather<rows>(w2);
    norm_over();
    scatter<rows, columns, groups, parts>(w2);
}
