/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"

/*
 * Who may use a GPU now: leases of compute, as a pure function of what happens and when. Nothing here reads a clock or
 * talks to anyone; the caller carries out what arbiter_next_action() says, and calls arbiter_tick() not later than
 * arbiter_deadline().
 *
 * A group holds all its GPUs at once or none, since kernels that wait for each other across GPUs would otherwise wait for
 * ever. A lease lasts from the moment its gate opens until the last kernel under it has ended, and all of that is charged:
 * a kernel that outlasts the lease is paid for, which is what keeps shares exact however long kernels are.
 *
 * Every group has a weight, its share. What a group has used, divided by its weight, is its virtual time; the one that is
 * furthest behind runs next. A group alone keeps its lease, so nothing is wasted: this is fair sharing. A group may have a
 * cap besides: it earns credit at that rate and runs only while it has some. With a cap equal to its share the share is
 * exact, also when nobody else is there: strict sharing.
 *
 * Turns are not always needed. Fair groups whose work leaves gaps do more side by side, and as long as each of them gets on as
 * fast as its share promises nobody is held back: see together.h.
 *
 * A group may be urgent: within its share its turn comes at once, and the others keep little work queued while it is active.
 */
enum { ARBITER_GROUPS_MAX = 256, ARBITER_GPUS_MAX = 16, ARBITER_WHOLE = 1000000 };

struct arbiter_options {
    nsec_t quantum;      // of a lease that others wait for; 0: 25 ms
    nsec_t quantum_min;  // when one who is far behind comes back, or is still behind after its turn; 0: an eighth of it
    nsec_t plan;         // over which a capped group gets its share in one piece; 0: 100 ms
    nsec_t drain_bound;  // after which a group that does not end is no longer waited for; 0: 1 s. After as long again
                         // it may have another turn all the same: it may wait for its own next launch
    nsec_t slack;        // of a lease, that a tenant's own measure of busy time may leave out; 0: 400 us
    nsec_t together;     // how long groups run side by side before each is measured alone again; 0: they never do
};

enum arbiter_state {
    ARBITER_IDLE,      // has nothing to run
    ARBITER_WAITING,   // wants a lease
    ARBITER_RUNNING,   // has one
    ARBITER_DRAINING,  // the gate is closed, kernels go on
    ARBITER_STUCK,     // they went on for too long; others run beside it
};

/* Work that was done in a time, in the tenants' own measure. */
struct arbiter_rate {
    nsec_t time;
    uint64_t work;
    uint64_t launches;
};

/* How the groups pace themselves. */
enum arbiter_pace {
    ARBITER_PACE_ALONE,     // nobody else has work
    ARBITER_PACE_CROWDED,   // others wait: a holder without work should say so
    ARBITER_PACE_TOGETHER,  // others run at the same time
    ARBITER_PACE_HURRIED,   // an urgent group may want the GPU at any moment
};

struct arbiter_group {
    bool is_used;
    bool is_urgent;
    bool is_together;  // its lease is one of several on its GPUs
    uint16_t gpus;     // a bit for each
    uint32_t weight;   // in millionths of the GPU
    uint32_t cap;      // likewise; ARBITER_WHOLE: none
    enum arbiter_state state;
    bool wants_more;  // asked again while it runs or drains
    nsec_t vtime;     // use divided by weight
    nsec_t owed;      // virtual time by which it was behind one that waited when it fell idle
    nsec_t credit;
    nsec_t credit_at;     // when it was last reckoned
    nsec_t since;         // of the state
    nsec_t opened_at;     // of the lease
    nsec_t lease_end;     // NSEC_MAX: until someone asks
    uint32_t extensions;  // of the lease, after its gate had been closed
    enum arbiter_pace pace;

    /* What it gets done: see together.h. */
    uint64_t work, launches;        // ever, as it was last told
    uint64_t work_at, launches_at;  // when the lease, or the span in which groups run together, began
    nsec_t active_at;               // since when it takes part in that span
    nsec_t active;                  // and for how long it did before
    struct arbiter_rate alone;
    struct arbiter_rate seen;  // side by side with others
    nsec_t measured_at;        // alone

    /* Figures, ever growing. */
    nsec_t charged;
    nsec_t overrun;  // after its gate had closed
    nsec_t waited;   // while it could have run
    uint64_t leases;
};

/* It has its GPUs, and pays for them. */
static inline bool arbiter_is_holding(const struct arbiter_group *group)
{
    return group->state == ARBITER_RUNNING || group->state == ARBITER_DRAINING;
}

enum arbiter_verb {
    ARBITER_NOTHING,
    ARBITER_OPEN,
    ARBITER_CLOSE,
    ARBITER_EXTEND,   // opened again: its kernels seem to wait for those at the gate
    ARBITER_GIVE_UP,  // draining for too long
    ARBITER_PACE,     // has changed
};

struct arbiter_action {
    enum arbiter_verb verb;
    uint32_t group;
};

enum { ARBITER_ACTIONS_MAX = 4 * ARBITER_GROUPS_MAX };

/* Of the groups on one GPU, or on the same ones: whether they run side by side. Kept by the first of the GPUs. */
struct arbiter_together {
    bool is_on;
    nsec_t begun_at;
    nsec_t length;  // of the time until each is measured alone again
    nsec_t left_at;
    nsec_t again_at;  // not before
    nsec_t pause;     // before they are tried side by side again, after somebody got too little
    nsec_t span_at;   // when the span began over which work is counted
    nsec_t shared;    // the part of it in which somebody ran
    nsec_t shared_at;
    uint32_t running;  // leases of this kind
    uint64_t spans, failures;
};

struct arbiter {
    struct arbiter_options options;
    struct arbiter_group groups[ARBITER_GROUPS_MAX];
    uint32_t group_end;                // one past the last that is used
    int16_t holder[ARBITER_GPUS_MAX];  // -1: nobody, or several together
    struct arbiter_together together[ARBITER_GPUS_MAX];
    nsec_t vclock;  // the virtual time of those who are served; never falls
    nsec_t deadline;
    struct arbiter_action actions[ARBITER_ACTIONS_MAX];
    uint32_t action_first, action_count;
};

void arbiter_init(struct arbiter *a, const struct arbiter_options *options);

/* A new group without work. `gpus` is not empty, weight and cap are between 1 and ARBITER_WHOLE. Returns its number, or
 * -1 when there are too many. */
int arbiter_add(struct arbiter *a, uint16_t gpus, uint32_t weight, uint32_t cap, nsec_t now);

/* Other shares from now on. */
void arbiter_set(struct arbiter *a, uint32_t group, uint32_t weight, uint32_t cap, nsec_t now);

/* Whether its turn comes at once, within its share. */
void arbiter_set_urgent(struct arbiter *a, uint32_t group, bool is_urgent, nsec_t now);

/* What its processes say to have got done so far, in nanoseconds of work as it takes alone, and how many launches that was. */
void arbiter_note_work(struct arbiter *a, uint32_t group, uint64_t work, uint64_t launches);

/* Whatever it holds is free at once. */
void arbiter_remove(struct arbiter *a, uint32_t group, nsec_t now);

/* It wants to run. */
void arbiter_ask(struct arbiter *a, uint32_t group, nsec_t now);

/* It has nothing more to run under the lease that it holds, and its gate has been closed. */
void arbiter_yield(struct arbiter *a, uint32_t group, nsec_t busy, nsec_t now);

/* Its gate has been closed before its time, and kernels go on: as if its lease were over. */
void arbiter_close(struct arbiter *a, uint32_t group, nsec_t now);

/* Its last kernel has ended after its gate was closed. `busy` is its own measure of the time that it used. */
void arbiter_drained(struct arbiter *a, uint32_t group, nsec_t busy, bool wants_more, nsec_t now);

/* Time passes. */
void arbiter_tick(struct arbiter *a, nsec_t now);

/* The group that would go on with one of this group's GPUs if its lease ended now; -1: nobody. */
int arbiter_successor(const struct arbiter *a, uint32_t group);

/* When arbiter_tick() has to be called next; NSEC_MAX: not before something happens. */
nsec_t arbiter_deadline(const struct arbiter *a);

/* Takes the next thing to do; ARBITER_NOTHING when all is done. */
struct arbiter_action arbiter_next_action(struct arbiter *a);
