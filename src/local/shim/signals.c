/* SPDX-License-Identifier: Apache-2.0 */
#include "local/shim/signals.h"

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"

int signal_number(const char *name)
{
    if (strncmp(name, "SIG", 3) != 0)
        return SIGTERM;
    name += 3;
    bool is_from_first = strncmp(name, "RTMIN", 5) == 0;
    if (is_from_first || strncmp(name, "RTMAX", 5) == 0) {
        /* "+3" behind the first one, "-3" before the last one, or nothing. */
        long offset = name[5] ? strtol(name + 5, NULL, 10) : 0;
        long number = (is_from_first ? SIGRTMIN : SIGRTMAX) + CLAMP(offset, -NSIG, NSIG);

        return number >= SIGRTMIN && number <= SIGRTMAX ? (int)number : SIGTERM;
    }
    for (int i = 1; i < SIGRTMIN; i++) {
        const char *known = sigabbrev_np(i);

        if (known && strcmp(known, name) == 0)
            return i;
    }
    return SIGTERM;
}
