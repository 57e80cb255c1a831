/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/trace/trace_convert.h"

#include <errno.h>
#include <stdio.h>

#include "base/err.h"
#include "sim/trace/trace_convert_internal.h"

static const struct format {
    const char *name;
    int (*convert)(struct trace *, const char *const *, size_t, struct trace_conversion *, struct err *);
} formats[] = {
    {"alibaba", convert_alibaba},
    {"philly", convert_philly},
};

/* FNV-1a: which queue a user falls to must not depend on who else is there. */
static uint32_t hash(const char *text)
{
    uint32_t h = 2166136261u;

    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 16777619u;
    return h;
}

trace_name convert_queue(struct trace *trace, const struct trace_conversion *conversion, const char *owner)
{
    char name[32];

    if (conversion->queues == 0)
        return trace_intern(trace, *owner ? owner : "unknown");
    (void)snprintf(name, sizeof name, "queue-%02u", hash(owner) % conversion->queues + 1);
    return trace_intern(trace, name);
}

/* Moves the whole trace so that its first week is the one that starts at TRACE_ORIGIN. */
static void rebase(struct trace *trace)
{
    const nsec_t week = 7 * 24 * NSEC_PER_HOUR;
    nsec_t first;

    if (trace->events.len == 0)
        return;
    first = trace->events.items[0].time - TRACE_ORIGIN;
    first -= (first % week + week) % week;
    vec_foreach (&trace->events, event)
        event->time -= first;
}

int trace_convert(struct trace *trace, const char *format, const char *const *paths, size_t path_count,
                  struct trace_conversion *conversion, struct err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
        int r;

        if (strcmp(formats[i].name, format) != 0)
            continue;
        r = formats[i].convert(trace, paths, path_count, conversion, err);
        if (r < 0)
            return r;
        trace_sort(trace);
        rebase(trace);
        return 0;
    }
    return err_set(err, -EINVAL, "no trace format is called '%s'", format);
}
