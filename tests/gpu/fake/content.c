/* SPDX-License-Identifier: Apache-2.0 */
/* What mapped memory holds. It is kept as long as the physical memory lives, zeros at first; memory by pointer has none, as
 * nobody needs it. Addresses that are reserved and have no memory behind them cannot be touched. */
#include <string.h>
#include <sys/mman.h>

#include "exports.h"

struct reserved {
    uint64_t address, bytes;
};

enum { RESERVED_MAX = 4096 };

static struct reserved reserved[RESERVED_MAX];

void fake_reserve(uint64_t address, uint64_t bytes)
{
    for (int i = 0; i < RESERVED_MAX; i++) {
        if (reserved[i].bytes == 0) {
            reserved[i] = (struct reserved){address, bytes};
            return;
        }
    }
}

bool fake_unreserve(uint64_t address)
{
    for (int i = 0; i < RESERVED_MAX; i++) {
        if (reserved[i].bytes > 0 && reserved[i].address == address) {
            reserved[i].bytes = 0;
            return true;
        }
    }
    return false;
}

static bool is_reserved(uint64_t address)
{
    for (int i = 0; i < RESERVED_MAX; i++) {
        if (address - reserved[i].address < reserved[i].bytes)
            return true;
    }
    return false;
}

cu_result fake_touch(uint64_t address, uint64_t bytes, uint8_t **ret_content)
{
    *ret_content = NULL;
    struct fake_range *range = fake_ranges;
    while (range && (range->memory != FAKE_MAPPED || address - range->address >= range->bytes))
        range = range->next;
    if (!range)
        return is_reserved(address) ? CU_ILLEGAL_ADDRESS : CU_SUCCESS;
    struct fake_object *block = range->of;
    if (block->gpu < 0)
        return CU_SUCCESS;
    if (address - range->address + bytes > range->bytes)
        return CU_INVALID_VALUE;
    if (!block->content) {
        void *content =
            mmap(NULL, block->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (content == MAP_FAILED)
            return CU_OUT_OF_MEMORY;
        block->content = content;
    }
    *ret_content = block->content + (address - range->address);
    return CU_SUCCESS;
}

/* Memory that goes back with something in it is noted under this name: the next owner could read it. */
void fake_drop_content(struct fake_object *block)
{
    if (!block->content)
        return;
    bool is_clear = block->content[0] == 0 && memcmp(block->content, block->content + 1, block->bytes - 1) == 0;
    if (!is_clear)
        (void)fake_fault("uncleared");
    (void)munmap(block->content, block->bytes);
    block->content = NULL;
}

static cu_result copy(uint64_t to, uint64_t from, uint64_t bytes, bool to_device, bool from_device)
{
    uint8_t *target = (uint8_t *)(uintptr_t)to, *source = (uint8_t *)(uintptr_t)from;
    cu_result result = to_device ? fake_touch(to, bytes, &target) : CU_SUCCESS;
    if (result == CU_SUCCESS && from_device)
        result = fake_touch(from, bytes, &source);
    if (result == CU_SUCCESS && target && source)
        memcpy(target, source, bytes);
    return result;
}

cu_result fake_move(const char *name, const uint64_t *words)
{
    bool is_whole = strstr(name, "_v2") != NULL;
    uint8_t *content;
    if (is_whole && strncmp(name, "cuMemcpyHtoD", 12) == 0)
        return copy(words[0], words[1], words[2], true, false);
    if (is_whole && strncmp(name, "cuMemcpyDtoH", 12) == 0)
        return copy(words[0], words[1], words[2], false, true);
    if (strncmp(name, "cuMemsetD8", 10) == 0 && (is_whole || strncmp(name, "cuMemsetD8Async", 15) == 0)) {
        cu_result result = fake_touch(words[0], words[2], &content);
        if (result == CU_SUCCESS && content)
            memset(content, (uint8_t)words[1], words[2]);
        return result;
    }
    return CU_SUCCESS;
}

cu_result fake_add_one(uint64_t address)
{
    uint8_t *content;
    uint64_t value;
    cu_result result = fake_touch(address, sizeof value, &content);
    if (result != CU_SUCCESS || !content)
        return result;
    memcpy(&value, content, sizeof value);
    value++;
    memcpy(content, &value, sizeof value);
    return CU_SUCCESS;
}

/* Questions about memory: answered by whether there is any. */
static cu_result ask(uint64_t address)
{
    uint8_t *content;
    fake_lock();
    cu_result result = fake_touch(address, 0, &content);
    fake_unlock();
    return result == CU_SUCCESS ? CU_SUCCESS : CU_INVALID_VALUE;
}

#define ASKS(name, handler, address)             \
    FAKE_EXPORT cu_result name(PARAMS_##handler) \
    {                                            \
        BEGIN(name);                             \
        (void)a, (void)b, (void)c;               \
        return ask(address);                     \
    }

ASKS(cuMemGetAddressRange, held3, c)
ASKS(cuMemGetAddressRange_v2, held3, c)
ASKS(cuPointerGetAttribute, held3, c)
ASKS(cuPointerSetAttribute, held3, c)
#define ASKS4(name, address)                 \
    FAKE_EXPORT cu_result name(PARAMS_held4) \
    {                                        \
        BEGIN(name);                         \
        (void)a, (void)b, (void)c, (void)d;  \
        return ask(address);                 \
    }

ASKS4(cuPointerGetAttributes, d)
ASKS4(cuTexObjectCreate, 0)
ASKS4(cuStreamWaitValue32, b)
ASKS4(cuStreamWaitValue32_ptsz, b)
ASKS4(cuStreamWaitValue32_v2, b)
ASKS4(cuStreamWaitValue32_v2_ptsz, b)
ASKS4(cuStreamWaitValue64, b)
ASKS4(cuStreamWaitValue64_ptsz, b)
ASKS4(cuStreamWaitValue64_v2, b)
ASKS4(cuStreamWaitValue64_v2_ptsz, b)

FAKE_EXPORT cu_result cuMemGetHandleForAddressRange(PARAMS_export_range)
{
    BEGIN(cuMemGetHandleForAddressRange);
    (void)a, (void)c, (void)d, (void)e;
    return ask(b);
}
