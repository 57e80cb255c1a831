/* SPDX-License-Identifier: Apache-2.0 */
#include "console/workloads/phase.h"

#include <string.h>

const char *workload_phase(const char *desired, const struct workload_facts *facts)
{
    if (strcmp(desired, DESIRED_DELETED) == 0)
        return "Deleting";
    if (facts->has_completed)
        return PHASE_COMPLETED;
    if (facts->has_failed)
        return PHASE_FAILED;
    if (strcmp(desired, DESIRED_STOPPED) == 0)
        return facts->pods > 0 || (facts->has_object && !facts->is_suspended) ? "Stopping" : "Stopped";
    if (!facts->has_object)
        return PHASE_CREATING;
    if (facts->is_suspended)
        return "Resuming";
    if (facts->scheduled > 0 && facts->is_degraded)
        return "Degraded";
    if (facts->running > 0)
        return facts->is_updating ? "Updating" : "Running";
    return facts->scheduled > 0 ? "Initializing" : "Pending";
}

bool phase_is_end(const char *phase)
{
    return strcmp(phase, PHASE_COMPLETED) == 0 || strcmp(phase, PHASE_FAILED) == 0;
}
