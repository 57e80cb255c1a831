/* SPDX-License-Identifier: Apache-2.0 */

/* Answers to whoever parks or resumes a group: what has moved, what has not and why, and how long the steps took. */
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "gpu/daemon/park/park_internal.h"
#include "net/http_server.h"
#include "net/rest/rest.h"
#include "text/json.h"

/* The steps of a process, in its last message. */
static void add_process_times(yyjson_mut_doc *doc, yyjson_mut_val *one, const struct gpu_message *moved)
{
    yyjson_mut_val *seconds = yyjson_mut_obj_add_obj(doc, one, "seconds");
    const struct {
        const char *name;
        uint32_t us;
    } steps[] = {
        {"hostMemory", moved->park.host_us},
        {"copy", moved->park.copy_us},
        {"clear", moved->park.clear_us},
        {"map", moved->park.map_us},
    };

    for (size_t i = 0; i < ARRAY_LEN(steps); i++)
        (void)yyjson_mut_obj_add_real(doc, seconds, steps[i].name, (double)steps[i].us / 1e6);
}

/* The steps of the group: from the time at which a state was entered to that of the next. */
static void add_group_times(yyjson_mut_doc *doc, yyjson_mut_val *root, const struct group *group)
{
    static const struct {
        const char *name;
        enum park_state from, to;
        bool is_parking;
    } steps[] = {
        {"stop", PARK_STOPPING, PARK_TAKING, true},
        {"hostMemory", PARK_TAKING, PARK_MOVING, true},
        {"move", PARK_MOVING, PARK_PARKED, true},
        {"resume", PARK_RESUMING, PARK_RUNNING, false},
    };
    yyjson_mut_val *seconds = yyjson_mut_obj_add_obj(doc, root, "seconds");
    const nsec_t *entered = group->park.entered;

    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        nsec_t took = entered[steps[i].to] - entered[steps[i].from];

        if (steps[i].is_parking == (group->park.state == PARK_PARKED) && took >= 0)
            (void)yyjson_mut_obj_add_real(doc, seconds, steps[i].name, (double)took / (double)NSEC_PER_SEC);
    }
}

static void add_process(yyjson_mut_doc *doc, yyjson_mut_val *list, const struct session *s)
{
    const struct gpu_message *said = &s->stopped;
    const struct ledger_holding *held = session_holding(s, PARKED_GPU);
    yyjson_mut_val *one = yyjson_mut_arr_add_obj(doc, list);
    const struct {
        const char *name;
        uint64_t bytes;
    } stays[] = {
        {"driverBytes", said->park.driver_bytes},     {"arrayBytes", said->park.array_bytes},
        {"poolBytes", said->park.pool_bytes},         {"mappedBytes", said->park.mapped_bytes},
        {"exportedBytes", said->park.exported_bytes},
    };

    (void)yyjson_mut_obj_add_int(doc, one, "pid", s->peer.pid);
    (void)yyjson_mut_obj_add_strcpy(doc, one, "name", s->name);
    (void)yyjson_mut_obj_add_uint(doc, one, "hostBytes", s->slot->parked);
    (void)yyjson_mut_obj_add_uint(doc, one, "contextBytes", held->context);
    (void)yyjson_mut_obj_add_uint(doc, one, "usedBytes", held->plain);
    yyjson_mut_val *why = yyjson_mut_obj_add_obj(doc, one, "stays");
    for (size_t i = 0; i < ARRAY_LEN(stays); i++) {
        if (stays[i].bytes > 0)
            (void)yyjson_mut_obj_add_uint(doc, why, stays[i].name, stays[i].bytes);
    }
    add_process_times(doc, one, &s->moved);
}

void park_reply_state(struct group *group)
{
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    struct http_exchange *exchange = TAKE_PTR(group->park.exchange);
    size_t len = 0;

    if (!exchange) {
        yyjson_mut_doc_free(doc);
        return;
    }
    yyjson_mut_doc_set_root(doc, root);
    (void)yyjson_mut_obj_add_str(doc, root, "group", group->spec.name);
    (void)yyjson_mut_obj_add_str(doc, root, "state", park_state_name(group));
    (void)yyjson_mut_obj_add_uint(doc, root, "hostBytes", park_host_bytes(group));
    add_group_times(doc, root, group);
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, root, "processes");
    for (const struct session *s = session_first(group); s; s = session_next(s)) {
        if (s->slot)
            add_process(doc, list, s);
    }
    char *json = yyjson_mut_write(doc, 0, &len);
    BUG_ON(!json);
    http_reply(exchange, 200, "application/json", json, len);
    free(json);
    yyjson_mut_doc_free(doc);
}

void park_reply_failure(struct group *group, const struct err *why)
{
    struct http_exchange *exchange = TAKE_PTR(group->park.exchange);

    group->park.failed_at = gpud_now();
    log_warn(group->gpud->log, "a group could not be parked or resumed", log_str("group", group->spec.name),
             log_error(why));
    if (exchange)
        rest_fail_err(exchange, why);
}
