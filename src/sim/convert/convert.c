/* SPDX-License-Identifier: Apache-2.0 */

/*
 * All files are read before the first is converted, since some hold what others refer to: node lists come first, then
 * the tables of owners, then the work. Together they have a bound.
 */
#include "sim/convert/convert.h"

#include <errno.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "sim/convert/convert_internal.h"
#include "text/file.h"

const char *const convert_sources[] = {"alibaba", "philly", "prometheus", "slurm", NULL};

void conversion_init(struct conversion *conversion)
{
    *conversion = (struct conversion){.gpus_per_node = 8};
}

void conversion_done(struct conversion *conversion)
{
    trace_cluster_done(&conversion->cluster);
}

/* Moves the whole trace so that its first week is the one that starts at TRACE_ORIGIN. */
static void rebase(struct trace *trace)
{
    const nsec_t week = 7 * 24 * NSEC_PER_HOUR;
    nsec_t first;

    if (trace->events.len == 0 || trace->has_dates)
        return;
    first = trace->events.items[0].time - TRACE_ORIGIN;
    first -= (first % week + week) % week;
    vec_foreach (&trace->events, event)
        event->time -= first;
    vec_foreach (&trace->jobs, job)
        if (job->recorded_start != 0)
            job->recorded_start -= first;
}

static bool is_json(const struct convert_input *input)
{
    size_t at = strspn(input->text, " \t\r\n");

    return at < input->len && (input->text[at] == '{' || input->text[at] == '[');
}

/* sacct and sinfo separate by '|'; everything else by commas. The first line tells. */
static char separator_of(const struct convert_input *input)
{
    size_t line = strcspn(input->text, "\n");

    return memchr(input->text, '|', line) && !memchr(input->text, ',', line) ? '|' : ',';
}

static int open_input(struct convert_input *input, const char *source, struct err *err)
{
    int r;

    if (is_json(input))
        return json_parse(input->text, input->len, input->name, &input->doc, err);
    r = csv_init_separated(&input->csv, input->text, input->len, input->name, separator_of(input), err);
    return r < 0 ? r : convert_find_form(input, source, err);
}

static void close_input(struct convert_input *input)
{
    yyjson_doc_free(input->doc);
    csv_done(&input->csv);
}

/* Philly's log is an array of jobs; an answer of Prometheus is an object. */
static int read_document(struct converter *c, const struct convert_input *input, const char *source, struct err *err)
{
    bool is_array = yyjson_is_arr(yyjson_doc_get_root(input->doc));
    const char *found = is_array ? "philly" : "prometheus";

    if (source && strcmp(source, found) != 0)
        return err_set(err, -EINVAL, "%s: expected a file of %s, found JSON as %s has it; leave out --from, or name %s",
                       input->name, source, found, found);
    return is_array ? convert_philly_log(c, input->doc, input->name, err)
                    : convert_prometheus(c, input->doc, input->name, err);
}

static int read_rows(struct converter *c, struct convert_input *input, struct err *err)
{
    int r = input->has_titles ? csv_next(&input->csv, err) : 1;

    c->trace->has_dates |= input->form->has_dates;
    for (; r > 0; r = csv_next(&input->csv, err)) {
        r = input->form->read(c, err);
        if (r < 0)
            return r;
    }
    return r;
}

static int read_inputs(struct converter *c, struct convert_input *inputs, size_t count, const char *source,
                       struct err *err)
{
    int r = 0;

    for (int stage = 0; stage < _CONVERT_STAGE_MAX; stage++) {
        for (size_t i = 0; r >= 0 && i < count; i++) {
            c->input = &inputs[i];
            if (inputs[i].doc)
                r = stage == CONVERT_WORK ? read_document(c, &inputs[i], source, err) : 0;
            else if ((int)inputs[i].form->stage == stage)
                r = read_rows(c, &inputs[i], err);
        }
    }
    return r < 0 ? r : convert_prometheus_finish(c, err);
}

static int convert(struct trace *trace, const char *source, struct convert_input *inputs, size_t count,
                   struct conversion *conversion, struct err *err)
{
    struct converter c = {.trace = trace, .conversion = conversion};
    int r = 0;

    for (size_t i = 0; r >= 0 && i < count; i++)
        r = open_input(&inputs[i], source, err);
    if (r >= 0)
        r = read_inputs(&c, inputs, count, source, err);
    if (r >= 0) {
        trace_sort(trace);
        rebase(trace);
    }
    for (size_t i = 0; i < count; i++)
        close_input(&inputs[i]);
    vec_done(&c.owners);
    map64_done(&c.owner_by_name);
    map64_done(&c.names);
    map64_done(&c.nodes);
    prometheus_free(c.prometheus);
    return r < 0 ? r : 0;
}

int convert_text(struct trace *trace, const char *source, const char *name, char *text, size_t len,
                 struct conversion *conversion, struct err *err)
{
    struct convert_input input = {.name = name, .text = text, .len = len};

    return convert(trace, source, &input, 1, conversion, err);
}

int convert_files(struct trace *trace, const char *source, const char *const *paths, size_t path_count,
                  struct conversion *conversion, struct err *err)
{
    _cleanup_(freep) struct convert_input *inputs = xcalloc(path_count, sizeof *inputs);
    size_t left = CONVERT_BYTES_MAX;
    int r = 0;

    for (size_t i = 0; r >= 0 && i < path_count; i++) {
        inputs[i].name = file_name(paths[i]);
        r = file_read(paths[i], left, &inputs[i].text, &inputs[i].len, err);
        left -= MIN(inputs[i].len, left);
    }
    if (r >= 0)
        r = convert(trace, source, inputs, path_count, conversion, err);
    for (size_t i = 0; i < path_count; i++)
        free(inputs[i].text);
    return r;
}
