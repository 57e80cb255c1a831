/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/action.h"

#include <string.h>

static const char *const names[] = {
    [ACTION_ALLOCATE] = "allocate", [ACTION_CONSOLIDATION] = "consolidation",  [ACTION_RECLAIM] = "reclaim",
    [ACTION_PREEMPT] = "preempt",   [ACTION_STALE_GANG] = "stalegangeviction",
};
_Static_assert(sizeof names / sizeof *names == _ACTION_MAX, "every action has a name");

const char *action_name(enum action action)
{
    return names[action];
}

bool action_find(const char *name, enum action *ret_action)
{
    for (int i = 0; i < _ACTION_MAX; i++) {
        if (strcmp(name, names[i]) == 0) {
            *ret_action = (enum action)i;
            return true;
        }
    }
    return false;
}
