// A fault ends the run: the report goes to standard output as JSON and the process exits.
#pragma once

#include <cstdarg>
#include <cstdint>
#include <string>
#include <vector>

#include "machine.h"

namespace lb {

// A second line of a report: what happened elsewhere.
struct Note {
    std::string text;
    const Thread* thread = nullptr;
    uintptr_t pc = 0;
};

[[noreturn]] void fault(const char* kind, const Thread* thread, uintptr_t pc, const std::string& message,
                        const std::vector<Note>& notes = {});
// The common case: the running thread, at its last call.
[[noreturn]] void fault(const char* kind, const std::string& message, const std::vector<Note>& notes = {});

std::string format(const char* text, ...) __attribute__((format(printf, 1, 2)));
std::string who(const Thread& t);                                // "core (1,0) reader"
std::string l1_name(const Core& core, uint32_t device_address);  // "0x1b480 (cb 2, page 1)"
std::string quoted(const std::string& s);                        // for JSON
// A code address as (shared object, offset), for the caller to turn into file and line; of a thread, or of none.
std::string location(const Thread* t, uintptr_t pc);

void install_signal_handlers(int seconds_a_slice);
void write_result(const char* status);

}  // namespace lb
