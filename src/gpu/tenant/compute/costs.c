/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/tenant/compute/costs.h"

#include <stdatomic.h>
#include <stddef.h>

enum {
    PLACES = 1024,
    WAYS = 4,
};

/* A place by the hash of the handle, with room for some that share it. */
static struct {
    _Atomic(const void *) what;
    _Atomic uint64_t ns;
} costs[PLACES][WAYS];

static size_t place_of(const void *what)
{
    return (size_t)((uint64_t)(uintptr_t)what * 0x9e3779b97f4a7c15u >> 54) % PLACES;
}

uint64_t cost_of(const void *what)
{
    size_t at = place_of(what);
    for (int i = 0; i < WAYS; i++) {
        if (atomic_load_explicit(&costs[at][i].what, memory_order_relaxed) == what)
            return atomic_load_explicit(&costs[at][i].ns, memory_order_relaxed);
    }
    return 0;
}

/* Where the place is full, one after the other has to go. */
static int way_for(size_t at, const void *what)
{
    static atomic_uint next;
    int room = -1;
    for (int i = 0; i < WAYS; i++) {
        const void *found = atomic_load_explicit(&costs[at][i].what, memory_order_relaxed);
        if (found == what)
            return i;
        if (!found && room < 0)
            room = i;
    }
    return room >= 0 ? room : (int)(atomic_fetch_add_explicit(&next, 1, memory_order_relaxed) % WAYS);
}

void cost_learn(const void *what, uint64_t ns)
{
    size_t at = place_of(what);
    int way = way_for(at, what);
    uint64_t old = cost_of(what);
    ns = ns < COST_LEAST_NS ? COST_LEAST_NS : ns;
    atomic_store_explicit(&costs[at][way].ns, old ? (old * 3 + ns) / 4 : ns, memory_order_relaxed);
    atomic_store_explicit(&costs[at][way].what, what, memory_order_relaxed);
}
