/* SPDX-License-Identifier: Apache-2.0 */

/* Orders of users and schedulers to park or resume a group. */
#include <errno.h>
#include <unistd.h>

#include "gpu/daemon/park/park_internal.h"
#include "net/http_server.h"
#include "net/rest/rest.h"

/* Whoever may reach the socket of the API is the daemon's user or root; a group has an owner beside them. */
static bool may_order(const struct group *group, struct http_exchange *exchange)
{
    const struct http_peer *peer = http_exchange_peer(exchange);

    return peer && peer->has_credentials &&
           (peer->uid == 0 || peer->uid == geteuid() || (group->spec.uid >= 0 && peer->uid == (uid_t)group->spec.uid));
}

/* The group of an order that can be carried out now; NULL when the exchange was answered. */
static struct group *group_of_order(struct gpud *gpud, struct http_exchange *exchange)
{
    const char *name = rest_param(exchange, "name");
    struct group *group = group_find(gpud, name);

    if (!group)
        rest_fail(exchange, -ENOENT, "no group '%s'; GET /v1/status lists the groups", name);
    else if (!may_order(group, exchange))
        rest_fail(exchange, -EACCES, "group '%s' belongs to another user", name);
    else if (!group->spec.is_parkable)
        rest_fail(exchange, -EINVAL, "group '%s' cannot be parked: it was created without \"parkable\": true", name);
    else if (group->park.state != PARK_RUNNING && group->park.state != PARK_PARKED)
        rest_fail(exchange, -EBUSY, "group '%s' is being parked or resumed; try again", name);
    else
        return group;
    return NULL;
}

void park_order(void *arg, struct http_exchange *exchange)
{
    struct group *group = group_of_order(arg, exchange);

    struct err why = {0};

    if (!group)
        return;
    /* By this order, it stays away until the next one. */
    park_set_displaced(group, false);
    group->park.exchange = exchange;
    if (park_begin(group, &why) < 0) {
        group->park.exchange = NULL;
        rest_fail_err(exchange, &why);
    }
}

int park_begin(struct group *group, struct err *err)
{
    struct gpud *gpud = group->gpud;

    for (const struct session *s = session_first(group); s; s = session_next(s)) {
        if (!s->slot || s->events >= 0 || s->slot->parked > 0)
            continue;
        return err_set(err, -EBUSY, "process %d has not come back to the daemon yet; try again", (int)s->peer.pid);
    }
    group->park.number++;
    park_set_state(group, PARK_STOPPING);
    loop_timer_start(&group->park.deadline, gpud->config->park_timeout);
    for (struct session *s = session_first(group); s; s = session_next(s)) {
        if (!park_is_there(s) || s->slot->parked > 0)
            continue;
        s->is_awaited = true;
        s->stopped = (struct gpu_message){0};
        park_tell(s, GPU_PARK, 0, NULL);
    }
    park_go_on(group);
    return 0;
}

/* Takes memory of the GPU for all, or for none. */
static int reserve_all(struct group *group, struct err *err)
{
    struct session *failed = NULL;
    uint64_t wanted = park_host_bytes(group);

    for (struct session *s = session_first(group); s && !failed; s = session_next(s)) {
        if (!s->slot || s->slot->parked == 0)
            continue;
        if (s->events < 0 || !memory_take(s, PARKED_GPU, s->slot->parked))
            failed = s;
    }
    if (!failed)
        return 0;
    for (struct session *s = session_first(group); s != failed; s = session_next(s)) {
        if (s->slot)
            memory_give(s, PARKED_GPU, s->slot->parked);
    }
    if (failed->events < 0)
        return err_set(err, -EBUSY, "process %d has not come back to the daemon yet; try again", (int)failed->peer.pid);
    return err_set(err, -EBUSY, "the GPU has no %.1f GiB for group %s: %.1f GiB are free for it; try again later",
                   (double)wanted / GIB, group->spec.name, (double)memory_free_for(group, PARKED_GPU) / GIB);
}

void resume_order(void *arg, struct http_exchange *exchange)
{
    struct group *group = group_of_order(arg, exchange);
    struct err why = {0};

    if (!group)
        return;
    group->park.exchange = exchange;
    if (park_begin_return(group, &why) < 0) {
        group->park.exchange = NULL;
        rest_fail_err(exchange, &why);
    }
}

int park_begin_return(struct group *group, struct err *err)
{
    int r = reserve_all(group, err);

    if (r < 0)
        return r;
    park_set_state(group, PARK_RESUMING);
    for (struct session *s = session_first(group); s; s = session_next(s)) {
        if (!park_is_there(s))
            continue;
        s->is_awaited = true;
        park_tell(s, GPU_RESUME, s->slot->parked, NULL);
    }
    park_go_on(group);
    return 0;
}
