/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Slices of GPUs for groups. The driver takes its time to make one, so that it is asked in another thread, for one order after
 * the other; what everybody else sees of slices is what was there after the last one.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "gpu/daemon/gpud_parts.h"
#include "gpu/nvml/nvml.h"
#include "net/http_server.h"
#include "net/rest/rest.h"

enum order_kind { ORDER_TAKE, ORDER_GIVE, ORDER_TIDY };

struct order {
    struct list_link in_queue;
    enum order_kind kind;
    struct group_spec spec;          // of the group that wants a slice; only its name where one is given back
    char gpu[GROUP_GPU_SIZE];        // the UUID
    struct http_exchange *exchange;  // NULL: it has been answered

    /* What has come of it. */
    int result;
    struct err why;
    struct mig_slice slice;
    uint32_t unused;
};

struct slices {
    struct gpud *gpud;  // NULL: freed while the driver was asked
    struct mig *mig;
    nsec_t keep;
    struct list queue;  // the first is under way, where `is_busy`
    bool is_busy;
    struct loop_timer tidy;  // runs while there are slices that nobody uses
    uint32_t device_count;
    char uuids[GPU_MAX][GROUP_GPU_SIZE];
    struct mig_view views[GPU_MAX];  // by the thread that asks the driver
};

static struct order *first_order(const struct slices *s)
{
    return list_first(&s->queue, struct order, in_queue);
}

static void look(struct slices *s)
{
    for (uint32_t i = 0; i < s->device_count; i++)
        mig_look(s->mig, s->uuids[i], &s->views[i]);
}

static void show(struct slices *s)
{
    for (uint32_t i = 0; i < s->device_count; i++)
        s->gpud->devices[i].mig = s->views[i];
}

/* In the other thread: of what the loop's thread has, only the order is touched. */
static void carry_out(void *arg)
{
    struct slices *s = arg;
    struct order *order = first_order(s);
    nsec_t now = gpud_now();

    switch (order->kind) {
    case ORDER_TAKE:
        order->result =
            mig_take(s->mig, order->gpu, order->spec.mig, order->spec.name, now, &order->slice, &order->why);
        break;
    case ORDER_GIVE:
        mig_give(s->mig, order->spec.name, now);
        break;
    case ORDER_TIDY:
        order->unused = mig_tidy(s->mig, now - s->keep);
        break;
    }
    look(s);
}

static void end_slices(struct slices *s)
{
    mig_close(s->mig);
    free(s);
}

static void drop_order(struct slices *s, struct order *order)
{
    list_remove(&s->queue, &order->in_queue);
    free(order);
}

static void on_done(void *arg);

static void go_on(struct slices *s)
{
    if (s->is_busy || !first_order(s))
        return;
    s->is_busy = true;
    loop_work(s->gpud->loop, carry_out, on_done, s);
}

static struct order *add_order(struct slices *s, enum order_kind kind, const char *name)
{
    struct order *order = xcalloc(1, sizeof *order);

    order->kind = kind;
    (void)snprintf(order->spec.name, sizeof order->spec.name, "%s", name);
    list_push(&s->queue, &order->in_queue);
    return order;
}

/* The slice is there: so is the group, unless it cannot be any more. */
static void finish_take(struct slices *s, struct order *order)
{
    struct gpud *gpud = s->gpud;
    struct group *group = NULL;
    int r = order->result;

    if (r >= 0) {
        r = group_add_slice(gpud, &order->spec, &order->slice, &group, &order->why);
        if (r < 0)
            (void)add_order(s, ORDER_GIVE, order->spec.name);
    }
    if (r < 0) {
        log_warn(gpud->log, "a group did not get its slice", log_str("group", order->spec.name),
                 log_error(&order->why));
        rest_fail_err(order->exchange, &order->why);
        return;
    }
    log_info(gpud->log, "group created with a slice", log_str("group", order->spec.name),
             log_str("slice", order->slice.uuid));
    loop_task_queue(&gpud->saving);
    api_reply_group(order->exchange, 201, group);
}

/* Whatever is given back meanwhile is looked at when the timer runs out. */
static void plan_tidying(struct slices *s)
{
    if (!loop_timer_is_running(&s->tidy))
        loop_timer_start(&s->tidy, MAX(s->keep, NSEC_PER_SEC));
}

static void on_done(void *arg)
{
    struct slices *s = arg;
    struct order *order = first_order(s);

    s->is_busy = false;
    if (!s->gpud) {
        drop_order(s, order);
        end_slices(s);
        return;
    }
    show(s);
    if (order->kind == ORDER_TAKE)
        finish_take(s, order);
    else if (order->kind == ORDER_GIVE || order->unused > 0)
        plan_tidying(s);
    drop_order(s, order);
    go_on(s);
}

static void on_tidy(void *arg)
{
    struct slices *s = arg;

    (void)add_order(s, ORDER_TIDY, "");
    go_on(s);
}

void slices_start(struct gpud *gpud)
{
    struct slices *s = xcalloc(1, sizeof *s);
    struct err why = {0};
    bool is_damaged = false;
    char path[256];

    (void)snprintf(path, sizeof path, "%s/slices.json", gpud->config->folder);
    if (mig_open(NVML_LIBRARY, path, &s->mig, &is_damaged, &why) < 0) {
        free(s);
        return;
    }
    if (is_damaged)
        log_fail(gpud->log, "the file of slices cannot be read: existing slices are not touched",
                 log_str("path", path));
    s->gpud = gpud;
    s->keep = gpud->config->mig_keep;
    s->device_count = gpud->device_count;
    for (uint32_t i = 0; i < gpud->device_count; i++)
        memcpy(s->uuids[i], gpud->devices[i].spec.uuid, sizeof s->uuids[i]);
    loop_timer_init(&s->tidy, gpud->loop, on_tidy, s);
    gpud->slices = s;
    look(s);
    show(s);
}

static bool has_group(void *arg, const char *name)
{
    const struct group *group = group_find(arg, name);

    return group && group->spec.mig[0];
}

void slices_keep(struct gpud *gpud)
{
    struct slices *s = gpud->slices;

    if (!s)
        return;
    mig_keep_groups(s->mig, has_group, gpud, gpud_now());
    look(s);
    show(s);
    for (uint32_t i = 0; i < s->device_count; i++) {
        for (uint32_t j = 0; j < s->views[i].slice_count; j++) {
            if (s->views[i].slices[j].use == MIG_IDLE)
                plan_tidying(s);
        }
    }
}

/* The UUID of the GPU that a group names. */
static int find_gpu(const struct gpud *gpud, const struct group_spec *spec, const char **ret_uuid, struct err *err)
{
    int device = gpud_find_device(gpud, spec->gpus[0]);

    if (!gpud->slices)
        return err_set(err, -ENOTSUP, "there are no slices: NVML is not available");
    if (device < 0)
        return err_set(err, -ENOENT, "no GPU '%s' on this node; 'muster gpu top' lists them", spec->gpus[0]);
    *ret_uuid = gpud->devices[device].spec.uuid;
    return 0;
}

int slices_take_now(struct gpud *gpud, const struct group_spec *spec, struct mig_slice *ret_slice, struct err *err)
{
    const char *uuid;
    int r = find_gpu(gpud, spec, &uuid, err);

    return r < 0 ? r : mig_take(gpud->slices->mig, uuid, spec->mig, spec->name, gpud_now(), ret_slice, err);
}

static bool is_ordered(const struct slices *s, const char *name)
{
    for (const struct order *order = first_order(s); order;
         order = list_item(order->in_queue.next, struct order, in_queue)) {
        if (order->kind == ORDER_TAKE && strcmp(order->spec.name, name) == 0)
            return true;
    }
    return false;
}

void slices_order(struct gpud *gpud, const struct group_spec *spec, struct http_exchange *exchange)
{
    struct err why = {0};
    const char *uuid;
    int r = find_gpu(gpud, spec, &uuid, &why);

    if (r >= 0 && is_ordered(gpud->slices, spec->name))
        r = err_set(&why, -EBUSY, "group '%s' is being created", spec->name);
    if (r < 0) {
        rest_fail_err(exchange, &why);
        return;
    }
    struct order *order = add_order(gpud->slices, ORDER_TAKE, spec->name);
    order->spec = *spec;
    order->exchange = exchange;
    (void)snprintf(order->gpu, sizeof order->gpu, "%s", uuid);
    go_on(gpud->slices);
}

void slices_give(struct gpud *gpud, const char *group)
{
    if (!gpud->slices)
        return;
    (void)add_order(gpud->slices, ORDER_GIVE, group);
    go_on(gpud->slices);
}

/* Slices stay for the next daemon, who finds what was not carried out: groups that it does not know have none. */
void slices_free(struct gpud *gpud)
{
    struct slices *s = TAKE_PTR(gpud->slices);

    if (!s)
        return;
    loop_timer_done(&s->tidy);
    s->gpud = NULL;
    for (struct order *order = first_order(s), *next; order; order = next) {
        bool is_under_way = s->is_busy && order == first_order(s);

        next = list_item(order->in_queue.next, struct order, in_queue);
        if (order->exchange)
            rest_fail(order->exchange, -EBUSY, "the GPU daemon is ending");
        order->exchange = NULL;
        if (!is_under_way)
            drop_order(s, order);
    }
    if (!s->is_busy)
        end_slices(s);
}
