/* SPDX-License-Identifier: Apache-2.0 */
/* elastic: a process that takes and gives back memory as it is told. It says "ready"; then each line that it reads is one
 * order, "take MIB" or "give" (all that it has), and each answer one line: "held MIB" or "denied MIB", with all that it holds. */
#include <stdio.h>
#include <string.h>

#include "driver.h"

enum { PIECES_MAX = 256 };

static uint64_t addresses[PIECES_MAX];
static unsigned count;
static uint64_t held_mib;

static bool take(uint64_t mib)
{
    if (count == PIECES_MAX || CALL(cuMemAlloc_v2, mem_alloc)(&addresses[count], mib * MIB) != CU_SUCCESS)
        return false;
    count++;
    held_mib += mib;
    return true;
}

static bool give(void)
{
    bool is_given = true;
    while (count > 0)
        is_given &= CALL(cuMemFree_v2, mem_free)(addresses[--count]) == CU_SUCCESS;
    held_mib = 0;
    return is_given;
}

static void elastic(void)
{
    char line[64];
    unsigned long long mib;
    begin();
    printf("ready\n");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        bool is_done = sscanf(line, "take %llu", &mib) == 1 ? take(mib) : strcmp(line, "give\n") == 0 && give();
        printf("%s %llu\n", is_done ? "held" : "denied", (unsigned long long)held_mib);
        fflush(stdout);
    }
}

const struct test_case elastic_cases[] = {{"elastic", elastic}, {NULL, NULL}};
