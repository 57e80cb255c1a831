/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The columns of a trace. Each is a row of the table at the end: how its text is read, where it goes and what is said
 * when it cannot be read.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/utf8.h"
#include "objects/amounts.h"
#include "sim/trace/trace_row_internal.h"
#include "text/quantity.h"

enum { NAME_BYTES_MAX = 253 };

/* "12", "0.25": digits with at most one point, as billionths, no more than `max` whole ones. */
static bool parse_decimal(const char *text, int64_t max, int64_t *ret)
{
    int64_t whole = 0;
    int64_t part = 0;
    int64_t unit = NSEC_PER_SEC;
    const char *at = text;

    if (!isdigit((unsigned char)*at))
        return false;
    for (; isdigit((unsigned char)*at); at++) {
        whole = whole * 10 + (*at - '0');
        if (whole > max)
            return false;
    }
    if (*at == '.') {
        for (at++; isdigit((unsigned char)*at); at++) {
            unit /= 10;
            part += unit * (*at - '0');
        }
    }
    *ret = whole * NSEC_PER_SEC + part;
    return *at == '\0';
}

static bool parse_whole(const char *text, int64_t min, int64_t max, int64_t *ret)
{
    char *end;

    errno = 0;
    *ret = strtoll(text, &end, 10);
    return !errno && end != text && !*end && !isspace((unsigned char)*text) && *ret >= min && *ret <= max;
}

static void put(struct trace_row *row, const struct trace_column *column, const void *value, size_t size)
{
    memcpy((char *)row + column->offset, value, size);
}

static bool read_name(const struct trace_column *column, struct trace_row *row, const char *text)
{
    trace_name name;

    if (strlen(text) > NAME_BYTES_MAX || !utf8_is_valid(text))
        return false;
    for (const char *at = text; *at; at++)
        if ((unsigned char)*at <= ' ')
            return false;
    name = trace_intern(row->trace, text);
    put(row, column, &name, sizeof name);
    return true;
}

static bool read_whole(const struct trace_column *column, struct trace_row *row, const char *text)
{
    int64_t number;
    uint32_t small;

    if (!parse_whole(text, column->min, column->max, &number))
        return false;
    small = (uint32_t)number;
    put(row, column, &small, sizeof small);
    return true;
}

static bool read_seconds(const struct trace_column *column, struct trace_row *row, const char *text)
{
    nsec_t seconds;

    if (!parse_decimal(text, column->max, &seconds) || seconds <= 0)
        return false;
    put(row, column, &seconds, sizeof seconds);
    return true;
}

static bool read_time(const struct trace_column *column, struct trace_row *row, const char *text)
{
    nsec_t time;

    if (parse_decimal(text, column->max, &time))
        time += TRACE_ORIGIN;
    else if (time_parse(text, &time, NULL) != 0 || time <= 0)
        return false;
    put(row, column, &time, sizeof time);
    return true;
}

static bool read_event(const struct trace_column *column, struct trace_row *row, const char *text)
{
    (void)column;
    for (int kind = 0; kind < _TRACE_EVENT_MAX; kind++)
        if (strcmp(text, trace_event_name((enum trace_event_kind)kind)) == 0) {
            row->kind = (enum trace_event_kind)kind;
            return true;
        }
    return false;
}

static bool read_fraction(const struct trace_column *column, struct trace_row *row, const char *text)
{
    int64_t billionths;

    (void)column;
    if (!parse_decimal(text, 1, &billionths) || billionths <= 0 || billionths > NSEC_PER_SEC)
        return false;
    row->job.fraction = (double)billionths / 1e9;
    row->job.kind = REQUEST_FRACTION;
    return true;
}

static bool read_gpu_memory(const struct trace_column *column, struct trace_row *row, const char *text)
{
    row->job.kind = REQUEST_GPU_MEMORY;
    return parse_whole(text, column->min, column->max, &row->job.gpu_memory_mib);
}

static bool parse_gpus(const char *text, int64_t *ret)
{
    return parse_whole(text, 0, TRACE_GPUS_MAX, ret);
}

static bool parse_cpu(const char *text, int64_t *ret)
{
    return quantity_parse(text, QUANTITY_MILLI, ret, NULL) == 0 && *ret < INT64_C(1) << 50;
}

static bool parse_memory(const char *text, int64_t *ret)
{
    return quantity_parse(text, QUANTITY_ONE, ret, NULL) == 0 && *ret < INT64_C(1) << 60;
}

static bool read_gpus(const struct trace_column *column, struct trace_row *row, const char *text)
{
    (void)column;
    return trace_amounts_parse(&row->amounts[TRACE_GPU_AMOUNTS], text, parse_gpus);
}

static bool read_cpu(const struct trace_column *column, struct trace_row *row, const char *text)
{
    (void)column;
    return trace_amounts_parse(&row->amounts[TRACE_CPU_AMOUNTS], text, parse_cpu);
}

static bool read_memory(const struct trace_column *column, struct trace_row *row, const char *text)
{
    (void)column;
    return trace_amounts_parse(&row->amounts[TRACE_MEMORY_AMOUNTS], text, parse_memory);
}

static bool read_pods(const struct trace_column *column, struct trace_row *row, const char *text)
{
    row->has_pods = true;
    return read_whole(column, row, text);
}

/* A number, or the name of a class whose value the cluster knows. */
static bool read_priority(const struct trace_column *column, struct trace_row *row, const char *text)
{
    int64_t number;

    if (parse_whole(text, column->min, column->max, &number)) {
        row->job.priority = (int32_t)number;
        return true;
    }
    return isalpha((unsigned char)*text) && read_name(column, row, text);
}

static bool read_preemptible(const struct trace_column *column, struct trace_row *row, const char *text)
{
    (void)column;
    row->job.is_preemptible = strcmp(text, "true") == 0;
    row->job.has_preemptible = true;
    return row->job.is_preemptible || strcmp(text, "false") == 0;
}

static bool read_selector(const struct trace_column *column, struct trace_row *row, const char *text)
{
    const char *at = text;

    while (*at) {
        size_t key = strcspn(at, "=;");
        size_t value = at[key] == '=' ? strcspn(at + key + 1, "=;") : 0;

        if (key == 0 || value == 0)
            return false;
        at += key + 1 + value;
        if (*at == ';' && at[1])
            at++;
        else if (*at)
            return false;
    }
    return read_name(column, row, text);
}

/* Counts of what nodes have besides CPU, memory and GPUs, which have columns of their own. */
static bool is_resource(const char *name, const char *amount)
{
    int64_t value;

    return strchr(name, '/') && !resource_is_gpu(name) && quantity_parse(amount, QUANTITY_ONE, &value, NULL) == 0 &&
           value <= INT32_MAX;
}

static bool read_resources(const struct trace_column *column, struct trace_row *row, const char *text)
{
    char copy[NAME_BYTES_MAX + 1];
    char *rest = copy;

    if (strlen(text) > NAME_BYTES_MAX)
        return false;
    memcpy(copy, text, strlen(text) + 1);
    for (char *pair; (pair = strsep(&rest, ";"));) {
        const char *name = strsep(&pair, "=");

        if (!pair || !is_resource(name, pair))
            return false;
    }
    return read_name(column, row, text);
}

/* The label of nodes, and the group when it is not the workload alone. */
static bool read_anti_affinity(const struct trace_column *column, struct trace_row *row, const char *text)
{
    size_t label = strcspn(text, "=");

    if (label == 0 || (text[label] == '=' && (!text[label + 1] || strchr(text + label + 1, '='))))
        return false;
    return read_name(column, row, text);
}

#define AT(field) offsetof(struct trace_row, job.field)

static const struct trace_column columns[] = {
    {"time", "seconds from the start, or a time such as 2026-03-01T12:00:00Z", read_time,
     offsetof(struct trace_row, time), 0, TRACE_SECONDS_MAX},
    {"event", "one of submit, cancel, node_down, node_up", read_event, 0, 0, 0},
    {"name", "a name of at most 253 bytes of UTF-8 without spaces", read_name, AT(name), 0, 0},
    {"namespace", "a name of at most 253 bytes of UTF-8 without spaces", read_name, AT(namespace), 0, 0},
    {"queue", "the name of a queue", read_name, AT(queue), 0, 0},
    {"pods", "a whole number from 1 to 16384", read_pods, AT(pods), 1, TRACE_PODS_MAX},
    {"min_available", "a whole number from 1 to the number of pods", read_whole, AT(min_available), 1, TRACE_PODS_MAX},
    {"gpus", "a whole number from 0 to 1024, or a list such as 4x8+3", read_gpus, 0, 0, 0},
    {"gpu_fraction", "a number above 0, at most 1", read_fraction, 0, 0, 0},
    {"gpu_memory_mib", "a whole number of MiB above 0", read_gpu_memory, 0, 1, INT64_C(1) << 40},
    {"gpu_devices", "a whole number from 1 to 1024", read_whole, AT(devices), 1, TRACE_GPUS_MAX},
    {"cpu", "an amount of cores such as 4 or 500m", read_cpu, 0, 0, 0},
    {"memory", "an amount of memory such as 64Gi", read_memory, 0, 0, 0},
    {"run_seconds", "seconds above 0, or nothing", read_seconds, AT(run), 0, TRACE_SECONDS_MAX},
    {"checkpoint_seconds", "seconds above 0, or nothing", read_seconds, AT(checkpoint), 0, TRACE_SECONDS_MAX},
    {"priority", "a whole number, or the name of a priority class", read_priority, AT(priority_class), -2000000000,
     2000000000},
    {"preemptible", "true or false", read_preemptible, 0, 0, 0},
    {"topology", "the name of a topology", read_name, AT(topology), 0, 0},
    {"required_level", "a level of the topology", read_name, AT(required), 0, 0},
    {"preferred_level", "a level of the topology", read_name, AT(preferred), 0, 0},
    {"node_selector", "label=value, several joined by ';', other values by '|'", read_selector, AT(node_selector), 0,
     0},
    {"resources", "name=count, several joined by ';', such as rdma/hca=1", read_resources, AT(resources), 0, 0},
    {"anti_affinity", "a label of nodes, or label=group", read_anti_affinity, AT(anti_affinity), 0, 0},
    {"user", "a name of at most 253 bytes of UTF-8 without spaces", read_name, AT(user), 0, 0},
    {"image", "a name of at most 253 bytes of UTF-8 without spaces", read_name, AT(image), 0, 0},
    {"limit_seconds", "seconds above 0, or nothing", read_seconds, AT(limit), 0, TRACE_SECONDS_MAX},
    {"recorded_start", "seconds from the start, or a time such as 2026-03-01T12:00:00Z", read_time, AT(recorded_start),
     0, TRACE_SECONDS_MAX},
};

const struct trace_column *trace_column_find(const char *title)
{
    for (size_t i = 0; i < ARRAY_LEN(columns); i++)
        if (strcasecmp(columns[i].title, title) == 0)
            return &columns[i];
    return NULL;
}
