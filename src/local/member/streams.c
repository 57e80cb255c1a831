/* SPDX-License-Identifier: Apache-2.0 */
#include "local/member/streams.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"
#include "frame/service.h"
#include "local/member/member.h"
#include "local/member/stream.h"
#include "net/loop.h"

enum { STREAMS_MAX = 256 };

#define RETRY_FIRST (100 * NSEC_PER_MSEC)
#define RETRY_MAX (5 * NSEC_PER_SEC)

/* The server writes an empty line every 15 seconds. */
#define SILENCE_MAX (45 * NSEC_PER_SEC)

struct streams_flags {
    const char *state;
};

static const struct flag flags[] = {
    {"state", FLAG_STRING, FLAG_AT(struct streams_flags, state), "", "folder of this machine's membership and pods", 0,
     0},
};

struct streams {
    struct service *service;
    char *folder;
    struct kube_call *call;
    struct loop_timer retry;
    nsec_t pause;
    VEC(struct stream *) open;
    bool is_stopped;
};

static void ask(void *arg);

static void on_stream_end(void *arg, struct stream *stream)
{
    struct streams *streams = arg;

    for (uint32_t i = streams->open.len; i-- > 0;) {
        if (streams->open.items[i] == stream)
            streams->open.items[i] = streams->open.items[--streams->open.len];
    }
    if (streams->is_stopped && streams->open.len == 0)
        service_stopped(streams->service);
}

static int on_order(void *arg, const char *text, size_t len)
{
    struct streams *streams = arg;
    yyjson_doc *order = text ? yyjson_read(text, len, 0) : NULL;

    if (!order || streams->open.len >= STREAMS_MAX || streams->is_stopped) {
        yyjson_doc_free(order);
        return 0;
    }
    vec_push(&streams->open, stream_start(streams->service->loop, streams->folder, order, on_stream_end, streams));
    return 0;
}

static void on_begun(void *arg)
{
    ((struct streams *)arg)->pause = RETRY_FIRST;
}

static void on_done(void *arg, const struct kube_answer *answer)
{
    struct streams *streams = arg;

    (void)answer;
    streams->call = NULL;
    if (streams->is_stopped)
        return;
    loop_timer_start(&streams->retry, streams->pause);
    streams->pause = MIN(2 * streams->pause, RETRY_MAX);
}

static void ask(void *arg)
{
    struct streams *streams = arg;

    streams->call = kube_send(streams->service->client, &(struct kube_request){.verb = KUBE_WATCH,
                                                                               .path = "/muster/streams",
                                                                               .tries = 1,
                                                                               .idle_timeout = SILENCE_MAX,
                                                                               .on_begun = on_begun,
                                                                               .on_item = on_order,
                                                                               .on_done = on_done,
                                                                               .arg = streams});
}

static int open_streams(struct service *service, struct err *err)
{
    const struct streams_flags *values = service->values;
    struct streams *streams = xcalloc(1, sizeof *streams);

    (void)err;
    service->state = streams;
    streams->service = service;
    streams->folder = member_folder(values->state);
    streams->pause = RETRY_FIRST;
    loop_timer_init(&streams->retry, service->loop, ask, streams);
    service_set_ready(service, true);
    return 0;
}

static void lead(struct service *service)
{
    ask(service->state);
}

/* Clients of open streams see a closed connection. */
static void stop(struct service *service)
{
    struct streams *streams = service->state;

    streams->is_stopped = true;
    loop_timer_stop(&streams->retry);
    if (streams->call)
        kube_cancel(TAKE_PTR(streams->call));
    vec_foreach (&streams->open, stream)
        stream_stop(*stream);
    if (streams->open.len == 0)
        service_stopped(service);
}

static void close_streams(struct service *service)
{
    struct streams *streams = service->state;

    if (streams->call)
        kube_cancel(streams->call);
    loop_timer_done(&streams->retry);
    vec_done(&streams->open);
    free(streams->folder);
    free(streams);
}

const struct service_kind member_streams_service = {
    .name = "streams",
    .flags = flags,
    .flag_count = ARRAY_LEN(flags),
    .values_size = sizeof(struct streams_flags),
    .has_api = true,
    .open = open_streams,
    .lead = lead,
    .stop = stop,
    .close = close_streams,
};
