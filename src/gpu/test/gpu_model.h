/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A GPU and its tenants as the arbiter sees them, in virtual time: kernels of a length each, a bounded queue in front of
 * the GPU, and delays until a tenant is awake or has been heard. Shares are counted in work done.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/macros.h"
#include "gpu/daemon/arbiter/arbiter.h"

enum { MODEL_TENANTS_MAX = 8 };

struct model_tenant {
    nsec_t kernel;      // length of each
    nsec_t on, off;     // works for so long, rests for so long; off 0: always works
    nsec_t asks_late;   // has its next launch ready only so long after its last kernel; 0: waits at the gate by then
    bool never_drains;  // pays no heed to anyone
    int group;

    bool is_open;
    nsec_t opened_at;
    nsec_t drained_at;  // NSEC_MAX: not draining
    nsec_t yields_at;
    nsec_t wakes_at;
    nsec_t work;       // done
    nsec_t closed_at;  // of the last lease
    nsec_t work_busy;  // of the lease that drains
    nsec_t longest_wait;
    nsec_t waiting_since;  // NSEC_MAX: does not wait
};

struct model {
    struct arbiter arbiter;
    struct model_tenant tenants[MODEL_TENANTS_MAX];
    uint32_t tenant_count;
    nsec_t now;
    nsec_t backlog;         // 1.5 ms
    nsec_t delay;           // to be woken, or to be heard
    nsec_t longest_switch;  // from a close to the next open
    nsec_t last_close;
    uint32_t given_up;
};

static inline void model_init(struct model *m, const struct arbiter_options *options)
{
    memset(m, 0, sizeof *m);
    arbiter_init(&m->arbiter, options);
    m->backlog = 1500 * NSEC_PER_USEC;
    m->delay = 40 * NSEC_PER_USEC;
    m->last_close = -1;
}

static inline struct model_tenant *model_add(struct model *m, double share, bool is_strict, nsec_t kernel)
{
    struct model_tenant *t = &m->tenants[m->tenant_count++];
    uint32_t weight = (uint32_t)(share * ARBITER_WHOLE + 0.5);

    t->kernel = kernel;
    t->drained_at = t->yields_at = NSEC_MAX;
    t->waiting_since = NSEC_MAX;
    t->group = arbiter_add(&m->arbiter, 1, weight, is_strict ? weight : ARBITER_WHOLE, m->now);
    return t;
}

/* Whether the tenant has work at a time. */
static inline bool model_is_on(const struct model_tenant *t, nsec_t at)
{
    return t->off == 0 || at % (t->on + t->off) < t->on;
}

static inline nsec_t model_next_on(const struct model_tenant *t, nsec_t at)
{
    return model_is_on(t, at) ? at : at - at % (t->on + t->off) + t->on + t->off;
}

static inline nsec_t model_off_at(const struct model_tenant *t, nsec_t at)
{
    return t->off == 0 ? NSEC_MAX : at - at % (t->on + t->off) + t->on;
}

static inline void model_open(struct model *m, struct model_tenant *t)
{
    nsec_t start = m->now + m->delay;

    t->is_open = true;
    t->opened_at = m->now;
    if (t->waiting_since != NSEC_MAX)
        t->longest_wait = MAX(t->longest_wait, m->now - t->waiting_since);
    t->waiting_since = NSEC_MAX;
    t->yields_at = model_off_at(t, m->now) == NSEC_MAX ? NSEC_MAX : MAX(model_off_at(t, m->now), start);
    if (m->last_close >= 0)
        m->longest_switch = MAX(m->longest_switch, m->now - m->last_close);
    m->last_close = -1;
}

/* What was submitted by now runs to its end. */
static inline nsec_t model_run_out(struct model *m, struct model_tenant *t, nsec_t until)
{
    nsec_t start = t->opened_at + m->delay;
    nsec_t begun = until > start ? (until - start) / t->kernel : 0;
    nsec_t ahead = MAX(m->backlog / t->kernel, 1);

    t->work_busy = (begun + ahead) * t->kernel;
    t->work += t->work_busy;
    return start + t->work_busy;
}

static inline void model_act(struct model *m)
{
    struct arbiter_action action;

    while ((action = arbiter_next_action(&m->arbiter)).verb != ARBITER_NOTHING) {
        struct model_tenant *t = m->tenants;

        while (t->group != (int)action.group)
            t++;
        if (action.verb == ARBITER_OPEN) {
            model_open(m, t);
        } else if (action.verb == ARBITER_CLOSE) {
            t->is_open = false;
            t->yields_at = NSEC_MAX;
            t->closed_at = m->now;
            m->last_close = m->now;
            if (!t->never_drains)
                t->drained_at = MAX(model_run_out(m, t, m->now) + m->delay, m->now);
        } else if (action.verb == ARBITER_GIVE_UP) {
            m->given_up++;
        }
    }
}

static inline void model_ask(struct model *m, struct model_tenant *t)
{
    t->wakes_at = NSEC_MAX;
    t->waiting_since = m->now;
    arbiter_ask(&m->arbiter, (uint32_t)t->group, m->now);
}

static inline void model_step(struct model *m, struct model_tenant *t)
{
    if (!t->is_open && t->drained_at == NSEC_MAX && t->wakes_at <= m->now)
        model_ask(m, t);
    if (t->drained_at <= m->now) {
        bool is_on = model_is_on(t, m->now);

        t->drained_at = NSEC_MAX;
        bool is_waiting = is_on && t->asks_late == 0;

        t->wakes_at = is_waiting ? NSEC_MAX : model_next_on(t, m->now + t->asks_late);
        t->waiting_since = is_waiting ? m->now : NSEC_MAX;
        arbiter_drained(&m->arbiter, (uint32_t)t->group, t->work_busy, is_waiting, m->now);
    }
    if (t->is_open && t->yields_at <= m->now) {
        nsec_t busy = m->now - t->opened_at - m->delay;

        t->is_open = false;
        t->yields_at = NSEC_MAX;
        t->work += MAX(busy, 0);
        t->wakes_at = model_next_on(t, m->now);
        arbiter_yield(&m->arbiter, (uint32_t)t->group, MAX(busy, 0), m->now);
    }
}

static inline nsec_t model_next_event(const struct model *m)
{
    nsec_t next = arbiter_deadline(&m->arbiter);

    for (uint32_t i = 0; i < m->tenant_count; i++) {
        const struct model_tenant *t = &m->tenants[i];

        next = MIN(next, MIN(t->drained_at, t->yields_at));
        if (!t->is_open && t->drained_at == NSEC_MAX)
            next = MIN(next, t->wakes_at);
    }
    return next;
}

/* Runs for so long. Work of leases that are open at the end is counted. */
static inline void model_run(struct model *m, nsec_t duration)
{
    nsec_t end = m->now + duration;

    for (nsec_t next; (next = model_next_event(m)) <= end;) {
        m->now = MAX(next, m->now);
        for (uint32_t i = 0; i < m->tenant_count; i++)
            model_step(m, &m->tenants[i]);
        arbiter_tick(&m->arbiter, m->now);
        model_act(m);
    }
    m->now = end;
}

/* Work with that of the open lease. */
static inline nsec_t model_work(const struct model *m, const struct model_tenant *t)
{
    return t->work + (t->is_open ? MAX(m->now - t->opened_at - m->delay, 0) : 0);
}
