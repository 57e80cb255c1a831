/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/daemon/arbiter/together.h"

#include "base/macros.h"
#include "gpu/daemon/arbiter/arbiter_internal.h"

/* Work is counted over spans of this length. */
#define SPAN (50 * NSEC_PER_MSEC)
/* What was measured alone counts for about so long, and together for so long, or for some launches if they are long. */
#define ALONE_KEPT (200 * NSEC_PER_MSEC)
#define SEEN_KEPT (400 * NSEC_PER_MSEC)
/* Less than this says nothing. */
#define ALONE_LEAST (10 * NSEC_PER_MSEC)
#define SEEN_LEAST (200 * NSEC_PER_MSEC)
/* After which somebody who was without work is no longer reckoned with. */
#define STAYS (100 * NSEC_PER_MSEC)
/* Work that may lie in queues, or as much as two launches. */
#define QUEUED_MOST (20 * NSEC_PER_MSEC)
/* How long they run side by side at first; longer each time. */
#define LENGTH_LEAST (250 * NSEC_PER_MSEC)
#define PAUSE_LEAST (500 * NSEC_PER_MSEC)
#define PAUSE_MOST (8 * NSEC_PER_SEC)
/* Virtual time that somebody may be owed afterwards. */
#define OWED_MOST (100 * NSEC_PER_MSEC)

enum {
    LAUNCHES_KEPT = 8,
    WORK_MOST = 1000,  // in so much time, as often as the time: more is a mistake or a lie
};

/* A group is below its share when it gets on at less than this part of it; far below, even over a single span. */
static const double enough = 0.99, far_below = 0.7;

static uint32_t first_gpu(uint16_t gpus)
{
    return (uint32_t)__builtin_ctz(gpus);
}

static struct arbiter_together *of(struct arbiter *a, const struct arbiter_group *g)
{
    return &a->together[first_gpu(g->gpus)];
}

/* Whether a group belongs to those that share from this GPU on. */
static bool is_member(const struct arbiter_group *g, uint32_t gpu)
{
    return g->is_used && first_gpu(g->gpus) == gpu;
}

static bool takes_part(const struct arbiter_group *g)
{
    return g->cap >= ARBITER_WHOLE && !g->is_urgent;
}

bool together_is_on(const struct arbiter *a, const struct arbiter_group *g)
{
    return a->together[first_gpu(g->gpus)].is_on;
}

bool together_is_ready(const struct arbiter *a, const struct arbiter_group *g)
{
    (void)a;
    return takes_part(g) && g->alone.time >= ALONE_LEAST && g->alone.work > 0;
}

/* Whether its work since the span began belongs to the time in which groups ran side by side. */
static bool counts(const struct arbiter *a, const struct arbiter_group *g, uint32_t gpu)
{
    return is_member(g, gpu) && together_is_ready(a, g) && g->state != ARBITER_STUCK &&
           (g->is_together || !arbiter_is_holding(g));
}

static void add_rate(struct arbiter_rate *rate, nsec_t time, uint64_t work, uint64_t launches, nsec_t kept)
{
    rate->time += time;
    rate->work += MIN(work, (uint64_t)time * WORK_MOST);
    rate->launches += MIN(launches, (uint64_t)time);
    if (rate->time > kept) {
        double part = (double)kept / 2 / (double)rate->time;

        rate->time = kept / 2;
        rate->work = (uint64_t)((double)rate->work * part);
        rate->launches = (uint64_t)((double)rate->launches * part);
    }
}

/* Work in a nanosecond, alone. */
static double speed_alone(const struct arbiter_group *g)
{
    return (double)g->alone.work / (double)g->alone.time;
}

/* How long one launch takes alone. */
static double launch_time(const struct arbiter_group *g)
{
    return g->alone.launches > 0 ? (double)g->alone.time / (double)g->alone.launches : 0;
}

void together_measure(struct arbiter_group *g, nsec_t held, nsec_t now)
{
    uint64_t work = g->work - g->work_at, launches = g->launches - g->launches_at;

    if (held <= 0 || work == 0)
        return;
    add_rate(&g->alone, held, work, launches, MAX(ALONE_KEPT, LAUNCHES_KEPT * (nsec_t)launch_time(g)));
    g->measured_at = now;
}

void together_join(struct arbiter *a, struct arbiter_group *g, nsec_t now)
{
    struct arbiter_together *t = of(a, g);

    g->is_together = true;
    g->active_at = now;
    if (t->running++ == 0)
        t->shared_at = now;
}

/* The work that a group can have done since the span began. It is counted at launch: what lies in queues, most of all of long
 * kernels, is done later. */
static uint64_t done_by(const struct arbiter_group *g)
{
    double most = (double)g->active * speed_alone(g);

    return MIN(g->work - g->work_at, (uint64_t)most);
}

/* Divides the time that groups have shared by the work that they got done. Returns the latest virtual time of them. */
static nsec_t charge_all(struct arbiter *a, uint32_t gpu, nsec_t shared)
{
    nsec_t latest = 0;
    double sum = 0;

    for (uint32_t i = 0; i < a->group_end; i++) {
        const struct arbiter_group *g = &a->groups[i];

        sum += counts(a, g, gpu) ? (double)done_by(g) / speed_alone(g) : 0;
    }
    for (uint32_t i = 0; i < a->group_end; i++) {
        struct arbiter_group *g = &a->groups[i];

        if (!counts(a, g, gpu))
            continue;
        double part = sum > (double)shared ? (double)shared / sum : 1;
        nsec_t charge = (nsec_t)((double)done_by(g) / speed_alone(g) * part);
        g->charged += charge;
        g->credit -= charge;
        g->vtime += over(charge, g->weight);
        latest = MAX(latest, g->vtime);
    }
    return latest;
}

/* Work that is not done yet counts in the next span; not more than may lie in queues, or it would hide that nothing is
 * done any more. */
static void carry_over(struct arbiter_group *g, uint64_t done)
{
    double most = MAX((double)QUEUED_MOST, 2 * launch_time(g)) * speed_alone(g);
    uint64_t left = MIN(g->work - g->work_at - done, (uint64_t)most);

    g->work_at = g->work - left;
    g->launches_at = g->launches;
}

/* What was done since the span began is charged, and held against what each does alone. */
static void count(struct arbiter *a, uint32_t gpu, nsec_t now)
{
    struct arbiter_together *t = &a->together[gpu];

    if (t->running > 0) {
        t->shared += now - t->shared_at;
        t->shared_at = now;
    }
    for (uint32_t i = 0; i < a->group_end; i++) {
        struct arbiter_group *g = &a->groups[i];

        if (!is_member(g, gpu) || !g->is_together)
            continue;
        g->active += now - g->active_at;
        g->active_at = now;
    }
    nsec_t latest = charge_all(a, gpu, t->shared);
    for (uint32_t i = 0; i < a->group_end; i++) {
        struct arbiter_group *g = &a->groups[i];

        if (!counts(a, g, gpu))
            continue;
        uint64_t done = done_by(g);
        if (g->active > 0)
            add_rate(&g->seen, g->active, done, g->launches - g->launches_at,
                     MAX(SEEN_KEPT, LAUNCHES_KEPT * (nsec_t)launch_time(g)));
        if (t->is_on && g->state != ARBITER_IDLE)
            g->vtime = MAX(g->vtime, latest - OWED_MOST);
        carry_over(g, done);
    }
}

/* A span is over; the active time of each stays for who judges by it. */
static void begin_span(struct arbiter *a, uint32_t gpu, nsec_t now)
{
    struct arbiter_together *t = &a->together[gpu];

    t->span_at = now;
    t->shared = 0;
    for (uint32_t i = 0; i < a->group_end; i++) {
        if (is_member(&a->groups[i], gpu))
            a->groups[i].active = 0;
    }
}

void together_part(struct arbiter *a, struct arbiter_group *g, nsec_t now)
{
    struct arbiter_together *t = of(a, g);

    BUG_ON(!g->is_together || t->running == 0);
    bool is_last = t->running == 1 && !t->is_on;
    if (is_last)
        count(a, first_gpu(g->gpus), now);
    g->active += now - g->active_at;
    g->is_together = false;
    if (--t->running == 0)
        t->shared += now - t->shared_at;
    if (is_last)
        begin_span(a, first_gpu(g->gpus), now);
}

/* The part of its speed alone that a group is promised beside those who were there in the span. */
static double promised(const struct arbiter *a, const struct arbiter_group *g, uint32_t gpu, nsec_t span)
{
    double others = 0;

    for (uint32_t i = 0; i < a->group_end; i++) {
        const struct arbiter_group *other = &a->groups[i];

        if (other != g && is_member(other, gpu) && takes_part(other))
            others += (double)other->weight * (double)other->active / (double)span;
    }
    return (double)g->weight / ((double)g->weight + others);
}

/* Whether a group got on at less than a part of what it was promised. One launch more may be under way. */
static bool is_below(const struct arbiter_group *g, const struct arbiter_rate *rate, double promise)
{
    double alone = speed_alone(g);
    double work = (double)rate->work + launch_time(g) * alone;

    return work < promise * alone * (double)rate->time;
}

/* Whether somebody who has work is below its share, or about to be. */
static bool is_anybody_below(struct arbiter *a, uint32_t gpu, nsec_t now)
{
    nsec_t span = now - a->together[gpu].span_at;

    for (uint32_t i = 0; i < a->group_end; i++) {
        const struct arbiter_group *g = &a->groups[i];

        if (!is_member(g, gpu) || !together_is_ready(a, g) || g->active < span / 4)
            continue;
        double promise = promised(a, g, gpu, span);
        if (is_below(g, &g->seen, far_below * promise) ||
            (g->seen.time >= SEEN_LEAST && is_below(g, &g->seen, enough * promise)))
            return true;
    }
    return false;
}

/* Turns begin again, in which each is measured alone. */
static void leave(struct arbiter *a, uint32_t gpu, bool has_failed, nsec_t now)
{
    struct arbiter_together *t = &a->together[gpu];
    nsec_t latest = 0;

    t->length = has_failed ? LENGTH_LEAST : MIN(2 * MAX(t->length, LENGTH_LEAST), a->options.together);
    t->is_on = false;
    t->left_at = now;
    t->again_at = now;
    if (has_failed) {
        t->failures++;
        t->pause = t->pause == 0 || now - t->begun_at > NSEC_PER_SEC ? PAUSE_LEAST : MIN(2 * t->pause, PAUSE_MOST);
        t->again_at += t->pause;
    } else if (now - t->begun_at > NSEC_PER_SEC) {
        t->pause = 0;
    }
    for (uint32_t i = 0; i < a->group_end; i++) {
        if (is_member(&a->groups[i], gpu) && a->groups[i].state != ARBITER_IDLE)
            latest = MAX(latest, a->groups[i].vtime);
    }
    for (uint32_t i = 0; i < a->group_end; i++) {
        struct arbiter_group *g = &a->groups[i];

        if (!is_member(g, gpu))
            continue;
        g->seen = (struct arbiter_rate){0};
        /* Where all was well nobody is owed anything: each has its turn. */
        if (!has_failed && g->state != ARBITER_IDLE && takes_part(g))
            g->vtime = MAX(g->vtime, latest);
    }
    if (t->running == 0) {
        count(a, gpu, now);
        begin_span(a, gpu, now);
    }
}

/* Whether all who compete on these GPUs may run side by side: the same GPUs, no caps. */
static bool is_allowed(const struct arbiter *a, uint32_t gpu)
{
    uint16_t gpus = 0, theirs = 0;

    for (uint32_t i = 0; i < a->group_end; i++) {
        const struct arbiter_group *g = &a->groups[i];

        if (!is_member(g, gpu))
            continue;
        if (g->cap < ARBITER_WHOLE || (gpus && g->gpus != gpus))
            return false;
        gpus = g->gpus;
    }
    for (uint32_t i = 0; i < a->group_end; i++) {
        if (a->groups[i].is_used && a->groups[i].gpus != gpus)
            theirs |= a->groups[i].gpus;
    }
    return gpus && (gpus & theirs) == 0;
}

static bool is_about(const struct arbiter_group *g, nsec_t now)
{
    return g->state != ARBITER_IDLE || (g->leases > 0 && now - g->since < STAYS);
}

/* Whether everybody who has work was measured alone since the last time, and there are several; not while one of them is owed
 * much, which it would lose. */
static bool may_begin(const struct arbiter *a, uint32_t gpu, nsec_t now)
{
    const struct arbiter_together *t = &a->together[gpu];
    nsec_t least = NSEC_MAX, latest = 0;
    uint32_t count = 0;

    for (uint32_t i = 0; i < a->group_end; i++) {
        const struct arbiter_group *g = &a->groups[i];

        if (!is_member(g, gpu) || !takes_part(g) || !is_about(g, now))
            continue;
        if (arbiter_is_holding(g) || g->state == ARBITER_STUCK || !together_is_ready(a, g) ||
            g->measured_at < t->left_at)
            return false;
        least = MIN(least, g->vtime);
        latest = MAX(latest, g->vtime);
        count++;
    }
    return count > 1 && latest - least <= OWED_MOST;
}

static void begin(struct arbiter *a, uint32_t gpu, nsec_t now)
{
    struct arbiter_together *t = &a->together[gpu];

    t->is_on = true;
    t->begun_at = now;
    t->spans = 0;
    begin_span(a, gpu, now);
    for (uint32_t i = 0; i < a->group_end; i++) {
        struct arbiter_group *g = &a->groups[i];

        if (!is_member(g, gpu))
            continue;
        g->seen = (struct arbiter_rate){0};
        g->work_at = g->work;
        g->launches_at = g->launches;
    }
}

/* Somebody has work of whom it is not known how fast it is alone. */
static bool is_anybody_new(const struct arbiter *a, uint32_t gpu)
{
    for (uint32_t i = 0; i < a->group_end; i++) {
        const struct arbiter_group *g = &a->groups[i];

        if (is_member(g, gpu) && takes_part(g) && g->state == ARBITER_WAITING && !together_is_ready(a, g))
            return true;
    }
    return false;
}

static void look_at(struct arbiter *a, uint32_t gpu, nsec_t now)
{
    struct arbiter_together *t = &a->together[gpu];

    if (!t->is_on) {
        if (t->running == 0 && now >= t->again_at && is_allowed(a, gpu) && may_begin(a, gpu, now))
            begin(a, gpu, now);
        return;
    }
    if (!is_allowed(a, gpu) || is_anybody_new(a, gpu)) {
        leave(a, gpu, false, now);
        t->length = LENGTH_LEAST;
        return;
    }
    if (now - t->span_at < SPAN)
        return;
    count(a, gpu, now);
    t->spans++;
    bool has_failed = is_anybody_below(a, gpu, now);
    begin_span(a, gpu, now);
    if (has_failed || now - t->begun_at >= MAX(t->length, LENGTH_LEAST))
        leave(a, gpu, has_failed, now);
}

void together_look(struct arbiter *a, nsec_t now)
{
    for (uint32_t gpu = 0; a->options.together > 0 && gpu < ARBITER_GPUS_MAX; gpu++)
        look_at(a, gpu, now);
}

nsec_t together_deadline(const struct arbiter *a, nsec_t now)
{
    nsec_t deadline = NSEC_MAX;

    (void)now;
    for (uint32_t gpu = 0; gpu < ARBITER_GPUS_MAX; gpu++) {
        if (a->together[gpu].is_on)
            deadline = MIN(deadline, a->together[gpu].span_at + SPAN);
    }
    return deadline;
}
