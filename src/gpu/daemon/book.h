/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/macros.h"
#include "gpu/daemon/ledger.h"

struct err;

/*
 * What each process holds, in a file that is mapped into memory: every change is in the file at once and at no cost, so
 * that a daemon that was killed finds on its next start what its tenants have. The file means nothing after the machine
 * has started anew, since nobody holds anything then, and is begun afresh.
 */
enum { BOOK_SLOTS_MAX = 2048, BOOK_NAME_SIZE = 128 };

struct book_slot {
    uint32_t is_used;
    int32_t pid;
    uint64_t started;  // when the process began, in ticks of the kernel: tells a process from a later one of its number
    uint64_t session;
    char group[BOOK_NAME_SIZE];
    struct ledger_holding holdings[LEDGER_GPUS_MAX];
    uint64_t parked;        // bytes of host memory that it holds while it is parked
    uint32_t is_displaced;  // its group is to come back by itself
    uint32_t reserved;
};

struct book;

/* Opens or makes the file; what cannot be from this boot or this version is emptied. Returns 0 or a negative errno. */
MUST_CHECK int book_open(const char *path, struct book **ret_book, struct err *err);
void book_close(struct book *book);

/* A free slot, all zeros but in use; NULL when there is none. */
struct book_slot *book_take(struct book *book);
uint32_t book_free_count(const struct book *book);
void book_give(struct book *book, struct book_slot *slot);

/* All slots, BOOK_SLOTS_MAX of them; look at `is_used`. Their content comes from a file: check what it says. */
struct book_slot *book_slots(struct book *book);

/* When the process began; 0 when there is none of that number. */
uint64_t process_started(pid_t pid);
