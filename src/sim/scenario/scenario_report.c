/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Simulates scenarios and writes what came out. Repeats come first and are only timed; the last one is the one that is
 * written, round by round while it is simulated, so that no outcome is held as a document.
 */
#include "sim/scenario/scenario_report.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "engine/engine.h"
#include "model/state.h"
#include "sim/scenario/scenario.h"
#include "sim/scenario/scenario_emit.h"
#include "sim/scenario/scenario_print.h"
#include "sim/scenario/scenario_write.h"

struct watcher {
    struct scenario_report *report;
    struct emit emit;
    uint32_t repeat;
    VEC(struct scenario_timing) timings;  // repeat by repeat, all its rounds
    uint32_t round_count;
    size_t state_bytes;
    size_t engine_bytes;
    size_t peak_bytes;
    bool is_closed;  // the list of rounds, since the match point was reached
    char *match;     // pods at the match point as JSON; owned
    size_t match_len;
};

static int compare_times(const void *a, const void *b)
{
    nsec_t x;
    nsec_t y;

    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

/* The timing of a round, each of its numbers the median over all repeats. A timing is nothing but numbers. */
static struct scenario_timing median_timing(const struct watcher *w, uint32_t round)
{
    enum { NUMBERS = sizeof(struct scenario_timing) / sizeof(nsec_t) };
    uint32_t repeats = w->report->repeats;
    nsec_t *column = xcalloc(repeats, sizeof *column);
    nsec_t numbers[NUMBERS] = {0};
    struct scenario_timing timing;

    for (size_t i = 0; i < NUMBERS; i++) {
        for (uint32_t repeat = 0; repeat < repeats; repeat++) {
            const struct scenario_timing *of = &w->timings.items[repeat * w->round_count + round];

            memcpy(&column[repeat], (const char *)of + i * sizeof(nsec_t), sizeof(nsec_t));
        }
        qsort(column, repeats, sizeof *column, compare_times);
        numbers[i] = column[repeats / 2];
    }
    free(column);
    memcpy(&timing, numbers, sizeof timing);
    return timing;
}

static void on_round(void *context, const struct scenario *s, const struct engine *engine,
                     const struct scenario_round *round)
{
    struct watcher *w = context;
    struct scenario_timing timing;

    vec_push(&w->timings, round->timing);
    w->round_count = s->rounds_until_match + s->rounds_after_match;
    if (w->repeat + 1 < w->report->repeats)
        return;
    w->state_bytes = state_bytes(s->state);
    w->engine_bytes = engine_bytes(engine);
    if (w->report->peak_memory && !w->peak_bytes)
        w->peak_bytes = w->report->peak_memory();
    if (!w->report->as_json) {
        if (round->is_last)
            scenario_print(w->report->out, s, engine);
        return;
    }
    if (round->number == 0) {
        emit_open(&w->emit, NULL, '{');
        emit_str(&w->emit, "id", s->id);
        emit_open(&w->emit, "actual", '{');
        emit_open(&w->emit, "rounds", '[');
    }
    timing = median_timing(w, round->number);
    scenario_write_round(&w->emit, s, engine, round, &timing);
    if (!s->is_multi_round) {
        emit_close(&w->emit, ']');
        scenario_write_pods(&w->emit, "match_pods", s);
        w->is_closed = true;
    }
}

/* The rounds are one list, so that what the match point shows has to wait for its end. */
static void on_match(void *context, const struct scenario *s)
{
    struct watcher *w = context;
    struct emit emit = {0};

    if (!w->report->as_json || w->repeat + 1 < w->report->repeats)
        return;
    emit.out = open_memstream(&w->match, &w->match_len);
    if (!emit.out)
        return;
    scenario_write_pods(&emit, NULL, s);
    (void)fclose(emit.out);
}

static void write_end(struct watcher *w)
{
    struct emit *e = &w->emit;

    if (!w->is_closed) {
        emit_close(e, ']');
        (void)fprintf(e->out, ",\"match_pods\":%s", w->match ? w->match : "[]");
    }
    emit_close(e, '}');
    emit_int(e, "state_bytes", (int64_t)w->state_bytes);
    emit_int(e, "engine_bytes", (int64_t)w->engine_bytes);
    if (w->peak_bytes)
        emit_int(e, "peak_rss_bytes", (int64_t)w->peak_bytes);
    emit_close(e, '}');
    (void)fputc('\n', e->out);
}

static int report_one(struct scenario_report *report, const struct json_at *at, struct err *err)
{
    struct watcher w = {.report = report, .emit = {.out = report->out, .needs_comma = report->shown > 0}};
    struct scenario_watch watch = {.round = on_round, .match = on_match, .context = &w, .clock = report->clock};
    int r = 0;

    if (report->shown > 0 && !report->as_json)
        (void)fputc('\n', report->out);
    for (w.repeat = 0; r >= 0 && w.repeat < report->repeats; w.repeat++) {
        struct scenario s;

        r = scenario_simulate(&s, at, &watch, err);
        if (w.repeat == 0 && s.warnings.len > 0 && report->warnings)
            strbuf_addstr(report->warnings, s.warnings.text);
        scenario_done(&s);
    }
    if (r >= 0 && report->as_json)
        write_end(&w);
    report->shown++;
    free(w.match);
    vec_done(&w.timings);
    return r;
}

int scenario_report_all(struct scenario_report *report, const struct json_at *at, struct err *err)
{
    if (!yyjson_is_arr(at->val))
        return report_one(report, at, err);
    for (struct json_at item = {0}; json_next(at, &item);) {
        int r = report_one(report, &item, err);

        if (r < 0)
            return r;
    }
    return 0;
}

void scenario_report_begin(struct scenario_report *report)
{
    if (report->as_json)
        (void)fputc('[', report->out);
}

void scenario_report_end(struct scenario_report *report)
{
    if (report->as_json)
        (void)fputs("]\n", report->out);
}
