/* SPDX-License-Identifier: Apache-2.0 */
#include "net/rest/event_stream.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/time.h"
#include "net/http_server.h"
#include "net/rest/rest.h"

void event_stream_begin(struct http_exchange *exchange)
{
    static const char retry[] = "retry: 1000\n\n";

    http_reply_begin(exchange, 200, "text/event-stream");
    http_reply_write(exchange, retry, strlen(retry));
}

uint64_t event_stream_sequence(const char *id, const char *epoch)
{
    size_t len = strlen(epoch);

    for (; id; id = strchr(id, '.') ? strchr(id, '.') + 1 : NULL) {
        char *end = NULL;

        if (strncmp(id, epoch, len) != 0 || id[len] != '-' || id[len + 1] < '0' || id[len + 1] > '9')
            continue;
        errno = 0;
        unsigned long long sequence = strtoull(id + len + 1, &end, 10);

        return (*end && *end != '.') || errno ? 0 : sequence;
    }
    return 0;
}

uint64_t event_stream_seen(const struct http_exchange *exchange, const char *epoch)
{
    const char *id = http_exchange_header(exchange, "Last-Event-ID");

    return event_stream_sequence(id ? id : rest_query(exchange, "after"), epoch);
}

void event_stream_beat(struct http_exchange *exchange)
{
    char time[TIME_TEXT_MAX];
    char beat[128];
    int len =
        snprintf(beat, sizeof beat, "event: beat\ndata: {\"time\":\"%s\"}\n\n", time_format(nsec_now_wall(), time));

    if (http_reply_unsent(exchange) == 0)
        http_reply_write(exchange, beat, (size_t)len);
}
