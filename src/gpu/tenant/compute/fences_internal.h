/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "gpu/protocol/message.h"
#include "gpu/tenant/lock.h"

/*
 * A slot has a ring of fences in the order in which they were recorded, and a short list of streams with launches behind
 * their last fence. The lock guards both and is never held while the driver is called: who records a fence takes its
 * place in the ring first, and whoever looks at the oldest fences is alone with them.
 */
enum {
    RING = 64,
    STREAMS = 32,
    FENCE_NS = 500000,     // work between two fences, where little may be queued
    FENCES = 3,            // and where much may be, so many of them
    UNKNOWN_NS = 1000000,  // what a function is thought to take before it was seen
    FULL_NS = 1000000000,  // how long a launch waits for a place in a full ring
    PAUSE_NS = 20000,      // between two looks at it
};

enum fence_state { FENCE_FREE, FENCE_TAKEN, FENCE_RECORDED };

struct fence {
    void *event;
    void *ctx;
    void *stream;
    const void *unknown;  // the function whose cost this fence shows, if there is one
    const void *last;
    uint64_t last_ns;   // what it was thought to take when it was launched
    uint64_t known_ns;  // what the launches behind the previous fence were thought to take
    int64_t begin_ns;   // the first of them
    bool is_doubted;    // they wait for more than the device, and count no longer
    atomic_int state;
};

struct dirty {
    void *stream;
    void *ctx;
    const void *unknown;
    const void *last;
    uint64_t last_ns;
    uint64_t known_ns;
    int64_t begin_ns;
    bool is_in_use;  // somebody records its fence
    bool is_there;
};

/* An event in front of the first launch of a lease. */
struct mark {
    void *event;
    void *ctx;
    unsigned tail;  // the first fence behind it
    bool is_recorded;
};

struct fences {
    struct mark begin;
    int64_t last_end_ns;
    _Atomic uint64_t fenced_ns;  // thought to be unfinished, behind recorded fences; changed with the lock
    struct dirty dirty[STREAMS];
    struct fence ring[RING];
    struct lock lock;
    unsigned head, tail;  // the oldest in the ring, and where the next goes
    bool is_held;         // nothing is recorded on the streams in the list
    atomic_int is_looked_at;
    atomic_bool is_shared;  // with others who run at the same time
};

extern struct fences fences_all[GPU_MAX];

int64_t fences_now(void);
/* Calls that a capture elsewhere in the process would forbid are allowed between these two. */
int fences_relax(void);
void fences_restore(int mode);
/* Events are destroyed and looked at by one thread at a time. */
void fences_take_turn(struct fences *fences);
void fences_give_turn(struct fences *fences);
/* Takes a stream off the list, to record its fence; false when there is none. */
bool fences_take_dirty(struct fences *fences, void *stream, bool any, struct dirty *ret_work, struct dirty **ret_from);
/* Records the fence of what was taken off the list. False when there is no place for one now: it stays on the list. */
bool fences_finish_work(int slot, const struct dirty *work, struct dirty *from);
