/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/tenant/lock.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The application may look at errno after a CUDA call as before it. */
static void futex(const atomic_uint *word, int operation, unsigned value, const struct timespec *timeout)
{
    int saved = errno;
    (void)syscall(SYS_futex, word, operation, value, timeout, NULL, 0);
    errno = saved;
}

void futex_wait(const atomic_uint *word, unsigned expected, long long timeout_ns)
{
    struct timespec timeout = {timeout_ns / 1000000000, timeout_ns % 1000000000};
    futex(word, FUTEX_WAIT, expected, timeout_ns < 0 ? NULL : &timeout);
}

void futex_wake(const atomic_uint *word)
{
    futex(word, FUTEX_WAKE, INT_MAX, NULL);
}

void lock_take(struct lock *lock)
{
    unsigned found = 0;
    if (atomic_compare_exchange_strong_explicit(&lock->word, &found, 1, memory_order_acquire, memory_order_relaxed))
        return;
    while (atomic_exchange_explicit(&lock->word, 2, memory_order_acquire) != 0)
        futex_wait(&lock->word, 2, -1);
}

void lock_give(struct lock *lock)
{
    if (atomic_exchange_explicit(&lock->word, 0, memory_order_release) == 2)
        futex(&lock->word, FUTEX_WAKE, 1, NULL);
}
