// What a compiled kernel asks of the machine it runs on. The machine's executable defines these functions; the headers
// under api/ are thin wrappers around them, always inlined, so that a call's return address is a line of the kernel.
#pragma once

#include <stdint.h>

struct LocalCBInterface {
    uint32_t fifo_size;
    uint32_t fifo_limit;
    uint32_t fifo_page_size;
    uint32_t fifo_num_pages;
    uint32_t fifo_rd_ptr;
    uint32_t fifo_wr_ptr;
};

namespace lb {

// How a write leaves: to one core or to a rectangle, and whether the sender is among the receivers.
enum class Cast : uint8_t { Unicast, Multicast, MulticastLoopback };

// One kind of tile operation, as its init configures it and its calls repeat it.
enum class Fpu : uint8_t { None, Copy, Transpose, BroadcastCopy, Matmul, Binary, Reuse, Reduce };
struct Config {
    Fpu op = Fpu::None;
    uint8_t binary = 0;     // 0 add, 1 sub, 2 mul
    uint8_t broadcast = 0;  // 0 none, 1 row, 2 column, 3 scalar
    uint8_t reuse = 0;      // 1 DEST to SrcA, 2 DEST to SrcB
    uint8_t pool = 0;       // 0 sum, 1 average, 2 max
    uint8_t dim = 0;        // 0 row, 1 column, 2 scalar
    uint8_t transpose = 0;
    uint8_t accumulate = 0;  // of add and sub, a matter of the init alone
};

// A block of matmul: rows of in0, columns of in1, and the distance in tiles between rows of in0.
struct Block {
    uint32_t rows = 1, columns = 1, inner = 1;
};

enum class Sfpu : uint8_t {
    None,
    Exp,
    Recip,
    Rsqrt,
    Sqrt,
    Silu,
    Sigmoid,  // their inits load constants that the others destroy
    Square,
    Abs,
    Negative,
    Relu,
    Fill,
    Scalar,
    Copy,
    Typecast,
    Add,
    Sub,
    Rsub,
    Mul,
    Div,
    Max,
    Min,
    ReduceMax,
    ReduceSum
};
struct SfpuCall {
    Sfpu op = Sfpu::None;
    uint8_t approx = 0;
    uint8_t clamp = 1;
    uint8_t kind = 0;          // of Scalar: add, sub, rsub, mul, div; of ReduceX: row or column
    uint8_t span = 4;          // as VectorMode: 1 rows, 2 columns, 4 all
    uint8_t from = 0, to = 0;  // of Typecast
    float scalar = 1.0f;
};

}  // namespace lb

extern "C" {

// Arguments and place.
uint32_t lb_arg(int index);
uint32_t lb_common_arg(int index);
uint32_t lb_arg_address(int index);
uint32_t lb_common_arg_address(int index);
uint8_t lb_noc_coordinate(bool y, uint8_t noc);
uint8_t lb_logical_coordinate(bool y, bool relative);

// Circular buffers.
void lb_cb_reserve_back(uint32_t cb, int32_t pages);
void lb_cb_push_back(uint32_t cb, int32_t pages);
void lb_cb_wait_front(uint32_t cb, int32_t pages);
void lb_cb_pop_front(uint32_t cb, int32_t pages);
bool lb_cb_poll(uint32_t cb, int32_t pages, bool front);
const LocalCBInterface* lb_cb_interface(uint32_t cb);

// Data movement. Addresses of 64 bits are NoC addresses, those of 32 bits lie in the core's own L1.
uint64_t lb_page_address(bool dram, uint32_t base, uint32_t page_bytes, uint32_t page, uint32_t offset, uint8_t noc);
uint64_t lb_bank_address(bool dram, uint32_t bank, uint32_t address, uint8_t noc);
void lb_read(uint64_t from, uint32_t to, uint32_t bytes, uint8_t noc);
void lb_read_set_state(uint64_t from, uint32_t bytes, uint8_t noc);
void lb_read_with_state(uint32_t from, uint32_t to, uint32_t bytes, uint8_t noc);
void lb_write(uint32_t from, uint64_t to, uint32_t bytes, uint8_t noc, bool posted);
void lb_write_set_state(uint64_t to, uint32_t bytes, uint8_t noc, bool posted);
void lb_write_with_state(uint32_t from, uint32_t to, uint32_t bytes, uint8_t noc);
void lb_write_multicast(uint32_t from, uint64_t to, uint32_t bytes, uint32_t receivers, lb::Cast cast, bool linked,
                        uint8_t noc);
void lb_inline_write(uint64_t to, uint32_t value, uint8_t byte_enable, uint8_t noc);
void lb_set_trid(bool write, uint32_t trid, uint8_t noc);
void lb_read_barrier(uint8_t noc);
void lb_read_barrier_trid(uint32_t trid, uint8_t noc);
void lb_write_barrier(uint8_t noc);
void lb_write_barrier_trid(uint32_t trid, uint8_t noc);
void lb_writes_flushed(uint8_t noc, bool posted);
void lb_writes_flushed_trid(uint32_t trid, uint8_t noc);
void lb_atomic_barrier(uint8_t noc);

// Semaphores: words of L1 at 16 B distance.
uint32_t lb_semaphore_address(uint32_t id);
void lb_semaphore_set(volatile uint32_t* word, uint32_t value);
void lb_semaphore_wait(volatile uint32_t* word, uint32_t value, bool at_least);
void lb_semaphore_inc(uint64_t to, uint32_t by, uint8_t noc);
void lb_semaphore_send(uint32_t from, uint64_t to, uint32_t receivers, lb::Cast cast, bool linked, uint8_t noc);

// Compute: each is called by one of a core's three threads only.
void lb_startup_unpack(uint32_t srca_cb, uint32_t srcb_cb);
void lb_startup_math();
void lb_startup_pack(uint32_t cb);
void lb_reconfig_source(uint32_t cb, bool b);
void lb_reconfig_source_if_new(uint32_t old_cb, uint32_t new_cb, bool b);
void lb_reconfig_pack(uint32_t cb);
void lb_reconfig_pack_if_new(uint32_t old_cb, uint32_t new_cb);
uint32_t lb_tile_value(uint32_t cb, uint32_t tile, uint32_t word);
uint32_t lb_mailbox_read();
void lb_unpack_init(lb::Config config, lb::Block block);
void lb_unpack(lb::Config config, uint32_t cb_a, uint32_t tile_a, uint32_t cb_b, uint32_t tile_b, lb::Block block);
void lb_unpack_matmul(uint32_t cb_in0, uint32_t tile_in0, uint32_t cb_in1, uint32_t tile_in1, lb::Block block);
void lb_math_init(lb::Config config, lb::Block block);
void lb_math(lb::Config config, uint32_t dst, uint8_t fidelity, lb::Block block);
void lb_math_matmul(uint32_t dst, uint8_t fidelity, lb::Block block);
void lb_sfpu_init(lb::Sfpu op, bool approx);
void lb_sfpu(lb::SfpuCall call, uint32_t dst);
void lb_sfpu_binary(lb::Sfpu op, uint32_t dst_a, uint32_t dst_b, uint32_t dst_out);
void lb_dest_acquire();
void lb_dest_commit();
void lb_dest_wait();
void lb_dest_release();
void lb_pack(uint32_t dst, uint32_t cb, uint32_t tile, bool out_of_order);
void lb_pack_mask(uint8_t mask);  // 0 all, 1 column 0, 2 row 0, 3 the first datum
void lb_pack_accumulate(bool on);

// Phases, by the profiler's zones; the name must outlive the kernel.
void lb_phase_begin(const char* name);
void lb_phase_end();

[[noreturn]] void lb_assert_failed(const char* condition);
}
