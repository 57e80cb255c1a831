/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/strmap.h"
#include "base/vec.h"
#include "services/scheduler/intake/daybook.h"

/* Sums are amounts times seconds, so that samples of another resolution can stand beside them. */
struct bucket_entry {
    uint32_t queue;
    double sums[SHARE_COUNT];
};

struct bucket {
    nsec_t first, last;  // samples
    uint32_t count;
    double capacity[SHARE_COUNT];
    VEC(struct bucket_entry) entries;
};

struct daybook {
    VEC(char *) queues;     // by number
    struct strmap numbers;  // the numbers, and one
    VEC(struct bucket) buckets;
    uint32_t hint;  // of the entry that comes next: queues come in the same order each time
    nsec_t length;  // of buckets, which begin at multiples of it
    double step_s;  // of the sample that is being added
};

/* The number of a queue, which has one from now on. */
uint32_t daybook_queue(struct daybook *daybook, const char *name);
