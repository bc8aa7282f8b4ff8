"""Byte-accurate device memory: banks in one sparse shared file, pages interleaved over them, a lock-step allocator.

A buffer has the same address in every bank; its page ``p`` lies in bank ``p % n_banks`` at
``address + (p // n_banks) * stride``, where the stride is the page size rounded up to the bank's alignment. DRAM and L1
are two instances of one class: DRAM's banks are the memory channels, L1's are the worker cores.
Native code maps ``Memory.fd`` (bank ``b`` starts at file offset ``b * bank_bytes``) and sees the same bytes.
"""

from __future__ import annotations

import bisect
import mmap
import os
import tempfile

import torch

N_DRAM_BANKS = 8
DRAM_BANK_BYTES = 4 << 30
# What a fresh p150 shows in ttnn 0.81.1: the first buffer's address, and the end of what may be allocated.
DRAM_BASE = 1048704
DRAM_END = 0xFF000000
DRAM_ALIGNMENT = 64

L1_BYTES = 1536 << 10
L1_BASE = 111744
L1_ALIGNMENT = 16

POISON = 0xFF  # as bf16 and fp32 this is NaN, so a result that used unwritten memory shows it


def align(n: int, to: int) -> int:
    """``n`` rounded up to a multiple of ``to``."""
    return -(-n // to) * to


class FreeList:
    """Free address ranges of one bank, all banks alike. First fit, bottom up or top down, neighbours merged on free."""

    def __init__(self, base: int, end: int, alignment: int, top_down: bool = False) -> None:
        self._free: list[tuple[int, int]] = [(align(base, alignment), end)]
        self._used: dict[int, int] = {}
        self.alignment = alignment
        self.top_down = top_down

    def allocate(self, nbytes: int) -> int:
        """Address of ``nbytes`` free bytes. Raises RuntimeError when no free range is long enough."""
        size = align(max(nbytes, 1), self.alignment)
        candidates = enumerate(self._free)
        for i, (lo, hi) in reversed(list(candidates)) if self.top_down else candidates:
            if hi - lo < size:
                continue
            address = hi - size if self.top_down else lo
            rest = (lo, address) if self.top_down else (lo + size, hi)
            self._free[i : i + 1] = [rest] if rest[0] < rest[1] else []
            self._used[address] = size
            return address
        raise RuntimeError(
            f"Out of Memory: {size} B a bank wanted, {self.free} B are free, {self.largest_free} B of them in one piece"
        )

    def release(self, address: int) -> None:
        """Give back what ``allocate`` returned. Raises RuntimeError when nothing is allocated there (double free)."""
        if address not in self._used:
            raise RuntimeError(f"nothing is allocated at address {address}: freed twice, or never allocated")
        lo, hi = address, address + self._used.pop(address)
        i = bisect.bisect_left(self._free, (lo, hi))
        if i < len(self._free) and self._free[i][0] == hi:
            hi = self._free.pop(i)[1]
        if i and self._free[i - 1][1] == lo:
            i -= 1
            lo = self._free.pop(i)[0]
        self._free.insert(i, (lo, hi))

    @property
    def free(self) -> int:
        """Free bytes a bank."""
        return sum(hi - lo for lo, hi in self._free)

    @property
    def largest_free(self) -> int:
        """Bytes of the longest free range."""
        return max((hi - lo for lo, hi in self._free), default=0)

    @property
    def used(self) -> dict[int, int]:
        """Allocated ranges as {address: bytes}."""
        return dict(self._used)


class Memory:
    """``n_banks`` banks of ``bank_bytes`` each, as one sparse file.

    ``fd``: the file, for native code. ``bytes``: the same bytes as a uint8 tensor ``[n_banks, bank_bytes]``.
    """

    def __init__(
        self, n_banks: int, bank_bytes: int, base: int, end: int, alignment: int, top_down: bool = False
    ) -> None:
        self.n_banks, self.bank_bytes = n_banks, bank_bytes
        self.base, self.end = base, end
        self.alignment = alignment
        self.fd = _sparse_file(n_banks * bank_bytes)
        self.bytes = torch.frombuffer(mmap.mmap(self.fd, n_banks * bank_bytes), dtype=torch.uint8).view(n_banks, -1)
        self.free_list = FreeList(base, end, alignment, top_down)
        self.live: dict[int, Buffer] = {}  # by address
        self._writes = 0

    def allocate(self, n_pages: int, page_bytes: int) -> Buffer:
        """A new buffer, filled with poison."""
        stride = align(page_bytes, self.alignment)
        address = self.free_list.allocate(-(-n_pages // self.n_banks) * stride)
        buffer = Buffer(self, address, n_pages, page_bytes, stride)
        self.live[address] = buffer
        self._poison(buffer)
        return buffer

    def free(self, buffer: Buffer) -> None:
        """Poison a buffer's bytes and give them back. Raises RuntimeError when it was freed before."""
        if not buffer.allocated:
            raise RuntimeError(f"the buffer at address {buffer.address} was freed before")
        self._poison(buffer)
        buffer.allocated = False
        del self.live[buffer.address]
        self.free_list.release(buffer.address)

    def wrote(self, address: int, bytes_per_bank: int) -> None:
        """Say that ``[address, address + bytes_per_bank)`` may have changed in any bank: decoded values are stale."""
        self._writes += 1
        for buffer in self.live.values():
            if buffer.address < address + bytes_per_bank and address < buffer.address + buffer.bytes_per_bank:
                buffer.version = self._writes

    def spans(self) -> list[tuple[int, int]]:
        """Allocated addresses, [start, end) in every bank."""
        return [(b.address, b.address + b.bytes_per_bank) for b in self.live.values()]

    def close(self) -> None:
        """Close the file. The bytes stay until the last tensor over them is gone."""
        os.close(self.fd)

    def _poison(self, buffer: Buffer) -> None:
        self.bytes[:, buffer.address : buffer.address + buffer.bytes_per_bank] = POISON
        self.wrote(buffer.address, buffer.bytes_per_bank)


class Buffer:
    """An interleaved buffer: ``n_pages`` pages of ``page_bytes``, at ``address`` in every bank.

    ``version`` changes with every write that may have touched it, by whichever way it came, and no two buffers of a
    memory ever share one. A freed buffer can still be read and written by its address: a trace's replay does so.
    """

    def __init__(self, memory: Memory, address: int, n_pages: int, page_bytes: int, stride: int) -> None:
        self.memory = memory
        self.address = address
        self.n_pages = n_pages
        self.page_bytes = page_bytes
        self.stride = stride
        self.version = 0
        self.allocated = True

    @property
    def bytes_per_bank(self) -> int:
        """Bytes the buffer takes in each bank."""
        return -(-self.n_pages // self.memory.n_banks) * self.stride

    def read(self, dtype: torch.dtype = torch.uint8) -> torch.Tensor:
        """A copy of all pages, ``[n_pages, page_bytes / itemsize]``."""
        out = torch.empty(self.n_pages, self.page_bytes // dtype.itemsize, dtype=dtype)
        for pages, banks in self._rounds(out, 0):
            pages.copy_(banks)
        return out

    def write(self, pages: torch.Tensor, first: int = 0) -> None:
        """Store ``pages [n, page_bytes / itemsize]`` as the pages from ``first`` on."""
        for part, banks in self._rounds(pages, first):
            banks.copy_(part)
        row = first // self.memory.n_banks
        rows = -(-(first + len(pages)) // self.memory.n_banks) - row
        self.memory.wrote(self.address + row * self.stride, rows * self.stride)

    def _rounds(self, pages: torch.Tensor, first: int) -> list[tuple[torch.Tensor, torch.Tensor]]:
        """Pair ``pages`` with the strided views of the banks that hold them: the page rows before, between and after
        whole rounds over the banks."""
        n, n_banks, size = len(pages), self.memory.n_banks, pages.element_size()
        if first + n > self.n_pages or pages.shape[1] * size != self.page_bytes:
            raise RuntimeError(
                f"pages [{first}, {first + n}) of {pages.shape[1] * size} B do not fit a buffer of "
                f"{self.n_pages} pages of {self.page_bytes} B"
            )
        whole = self.memory.bytes.view(pages.dtype)
        width = pages.shape[1]

        def banks(row: int, rows: int, lo: int, hi: int) -> torch.Tensor:
            start = (self.address + row * self.stride) // size
            stride = self.stride // size
            span = whole[lo:hi, start : start + rows * stride]
            return span.unflatten(1, (rows, stride))[..., :width].transpose(0, 1)

        result = []
        done = 0
        while done < n:
            row, lo = divmod(first + done, n_banks)
            rows = (n - done) // n_banks if lo == 0 else 0
            if rows:
                part = pages[done : done + rows * n_banks].view(rows, n_banks, width)
                result.append((part, banks(row, rows, 0, n_banks)))
                done += rows * n_banks
            else:
                count = min(n_banks - lo, n - done)
                result.append((pages[done : done + count].view(1, count, width), banks(row, 1, lo, lo + count)))
                done += count
        return result


def dram(n_banks: int = N_DRAM_BANKS) -> Memory:
    """The DRAM of one card, allocated bottom up: 8 banks on a p150."""
    return Memory(n_banks, DRAM_BANK_BYTES, DRAM_BASE, DRAM_END, DRAM_ALIGNMENT)


def l1(n_cores: int) -> Memory:
    """The L1 of ``n_cores`` worker cores, row by row of the grid, allocated top down as tt-metal does."""
    return Memory(n_cores, L1_BYTES, L1_BASE, L1_BYTES, L1_ALIGNMENT, top_down=True)


def _sparse_file(nbytes: int) -> int:
    if hasattr(os, "memfd_create"):
        fd = os.memfd_create("layerbench-memory")
    else:
        fd, path = tempfile.mkstemp(prefix="layerbench-memory")
        os.unlink(path)
    os.ftruncate(fd, nbytes)
    return fd
