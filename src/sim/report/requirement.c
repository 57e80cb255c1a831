/* SPDX-License-Identifier: Apache-2.0 */

/* Judging what --require asked for, and saying what was found. */
#include "sim/report/requirement.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "engine/engine.h"
#include "model/state.h"
#include "sim/report/reason.h"
#include "sim/scenario/scenario_emit.h"
#include "text/suggest.h"
#include "text/table.h"

/* Values are sums and quotients of doubles: equal is what is shown as equal. */
#define EQUAL_WITHIN 1e-9

static bool bound_holds(const struct requirement *r, double a, double b)
{
    double bound = r->is_relative ? r->value * a : r->value;

    switch (r->op) {
    case BOUND_LT:
        return b < bound;
    case BOUND_LE:
        return b <= bound;
    case BOUND_GT:
        return b > bound;
    case BOUND_GE:
        return b >= bound;
    case BOUND_EQ:
        return fabs(b - bound) <= EQUAL_WITHIN * fmax(1, fabs(bound));
    }
    return false;
}

static void find_value(const struct requirement *r, const struct sim_run *first, const struct sim_run *run,
                       struct finding *ret)
{
    struct metric_filter filter = {
        .queue = r->queue[0] ? r->queue : NULL,
        .workload = r->workload[0] ? r->workload : NULL,
        .has_size = r->has_size,
        .size_min = r->size_min,
        .size_max = r->size_max,
    };
    enum metric_unit unit = metric_info(r->metric)->unit;
    char a[METRIC_TEXT_MAX];
    char b[METRIC_TEXT_MAX];

    ret->values[0] = first ? metric_value(first, r->metric, &filter) : NAN;
    ret->values[1] = metric_value(run, r->metric, &filter);
    ret->holds = bound_holds(r, ret->values[0], ret->values[1]);
    if (first)
        (void)snprintf(ret->text, sizeof ret->text, "A %s, B %s", metric_format(unit, ret->values[0], a),
                       metric_format(unit, ret->values[1], b));
    else
        (void)snprintf(ret->text, sizeof ret->text, "%s", metric_format(unit, ret->values[1], b));
}

/* "lab/train is Pending: over limit"; one pod of several of a Deployment is a replica of it. */
static void add_state(struct strbuf *text, const struct sim_run *run, const struct sim_run_job *job)
{
    enum workload_state state = sim_run_job_state(run, job);

    strbuf_addstr(text, job->owner ? "a replica of " : "");
    sim_run_job_name(run, job, text);
    strbuf_addf(text, " is %s", workload_state_name(state));
    if (state == WORKLOAD_PENDING) {
        char words[REASON_TEXT_MAX];

        strbuf_addf(text, ": %s", reason_words(engine_verdict(run->engine, job->gang).code, words));
    }
}

static uint32_t find_states(const struct requirement *r, const struct sim_run *run, struct finding *ret)
{
    const struct sim_run_job *other = NULL;
    const struct sim_run_job *last = NULL;
    uint32_t matching = 0;
    uint32_t replicas = 0;
    uint32_t right = 0;
    struct strbuf text;

    vec_foreach (&run->jobs, job) {
        if (!metric_is_workload(run, job, r->workload))
            continue;
        matching++;
        replicas += job->owner != 0;
        last = job;
        if (sim_run_job_state(run, job) == r->state)
            right++;
        else if (!other)
            other = job;
    }
    if (matching == 0)
        return 0;
    ret->holds = right == matching;
    strbuf_init(&text, sizeof ret->text - 1);
    if (matching > 1)
        strbuf_addf(&text, "%u of %u %s are %s", right, matching, replicas == matching ? "replicas" : "workloads",
                    workload_state_name(r->state));
    if (matching > 1 && other)
        strbuf_addstr(&text, "; ");
    if (other || matching == 1)
        add_state(&text, run, other ? other : last);
    (void)snprintf(ret->text, sizeof ret->text, "%s", text.text);
    strbuf_done(&text);
    return matching;
}

static bool has_workload(const struct sim_run *run, const char *pattern)
{
    vec_foreach (&run->jobs, job)
        if (metric_is_workload(run, job, pattern))
            return true;
    return false;
}

static int refuse_queue(const struct requirement *r, const struct sim_run *run, struct err *err)
{
    struct suggestion suggestion;
    char hint[SUGGESTION_MAX];

    suggestion_init(&suggestion, r->queue);
    vec_foreach (&run->queues, queue)
        suggestion_offer(&suggestion, state_name(run->state, queue->name));
    return err_set(err, -EINVAL, "--require '%s': there is no queue '%s'%s", r->text, r->queue,
                   suggestion_text(&suggestion, "", hint));
}

/* What is suggested is the name alone: the namespace is rarely what was mistyped. */
static int refuse_workload(const struct requirement *r, const struct sim_run *run, struct err *err)
{
    const char *slash = strchr(r->workload, '/');
    struct suggestion suggestion;
    char hint[SUGGESTION_MAX];

    suggestion_init(&suggestion, slash ? slash + 1 : r->workload);
    vec_foreach (&run->jobs, job)
        suggestion_offer(&suggestion, state_name(run->state, job->owner ? job->owner : job->label));
    return err_set(err, -EINVAL, "--require '%s': there is no workload '%s'%s", r->text, r->workload,
                   suggestion_text(&suggestion, "", hint));
}

int requirement_judge(const struct requirement *r, const struct sim_run *first, const struct sim_run *run,
                      struct finding *ret, struct err *err)
{
    *ret = (struct finding){.values = {NAN, NAN}};
    if (r->queue[0] && !metric_has_queue(run, r->queue) && !(first && metric_has_queue(first, r->queue)))
        return refuse_queue(r, run, err);
    if (r->workload[0] && !has_workload(run, r->workload))
        return refuse_workload(r, run, err);
    if (r->is_relative && !first)
        return err_set(err, -EINVAL, "--require '%s': A is the first setting of 'muster compare'; give a value here",
                       r->text);
    if (r->is_state)
        (void)find_states(r, run, ret);
    else
        find_value(r, first, run, ret);
    return 0;
}

int requirements_add(struct requirements *list, const char *text, struct err *err)
{
    struct requirement requirement;
    int r = requirement_parse(&requirement, text, err);

    if (r >= 0)
        vec_push(&list->items, requirement);
    return r;
}

int requirements_judge(struct requirements *list, const struct sim_run *first, const struct sim_run *run,
                       struct err *err)
{
    vec_clear(&list->found);
    vec_foreach (&list->items, item) {
        struct finding finding;
        int r = requirement_judge(item, first, run, &finding, err);

        if (r < 0)
            return r;
        vec_push(&list->found, finding);
    }
    return 0;
}

bool requirements_hold(const struct requirements *list)
{
    vec_foreach (&list->found, finding)
        if (!finding->holds)
            return false;
    return true;
}

void requirements_done(struct requirements *list)
{
    vec_done(&list->items);
    vec_done(&list->found);
}

void requirements_print(const struct requirements *list, const struct table_view *view, FILE *out)
{
    static const struct table_column columns[] = {{"REQUIREMENT", TABLE_LEFT, TABLE_WHOLE},
                                                  {"RESULT", TABLE_LEFT, TABLE_WHOLE},
                                                  {"FOUND", TABLE_LEFT, TABLE_WRAP}};
    struct table t;

    if (list->found.len == 0)
        return;
    table_init(&t, columns, ARRAY_LEN(columns));
    for (int holds = 0; holds < 2; holds++)
        for (uint32_t i = 0; i < list->found.len; i++) {
            if (list->found.items[i].holds != (bool)holds)
                continue;
            table_cell(&t, STYLE_PLAIN, "%s", list->items.items[i].text);
            table_cell(&t, holds ? STYLE_GOOD : STYLE_BAD, "%s", holds ? "holds" : "BROKEN");
            table_cell(&t, STYLE_PLAIN, "%s", list->found.items[i].text);
        }
    table_print(&t, view, out);
    (void)fputc('\n', out);
    table_done(&t);
}

void requirements_write(struct emit *e, const struct requirements *list)
{
    emit_open(e, "requirements", '[');
    for (uint32_t i = 0; i < list->found.len; i++) {
        emit_open(e, NULL, '{');
        emit_str(e, "requirement", list->items.items[i].text);
        emit_bool(e, "holds", list->found.items[i].holds);
        emit_str(e, "found", list->found.items[i].text);
        emit_close(e, '}');
    }
    emit_close(e, ']');
}
