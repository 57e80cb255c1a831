/* SPDX-License-Identifier: Apache-2.0 */
/* What only counts: every copy and fill in all its variants, and pinned memory of the host. The test compares the sums with
 * what the daemon saw. */
#include <stdio.h>
#include <string.h>

#include "driver.h"

/* What may lie in the upper half of a word that carries 32 bits. */
#define GARBAGE (UINT64_C(0xdeadbeef) << 32)
#define AT(object) ((uint64_t)(uintptr_t)&(object))

static const struct cu_copy_2d flat = {.width = 3, .height = 2};
static const struct cu_copy_2d_v1 flat_old = {.width = 3, .height = 2};
static const struct cu_copy_3d solid = {.width = 4, .height = 3, .depth = 2};
static const struct cu_copy_3d_v1 solid_old = {.width = 4, .height = 3, .depth = 2};
static const struct cu_copy_box boxes[2] = {{.width = 4, .height = 3, .depth = 2},
                                            {.width = 5, .height = 1, .depth = 1}};
static const struct cu_fabric_copy copies[2] = {{.bytes = 7}, {.bytes = 50}};
static const struct cu_decompress parts[2] = {{.to_bytes = 10}, {.to_bytes = 20}};
static const size_t sizes[3] = {1, 10, 100};

static const struct {
    const char *name;
    const char *handler;
} rows[] = {
#define X(name, handler) {#name, #handler},
    TRAFFIC_HOOKS(X)
#undef X
};

typedef cu_result words_fn(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);

/* Calls one; the bytes that it should have moved, or 0 when nobody knows. */
static uint64_t call(const char *name, const char *handler, cu_result *ret_result)
{
    const struct {
        const char *handler;
        uint64_t words[9];
        uint64_t bytes;
    } shapes[] = {
        {"copy3", {0, 0, 100}, 100},
        {"copy4", {0, 0, 100}, 100},
        {"copy5", {0, 0, 100}, 100},
        {"copy3_old", {0, 0, GARBAGE | 100}, 100},
        {"copy4_old", {0, 0, GARBAGE | 100}, 100},
        {"copy_array4", {0, 0, 0, 100}, 100},
        {"copy_array5", {0, 0, 0, 100}, 100},
        {"copy_array4_old", {0, 0, 0, GARBAGE | 100}, 100},
        {"copy_array5_old", {0, 0, 0, GARBAGE | 100}, 100},
        {"copy_between5", {0, 0, 0, 0, 100}, 100},
        {"copy_between6", {0, 0, 0, 0, 100}, 100},
        {"copy_between5_old", {0, 0, 0, 0, GARBAGE | 100}, 100},
        {"copy_2d1", {AT(flat)}, 6},
        {"copy_2d2", {AT(flat)}, 6},
        {"copy_2d1_old", {AT(flat_old)}, 6},
        {"copy_2d2_old", {AT(flat_old)}, 6},
        {"copy_3d1", {AT(solid)}, 24},
        {"copy_3d2", {AT(solid)}, 24},
        {"copy_3d1_old", {AT(solid_old)}, 24},
        {"copy_3d2_old", {AT(solid_old)}, 24},
        {"copy_box3", {AT(boxes)}, 24},
        {"copy_boxes4", {2, AT(boxes)}, 29},
        {"copy_boxes5", {2, AT(boxes)}, 29},
        {"copy_batch8", {0, 0, AT(sizes), 3}, 111},
        {"copy_batch9", {0, 0, AT(sizes), 3}, 111},
        {"fabric_copy4", {2, AT(copies)}, 57},
        {"decompress5", {AT(parts), 2}, 30},
        {"prefetch4", {0, 100}, 100},
        {"prefetch5", {0, 100}, 100},
        {"prefetch_batch8", {0, AT(sizes), 3}, 111},
        {"set1_3", {0, 0, 100}, 100},
        {"set1_4", {0, 0, 100}, 100},
        {"set1_3_old", {0, 0, GARBAGE | 100}, 100},
        {"set1_5", {0, 0, 0, 10, 3}, 30},
        {"set1_6", {0, 0, 0, 10, 3}, 30},
        {"set1_5_old", {0, 0, 0, GARBAGE | 10, GARBAGE | 3}, 30},
        {"set2_3", {0, 0, 100}, 200},
        {"set2_4", {0, 0, 100}, 200},
        {"set2_3_old", {0, 0, GARBAGE | 100}, 200},
        {"set2_5", {0, 0, 0, 10, 3}, 60},
        {"set2_6", {0, 0, 0, 10, 3}, 60},
        {"set2_5_old", {0, 0, 0, GARBAGE | 10, GARBAGE | 3}, 60},
        {"set4_3", {0, 0, 100}, 400},
        {"set4_4", {0, 0, 100}, 400},
        {"set4_3_old", {0, 0, GARBAGE | 100}, 400},
        {"set4_5", {0, 0, 0, 10, 3}, 120},
        {"set4_6", {0, 0, 0, 10, 3}, 120},
        {"set4_5_old", {0, 0, 0, GARBAGE | 10, GARBAGE | 3}, 120},
        {"write4", {0}, 4},
        {"write8", {0}, 8},
        {"write_batch4", {0, GARBAGE | 5}, 40},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const uint64_t *w = shapes[i].words;
        if (strcmp(shapes[i].handler, handler) == 0) {
            *ret_result = ((words_fn *)cuda(name))(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8]);
            return shapes[i].bytes;
        }
    }
    return 0;
}

static void pin(uint64_t *pinned)
{
    static char memory[4096];
    void *first = NULL, *second = NULL, *third = NULL;
    check(CALL(cuMemHostAlloc, pinned_alloc)(&first, 1000, 0) == CU_SUCCESS &&
              CALL(cuMemAllocHost_v2, pinned_alloc_v2)(&second, 200) == CU_SUCCESS &&
              CALL(cuMemAllocHost, pinned_alloc_v1)(&third, 30) == CU_SUCCESS &&
              CALL(cuMemHostRegister_v2, pinned_register)(memory, sizeof memory, 0) == CU_SUCCESS,
          "memory of the host is pinned, whatever the limit");
    check(CALL(cuMemFreeHost, pinned_end)(second) == CU_SUCCESS &&
              CALL(cuMemHostUnregister, pinned_end)(memory) == CU_SUCCESS &&
              CALL(cuMemHostRegister, pinned_register_v1)(memory, 7, 0) == CU_SUCCESS,
          "some of it is let go");
    check(CALL(cuMemFreeHost, pinned_end)(NULL) == CU_INVALID_VALUE, "what is not pinned is the driver's to refuse");
    *pinned = 1000 + 30 + 7;
}

static void traffic(void)
{
    uint64_t moved = 0, pinned = 0;
    int wrong = 0;
    begin();
    uint64_t before = told_free();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cu_result result = CU_UNKNOWN;
        uint64_t bytes = call(rows[i].name, rows[i].handler, &result);
        if (result != CU_SUCCESS || bytes == 0) {
            printf("# %s: %d\n", rows[i].name, result);
            wrong++;
        }
        moved += bytes;
    }
    check_equal((uint64_t)wrong, 0, "copies and fills pass, %zu of them", sizeof rows / sizeof *rows);
    pin(&pinned);
    check_equal(told_free(), before, "none of them is charged");
    cu_result (*set_current)(void *) = (cu_result(*)(void *))cuda("cuCtxSetCurrent");
    (void)set_current(NULL);
    check(CALL(cuMemcpyAsync, copy4)(0, 0, 100, 0) == CU_INVALID_CONTEXT, "what the driver refuses is not counted");
    printf("# moved %llu pinned %llu\n", (unsigned long long)moved, (unsigned long long)pinned);
}

const struct test_case traffic_cases[] = {{"traffic", traffic}, {NULL, NULL}};
