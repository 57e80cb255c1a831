/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/simulate_shared.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "cli/command.h"
#include "journal/journal.h"
#include "sim/report/metrics.h"
#include "sim/simulate/simulate.h"
#include "text/file.h"
#include "text/quantity.h"
#include "text/terminal.h"

enum { BAR_WIDTH = 16, WARNINGS_MAX = 64 * 1024, PATHS_NAMED = 3 };
#define REDRAW (100 * NSEC_PER_MSEC)

static void draw(void *context, const struct sim_run_progress *at)
{
    struct progress *progress = context;
    nsec_t now = nsec_now_monotonic();
    double part = at->jobs ? (double)at->jobs_ended / at->jobs : 0;
    int full = (int)(part * BAR_WIDTH);
    char day[METRIC_TEXT_MAX];
    char jobs[METRIC_TEXT_MAX];

    if (now - progress->drawn < REDRAW)
        return;
    progress->drawn = now;
    (void)fprintf(stderr, "\r%s [%.*s%*s] %3.0f%%  %s simulated, %s workloads done, %.0fs\033[K", progress->title, full,
                  "################", BAR_WIDTH - full, "", part * 100,
                  metric_format(UNIT_SECONDS, (double)(at->now - at->start) / 1e9, day),
                  metric_format(UNIT_COUNT, at->jobs_ended, jobs), (double)(now - progress->started) / 1e9);
    (void)fflush(stderr);
}

void progress_start(struct progress *progress, const char *title, struct sim_run_options *options)
{
    *progress = (struct progress){.title = title, .started = nsec_now_monotonic()};
    progress->is_on = terminal_of(stderr).can_redraw;
    options->progress = progress->is_on ? draw : NULL;
    options->progress_context = progress;
}

void progress_end(struct progress *progress)
{
    if (progress->is_on && progress->drawn)
        (void)fputs("\r\033[K", stderr);
}

static int parse_moment(const char *text, struct moment *ret, struct err *err)
{
    *ret = (struct moment){.is_set = true, .is_relative = true};
    if (long_duration_parse(text, &ret->value, NULL) == 0)
        return 0;
    ret->is_relative = false;
    if (time_parse(text, &ret->value, NULL) == 0)
        return 0;
    return err_set(err, -EINVAL,
                   "--until: expected a duration such as 7d or a time such as 2026-03-01T12:00:00Z, found '%s'", text);
}

nsec_t moment_at(const struct moment *moment, nsec_t start)
{
    if (!moment->is_set)
        return NSEC_MAX;
    return moment->is_relative ? start + moment->value : moment->value;
}

void sim_run_call_init(struct sim_run_call *call)
{
    *call = (struct sim_run_call){0};
    sim_run_options_init(&call->options);
}

static int duration_set(const char *option, const char *value, nsec_t *ret, struct err *err)
{
    int r = long_duration_parse(value, ret, err);

    return r < 0 ? err_wrap(err, r, "%s", option) : 0;
}

int sim_run_call_set(struct sim_run_call *call, int option, const char *value, struct err *err)
{
    struct sim_run_options *options = &call->options;

    switch (option) {
    case SIM_RUN_OUTPUT:
        call->as_json = strcmp(value, "json") == 0;
        return 0;
    case SIM_RUN_TRACE:
        call->trace = value;
        return 0;
    case SIM_RUN_REPORT:
        call->report = value;
        return 0;
    case SIM_RUN_KUBECONFIG:
        call->kubeconfig = value;
        return 0;
    case SIM_RUN_UNTIL:
        return parse_moment(value, &call->until, err);
    case SIM_RUN_GRACE:
        return duration_set("--grace", value, &options->grace, err);
    case SIM_RUN_USAGE_WINDOW:
        options->usage.is_on = true;
        return duration_set("--usage-window", value, &options->usage.window, err);
    case SIM_RUN_USAGE_HALF_LIFE:
        options->usage.is_on = true;
        return duration_set("--usage-half-life", value, &options->usage.half_life, err);
    default:
        return err_set(err, -EINVAL, "there is no option %d", option);
    }
}

void cluster_source_init(struct cluster_source *source, const char *kubeconfig)
{
    *source = (struct cluster_source){
        .live = {.kubeconfig = kubeconfig},
        .options = {.now = nsec_now_wall(), .read_live = live_read, .live_arg = &source->live},
    };
}

void add_inputs(struct strbuf *text, const char *const *paths, size_t count, const char *trace)
{
    for (size_t i = 0; i < MIN(count, (size_t)PATHS_NAMED); i++)
        strbuf_addf(text, "%s%s", i ? ", " : "", strcmp(paths[i], "-") == 0 ? "standard input" : paths[i]);
    if (count > PATHS_NAMED)
        strbuf_addf(text, " and %zu more", count - PATHS_NAMED);
    if (trace)
        strbuf_addf(text, " with %s", basename(trace));
}

int journal_size_parse(const char *text, uint64_t *ret, struct err *err)
{
    int64_t bytes = 0;
    int r = quantity_parse(text, QUANTITY_ONE, &bytes, err);

    if (r < 0)
        return err_wrap(err, r, "--journal-size");
    if (bytes < JOURNAL_SIZE_MIN)
        return err_set(err, -EINVAL, "--journal-size: a journal needs at least %dKi", JOURNAL_SIZE_MIN / 1024);
    *ret = (uint64_t)bytes;
    return 0;
}

int whole_number_parse(const char *text, uint64_t min, uint64_t max, uint64_t *ret, struct err *err)
{
    char *end;

    errno = 0;
    uint64_t number = strtoull(text, &end, 10);
    if (errno || end == text || *end || *text == '-' || number < min || number > max)
        return err_set(err, -EINVAL, "expected a whole number from %llu to %llu, found '%s'", (unsigned long long)min,
                       (unsigned long long)max, text);
    *ret = number;
    return 0;
}

void warn_about(const struct simulation *sim)
{
    const struct object_notes *notes = &sim->notes.found;
    struct strbuf lines;

    strbuf_init(&lines, WARNINGS_MAX);
    for (uint32_t i = 0; i < notes->warnings.len; i++)
        strbuf_addf(&lines, "%s\n", notes->warnings.items[i]);
    if (notes->more_warnings)
        strbuf_addf(&lines, "and %u more\n", notes->more_warnings);
    if (sim->is_scenario)
        strbuf_addstr(&lines, sim->scenario.warnings.text);
    command_warn(lines.text);
    strbuf_done(&lines);
}

/* A reader never sees half a report: it is written beside and put in place at the end. */
int write_file(const char *path, void (*write)(void *context, FILE *out), void *context, struct err *err)
{
    _cleanup_(freep) char *beside = NULL;
    FILE *out;
    bool is_bad;

    if (asprintf(&beside, "%s.part", path) < 0)
        return err_set(err, -ENOMEM, "%s: %s", path, strerror(ENOMEM));
    out = fopen(beside, "we");
    if (!out)
        return err_set(err, -EIO, "%s: %s", path, strerror(errno));
    write(context, out);
    is_bad = ferror(out) != 0;
    is_bad |= fclose(out) != 0;
    if (!is_bad && rename(beside, path) == 0)
        return 0;
    (void)err_set(err, -EIO, "%s: %s", path, strerror(errno));
    (void)unlink(beside);
    return -EIO;
}
