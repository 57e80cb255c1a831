/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/slurm/job_columns.h"

#include <string.h>

#include "base/macros.h"
#include "base/strbuf.h"
#include "cli/slurm/slurm.h"
#include "kube/client/meta.h"
#include "objects/fields.h"
#include "objects/keys.h"
#include "text/quantity.h"
#include "views/workloads.h"

enum { NODES_MAX_BYTES = 1024 };

#define CELL(name) static const char *name(const void *at, nsec_t now, struct arena *arena)
#define ROW                              \
    const struct workload_row *row = at; \
    (void)now;                           \
    (void)arena

CELL(job_id)
{
    ROW;
    return slurm_job_id(row, arena);
}

CELL(plain_id)
{
    ROW;
    return *row->job_id ? row->job_id : row->name;
}

CELL(array_id)
{
    ROW;
    return *row->array_id ? row->array_id : plain_id(at, now, arena);
}

CELL(array_index)
{
    ROW;
    return *row->array_index ? row->array_index : "N/A";
}

CELL(name)
{
    ROW;
    return row->job_name;
}

CELL(user)
{
    ROW;
    return *row->user ? row->user : "-";
}

CELL(partition)
{
    ROW;
    const char *pool = kube_text(row->job, "metadata", "labels", KEY_NODE_POOL);

    return *pool ? pool : "default";
}

CELL(account)
{
    ROW;
    return row->queue;
}

CELL(qos)
{
    ROW;
    return *row->priority_class ? row->priority_class : "normal";
}

CELL(state_short)
{
    ROW;
    return slurm_state(row, true);
}

CELL(state_long)
{
    ROW;
    return slurm_state(row, false);
}

CELL(elapsed)
{
    ROW;
    return slurm_elapsed(row_run_time(row, now) / NSEC_PER_SEC, false, arena);
}

CELL(elapsed_long)
{
    ROW;
    return slurm_elapsed(row_run_time(row, now) / NSEC_PER_SEC, true, arena);
}

static int64_t limit_of(const struct workload_row *row)
{
    return yyjson_get_sint(yyjson_obj_get(yyjson_obj_get(row->job, "spec"), "activeDeadlineSeconds"));
}

CELL(time_limit)
{
    ROW;
    return limit_of(row) > 0 ? slurm_elapsed(limit_of(row), false, arena) : "UNLIMITED";
}

CELL(time_left)
{
    ROW;
    int64_t left = limit_of(row) - row_run_time(row, now) / NSEC_PER_SEC;

    return limit_of(row) > 0 ? slurm_elapsed(MAX(left, (int64_t)0), false, arena) : "UNLIMITED";
}

CELL(node_count)
{
    ROW;
    return arena_printf(arena, "%zu", row->node_count ? row->node_count : (size_t)MAX(row->pods, (int64_t)1));
}

CELL(node_list)
{
    ROW;
    struct strbuf text;

    strbuf_init(&text, NODES_MAX_BYTES);
    for (size_t i = 0; i < row->node_count && text.len + strlen(row->nodes[i]) + 2 < NODES_MAX_BYTES; i++)
        strbuf_addf(&text, "%s%s", i ? "," : "", row->nodes[i]);
    const char *result = arena_strdup(arena, row->node_count ? text.text : "");
    strbuf_done(&text);
    return result;
}

CELL(nodes_or_reason)
{
    ROW;
    return row->state == ROW_RUNNING || row->state == ROW_TERMINATING ? node_list(at, now, arena)
                                                                      : arena_printf(arena, "(%s)", slurm_reason(row));
}

CELL(reason)
{
    ROW;
    return slurm_reason(row);
}

CELL(cpus)
{
    ROW;
    return arena_printf(arena, "%lld", (long long)((row->asked.milli_cpus + 999) / 1000));
}

CELL(gres)
{
    ROW;
    char text[ASKED_TEXT_MAX];

    return row->asked.milli_gpus || row->asked.gpu_memory_mib
               ? arena_printf(arena, "gpu:%s", asked_gpus_format(&row->asked, text))
               : "N/A";
}

CELL(memory)
{
    ROW;
    return arena_printf(arena, "%lldM", (long long)(row->asked.memory_bytes >> 20));
}

static const char *time_text(nsec_t time, struct arena *arena)
{
    char text[TIME_TEXT_MAX];

    if (time == 0)
        return "Unknown";
    (void)time_format(time / NSEC_PER_SEC * NSEC_PER_SEC, text);
    text[strcspn(text, "Z")] = '\0';
    return arena_strdup(arena, text);
}

CELL(submitted)
{
    ROW;
    return time_text(row->created, arena);
}

CELL(started)
{
    ROW;
    return time_text(row->started, arena);
}

CELL(ended)
{
    ROW;
    return time_text(row->finished, arena);
}

CELL(exit_code)
{
    ROW;
    return arena_printf(arena, "%d:%d", row->exit_signal ? 0 : row->exit_code, row->exit_signal);
}

CELL(work_folder)
{
    ROW;
    yyjson_val *spec = yyjson_obj_get(yyjson_obj_get(yyjson_obj_get(row->job, "spec"), "template"), "spec");

    return kube_text(yyjson_arr_get_first(yyjson_obj_get(spec, "containers")), "workingDir");
}

CELL(dependency)
{
    ROW;
    const char *text = kube_text(row->job, "metadata", "annotations", KEY_DEPENDENCY);

    return *text ? text : "(null)";
}

const struct slurm_column slurm_job_columns[] = {
    {'i', "JobID", "JOBID", 12, job_id},
    {'A', "JobIDRaw", "JOBID", 12, plain_id},
    {'F', "ArrayJobID", "ARRAY_JOB_ID", 12, array_id},
    {'K', "ArrayTaskID", "ARRAY_TASK_ID", 12, array_index},
    {'j', "JobName", "NAME", 10, name},
    {'u', "User", "USER", 9, user},
    {'P', "Partition", "PARTITION", 10, partition},
    {'a', "Account", "ACCOUNT", 10, account},
    {'q', "QOS", "QOS", 10, qos},
    {'t', "", "ST", 0, state_short},
    {'T', "State", "STATE", 10, state_long},
    {'M', "", "TIME", 0, elapsed},
    {0, "Elapsed", "Elapsed", 10, elapsed_long},
    {'l', "Timelimit", "TIME_LIMIT", 10, time_limit},
    {'L', "", "TIME_LEFT", 0, time_left},
    {'D', "NNodes", "NODES", 8, node_count},
    {'N', "NodeList", "NODELIST", 15, node_list},
    {'R', "", "NODELIST(REASON)", 0, nodes_or_reason},
    {'r', "Reason", "REASON", 12, reason},
    {'C', "AllocCPUS", "CPUS", 10, cpus},
    {'b', "AllocTRES", "TRES_PER_NODE", 10, gres},
    {'m', "ReqMem", "MIN_MEMORY", 10, memory},
    {'V', "Submit", "SUBMIT_TIME", 19, submitted},
    {'S', "Start", "START_TIME", 19, started},
    {'e', "End", "END_TIME", 19, ended},
    {0, "ExitCode", "ExitCode", 8, exit_code},
    {'Z', "WorkDir", "WORK_DIR", 20, work_folder},
    {'E', "", "DEPENDENCY", 0, dependency},
};
const size_t slurm_job_column_count = ARRAY_LEN(slurm_job_columns);
