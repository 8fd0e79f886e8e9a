/* A driver library as small as one can be: what `runtime/vta/driver.py` is tested with.

   It has the C interface of the original driver, and in place of a board an interpreter of the instruction set for the
   default configuration (1x16x16, int8, 32 KiB of micro-ops and inputs, 256 KiB of weights, 128 KiB of accumulators).
   Instructions are executed in program order; dependency flags are not looked at.

   Memory is one pool. The CPU and the device each see a copy of it, as if nothing were coherent: what the CPU writes
   reaches the device when it is flushed, and what the device writes reaches the CPU when the cache is invalidated.
   `VTATestState` returns 1 if everything that was allocated has been freed. */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { POOL = 1 << 25, FIRST = 0x10000000, UOPS = 8192, INPS = 2048, WGTS = 1024, ACCS = 2048, N = 16 };

static uint8_t host[POOL], device_view[POOL];
static size_t used;
static int allocated;

typedef struct {
  uint32_t uop[UOPS];
  int8_t inp[INPS][N];
  int8_t wgt[WGTS][N][N];
  int32_t acc[ACCS][N];
} Device;

/* Memory */

void *VTAMemAlloc(size_t size, int cached) {
  (void)cached;
  size_t start = (used + 4095) / 4096 * 4096 + 64; /* on no boundary of large elements */
  if (start + size > POOL) return NULL;
  used = start + size;
  ++allocated;
  return host + start;
}

void VTAMemFree(void *memory) {
  (void)memory;
  if (--allocated == 0) used = 0;
}

uint32_t VTAMemGetPhyAddr(void *memory) { return FIRST + (uint32_t)((uint8_t *)memory - host); }

void VTAMemCopyFromHost(void *to, const void *from, size_t size) { memcpy(to, from, size); }

void VTAMemCopyToHost(void *to, const void *from, size_t size) { memcpy(to, from, size); }

void VTAFlushCache(void *memory, uint32_t address, int size) {
  memcpy(device_view + (address - FIRST), memory, (size_t)size);
}

void VTAInvalidateCache(void *memory, uint32_t address, int size) {
  memcpy(memory, device_view + (address - FIRST), (size_t)size);
}

/* The device */

void *VTADeviceAlloc(void) {
  ++allocated;
  return calloc(1, sizeof(Device));
}

void VTADeviceFree(void *device) {
  --allocated;
  free(device);
}

int VTATestState(void) { return allocated == 0; }

static uint32_t bits(const uint64_t *words, int first, int width) {
  return (uint32_t)(words[first / 64] >> first % 64) & (uint32_t)((1ull << width) - 1);
}

static uint8_t *at(uint32_t element, int size) { return device_view + ((uint64_t)element * size - FIRST); }

static void load(Device *d, const uint64_t *i) {
  uint32_t memory = bits(i, 7, 3), sram = bits(i, 10, 16), dram = bits(i, 26, 32);
  uint32_t y = bits(i, 64, 16), x = bits(i, 80, 16), stride = bits(i, 96, 16);
  uint32_t above = bits(i, 112, 4), below = bits(i, 116, 4), left = bits(i, 120, 4), right = bits(i, 124, 4);
  if (x == 0) return;
  for (uint32_t row = 0; row < above + y + below; ++row)
    for (uint32_t column = 0; column < left + x + right; ++column, ++sram) {
      int inside = row >= above && row < above + y && column >= left && column < left + x;
      uint32_t element = dram + (row - above) * stride + column - left;
      switch (memory) {
        case 0: d->uop[sram] = 0; if (inside) memcpy(&d->uop[sram], at(element, 4), 4); break;
        case 1: memset(d->wgt[sram], 0, N * N); if (inside) memcpy(d->wgt[sram], at(element, N * N), N * N); break;
        case 2: memset(d->inp[sram], 0, N); if (inside) memcpy(d->inp[sram], at(element, N), N); break;
        case 3: memset(d->acc[sram], 0, 4 * N); if (inside) memcpy(d->acc[sram], at(element, 4 * N), 4 * N); break;
        default:
          for (int lane = 0; lane < N; ++lane) d->acc[sram][lane] = inside ? (int8_t)at(element, N)[lane] : 0;
      }
    }
}

static void store(Device *d, const uint64_t *i) {
  uint32_t sram = bits(i, 10, 16), dram = bits(i, 26, 32);
  uint32_t y = bits(i, 64, 16), x = bits(i, 80, 16), stride = bits(i, 96, 16);
  for (uint32_t row = 0; row < y; ++row)
    for (uint32_t column = 0; column < x; ++column, ++sram)
      for (int lane = 0; lane < N; ++lane)
        at(dram + row * stride + column, N)[lane] = (uint8_t)d->acc[sram][lane];
}

static void multiply(Device *d, uint32_t dst, uint32_t src, uint32_t wgt) {
  for (int row = 0; row < N; ++row) {
    uint32_t sum = (uint32_t)d->acc[dst][row];
    for (int k = 0; k < N; ++k) sum += (uint32_t)(d->inp[src][k] * d->wgt[wgt][row][k]);
    d->acc[dst][row] = (int32_t)sum;
  }
}

static int32_t apply(uint32_t operation, int32_t a, int32_t b) {
  switch (operation) {
    case 0: return a < b ? a : b;
    case 1: return a > b ? a : b;
    case 2: return (int32_t)((uint32_t)a + (uint32_t)b);
    case 3: return b >= 0 ? a >> b : (int32_t)((uint32_t)a << -b);
    default: return (int32_t)((uint32_t)a * (uint32_t)b);
  }
}

static void loops(Device *d, const uint64_t *i, int gemm) {
  uint32_t reset = bits(i, 7, 1), begin = bits(i, 8, 13), end = bits(i, 21, 14);
  for (uint32_t outer = 0; outer < bits(i, 35, 14); ++outer)
    for (uint32_t inner = 0; inner < bits(i, 49, 14); ++inner)
      for (uint32_t each = begin; each < end; ++each) {
        uint32_t uop = d->uop[each];
        uint32_t dst = (uop & 2047) + outer * bits(i, 64, 11) + inner * bits(i, 75, 11);
        uint32_t src = (uop >> 11 & 2047) + outer * bits(i, 86, 11) + inner * bits(i, 97, 11);
        uint32_t wgt = (uop >> 22) + outer * bits(i, 108, 10) + inner * bits(i, 118, 10);
        if (gemm && reset) memset(d->acc[dst], 0, 4 * N);
        else if (gemm) multiply(d, dst, src, wgt);
        else
          for (int lane = 0; lane < N; ++lane) {
            int32_t other = bits(i, 111, 1) ? (int16_t)bits(i, 112, 16) : d->acc[src][lane];
            d->acc[dst][lane] = apply(bits(i, 108, 3), d->acc[dst][lane], other);
          }
      }
}

int VTADeviceRun(void *device, uint32_t address, uint32_t count, uint32_t cycles) {
  for (uint32_t each = 0; each < count; ++each) {
    uint64_t words[2];
    memcpy(words, device_view + (address - FIRST) + 16 * each, 16);
    switch (bits(words, 0, 3)) {
      case 0: load(device, words); break;
      case 1: store(device, words); break;
      case 2: loops(device, words, 1); break;
      case 3: return 0;
      case 4: loops(device, words, 0); break;
    }
  }
  return cycles != 0; /* no FINISH: the time is up */
}
