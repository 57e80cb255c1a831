/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A mutex of one word that needs nothing but the kernel: old C libraries keep their mutexes in a library of their own,
 * which a tenant may not have loaded. All zeros is unlocked, so a forked child frees every lock by clearing it.
 * Nothing is ever called in the driver while one is held. */

#include <stdatomic.h>

struct lock {
    atomic_uint word;  // 0 free, 1 held, 2 held and waited for
};

void lock_take(struct lock *lock);
void lock_give(struct lock *lock);

/* Sleeps while `*word` is `expected`, at most `timeout_ns` (forever when negative); may wake early. The word may lie in
 * memory shared with other processes, also read-only. */
void futex_wait(const atomic_uint *word, unsigned expected, long long timeout_ns);

/* Wakes all that sleep on the word, in this and other processes. */
void futex_wake(const atomic_uint *word);
