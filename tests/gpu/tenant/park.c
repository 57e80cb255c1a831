/* SPDX-License-Identifier: Apache-2.0 */
/* parkable: a process with memory of every kind, that is parked and resumed from outside. It says "ready"; then each line
 * that it reads is one order, and each answer one line:
 *
 *     touch     counts a word by a kernel, another by a graph that was captured at the beginning, and copies
 *     compare   whether all memory holds what it should
 *     more      frees a piece and takes another
 *     capture   begins a stream capture, and "end" ends it
 *     export    gives a piece to others by a handle of the driver's
 *     spin MS   launches a kernel that takes so long
 *
 * TEST_PIECES pieces (4) of TEST_PIECE bytes (6 MiB) can move. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver.h"

enum { PIECES_MAX = 64, SMALL = 4096 };

static struct piece {
    uint64_t address;
    uint64_t bytes;
    uint32_t seed;
} pieces[PIECES_MAX];

static unsigned count = 4;
static uint64_t piece_bytes = 6 * MIB;
static uint64_t counter, counted, counted_by_graph;  // two words on the device, and what they should be
static void *stream, *exec_graph;

static void say(bool is_fine, const char *what)
{
    printf("%s %s\n", is_fine ? "fine" : "WRONG", what);
    fflush(stdout);
}

/* Numbers that are not the same in any two places. */
static void fill(uint8_t *bytes, uint64_t len, uint32_t seed)
{
    for (uint64_t i = 0; i + 8 <= len; i += 8) {
        uint64_t value = (i + 1) * UINT64_C(0x9e3779b97f4a7c15) + seed * UINT64_C(0xbf58476d1ce4e5b9);
        memcpy(bytes + i, &value, sizeof value);
    }
}

static bool write_piece(struct piece *piece)
{
    uint8_t *host = malloc(piece->bytes);
    fill(host, piece->bytes, piece->seed);
    bool is_written =
        CALL(cuMemcpyHtoD_v2, copy3)(piece->address, (uint64_t)(uintptr_t)host, piece->bytes) == CU_SUCCESS;
    free(host);
    return is_written;
}

static bool is_same(const struct piece *piece)
{
    uint8_t *host = malloc(piece->bytes), *expected = malloc(piece->bytes);
    memset(host, 0, piece->bytes);
    fill(expected, piece->bytes, piece->seed);
    bool is_it = CALL(cuMemcpyDtoH_v2, copy3)((uint64_t)(uintptr_t)host, piece->address, piece->bytes) == CU_SUCCESS &&
                 memcmp(host, expected, piece->bytes) == 0;
    free(host);
    free(expected);
    return is_it;
}

static uint64_t word_at(uint64_t address)
{
    uint64_t value = 0;
    (void)CALL(cuMemcpyDtoH_v2, copy3)((uint64_t)(uintptr_t)&value, address, sizeof value);
    return value;
}

static bool take_piece(struct piece *piece, uint32_t seed)
{
    *piece = (struct piece){.bytes = piece_bytes + seed % 3 * 2 * MIB, .seed = seed};
    return CALL(cuMemAlloc_v2, mem_alloc)(&piece->address, piece->bytes) == CU_SUCCESS && write_piece(piece);
}

static cu_result launch(const char *name, void *param, void *on)
{
    void *params[] = {param};
    return CALL(cuLaunchKernel, launch_kernel)(function_of(name), 1, 1, 1, 1, 1, 1, 0, on, params, NULL);
}

/* Memory that cannot move, of each kind. */
static bool take_others(void)
{
    uint64_t address;
    void *array;
    struct cu_array_descriptor shape = {.width = 1024, .height = 1024, .format = 0x20, .channels = 1};
    struct cu_allocation_prop prop = {.type = 1, .location = {CU_LOCATION_DEVICE, 0}};
    return CALL(cuMemAlloc_v2, mem_alloc)(&address, SMALL) == CU_SUCCESS &&
           CALL(cuMemAllocAsync, pool_alloc)(&address, 4 * MIB, NULL) == CU_SUCCESS &&
           CALL(cuArrayCreate_v2, array_create)(&array, &shape) == CU_SUCCESS &&
           CALL(cuMemCreate, vmm_create)(&address, 2 * MIB, &prop, 0) == CU_SUCCESS;
}

static bool capture_graph(void)
{
    cu_result (*create)(void **, unsigned) = (cu_result(*)(void **, unsigned))cuda("cuStreamCreate");
    uint64_t address = counter + 8;
    void *graph;
    return create(&stream, 0) == CU_SUCCESS && CALL(cuStreamBeginCapture_v2, capture_begin)(stream, 0) == CU_SUCCESS &&
           launch("add_one", &address, stream) == CU_SUCCESS &&
           CALL(cuStreamEndCapture, capture_end)(stream, &graph) == CU_SUCCESS &&
           CALL(cuGraphInstantiateWithFlags, graph_make_flags)(&exec_graph, graph, 0) == CU_SUCCESS;
}

static void touch(void)
{
    uint64_t host[8] = {0};
    bool is_done =
        launch("add_one", &counter, NULL) == CU_SUCCESS &&
        CALL(cuGraphLaunch, graph_launch)(exec_graph, stream) == CU_SUCCESS &&
        CALL(cuMemcpyDtoH_v2, copy3)((uint64_t)(uintptr_t)host, pieces[0].address, sizeof host) == CU_SUCCESS;
    counted++;
    counted_by_graph++;
    say(is_done && word_at(counter) == counted && word_at(counter + 8) == counted_by_graph, "touch");
}

static void compare(void)
{
    bool is_it = word_at(counter) == counted && word_at(counter + 8) == counted_by_graph;
    for (unsigned i = 0; i < count; i++)
        is_it &= is_same(&pieces[i]);
    say(is_it, "compare");
}

static void take_another(void)
{
    static unsigned turn;
    struct piece *piece = &pieces[turn++ % count];
    bool is_freed = CALL(cuMemFree_v2, mem_free)(piece->address) == CU_SUCCESS;
    say(is_freed && take_piece(piece, 1000 + turn), "more");
}

static cu_result spin(unsigned us)
{
    return launch("spin_us", &us, NULL);
}

static void obey(const char *order)
{
    void *graph;
    int handle;
    unsigned ms;
    if (strcmp(order, "touch") == 0)
        touch();
    else if (strcmp(order, "compare") == 0)
        compare();
    else if (strcmp(order, "more") == 0)
        take_another();
    else if (strcmp(order, "capture") == 0)
        say(CALL(cuStreamBeginCapture_v2, capture_begin)(stream, 0) == CU_SUCCESS, order);
    else if (strcmp(order, "end") == 0)
        say(CALL(cuStreamEndCapture, capture_end)(stream, &graph) == CU_SUCCESS, order);
    else if (strcmp(order, "export") == 0)
        say(CALL(cuMemGetHandleForAddressRange, export_range)((uint64_t)(uintptr_t)&handle, pieces[0].address, 2 * MIB,
                                                              1, 0) == CU_SUCCESS,
            order);
    else if (sscanf(order, "spin %u", &ms) == 1)
        say(spin(ms * 1000) == CU_SUCCESS, "spin");
    else
        say(false, order);
}

static void parkable(void)
{
    char line[64];
    if (getenv("TEST_PIECES"))
        count = (unsigned)strtoul(getenv("TEST_PIECES"), NULL, 10);
    if (getenv("TEST_PIECE"))
        piece_bytes = strtoull(getenv("TEST_PIECE"), NULL, 10);
    if (count == 0 || count > PIECES_MAX)
        return;
    begin();
    bool is_ready = CALL(cuMemAlloc_v2, mem_alloc)(&counter, 2 * MIB) == CU_SUCCESS && take_others() && capture_graph();
    for (unsigned i = 0; i < count; i++)
        is_ready &= take_piece(&pieces[i], i + 1);
    say(is_ready, "ready");
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = '\0';
        obey(line);
    }
}

const struct test_case park_cases[] = {{"parkable", parkable}, {NULL, NULL}};
