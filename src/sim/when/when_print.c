/* SPDX-License-Identifier: Apache-2.0 */

/* The answer for people and as JSON; docs/when.md describes the members. */
#include "base/strbuf.h"
#include "model/state.h"
#include "sim/report/metrics.h"
#include "sim/scenario/scenario_emit.h"
#include "sim/when/when.h"
#include "text/table.h"

enum { NAME_TEXT_MAX = 1024, LINE_MAX_BYTES = 512 };

static const char *const outcome_names[] = {
    [WHEN_EXPECTED] = "expected",  [WHEN_RUNNING] = "running", [WHEN_LATER] = "later than the horizon",
    [WHEN_NEVER] = "cannot start", [WHEN_UNKNOWN] = "unknown",
};
_Static_assert(ARRAY_LEN(outcome_names) == _WHEN_OUTCOME_MAX, "every outcome has a name");

static const char *seconds_text(nsec_t time, char text[static METRIC_TEXT_MAX])
{
    return metric_format(UNIT_SECONDS, (double)time / 1e9, text);
}

/* "2026-03-01 14:20 (in 2h 10m)". */
static void add_moment(struct strbuf *out, const struct future_world *world, nsec_t time)
{
    char date[TIME_TEXT_MAX];
    char from_now[METRIC_TEXT_MAX];

    time -= time % NSEC_PER_MIN;
    time_format(time, date);
    strbuf_addf(out, "%.10s %.5s (in %s)", date, date + 11, seconds_text(MAX(time - world->now, 0), from_now));
}

static void print_interval(const struct future_world *world, const char *title, nsec_t low, nsec_t high, FILE *out)
{
    struct strbuf line;

    strbuf_init(&line, LINE_MAX_BYTES);
    add_moment(&line, world, low);
    strbuf_addstr(&line, " to ");
    add_moment(&line, world, high);
    (void)fprintf(out, "  %s: %s\n", title, line.text);
    strbuf_done(&line);
}

static void print_expected(const struct future_world *world, const char *name, const struct prediction *p, FILE *out)
{
    struct strbuf line;

    strbuf_init(&line, LINE_MAX_BYTES);
    add_moment(&line, world, p->median);
    (void)fprintf(out, "%s is expected to start at %s, UTC\n", name, line.text);
    strbuf_done(&line);
    print_interval(world, "80%", p->low[PREDICTION_80], p->high[PREDICTION_80], out);
    print_interval(world, "90%", p->low[PREDICTION_90], p->high[PREDICTION_90], out);
}

static void print_answer(const struct future_world *world, const struct when_basis *basis,
                         const struct when_options *options, const struct when_answer *answer, FILE *out)
{
    char text[METRIC_TEXT_MAX];
    char date[TIME_TEXT_MAX];
    struct strbuf name;

    strbuf_init(&name, NAME_TEXT_MAX);
    workload_add_name(&name, world->state, answer->gang);
    switch (answer->outcome) {
    case WHEN_EXPECTED:
        print_expected(world, name.text, &answer->prediction, out);
        break;
    case WHEN_RUNNING:
        (void)fprintf(out, "%s is running%s%s\n", name.text, answer->started ? " since " : "",
                      answer->started ? time_format(answer->started, date) : "");
        break;
    case WHEN_LATER:
        (void)fprintf(out, "%s is not expected to start within %s: it did in %u of %u futures\n", name.text,
                      seconds_text(options->future.horizon, text), answer->prediction.started,
                      answer->prediction.futures);
        break;
    case WHEN_NEVER:
        (void)fprintf(out,
                      "%s cannot start in this cluster, even after all other work has ended; 'muster why' says why\n",
                      name.text);
        break;
    case WHEN_UNKNOWN:
        (void)fprintf(out,
                      "%s: too little is known to say. %u of %u running workloads have neither a declared time limit "
                      "nor a history; --history gives one\n",
                      name.text, basis->unknown, basis->running);
        break;
    case _WHEN_OUTCOME_MAX:
        break;
    }
    strbuf_done(&name);
}

static void print_basis(const struct future_world *world, const struct when_basis *basis,
                        const struct when_answer *answer, FILE *out)
{
    char text[METRIC_TEXT_MAX];

    (void)fprintf(out, "\nBased on %u futures. ", answer->prediction.futures);
    if (basis->past > 0)
        (void)fprintf(out, "History: %u workloads in %s, the run times of %u known.\n", basis->past,
                      seconds_text(world->now - basis->past_since, text), basis->ended);
    else
        (void)fputs("There is no history: no further work is expected.\n", out);
    (void)fprintf(out,
                  "Of %u running workloads, %u have a declared time limit, and %u a history of similar workloads.\n",
                  basis->running, basis->limited, basis->known);
    if (answer->prediction.calibrated > 0)
        (void)fprintf(out, "Corrected by the outcomes of %u earlier predictions.\n", answer->prediction.calibrated);
    else
        (void)fputs("Not corrected by earlier predictions: there are too few.\n", out);
}

void when_print(const struct future_world *world, const struct when_basis *basis, const struct when_options *options,
                const struct when_answer *answers, uint32_t count, const struct table_view *view, FILE *out)
{
    const struct when_answer *shown = NULL;

    (void)view;
    for (uint32_t i = 0; i < count; i++) {
        print_answer(world, basis, options, &answers[i], out);
        if (!shown && answers[i].prediction.futures > 0)
            shown = &answers[i];
    }
    if (shown)
        print_basis(world, basis, shown, out);
}

static void emit_time(struct emit *e, const char *key, nsec_t time)
{
    char text[TIME_TEXT_MAX];

    emit_str(e, key, time_format(time, text));
}

static void write_interval(struct emit *e, const char *key, const struct prediction *p, int which)
{
    emit_open(e, key, '{');
    emit_time(e, "from", p->low[which]);
    emit_time(e, "to", p->high[which]);
    emit_close(e, '}');
}

static void write_answer(struct emit *e, const struct future_world *world, const struct when_answer *answer)
{
    const struct prediction *p = &answer->prediction;
    struct strbuf name;

    strbuf_init(&name, NAME_TEXT_MAX);
    workload_add_name(&name, world->state, answer->gang);
    emit_open(e, NULL, '{');
    emit_str(e, "workload", name.text);
    emit_str(e, "queue", state_name(world->state, world->state->gangs.items[answer->gang].queue_name));
    emit_str(e, "outcome", outcome_names[answer->outcome]);
    if (answer->outcome == WHEN_RUNNING && answer->started)
        emit_time(e, "started", answer->started);
    if (answer->outcome == WHEN_EXPECTED) {
        emit_time(e, "median", p->median);
        emit_double(e, "medianWaitSeconds", (double)(p->median - p->at) / 1e9);
        write_interval(e, "interval80", p, PREDICTION_80);
        write_interval(e, "interval90", p, PREDICTION_90);
    }
    if (p->futures > 0) {
        emit_int(e, "futures", p->futures);
        emit_int(e, "startedIn", p->started);
        emit_int(e, "correctedBy", p->calibrated);
    }
    emit_close(e, '}');
    strbuf_done(&name);
}

void when_write(const struct future_world *world, const struct when_basis *basis, const struct when_options *options,
                const struct when_answer *answers, uint32_t count, FILE *out)
{
    struct emit e = {.out = out};

    emit_open(&e, NULL, '{');
    emit_time(&e, "at", world->now);
    emit_double(&e, "horizonSeconds", (double)options->future.horizon / 1e9);
    emit_int(&e, "seed", (int64_t)options->future.seed);
    emit_open(&e, "workloads", '[');
    for (uint32_t i = 0; i < count; i++)
        write_answer(&e, world, &answers[i]);
    emit_close(&e, ']');
    emit_open(&e, "basis", '{');
    emit_int(&e, "pastWorkloads", basis->past);
    emit_int(&e, "knownRunTimes", basis->ended);
    if (basis->past_since)
        emit_time(&e, "pastSince", basis->past_since);
    emit_int(&e, "running", basis->running);
    emit_int(&e, "withLimit", basis->limited);
    emit_int(&e, "withHistory", basis->known);
    emit_int(&e, "withNeither", basis->unknown);
    emit_int(&e, "waiting", basis->waiting);
    emit_close(&e, '}');
    emit_close(&e, '}');
    (void)fputc('\n', out);
}
