/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The formats of rows, and which of them a file is. A file with titles is of the first format all of whose needed columns
 * it has, the most of them; when none fits, the nearest one is named with what is missing. Some public tables come
 * without titles: those are recognized by the number of their fields and by a field that holds a number.
 */
#include <errno.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "sim/convert/convert_internal.h"

static const struct convert_form forms[] = {
    {
        .name = "pai_job_table",
        .source = "alibaba",
        .stage = CONVERT_OWNERS,
        .is_bare = true,
        .number = PAI_JOB_START,
        .needed = PAI_JOB_COLUMNS,
        .count = PAI_JOB_COLUMNS,
        .titles = {"job_name", "inst_id", "user", "status", "start_time", "end_time"},
        .read = convert_pai_job,
    },
    {
        .name = "pai_task_table",
        .source = "alibaba",
        .stage = CONVERT_WORK,
        .is_bare = true,
        .number = PAI_TASK_START,
        .needed = PAI_TASK_COLUMNS,
        .count = PAI_TASK_COLUMNS,
        .titles = {"job_name", "task_name", "inst_num", "status", "start_time", "end_time", "plan_cpu", "plan_mem",
                   "plan_gpu", "gpu_type"},
        .read = convert_pai_task,
    },
    {
        .name = "pai_machine_spec",
        .source = "alibaba",
        .stage = CONVERT_NODES,
        .is_bare = true,
        .number = PAI_MACHINE_GPUS,
        .needed = PAI_MACHINE_COLUMNS,
        .count = PAI_MACHINE_COLUMNS,
        .titles = {"machine", "gpu_type", "cap_cpu", "cap_mem", "cap_gpu"},
        .read = convert_pai_machine,
    },
    {
        .name = "openb_pod_list",
        .source = "alibaba",
        .stage = CONVERT_WORK,
        .is_bare = true,
        .number = POD_CREATED,
        .needed = POD_GPU_MILLI + 1,
        .count = POD_COLUMNS,
        .titles = {"name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli", "gpu_spec", "qos", "pod_phase",
                   "creation_time", "deletion_time", "scheduled_time"},
        .read = convert_openb_pod,
    },
    {
        .name = "openb_node_list",
        .source = "alibaba",
        .stage = CONVERT_NODES,
        .needed = NODE_GPUS + 1,
        .count = NODE_COLUMNS,
        .titles = {"sn", "cpu_milli", "memory_mib", "gpu", "model"},
        .read = convert_openb_node,
    },
    {
        .name = "philly.csv",
        .source = "philly",
        .stage = CONVERT_WORK,
        .needed = PHILLY_GROUP + 1,
        .count = PHILLY_COLUMNS,
        .titles = {"timestamp", "duration", "num_gpus", "cluster", "gpu_time"},
        .read = convert_philly_job,
    },
    {
        .name = "cluster_machine_list",
        .source = "philly",
        .stage = CONVERT_NODES,
        .needed = MACHINE_GPUS + 1,
        .count = MACHINE_COLUMNS,
        .titles = {"machineId", "number of GPUs", "single GPU mem"},
        .read = convert_philly_machine,
    },
    {
        .name = "philly_vc",
        .source = "philly",
        .stage = CONVERT_NODES,
        .needed = GROUP_COLUMNS,
        .count = GROUP_COLUMNS,
        .titles = {"vc", "node num"},
        .read = convert_philly_group,
    },
    {
        .name = "sacct -P",
        .source = "slurm",
        .separator = '|',
        .stage = CONVERT_WORK,
        .has_dates = true,
        .needed = SLURM_STATE + 1,
        .count = SLURM_COLUMNS,
        .titles = {"JobID", "Submit", "Start", "End", "State", "Account", "User", "Partition", "NNodes", "NCPUS",
                   "ReqTRES", "AllocTRES", "Elapsed", "ElapsedRaw", "Suspended", "Timelimit", "ReqMem"},
        .read = convert_slurm_job,
    },
    {
        .name = "sinfo -N",
        .source = "slurm",
        .separator = '|',
        .stage = CONVERT_NODES,
        .has_dates = true,
        .needed = SINFO_GRES + 1,
        .count = SINFO_COLUMNS,
        .titles = {"NODELIST", "CPUS", "MEMORY", "GRES", "PARTITION"},
        .read = convert_slurm_node,
    },
    {
        .name = "eagle_data",
        .source = "slurm",
        .stage = CONVERT_WORK,
        .has_dates = true,
        .needed = EAGLE_STATE + 1,
        .count = EAGLE_COLUMNS,
        .titles = {"job_id", "submit_time", "start_time", "end_time", "state", "account", "user", "partition",
                   "nodes_req", "processors_req", "gpus_req", "mem_req", "run_time", "wallclock_req"},
        .read = convert_eagle_job,
    },
};

static bool is_of(const struct convert_form *form, const char *source, char separator)
{
    return (!source || strcmp(form->source, source) == 0) && (form->separator ? form->separator : ',') == separator;
}

static size_t count_found(const struct csv *csv, const struct convert_form *form, size_t limit)
{
    size_t found = 0;

    for (size_t i = 0; i < limit; i++)
        found += csv_find(csv, form->titles[i]) != CSV_NO_COLUMN;
    return found;
}

/* A first line without a single number is titles, whoever's they are, unless it is of a job that has not started. */
static bool has_titles(const struct csv *csv)
{
    double ignored;

    for (size_t i = 0; i < ARRAY_LEN(forms); i++)
        if (forms[i].is_bare && csv->titles.len == forms[i].count && !*csv_field(csv, forms[i].number))
            return false;
    for (size_t i = 0; i < csv->titles.len; i++)
        if (convert_parse_number(csv_field(csv, i), &ignored))
            return false;
    return true;
}

static int fail_by_titles(const struct csv *csv, const struct convert_form *nearest, size_t found, const char *source,
                          struct err *err)
{
    struct strbuf missing;
    struct strbuf there;

    strbuf_init(&missing, 200);
    strbuf_init(&there, 150);
    for (size_t i = 0; nearest && i < nearest->needed; i++)
        if (csv_find(csv, nearest->titles[i]) == CSV_NO_COLUMN)
            strbuf_addf(&missing, "%s%s", missing.len ? ", " : "", nearest->titles[i]);
    for (uint32_t i = 0; i < csv->titles.len; i++)
        strbuf_addf(&there, "%s%s", i ? ", " : "", csv->titles.items[i]);
    if (nearest && found > 0)
        (void)err_set(err, -EINVAL, "%s:%u: the nearest format is %s (%s), which also needs the columns %s; found %s",
                      csv->name, csv->line, nearest->name, nearest->source, missing.text, there.text);
    else
        (void)err_set(err, -EINVAL, "%s:%u: no format%s%s has any of the columns %s; docs/traces.md lists the formats",
                      csv->name, csv->line, source ? " of " : "", source ? source : "", there.text);
    strbuf_done(&missing);
    strbuf_done(&there);
    return -EINVAL;
}

/* The form with all needed columns that has the most of the others; else the one that lacks the fewest. */
static int form_by_titles(struct convert_input *input, const char *source, struct err *err)
{
    const struct csv *csv = &input->csv;
    const struct convert_form *nearest = NULL;
    size_t nearest_missing = SIZE_MAX;
    size_t best = 0;

    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        const struct convert_form *form = &forms[i];
        size_t found = count_found(csv, form, form->needed);
        size_t all = count_found(csv, form, form->count);

        if (!is_of(form, source, csv->separator))
            continue;
        if (form->needed - found < nearest_missing || (form->needed - found == nearest_missing && all > best)) {
            nearest = form;
            nearest_missing = form->needed - found;
            best = all;
        }
    }
    if (!nearest || nearest_missing > 0)
        return fail_by_titles(csv, nearest, best, source, err);
    input->form = nearest;
    for (size_t i = 0; i < nearest->count; i++)
        input->columns[i] = csv_find(csv, nearest->titles[i]);
    return 0;
}

static int form_by_count(struct convert_input *input, const char *source, struct err *err)
{
    const struct csv *csv = &input->csv;
    double ignored;

    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        const struct convert_form *form = &forms[i];
        const char *number = csv_field(csv, form->number);

        if (!form->is_bare || form->count != csv->titles.len || !is_of(form, source, csv->separator))
            continue;
        if (*number && !convert_parse_number(number, &ignored))
            return err_set(err, -EINVAL, "%s:%u: %s: %s: expected a number, found '%.100s'", csv->name, csv->line,
                           form->name, form->titles[form->number], number);
        input->form = form;
        for (size_t k = 0; k < form->count; k++)
            input->columns[k] = k;
        return 0;
    }
    return err_set(err, -EINVAL,
                   "%s:%u: expected a line of column titles, or without one 5 fields (pai_machine_spec), 6 "
                   "(pai_job_table), 10 (pai_task_table) or 11 (openb_pod_list), found %u fields",
                   csv->name, csv->line, csv->titles.len);
}

int convert_find_form(struct convert_input *input, const char *source, struct err *err)
{
    input->has_titles = has_titles(&input->csv);
    return input->has_titles ? form_by_titles(input, source, err) : form_by_count(input, source, err);
}
