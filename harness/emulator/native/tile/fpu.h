// The FPU on whole tiles: SrcA, SrcB -> DEST.
//
// Products are formed from 5 mantissa bits of SrcA and 7 of SrcB; each fidelity phase adds the product of another pair
// of mantissa parts (LoFi: high x high; HiFi2 adds SrcA's low part; HiFi3 SrcB's; HiFi4 low x low). A dot product
// sums groups of 8 products aligned to the largest exponent of the group, then adds two groups to DEST. All tiles are
// in face order (format.h); denormal operands count as zero, infinity and NaN as large numbers.
#pragma once

#include "format.h"

namespace lb::tile {

enum class Fidelity : uint8_t { LoFi = 1, HiFi2, HiFi3, HiFi4 };  // the number of phases
enum class Binary : uint8_t { Add, Sub, Mul };
enum class Broadcast : uint8_t { None, Row, Col, Scalar };  // how operand b spreads over the tile
enum class Pool : uint8_t { Sum, Avg, Max };                // Avg is Sum: the scaler carries the division
enum class Dim : uint8_t { Row, Col, Scalar };              // Row: each row to column 0; Col: each column to row 0

// dest += in0 @ in1. in0 goes to SrcB, in1 to SrcA. For in1 transposed call transpose(in1) first.
void matmul(DestTile& dest, const SrcTile& in0, const SrcTile& in1, Fidelity fidelity, DestWidth width);

// dest = a op b, a in SrcA and b in SrcB. Mul always adds to what DEST holds, as the hardware does; Add and Sub only
// if `accumulate`. Fidelity matters to Mul alone.
void binary(Binary op, DestTile& dest, const SrcTile& a, const SrcTile& b, Broadcast broadcast, Fidelity fidelity,
            DestWidth width, bool accumulate = false);

// dest = dest op other (DEST_TO_SRCA) or other op dest (DEST_TO_SRCB). `other` is the operand unpacked to the other
// register; its format is also the one DEST is read in, so 32-bit DEST loses bits on the way. The product of a Mul
// replaces DEST. A broadcast spreads SrcB.
enum class Reuse : uint8_t { DestToSrcA, DestToSrcB };
void binary_reuse_dest(Binary op, DestTile& dest, const SrcTile& other, Reuse reuse, Broadcast broadcast,
                       Fidelity fidelity, DestWidth width, bool accumulate = false);

// Adds the reduction of `in` to what DEST holds (Max: takes the maximum with it), so a loop over tiles reduces them
// together. `scaler` is the scaler tile: only row 0 of each face is read. Dim::Scalar applies the scaler twice. Only
// the datums that PackMask keeps for the dimension are meaningful afterwards.
void reduce(Pool pool, Dim dim, DestTile& dest, const SrcTile& in, const SrcTile& scaler, Fidelity fidelity,
            DestWidth width);

// copy_tile (SrcA -> DEST): exact in 16-bit DEST; in 32-bit DEST an addition to zero, so -0, denormals -> +0 and
// NaN -> infinity, except UInt16, which lands in the low half of the word.
void copy(DestTile& dest, const SrcTile& a, DestWidth width);

// unary_bcast: SrcB -> DEST, spread over the tile.
void copy_broadcast(DestTile& dest, const SrcTile& b, Broadcast broadcast, DestWidth width);

// The 32x32 transpose: the unpacker's (16-bit and Tf32 datums on their way to SrcA) and transpose_dest's.
void transpose(SrcTile& tile);
void transpose(DestTile& tile);

}  // namespace lb::tile
