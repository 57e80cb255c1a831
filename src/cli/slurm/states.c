/* SPDX-License-Identifier: Apache-2.0 */

/* States, reasons and numbers as Slurm calls them. */
#include <string.h>

#include "cli/slurm/slurm.h"
#include "objects/fields.h"
#include "views/workloads.h"

const char *slurm_state(const struct workload_row *row, bool is_short)
{
    static const char *const names[_ROW_STATE_MAX][2] = {
        [ROW_PENDING] = {"PENDING", "PD"},        [ROW_RUNNING] = {"RUNNING", "R"},
        [ROW_PREEMPTING] = {"PENDING", "PD"},     [ROW_SUSPENDED] = {"SUSPENDED", "S"},
        [ROW_TERMINATING] = {"COMPLETING", "CG"}, [ROW_COMPLETED] = {"COMPLETED", "CD"},
        [ROW_FAILED] = {"FAILED", "F"},           [ROW_CANCELLED] = {"CANCELLED", "CA"},
    };

    if (row->state == ROW_FAILED && strcmp(row->reason, "DeadlineExceeded") == 0)
        return is_short ? "TO" : "TIMEOUT";
    if (row->state == ROW_FAILED && strcmp(row->reason, "OOMKilled") == 0)
        return is_short ? "OOM" : "OUT_OF_MEMORY";
    /* One that a user holds back before its start is pending to Slurm. */
    if (row->state == ROW_SUSPENDED && row->started == 0)
        return is_short ? "PD" : "PENDING";
    return names[row->state][is_short];
}

const char *slurm_reason(const struct workload_row *row)
{
    static const struct {
        const char *code, *reason;
    } table[] = {
        {"PodSchedulingErrors", "Resources"},
        {"Unschedulable", "Resources"},
        {"Not enough resources for the workload", "Resources"},
        {"OverLimit", "QOSMaxGRESPerUser"},
        {"NonPreemptibleOverQuota", "AssocGrpGRES"},
        {"QueueDoesNotExist", "InvalidAccount"},
        {"NotScheduledYet", "Priority"},
        {"PodsNotCreated", "Priority"},
        {"Dependency", "Dependency"},
        {"DependencyNeverSatisfied", "DependencyNeverSatisfied"},
        {"ArrayLimit", "JobArrayTaskLimit"},
        {"BeginTime", "BeginTime"},
        {"Held", "JobHeldUser"},
        {"Suspended", "JobHeldUser"},
        {"DeadlineExceeded", "TimeLimit"},
        {"OOMKilled", "OutOfMemory"},
        {"BackoffLimitExceeded", "NonZeroExitCode"},
    };

    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        if (strcmp(table[i].code, row->reason) == 0)
            return table[i].reason;
    }
    return "None";
}

const char *slurm_job_id(const struct workload_row *row, struct arena *arena)
{
    if (*row->array_id)
        return arena_printf(arena, "%s_%s", row->array_id, row->array_index);
    return *row->job_id ? row->job_id : row->name;
}
