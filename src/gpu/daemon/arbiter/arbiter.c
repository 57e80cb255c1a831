/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Every event changes one group and then settle() looks at all of them: who has to stop, who may start, and when to look
 * again. There are few groups on a node, so that a walk over all of them costs less than keeping them sorted.
 *
 * A holder that others wait for gives way when its quantum is over and someone is further behind than it is by then. If
 * nobody is, it goes on until somebody would be: changing hands costs, and brings nobody closer to its share.
 */
#include "gpu/daemon/arbiter/arbiter.h"

#include <string.h>

#include "base/macros.h"
#include "gpu/daemon/arbiter/arbiter_internal.h"
#include "gpu/daemon/arbiter/together.h"

static const struct arbiter_options defaults = {
    .quantum = 25 * NSEC_PER_MSEC,
    .plan = 100 * NSEC_PER_MSEC,
    .drain_bound = NSEC_PER_SEC,
    .slack = 400 * NSEC_PER_USEC,
    .together = 2 * NSEC_PER_SEC,
};

/* How long after its last work an urgent group is expected back. */
#define URGENT_STAYS NSEC_PER_SEC

enum {
    WAITING_PLANS = 5,   // of credit that a group may save up while others keep it from running
    EXTENSIONS_MAX = 2,  // of a lease
};

void arbiter_init(struct arbiter *a, const struct arbiter_options *options)
{
    memset(a, 0, sizeof *a);
    a->options = options ? *options : defaults;
    if (a->options.quantum <= 0)
        a->options.quantum = defaults.quantum;
    if (a->options.quantum_min <= 0)
        a->options.quantum_min = a->options.quantum / 8;
    if (a->options.plan <= 0)
        a->options.plan = defaults.plan;
    if (a->options.drain_bound <= 0)
        a->options.drain_bound = defaults.drain_bound;
    if (a->options.slack <= 0)
        a->options.slack = defaults.slack;
    a->deadline = NSEC_MAX;
    memset(a->holder, -1, sizeof a->holder);
}

static void act(struct arbiter *a, enum arbiter_verb verb, uint32_t group)
{
    uint32_t at = (a->action_first + a->action_count) % ARBITER_ACTIONS_MAX;

    BUG_ON(a->action_count == ARBITER_ACTIONS_MAX);
    a->actions[at] = (struct arbiter_action){verb, group};
    a->action_count++;
}

struct arbiter_action arbiter_next_action(struct arbiter *a)
{
    struct arbiter_action action = {ARBITER_NOTHING, 0};

    if (a->action_count > 0) {
        action = a->actions[a->action_first];
        a->action_first = (a->action_first + 1) % ARBITER_ACTIONS_MAX;
        a->action_count--;
    }
    return action;
}

nsec_t arbiter_deadline(const struct arbiter *a)
{
    return a->deadline;
}

static bool is_capped(const struct arbiter_group *g)
{
    return g->cap < ARBITER_WHOLE;
}

/* The credit with which a capped group begins: its share of a plan, but not more than others would wait for. */
static nsec_t turn_of(const struct arbiter *a, const struct arbiter_group *g)
{
    return MIN(a->options.quantum, times(a->options.plan, g->cap));
}

/* Credit grows with time; what is used comes off when a lease ends, and is not counted against the limit until then. */
static void reckon(const struct arbiter *a, struct arbiter_group *g, nsec_t now)
{
    nsec_t max = g->state == ARBITER_IDLE ? turn_of(a, g) : times(WAITING_PLANS * a->options.plan, g->cap);
    nsec_t unpaid = arbiter_is_holding(g) || g->state == ARBITER_STUCK ? now - g->opened_at : 0;
    nsec_t gained = now > g->credit_at ? times(now - g->credit_at, g->cap) : 0;

    if (gained == 0)
        return;
    /* What is less than a nanosecond of credit is kept as time, or frequent looks would eat it up. */
    g->credit_at += over(gained, g->cap);
    g->credit = MAX(g->credit, MIN(g->credit + gained, max + unpaid));
}

/* What a holder would have if its lease ended now. */
static nsec_t credit_now(const struct arbiter_group *g, nsec_t now)
{
    return arbiter_is_holding(g) ? g->credit - (now - g->opened_at) : g->credit;
}

static nsec_t vtime_now(const struct arbiter_group *g, nsec_t now)
{
    return arbiter_is_holding(g) && !g->is_together ? g->vtime + over(now - g->opened_at, g->weight) : g->vtime;
}

static void enter(struct arbiter_group *g, enum arbiter_state state, nsec_t now)
{
    g->state = state;
    g->since = now;
}

static void set_holder(struct arbiter *a, const struct arbiter_group *g, int16_t holder)
{
    for (uint32_t i = 0; i < ARBITER_GPUS_MAX; i++) {
        if (g->gpus & (1u << i))
            a->holder[i] = holder;
    }
}

static bool may_start(const struct arbiter *a, const struct arbiter_group *g)
{
    return g->state == ARBITER_WAITING && (!is_capped(g) || g->credit >= turn_of(a, g));
}

/* The waiting group that competes with `g` and is furthest behind; NULL when nobody could start. */
static const struct arbiter_group *best_rival(const struct arbiter *a, const struct arbiter_group *g)
{
    const struct arbiter_group *best = NULL;

    for (uint32_t i = 0; i < a->group_end; i++) {
        const struct arbiter_group *other = &a->groups[i];

        if (other->is_used && compete(g, other) && may_start(a, other) && (!best || other->vtime < best->vtime))
            best = other;
    }
    return best;
}

/* Whether an urgent group that waits is within its share: not ahead of anybody who is served by more than a lease. */
static bool is_pressing(const struct arbiter *a, const struct arbiter_group *g, nsec_t now)
{
    if (!g->is_urgent || !may_start(a, g))
        return false;
    for (uint32_t i = 0; i < a->group_end; i++) {
        const struct arbiter_group *other = &a->groups[i];

        if (other->is_used && compete(g, other) && (arbiter_is_holding(other) || may_start(a, other)) &&
            vtime_now(other, now) + a->options.quantum < g->vtime)
            return false;
    }
    return true;
}

/* Whether a holder has to make room for an urgent group at once. Urgent groups wait for each other as all do. */
static bool is_pressed(const struct arbiter *a, const struct arbiter_group *g, nsec_t now)
{
    for (uint32_t i = 0; !g->is_urgent && i < a->group_end; i++) {
        if (a->groups[i].is_used && compete(g, &a->groups[i]) && is_pressing(a, &a->groups[i], now))
            return true;
    }
    return false;
}

int arbiter_successor(const struct arbiter *a, uint32_t group)
{
    const struct arbiter_group *next = best_rival(a, &a->groups[group]);

    return next ? (int)(next - a->groups) : -1;
}

/* When the holder has to be looked at again, or has to stop now. */
static nsec_t end_of_lease(const struct arbiter *a, const struct arbiter_group *g, nsec_t now)
{
    const struct arbiter_group *rival = best_rival(a, g);
    nsec_t end = NSEC_MAX;

    /* Those who wait at the gate have to wake up first. */
    if (g->extensions > 0 && now < g->since + a->options.quantum_min)
        return g->since + a->options.quantum_min;
    if (is_pressed(a, g, now))
        return now;
    if (g->is_together)
        return together_is_on(a, g) && together_is_ready(a, g) ? NSEC_MAX : now;

    if (is_capped(g)) {
        nsec_t left = credit_now(g, now);

        end = left <= 0 ? now : now + over(left, ARBITER_WHOLE - g->cap) + 1;
    }
    if (rival) {
        nsec_t behind = rival->vtime - vtime_now(g, now);
        bool is_far_behind = behind + over(a->options.quantum_min, g->weight) < 0;
        nsec_t turn = is_far_behind ? a->options.quantum_min : a->options.quantum;
        nsec_t quantum_end = MAX(g->opened_at + turn, now);

        if (quantum_end <= now && behind > 0)
            quantum_end = now + CLAMP(times(behind, g->weight), a->options.quantum_min, a->options.quantum);
        end = MIN(end, quantum_end);
    }
    return end;
}

static void close_gate(struct arbiter *a, struct arbiter_group *g, nsec_t now)
{
    enter(g, ARBITER_DRAINING, now);
    act(a, ARBITER_CLOSE, (uint32_t)(g - a->groups));
}

static void open_gate(struct arbiter *a, struct arbiter_group *g, bool is_together, nsec_t now)
{
    uint32_t index = (uint32_t)(g - a->groups);

    g->waited += now - g->since;
    g->leases++;
    g->opened_at = now;
    g->extensions = 0;
    g->wants_more = false;
    g->lease_end = NSEC_MAX;
    enter(g, ARBITER_RUNNING, now);
    if (is_together) {
        together_join(a, g, now);
    } else {
        set_holder(a, g, (int16_t)index);
        g->work_at = g->work;
        g->launches_at = g->launches;
    }
    a->vclock = MAX(a->vclock, g->vtime);
    act(a, ARBITER_OPEN, index);
}

/* Kernels on several GPUs wait for each other, and the gate may have closed between two of them: one runs, the other waits to
 * be launched. A group with launches at the gate that has not ended after another quantum gets a moment more for them, as
 * a part of the same lease. */
static bool may_extend(const struct arbiter_group *g)
{
    return (g->gpus & (g->gpus - 1)) != 0 && g->wants_more && g->extensions < EXTENSIONS_MAX;
}

static void extend(struct arbiter *a, struct arbiter_group *g, nsec_t now)
{
    g->extensions++;
    g->wants_more = false;
    enter(g, ARBITER_RUNNING, now);
    act(a, ARBITER_EXTEND, (uint32_t)(g - a->groups));
}

/* The GPUs that are in use, by anybody or by a holder who has them for itself. */
static uint16_t taken_gpus(const struct arbiter *a, bool is_alone)
{
    uint16_t taken = 0;

    for (uint32_t i = 0; i < a->group_end; i++) {
        const struct arbiter_group *g = &a->groups[i];

        if (g->is_used && arbiter_is_holding(g) && !(is_alone && g->is_together))
            taken |= g->gpus;
    }
    return taken;
}

/* Who waits and comes first: urgent groups within their share, then the one that is furthest behind. */
static struct arbiter_group *first_waiting(struct arbiter *a, const bool *is_seen, nsec_t now)
{
    struct arbiter_group *best = NULL;
    bool is_best_pressing = false;

    for (uint32_t i = 0; i < a->group_end; i++) {
        struct arbiter_group *g = &a->groups[i];

        if (!g->is_used || is_seen[i] || !may_start(a, g))
            continue;
        bool is_first = is_pressing(a, g, now);
        if (!best || is_first > is_best_pressing || (is_first == is_best_pressing && g->vtime < best->vtime)) {
            best = g;
            is_best_pressing = is_first;
        }
    }
    return best;
}

/* Starts whoever may. A group that lacks one of its GPUs keeps the others for itself, so that it is not passed over for
 * ever by groups that need fewer. */
static void start_waiting(struct arbiter *a, nsec_t now)
{
    bool is_seen[ARBITER_GROUPS_MAX] = {false};
    uint16_t taken = taken_gpus(a, false), kept = taken_gpus(a, true);

    for (struct arbiter_group *g; (g = first_waiting(a, is_seen, now));) {
        bool is_together = together_is_on(a, g) && together_is_ready(a, g);

        is_seen[g - a->groups] = true;
        if (((is_together ? kept : taken) & g->gpus) == 0)
            open_gate(a, g, is_together, now);
        taken |= g->gpus;
        /* An urgent one that is over its share comes in when the others have caught up, and does not stop them until then. */
        if (!is_together &&
            !(together_is_on(a, g) && g->is_urgent && g->state == ARBITER_WAITING && !is_pressing(a, g, now)))
            kept |= g->gpus;
    }
}

/* Until when an urgent group that competes with this one is expected; 0: there is none. */
static nsec_t hurried_until(const struct arbiter *a, const struct arbiter_group *g)
{
    nsec_t until = 0;

    for (uint32_t i = 0; !g->is_urgent && i < a->group_end; i++) {
        const struct arbiter_group *other = &a->groups[i];

        if (other->is_used && other->is_urgent && compete(g, other) && other->leases > 0)
            until = MAX(until, other->state == ARBITER_IDLE ? other->since + URGENT_STAYS : NSEC_MAX);
    }
    return until;
}

static enum arbiter_pace pace_of(const struct arbiter *a, const struct arbiter_group *g, nsec_t now)
{
    if (hurried_until(a, g) > now)
        return ARBITER_PACE_HURRIED;
    if (g->is_together)
        return ARBITER_PACE_TOGETHER;
    for (uint32_t i = 0; i < a->group_end; i++) {
        if (a->groups[i].is_used && compete(g, &a->groups[i]) && a->groups[i].state != ARBITER_IDLE)
            return ARBITER_PACE_CROWDED;
    }
    return ARBITER_PACE_ALONE;
}

static void tell_holder(struct arbiter *a, struct arbiter_group *g, nsec_t now)
{
    enum arbiter_pace pace = pace_of(a, g, now);

    if (g->state != ARBITER_RUNNING || g->pace == pace)
        return;
    g->pace = pace;
    act(a, ARBITER_PACE, (uint32_t)(g - a->groups));
}

/* When something has to happen to a group by itself. */
static nsec_t deadline_of(const struct arbiter *a, const struct arbiter_group *g, nsec_t now)
{
    switch (g->state) {
    case ARBITER_RUNNING: {
        nsec_t until = hurried_until(a, g);

        return MIN(g->lease_end, until > now ? until : NSEC_MAX);
    }
    case ARBITER_DRAINING:
        return g->since + (may_extend(g) ? a->options.quantum : a->options.drain_bound);
    case ARBITER_STUCK:
        return g->wants_more ? g->since + 2 * a->options.drain_bound : NSEC_MAX;
    case ARBITER_WAITING:
        if (is_capped(g) && g->credit < turn_of(a, g))
            return now + over(turn_of(a, g) - g->credit, g->cap) + 1;
        return NSEC_MAX;
    default:
        return NSEC_MAX;
    }
}

/* The lease is over, and paid for. A tenant's own measure may be less than what the clock here says by as much as it
 * takes to wake it up and to hear from it; the rest of the time the GPU was kept from others. */
static void pay(struct arbiter *a, struct arbiter_group *g, nsec_t busy, nsec_t now)
{
    if (g->is_together) {
        together_part(a, g, now);
        return;
    }
    nsec_t held = now - g->opened_at;
    nsec_t charge = CLAMP(busy, MAX(held - a->options.slack, 0), held);

    reckon(a, g, now);
    g->charged += charge;
    g->credit -= charge;
    g->vtime += over(charge, g->weight);
    if (g->state != ARBITER_STUCK) {
        together_measure(g, held, now);
        set_holder(a, g, -1);
    }
}

/* One that does not end and has launches at its gate gets another turn for them, as soon as it has paid for all of the time
 * so far: kernels that wait for each other may have been parted by the end of the lease. */
static void wait_again(struct arbiter *a, struct arbiter_group *g, nsec_t now)
{
    g->overrun += now - g->since;
    pay(a, g, now - g->opened_at, now);
    g->wants_more = false;
    enter(g, ARBITER_WAITING, now);
}

/* Of a group whose lease is over and whose kernels go on. */
static void look_at_end(struct arbiter *a, struct arbiter_group *g, nsec_t now)
{
    nsec_t ending = now - g->since;

    if (g->state == ARBITER_DRAINING && may_extend(g) && ending >= a->options.quantum) {
        extend(a, g, now);
    } else if (g->state == ARBITER_DRAINING && ending >= a->options.drain_bound) {
        if (g->is_together) {
            /* What it runs from here on is its own affair, and is charged as such. */
            together_part(a, g, now);
            g->opened_at = now;
        } else {
            set_holder(a, g, -1);
        }
        enter(g, ARBITER_STUCK, g->since);
        act(a, ARBITER_GIVE_UP, (uint32_t)(g - a->groups));
    }
    if (g->state == ARBITER_STUCK && g->wants_more && ending >= 2 * a->options.drain_bound)
        wait_again(a, g, now);
}

static void settle(struct arbiter *a, nsec_t now)
{
    for (uint32_t i = 0; i < a->group_end; i++) {
        struct arbiter_group *g = &a->groups[i];

        if (g->is_used)
            reckon(a, g, now);
    }
    /* Who waits again counts for those who run. */
    for (uint32_t i = 0; i < a->group_end; i++) {
        struct arbiter_group *g = &a->groups[i];

        if (g->is_used)
            look_at_end(a, g, now);
    }
    together_look(a, now);
    for (uint32_t i = 0; i < a->group_end; i++) {
        struct arbiter_group *g = &a->groups[i];

        if (g->is_used && g->state == ARBITER_RUNNING && end_of_lease(a, g, now) <= now)
            close_gate(a, g, now);
    }
    start_waiting(a, now);
    a->deadline = together_deadline(a, now);
    for (uint32_t i = 0; i < a->group_end; i++) {
        struct arbiter_group *g = &a->groups[i];

        if (!g->is_used)
            continue;
        if (g->state == ARBITER_RUNNING)
            g->lease_end = end_of_lease(a, g, now);
        tell_holder(a, g, now);
        a->deadline = MIN(a->deadline, deadline_of(a, g, now));
    }
}

int arbiter_add(struct arbiter *a, uint16_t gpus, uint32_t weight, uint32_t cap, nsec_t now)
{
    uint32_t i = 0;

    BUG_ON(gpus == 0 || weight == 0 || weight > ARBITER_WHOLE || cap == 0 || cap > ARBITER_WHOLE);
    while (i < ARBITER_GROUPS_MAX && a->groups[i].is_used)
        i++;
    if (i == ARBITER_GROUPS_MAX)
        return -1;
    a->group_end = MAX(a->group_end, i + 1);
    a->groups[i] = (struct arbiter_group){.is_used = true,
                                          .gpus = gpus,
                                          .weight = weight,
                                          .cap = cap,
                                          .vtime = a->vclock,
                                          .credit_at = now,
                                          .since = now,
                                          .lease_end = NSEC_MAX};
    a->groups[i].credit = turn_of(a, &a->groups[i]);
    return (int)i;
}

static struct arbiter_group *group_at(struct arbiter *a, uint32_t group)
{
    BUG_ON(group >= a->group_end || !a->groups[group].is_used);
    return &a->groups[group];
}

void arbiter_set(struct arbiter *a, uint32_t group, uint32_t weight, uint32_t cap, nsec_t now)
{
    struct arbiter_group *g = group_at(a, group);

    BUG_ON(weight == 0 || weight > ARBITER_WHOLE || cap == 0 || cap > ARBITER_WHOLE);
    reckon(a, g, now);
    if (arbiter_is_holding(g) && !g->is_together) {
        /* What was used so far counts at the old weight. */
        g->vtime = vtime_now(g, now) - over(now - g->opened_at, weight);
    }
    g->weight = weight;
    g->cap = cap;
    g->credit = MIN(g->credit, turn_of(a, g));
    settle(a, now);
}

void arbiter_set_urgent(struct arbiter *a, uint32_t group, bool is_urgent, nsec_t now)
{
    group_at(a, group)->is_urgent = is_urgent;
    settle(a, now);
}

void arbiter_note_work(struct arbiter *a, uint32_t group, uint64_t work, uint64_t launches)
{
    struct arbiter_group *g = group_at(a, group);

    /* Processes end, and say what they like: what was counted stays counted. */
    g->work = MAX(g->work, work);
    g->launches = MAX(g->launches, launches);
}

void arbiter_remove(struct arbiter *a, uint32_t group, nsec_t now)
{
    struct arbiter_group *g = group_at(a, group);

    if (g->is_together)
        together_part(a, g, now);
    else if (arbiter_is_holding(g))
        set_holder(a, g, -1);
    g->is_used = false;
    settle(a, now);
}

/* The virtual time of those who are served now. */
static nsec_t served_vtime(struct arbiter *a, const struct arbiter_group *newcomer, nsec_t now)
{
    nsec_t least = NSEC_MAX;

    for (uint32_t i = 0; i < a->group_end; i++) {
        const struct arbiter_group *g = &a->groups[i];

        if (g->is_used && compete(newcomer, g) && (arbiter_is_holding(g) || may_start(a, g)))
            least = MIN(least, vtime_now(g, now));
    }
    if (least != NSEC_MAX)
        a->vclock = MAX(a->vclock, least);
    return least == NSEC_MAX ? a->vclock : least;
}

/* Time without work is not saved up beyond one quantum. What the group was owed before, for having waited while others
 * ran their long kernels, is another matter: it is used up by resting as it would have been by running, so that a short
 * pause in the middle of a turn does not cost the rest of the turn. */
static void begin_to_wait(struct arbiter *a, struct arbiter_group *g, nsec_t now)
{
    nsec_t kept = MAX(a->options.quantum, g->owed - over(now - g->since, g->weight));

    reckon(a, g, now);
    g->vtime = MAX(g->vtime, served_vtime(a, g, now) - kept);
    g->owed = 0;
    enter(g, ARBITER_WAITING, now);
}

static void fall_idle(struct arbiter *a, struct arbiter_group *g, nsec_t now)
{
    nsec_t least = NSEC_MAX;

    for (uint32_t i = 0; i < a->group_end; i++) {
        const struct arbiter_group *other = &a->groups[i];

        if (other->is_used && compete(g, other) && (may_start(a, other) || other->is_together))
            least = MIN(least, other->vtime);
    }
    g->owed = least != NSEC_MAX ? MAX(least - g->vtime, 0) : 0;
    enter(g, ARBITER_IDLE, now);
}

void arbiter_ask(struct arbiter *a, uint32_t group, nsec_t now)
{
    struct arbiter_group *g = group_at(a, group);

    if (g->state != ARBITER_IDLE) {
        g->wants_more = true;
        if (g->state == ARBITER_DRAINING || g->state == ARBITER_STUCK)
            settle(a, now);
        return;
    }
    begin_to_wait(a, g, now);
    settle(a, now);
}

static void end_lease(struct arbiter *a, struct arbiter_group *g, nsec_t busy, bool wants_more, nsec_t now)
{
    pay(a, g, busy, now);
    if (wants_more || g->wants_more)
        enter(g, ARBITER_WAITING, now);
    else
        fall_idle(a, g, now);
    g->wants_more = false;
    settle(a, now);
}

void arbiter_yield(struct arbiter *a, uint32_t group, nsec_t busy, nsec_t now)
{
    struct arbiter_group *g = group_at(a, group);

    if (g->state == ARBITER_RUNNING)
        end_lease(a, g, busy, false, now);
}

void arbiter_close(struct arbiter *a, uint32_t group, nsec_t now)
{
    struct arbiter_group *g = group_at(a, group);

    if (g->state != ARBITER_RUNNING)
        return;
    enter(g, ARBITER_DRAINING, now);
    settle(a, now);
}

void arbiter_drained(struct arbiter *a, uint32_t group, nsec_t busy, bool wants_more, nsec_t now)
{
    struct arbiter_group *g = group_at(a, group);

    if (g->state != ARBITER_DRAINING && g->state != ARBITER_STUCK)
        return;
    g->overrun += now - g->since;
    end_lease(a, g, busy, wants_more, now);
}

void arbiter_tick(struct arbiter *a, nsec_t now)
{
    settle(a, now);
}
