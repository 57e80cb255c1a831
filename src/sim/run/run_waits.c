/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Verdicts are read after each cycle for the workloads that wait, and only for those. A reason lasts from the cycle that
 * gave it to the cycle that gives another one, since nothing changes between two cycles.
 */
#include "sim/run/run_waits.h"

#include "engine/engine.h"
#include "sim/run/run_internal.h"

void waits_init(struct waits *waits, struct timeline *timeline, bool is_on)
{
    waits->is_on = is_on;
    for (int code = 0; is_on && code < _VERDICT_CODE_MAX; code++)
        waits->counts[code] = timeline_add(timeline);
}

void waits_done(struct waits *waits)
{
    vec_done(&waits->parts);
    vec_done(&waits->first);
    vec_done(&waits->jobs);
}

static struct wait_part *find_part(struct waits *waits, uint32_t job, enum verdict_code code)
{
    uint32_t *link;

    while (waits->first.len <= job)
        vec_push(&waits->first, NO_ID);
    link = &waits->first.items[job];
    while (*link != NO_ID && waits->parts.items[*link].code != code)
        link = &waits->parts.items[*link].next;
    if (*link == NO_ID) {
        /* The new part may move the others, `link` among them. */
        *link = waits->parts.len;
        vec_push(&waits->parts, (struct wait_part){.next = NO_ID, .code = code});
        return &vec_last(&waits->parts);
    }
    return &waits->parts.items[*link];
}

static void count(struct sim_run *run, enum verdict_code code, int change)
{
    struct waits *waits = &run->waits;

    waits->waiting[code] += (uint32_t)change;
    series_set(&run->timeline, waits->counts[code], waits->waiting[code]);
}

void waits_begin(struct sim_run *run, uint32_t job)
{
    struct sim_run_job *of = &run->jobs.items[job];

    /* One that started and stopped within a cycle is on the list still. */
    if (!run->waits.is_on || of->is_listed)
        return;
    of->is_listed = true;
    vec_push(&run->waits.jobs, (struct waiting_job){job, VERDICT_NONE, run->inner->now});
    count(run, VERDICT_NONE, 1);
}

/* Its time for the reason that it waited for up to now. */
static void close_part(struct sim_run *run, struct waiting_job *at)
{
    if (run->inner->now > at->since)
        find_part(&run->waits, at->job, at->code)->time += run->inner->now - at->since;
    at->since = run->inner->now;
}

void waits_read(struct sim_run *run)
{
    struct waits *waits = &run->waits;
    uint32_t kept = 0;

    for (uint32_t i = 0; i < waits->jobs.len; i++) {
        struct waiting_job at = waits->jobs.items[i];
        struct sim_run_job *job = &run->jobs.items[at.job];
        bool is_waiting = job->gang != NO_ID && !job->is_going;
        enum verdict_code code = is_waiting ? engine_verdict(run->engine, job->gang).code : at.code;

        if (!is_waiting || code != at.code) {
            close_part(run, &at);
            count(run, at.code, -1);
        }
        job->is_listed = is_waiting;
        if (!is_waiting)
            continue;
        if (code != at.code)
            count(run, code, 1);
        at.code = code;
        waits->jobs.items[kept++] = at;
    }
    waits->jobs.len = kept;
}

void waits_finish(struct sim_run *run)
{
    vec_foreach (&run->waits.jobs, at)
        close_part(run, at);
}

nsec_t waits_of(const struct waits *waits, uint32_t job, enum verdict_code code)
{
    uint32_t part = job < waits->first.len ? waits->first.items[job] : NO_ID;

    while (part != NO_ID && waits->parts.items[part].code != code)
        part = waits->parts.items[part].next;
    return part == NO_ID ? 0 : waits->parts.items[part].time;
}
