/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/gpu/columns.h"

#include <string.h>

#include "cli/gpu/daemon_status.h"

enum { NAMES_SIZE = 256 };

#define GIB ((double)(1 << 30))

static double part_of(double amount, double whole)
{
    return whole > 0 ? amount / whole : 0;
}

static enum text_style style_of(double part)
{
    return part > 0.95 ? STYLE_BAD : part > 0.8 ? STYLE_WARN : STYLE_GOOD;
}

/* What is used, and behind it what is kept for somebody. */
static void add_bar(struct table *t, const struct gpu_frame *f, enum text_style style, double part, double kept)
{
    char text[GPU_BAR_MAX + 3];
    size_t full = (size_t)(CLAMP(part, 0.0, 1.0) * f->bar + 0.5);
    size_t more = MAX((size_t)(CLAMP(kept, 0.0, 1.0) * f->bar + 0.5), full);

    text[0] = '[';
    memset(text + 1, '|', full);
    memset(text + 1 + full, '.', more - full);
    memset(text + 1 + more, ' ', f->bar - more);
    text[f->bar + 1] = ']';
    text[f->bar + 2] = '\0';
    table_cell(t, style, "%s", text);
}

static void add_gib(struct table *t, enum text_style style, double bytes)
{
    table_cell(t, style, "%.1f Gi", bytes / GIB);
}

static void add_percent(struct table *t, bool is_known, double part)
{
    if (is_known)
        table_cell(t, STYLE_PLAIN, "%.1f %%", 100 * part);
    else
        table_cell(t, STYLE_DIM, "-");
}

static void gpu_number(struct table *t, const struct gpu_frame *f, const struct gpu_line *line)
{
    table_cell(t, STYLE_PLAIN, "%zu", gpu_index_of(f->gpus, gpu_text_of(line->at, "uuid")));
}

static void gpu_uuid(struct table *t, const struct gpu_frame *f, const struct gpu_line *line)
{
    (void)f;
    table_cell(t, STYLE_DIM, "%s", gpu_text_of(line->at, "uuid"));
}

static void gpu_name(struct table *t, const struct gpu_frame *f, const struct gpu_line *line)
{
    (void)f;
    table_cell(t, STYLE_DIM, "%s", gpu_text_of(line->at, "name"));
}

static void gpu_memory(struct table *t, const struct gpu_frame *f, const struct gpu_line *line)
{
    double part = part_of(gpu_number_of(line->at, "takenBytes"), gpu_number_of(line->at, "capacityBytes"));

    add_bar(t, f, style_of(part), part,
            part_of(gpu_number_of(line->at, "requestedBytes"), gpu_number_of(line->at, "capacityBytes")));
}

static void gpu_used(struct table *t, const struct gpu_frame *f, const struct gpu_line *line)
{
    (void)f;
    add_gib(t, STYLE_PLAIN, gpu_number_of(line->at, "takenBytes"));
}

static void gpu_promised(struct table *t, const struct gpu_frame *f, const struct gpu_line *line)
{
    (void)f;
    add_gib(t, STYLE_PLAIN, gpu_number_of(line->at, "requestedBytes"));
}

static void gpu_capacity(struct table *t, const struct gpu_frame *f, const struct gpu_line *line)
{
    (void)f;
    add_gib(t, STYLE_PLAIN, gpu_number_of(line->at, "capacityBytes"));
}

/* What the driver says, strangers and its own needs included. */
static void gpu_driver(struct table *t, const struct gpu_frame *f, const struct gpu_line *line)
{
    (void)f;
    if (yyjson_obj_get(line->at, "driverUsedBytes"))
        add_gib(t, STYLE_PLAIN, gpu_number_of(line->at, "driverUsedBytes"));
    else
        table_cell(t, STYLE_DIM, "-");
}

static void gpu_compute(struct table *t, const struct gpu_frame *f, const struct gpu_line *line)
{
    add_bar(t, f, STYLE_GOOD, gpu_busy_of(f->groups, line->at), 0);
}

static void gpu_busy(struct table *t, const struct gpu_frame *f, const struct gpu_line *line)
{
    double busy = gpu_busy_of(f->groups, line->at);

    add_percent(t, busy >= 0, busy);
}

static void gpu_holds(struct table *t, const struct gpu_frame *f, const struct gpu_line *line)
{
    char names[NAMES_SIZE] = "";
    size_t len = 0;
    yyjson_val *group;
    size_t i;
    size_t count;

    yyjson_arr_foreach(f->groups, i, count, group)
    {
        bool holds = gpu_is_state(group, "running") || gpu_is_state(group, "draining") || gpu_is_state(group, "stuck");

        if (holds && gpu_is_on(group, line->at) && len < sizeof names)
            len +=
                (size_t)snprintf(names + len, sizeof names - len, "%s%s", len ? ", " : "", gpu_text_of(group, "group"));
    }
    table_cell(t, len ? STYLE_PLAIN : STYLE_DIM, "%s", len ? names : "-");
}

static void gpu_waits(struct table *t, const struct gpu_frame *f, const struct gpu_line *line)
{
    size_t count = gpu_count_waiting(f->groups, line->at);

    table_cell(t, count ? STYLE_WARN : STYLE_DIM, "%zu", count);
}

const struct gpu_column gpu_columns[] = {
    {{"GPU", TABLE_RIGHT, TABLE_WHOLE}, 0, gpu_number},
    {{"NAME", TABLE_LEFT, TABLE_CUT}, 100, gpu_name},
    {{"UUID", TABLE_LEFT, TABLE_CUT}, 180, gpu_uuid},
    {{"MEMORY", TABLE_LEFT, TABLE_WHOLE}, 0, gpu_memory},
    {{"USED", TABLE_RIGHT, TABLE_WHOLE}, 0, gpu_used},
    {{"RESERVED", TABLE_RIGHT, TABLE_WHOLE}, 80, gpu_promised},
    {{"TOTAL", TABLE_RIGHT, TABLE_WHOLE}, 0, gpu_capacity},
    {{"DRIVER", TABLE_RIGHT, TABLE_WHOLE}, 140, gpu_driver},
    {{"COMPUTE", TABLE_LEFT, TABLE_WHOLE}, 120, gpu_compute},
    {{"BUSY", TABLE_RIGHT, TABLE_WHOLE}, 0, gpu_busy},
    {{"WAIT", TABLE_RIGHT, TABLE_WHOLE}, 80, gpu_waits},
    {{"HOLDER", TABLE_LEFT, TABLE_CUT}, 0, gpu_holds},
};
const size_t gpu_column_count = ARRAY_LEN(gpu_columns);

static void group_name(struct table *t, const struct gpu_frame *f, const struct gpu_line *line)
{
    (void)f;
    if (line->process)
        table_cell(t, STYLE_DIM, "  %.0f %s", gpu_number_of(line->process, "pid"), gpu_text_of(line->process, "name"));
    else
        table_cell(t, STYLE_PLAIN, "%s", gpu_text_of(line->at, "group"));
}

static void group_gpu(struct table *t, const struct gpu_frame *f, const struct gpu_line *line)
{
    if (line->process)
        table_cell(t, STYLE_PLAIN, "%s", "");
    else
        table_cell(t, STYLE_PLAIN, "%zu", gpu_index_of(f->gpus, gpu_text_of(line->at, "gpu")));
}

static void group_mode(struct table *t, const struct gpu_frame *f, const struct gpu_line *line)
{
    (void)f;
    table_cell(t, STYLE_PLAIN, "%s", line->process ? "" : gpu_text_of(line->at, "mode"));
}

/* Who holds it to its limits. */
static void group_by(struct table *t, const struct gpu_frame *f, const struct gpu_line *line)
{
    yyjson_val *enforcement = yyjson_obj_get(line->at, "enforcement");

    (void)f;
    if (line->process)
        table_cell(t, STYLE_PLAIN, "%s", "");
    else if (strcmp(gpu_text_of(enforcement, "by"), "mig") == 0)
        table_cell(t, STYLE_PLAIN, "MIG %s", gpu_text_of(line->at, "mig"));
    else
        table_cell(t, STYLE_DIM, "%s", gpu_text_of(enforcement, "by"));
}

/* Who waits for memory says so in place of what it does with the GPU's time; a process that cannot be talked to is away. */
static void group_state(struct table *t, const struct gpu_frame *f, const struct gpu_line *line)
{
    yyjson_val *at = line->process ? line->process : line->at;

    (void)f;
    if (gpu_number_of(at, "wantedBytes") > 0)
        table_cell(t, STYLE_WARN, "wants mem");
    else if (line->process)
        table_cell(t, STYLE_WARN, "%s", yyjson_is_false(yyjson_obj_get(at, "connected")) ? "away" : "");
    else if (yyjson_is_true(yyjson_obj_get(at, "displaced")))
        table_cell(t, STYLE_WARN, "displaced");
    else
        table_cell(t,
                   gpu_is_state(at, "stuck")     ? STYLE_BAD
                   : gpu_is_state(at, "waiting") ? STYLE_WARN
                   : gpu_is_state(at, "running") ? STYLE_GOOD
                                                 : STYLE_PLAIN,
                   "%s", gpu_text_of(at, "state"));
}

static void group_share(struct table *t, const struct gpu_frame *f, const struct gpu_line *line)
{
    (void)f;
    if (line->process)
        table_cell(t, STYLE_PLAIN, "%s", "");
    else
        add_percent(t, gpu_is_measured(line->at), gpu_number_of(line->at, "share"));
}

static void group_now(struct table *t, const struct gpu_frame *f, const struct gpu_line *line)
{
    (void)f;
    if (line->process)
        table_cell(t, STYLE_PLAIN, "%s", "");
    else
        add_percent(t, gpu_is_measured(line->at), gpu_number_of(line->at, "shareActual"));
}

static void group_compute(struct table *t, const struct gpu_frame *f, const struct gpu_line *line)
{
    if (line->process)
        table_cell(t, STYLE_PLAIN, "%s", "");
    else
        add_bar(t, f, STYLE_GOOD, gpu_number_of(line->at, "shareActual"),
                gpu_is_measured(line->at) ? gpu_number_of(line->at, "share") : 0);
}

static void group_memory(struct table *t, const struct gpu_frame *f, const struct gpu_line *line)
{
    double part =
        part_of(gpu_memory_of(line->process ? line->process : line->at), gpu_number_of(line->at, "limitBytes"));

    add_bar(t, f, line->process ? STYLE_DIM : style_of(part), part, 0);
}

static void group_used(struct table *t, const struct gpu_frame *f, const struct gpu_line *line)
{
    (void)f;
    add_gib(t, line->process ? STYLE_DIM : STYLE_PLAIN, gpu_memory_of(line->process ? line->process : line->at));
}

static void group_amount(struct table *t, const struct gpu_line *line, const char *key)
{
    if (line->process)
        table_cell(t, STYLE_PLAIN, "%s", "");
    else
        add_gib(t, STYLE_PLAIN, gpu_number_of(line->at, key));
}

static void group_request(struct table *t, const struct gpu_frame *f, const struct gpu_line *line)
{
    (void)f;
    group_amount(t, line, "requestBytes");
}

static void group_limit(struct table *t, const struct gpu_frame *f, const struct gpu_line *line)
{
    (void)f;
    group_amount(t, line, "limitBytes");
}

static void group_processes(struct table *t, const struct gpu_frame *f, const struct gpu_line *line)
{
    (void)f;
    if (line->process)
        table_cell(t, STYLE_PLAIN, "%s", "");
    else
        table_cell(t, STYLE_PLAIN, "%zu", yyjson_arr_size(yyjson_obj_get(line->at, "processes")));
}

static void group_refused(struct table *t, const struct gpu_frame *f, const struct gpu_line *line)
{
    double denied = gpu_number_of(line->at, "denied");

    (void)f;
    if (line->process)
        table_cell(t, STYLE_PLAIN, "%s", "");
    else
        table_cell(t, denied > 0 ? STYLE_WARN : STYLE_DIM, "%.0f", denied);
}

const struct gpu_column group_columns[] = {
    {{"GROUP", TABLE_LEFT, TABLE_CUT}, 0, group_name},
    {{"GPU", TABLE_RIGHT, TABLE_WHOLE}, 0, group_gpu},
    {{"MODE", TABLE_LEFT, TABLE_WHOLE}, 90, group_mode},
    {{"BY", TABLE_LEFT, TABLE_WHOLE}, 160, group_by},
    {{"STATE", TABLE_LEFT, TABLE_WHOLE}, 0, group_state},
    {{"SHARE", TABLE_RIGHT, TABLE_WHOLE}, 80, group_share},
    {{"NOW", TABLE_RIGHT, TABLE_WHOLE}, 0, group_now},
    {{"COMPUTE", TABLE_LEFT, TABLE_WHOLE}, 140, group_compute},
    {{"MEMORY", TABLE_LEFT, TABLE_WHOLE}, 0, group_memory},
    {{"USED", TABLE_RIGHT, TABLE_WHOLE}, 0, group_used},
    {{"RESERVED", TABLE_RIGHT, TABLE_WHOLE}, 120, group_request},
    {{"LIMIT", TABLE_RIGHT, TABLE_WHOLE}, 72, group_limit},
    {{"PROCS", TABLE_RIGHT, TABLE_WHOLE}, 100, group_processes},
    {{"REFUSED", TABLE_RIGHT, TABLE_WHOLE}, 110, group_refused},
};
const size_t group_column_count = ARRAY_LEN(group_columns);
_Static_assert(ARRAY_LEN(gpu_columns) <= GPU_COLUMNS_MAX && ARRAY_LEN(group_columns) <= GPU_COLUMNS_MAX,
               "columns have room");
