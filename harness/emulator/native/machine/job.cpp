// Reads a program: the machine, its buffers, kernels, circular buffers, semaphores, and what runs where.
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cstring>
#include <algorithm>
#include <cerrno>
#include <istream>

#include "fault.h"
#include "tensix.h"

namespace lb {

namespace {

[[noreturn]] void bad_job(const std::string& why) {
    fprintf(stderr, "machine: %s\n", why.c_str());
    _exit(2);
}

void* map(void* at, size_t bytes, int fd, off_t offset) {
    const int flags = MAP_SHARED | MAP_NORESERVE | (at ? MAP_FIXED : 0);
    void* p = mmap(at, bytes, PROT_READ | PROT_WRITE, flags, fd, offset);
    if (p == MAP_FAILED) bad_job(format("cannot map %zu bytes of memory: %s", bytes, strerror(errno)));
    return p;
}

void read_machine(std::istream& in) {
    int dram_fd, l1_fd;
    Machine& m = machine;
    in >> m.grid_x >> m.grid_y >> m.banks >> m.bank_bytes >> dram_fd >> l1_fd >> m.seed >> m.time_limit;
    m.random = m.seed * 0x9E3779B97F4A7C15ull + 1;
    m.dram = static_cast<uint8_t*>(map(nullptr, m.bank_bytes * size_t(m.banks), dram_fd, 0));
    m.dram_banks.resize(size_t(m.banks));
    m.cores.resize(size_t(m.grid_x) * m.grid_y);
    for (size_t i = 0; i < m.cores.size(); ++i) {
        Core& c = m.cores[i];
        c.index = uint16_t(i);
        c.x = uint8_t(i % m.grid_x), c.y = uint8_t(i / m.grid_x);
        c.noc_x = uint8_t(c.x < 7 ? c.x + 1 : c.x + 3), c.noc_y = uint8_t(c.y + 2);
        c.l1 = static_cast<uint8_t*>(map(c.window(), kL1Bytes, l1_fd, off_t(i) * kL1Bytes));
        c.shadow.create(kL1Bytes);
    }
    // The page with the cycle counter's register.
    mmap(reinterpret_cast<void*>(0xFFB12000), 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
         0);
}

void read_constant(std::istream& in) {
    std::string name;
    double value;
    in >> name >> value;
    if (!machine.chip.set(name, value)) bad_job("unknown constant: " + name);
}

void read_buffer(std::istream& in) {
    std::string space;
    Buffer b;
    in >> space >> b.address >> b.page >> b.stride >> b.pages;
    b.space = space == "dram" ? Space::Dram : Space::L1;
    machine.buffers.push_back(b);
    if (b.space == Space::Dram) return;
    for (Core& c : machine.cores) {
        const uint32_t bytes = b.bytes_in_bank(c.index, uint32_t(machine.cores.size()));
        if (bytes) c.shadow.own(b.address, bytes, true);
    }
}

void read_kernel(std::istream& in) {
    Kernel& k = machine.kernels.emplace_back();
    int role, noc, fp32, full_sync, precise;
    in >> k.path >> role >> noc >> fp32 >> full_sync >> precise >> k.unpack_to_dest;
    std::getline(in >> std::ws, k.name);
    k.role = Role(role);
    k.noc = uint8_t(noc);
    k.fp32_dest = fp32, k.full_sync = full_sync, k.precise = precise;
    void* object = dlopen(k.path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!object) bad_job(dlerror());
    k.entry = reinterpret_cast<void (*)()>(dlsym(object, "lb_kernel_entry"));
    if (!k.entry) bad_job(k.path + " has no entry");
}

void read_cb(std::istream& in, const std::vector<int>& cores) {
    uint32_t index, base, size, page, format_number;
    in >> index >> base >> size >> page >> format_number;
    for (const int i : cores) {
        Core& c = machine.cores[size_t(i)];
        Cb& cb = c.cbs[index];
        cb.exists = true;
        cb.base = base, cb.size = size, cb.page = page, cb.pages = size / page;
        cb.pushed_at.assign(cb.pages, 0), cb.popped_at.assign(cb.pages, 0);
        cb.format = uint8_t(format_number);
        bool tensor = false;  // a circular buffer over a tensor's memory starts with the tensor's data
        for (const Buffer& b : machine.buffers)
            tensor |= b.space == Space::L1 && b.address <= base && base < b.address + b.stride * b.pages;
        if (tensor) continue;
        memset(c.l1 + base, 0xFF, size);
        c.shadow.own(base, size, false);
    }
}

void read_semaphore(std::istream& in, const std::vector<int>& cores) {
    uint32_t id, value;
    in >> id >> value;
    const uint32_t address = kSemaphoreBase + id * kSemaphoreStride;
    for (const int i : cores) {
        Core& c = machine.cores[size_t(i)];
        memcpy(c.l1 + address, &value, 4);
        c.shadow.own(address, 4, true);
    }
}

std::vector<uint32_t> read_values(std::istream& in) {
    size_t n;
    in >> n;
    std::vector<uint32_t> values(n);
    for (uint32_t& v : values) in >> v;
    return values;
}

void read_run(std::istream& in) {
    size_t kernel, core;
    int first_x, first_y;
    in >> kernel >> core >> first_x >> first_y;
    Thread& t = machine.threads.emplace_back();
    Core& c = machine.cores[core];
    t.kernel = &machine.kernels[kernel];
    t.role = t.kernel->role;
    t.core = &c;
    t.id = uint16_t(machine.threads.size() - 1);
    c.first_x = uint8_t(first_x), c.first_y = uint8_t(first_y);
    t.args = read_values(in);
    t.common_args = read_values(in);
    memset(c.l1 + kZeros, 0, kZerosBytes);
    c.shadow.own(kZeros, kZerosBytes, true);
    const uint32_t base = kArgBase + uint32_t(t.role) * kArgBytes;
    c.shadow.own(base, kArgBytes, true);
    memcpy(c.l1 + base, t.args.data(), t.args.size() * 4);
    memcpy(c.l1 + base + kArgBytes / 2, t.common_args.data(), t.common_args.size() * 4);
    c.threads[int(t.role)] = &t;
    if (t.role < Role::Unpack || c.tensix) return;
    c.tensix = std::make_unique<Tensix>();
    c.tensix->width = t.kernel->fp32_dest ? tile::DestWidth::Bits32 : tile::DestWidth::Bits16;
    c.tensix->full_sync = t.kernel->full_sync;
    c.tensix->precise = t.kernel->precise;
    c.tensix->unpack_to_dest = t.kernel->unpack_to_dest;
}

}  // namespace

void read_job(std::istream& in) {
    std::string word;
    std::vector<int> cores;
    while (in >> word) {
        if (word == "machine") {
            read_machine(in);
        } else if (word == "chip") {
            read_constant(in);
        } else if (word == "timeline") {
            machine.timeline.on = true;
        } else if (word == "buffer") {
            read_buffer(in);
        } else if (word == "kernel") {
            read_kernel(in);
        } else if (word == "cores") {
            size_t n;
            in >> n;
            cores.resize(n);
            for (int& c : cores) in >> c;
        } else if (word == "cb") {
            read_cb(in, cores);
        } else if (word == "semaphore") {
            read_semaphore(in, cores);
        } else if (word == "run") {
            read_run(in);
        } else {
            bad_job("unknown line: " + word);
        }
    }
    std::sort(machine.buffers.begin(), machine.buffers.end(), [](const Buffer& a, const Buffer& b) {
        return a.space != b.space ? a.space < b.space : a.address < b.address;
    });
    for (Thread& t : machine.threads) {
        t.seen.seen.assign(machine.threads.size(), 0);
        t.seen.seen[t.id] = 1;
        t.cbs.resize(kMaxCbs);
        for (int i = 0; i < kMaxCbs; ++i) t.cbs[size_t(i)].rd = t.cbs[size_t(i)].wr = t.core->cbs[size_t(i)].base;
    }
}

}  // namespace lb
