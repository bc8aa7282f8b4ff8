// A semaphore of the program as an object.
#pragma once

#include "api/dataflow/noc.h"

enum class ProgrammableCoreType : uint8_t { TENSIX = 0 };

template <ProgrammableCoreType core_type = ProgrammableCoreType::TENSIX>
class Semaphore {
  public:
    explicit FORCE_INLINE Semaphore(uint32_t semaphore_id) : address_(uint32_t(get_semaphore(semaphore_id))) {}

    FORCE_INLINE void wait(uint32_t value) const { noc_semaphore_wait(word(), value); }
    FORCE_INLINE void wait_min(uint32_t value) const { noc_semaphore_wait_min(word(), value); }
    FORCE_INLINE void set(uint32_t value) { noc_semaphore_set(word(), value); }
    FORCE_INLINE uint32_t value() const { return *word(); }

    FORCE_INLINE void up(const Noc& noc, uint32_t noc_x, uint32_t noc_y, uint32_t value,
                         uint8_t = NOC_UNICAST_WRITE_VC) {
        noc_semaphore_inc(get_noc_addr(noc_x, noc_y, address_, noc.get_noc_id()), value, noc.get_noc_id());
    }
    template <NocOptions opts = NocOptions::DEFAULT>
    FORCE_INLINE void set_multicast(const Noc& noc, uint32_t noc_x_start, uint32_t noc_y_start, uint32_t noc_x_end,
                                    uint32_t noc_y_end, uint32_t num_dests, bool linked = false) {
        constexpr bool loopback = has_flag(opts, NocOptions::MCAST_INCL_SRC);
        lb_semaphore_send(address_, get_noc_multicast_addr(noc_x_start, noc_y_start, noc_x_end, noc_y_end, address_),
                          num_dests, loopback ? lb::Cast::MulticastLoopback : lb::Cast::Multicast, linked,
                          noc.get_noc_id());
    }

  private:
    FORCE_INLINE volatile uint32_t* word() const { return reinterpret_cast<volatile uint32_t*>(address_); }
    uint32_t address_;
};
