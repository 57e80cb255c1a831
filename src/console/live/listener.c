/* SPDX-License-Identifier: Apache-2.0 */
#include "console/live/listener.h"

#include <string.h>

#include "console/live/live_internal.h"
#include "net/rest/event_stream.h"

#define TOLD_EACH (250 * NSEC_PER_MSEC)

static const struct {
    const char *topic;
    enum board_part part;
    enum resource_type type;
} parts_known[] = {
    {"cluster", BOARD_SUMMARY, RESOURCE_OVERVIEW},
    {"map", BOARD_NODES, RESOURCE_NODES},
    {"ledger", BOARD_QUEUES, RESOURCE_PROJECT},
    {"workloads", BOARD_WORKLOADS, RESOURCE_WORKLOADS},
};

uint32_t live_topic_parts(const char *topic, size_t len)
{
    for (size_t i = 0; i < ARRAY_LEN(parts_known); i++) {
        if (strlen(parts_known[i].topic) == len && strncmp(parts_known[i].topic, topic, len) == 0)
            return 1u << parts_known[i].part;
    }
    return 0;
}

uint32_t live_allowed_parts(const struct caller *caller, uint32_t parts)
{
    for (size_t i = 0; i < ARRAY_LEN(parts_known); i++) {
        if (!access_has(&caller->access, parts_known[i].type, ACTION_READ))
            parts &= ~(1u << parts_known[i].part);
    }
    return parts;
}

void live_listener_begin(struct live_listener *listener, struct live *live, uint32_t parts,
                         const struct http_exchange *exchange)
{
    const char *since = rest_query(exchange, "since");

    *listener = (struct live_listener){.live = live, .parts = parts};
    if (parts == 0)
        return;
    listener->version = event_stream_seen(exchange, live->epoch);
    if (listener->version == 0 && since)
        listener->version = event_stream_sequence(since, live->epoch);
    picture_hold(live->picture);
}

void live_listener_end(struct live_listener *listener)
{
    if (listener->parts)
        picture_release(listener->live->picture);
}

bool live_listener_is_behind(const struct live_listener *listener, nsec_t now, nsec_t *ret_wait)
{
    *ret_wait = 0;
    if (!listener->parts || !picture_is_ready(listener->live->picture) ||
        picture_board(listener->live->picture)->sequence == listener->version)
        return false;
    *ret_wait = listener->told ? MAX(listener->told + TOLD_EACH - now, 0) : 0;
    return true;
}

bool live_listener_is_lost(const struct live_listener *listener)
{
    return listener->version == 0 || !board_knows(picture_board(listener->live->picture), listener->version);
}

void live_listener_catch_up(struct live_listener *listener)
{
    if (!listener->parts)
        return;
    listener->version =
        picture_is_ready(listener->live->picture) ? picture_board(listener->live->picture)->sequence : 0;
    listener->told = nsec_now_monotonic();
}

void live_listener_forget(struct live_listener *listener)
{
    listener->version = 0;
}

void live_listener_add_id(const struct live_listener *listener, struct strbuf *out)
{
    if (listener->parts)
        strbuf_addf(out, ".%s-%llu", listener->live->epoch, (unsigned long long)listener->version);
}

void live_listener_add_version(const struct live_listener *listener, struct strbuf *out)
{
    if (listener->parts)
        strbuf_addf(out, ",\"version\":\"%s-%llu\"", listener->live->epoch, (unsigned long long)listener->version);
}

int live_listener_write(struct live_listener *listener, const struct caller *caller, bool *ret_has_rows,
                        struct strbuf *out, struct err *err)
{
    uint64_t seen = listener->version;
    int r = units_refresh(listener->live->units, err);

    if (r < 0)
        return r;
    live_listener_catch_up(listener);
    live_listener_add_version(listener, out);
    *ret_has_rows = live_write_since(listener->live, caller, live_allowed_parts(caller, listener->parts), seen, out);
    return 0;
}
