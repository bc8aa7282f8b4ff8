// The machine: runs one program read from standard input and prints its verdict and counts as one JSON object. With the
// argument `constants` it prints the table of its constants instead.
#include <sys/resource.h>
#include <unistd.h>
#include <iostream>
#include <set>

#include "fault.h"
#include "tensix.h"

namespace lb {

void read_job(std::istream& in);

namespace {

constexpr int kSliceSeconds = 3;         // of CPU time without a call to the machine: an endless loop
constexpr rlim_t kMaxData = 8ull << 30;  // private memory

void print_counts(const Core& core) {
    const Counts& c = core.counts;
    printf(
        "{\"core\": [%d, %d], \"dram_reads\": %lu, \"dram_read_bytes\": %lu, \"dram_writes\": %lu, "
        "\"dram_write_bytes\": %lu, \"l1_reads\": %lu, \"l1_read_bytes\": %lu, \"l1_writes\": %lu, "
        "\"l1_write_bytes\": %lu, \"multicasts\": %lu, \"multicast_bytes\": %lu, \"atomics\": %lu, "
        "\"read_barriers\": %lu, \"write_barriers\": %lu, \"most_reads_in_flight\": %lu, \"tile_ops\": {",
        core.x, core.y, c.dram_reads, c.dram_read_bytes, c.dram_writes, c.dram_write_bytes, c.l1_reads, c.l1_read_bytes,
        c.l1_writes, c.l1_write_bytes, c.multicasts, c.multicast_bytes, c.atomics, c.read_barriers, c.write_barriers,
        c.most_reads_in_flight);
    const char* comma = "";
    for (const auto& [name, n] : c.tile_ops) {
        printf("%s\"%s\": %lu", comma, name.c_str(), n);
        comma = ", ";
    }
    printf("}, \"cb_high_water\": {");
    comma = "";
    for (int i = 0; i < kMaxCbs; ++i) {
        if (!core.cbs[size_t(i)].exists) continue;
        printf("%s\"%d\": %u", comma, i, core.cbs[size_t(i)].high_water);
        comma = ", ";
    }
    printf("}, \"threads\": {");
    comma = "";
    for (const Thread* t : core.threads) {
        if (!t) continue;
        printf("%s\"%s\": {\"end\": %lu", comma, role_name(t->role), t->clock);
        for (int i = 0; i < kStalls; ++i) printf(", \"%s\": %lu", kStallNames[i], t->stalls[i]);
        printf("}");
        comma = ", ";
    }
    printf("}}");
}

uint64_t launch_cycles() {
    std::set<const Core*> cores;
    for (const Thread& t : machine.threads) cores.insert(t.core);
    return machine.chip.launch + uint64_t(machine.chip.skew * double(cores.size()));
}

void print_result() {
    printf("{\"status\": \"ok\", \"clock_mhz\": %lu, \"launch_cycles\": %lu, \"dram_once_bytes\": %lu, \"cores\": [",
           machine.chip.clock_mhz, launch_cycles(), machine.dram_once_bytes);
    const char* comma = "";
    for (const Core& core : machine.cores) {
        bool used = false;
        for (const Thread* t : core.threads) used |= t != nullptr;
        if (!used) continue;
        printf("%s", comma);
        print_counts(core);
        comma = ",\n";
    }
    printf("], \"written\": {");
    for (const Space space : {Space::Dram, Space::L1}) {
        printf("%s: [", space == Space::Dram ? "\"dram\"" : ", \"l1\"");
        comma = "";
        for (const Buffer& b : machine.buffers) {
            if (b.space != space || !(b.written || space == Space::L1)) continue;
            printf("%s%u", comma, b.address);
            comma = ", ";
        }
        printf("]");
    }
    printf("}");
    if (machine.timeline.on) {
        printf(",\n\"timeline\": ");
        print_timeline();
    }
    printf("}\n");
}

}  // namespace
}  // namespace lb

int main(int argc, char** argv) {
    if (argc == 2 && std::string(argv[1]) == "constants") {
        lb::print_constants();
        return 0;
    }
    const rlimit limit{lb::kMaxData, lb::kMaxData};
    setrlimit(RLIMIT_DATA, &limit);
    lb::read_job(std::cin);
    lb::install_signal_handlers(lb::kSliceSeconds);
    lb::run_all();
    lb::print_result();
    fflush(stdout);
    _exit(0);
}
