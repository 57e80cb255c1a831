/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "fuzz.h"
#include "sim/convert/convert.h"
#include "sim/trace/trace.h"

/* Any bytes are a trace that reads back as it was written, with its cluster, or an error with a message. */
static void convert_any(const char *source, const uint8_t *data, size_t size)
{
    _cleanup_(freep) char *text = xmalloc(size + 1);
    _cleanup_(freep) char *out = NULL;
    struct conversion conversion;
    struct trace trace;
    struct trace again;
    struct err err = {0};
    size_t len = 0;
    FILE *file;

    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    trace_init(&trace);
    trace_init(&again);
    conversion_init(&conversion);
    conversion.keeps_pending = true;
    if (convert_text(&trace, source, "fuzz", text, size, &conversion, &err) < 0) {
        BUG_ON(err.text[0] == '\0');
    } else {
        convert_cluster(&trace, &conversion);
        file = open_memstream(&out, &len);
        trace_cluster_write(&conversion.cluster, &trace, file);
        (void)fclose(file);
        free(TAKE_PTR(out));
        file = open_memstream(&out, &len);
        trace_write(&trace, file);
        (void)fclose(file);
        if (trace.jobs.len > 0 && trace_parse(&again, "again", out, len, &err) < 0) {
            (void)fprintf(stderr, "the converted trace cannot be read: %s\n%.*s", err.text, (int)MIN(len, (size_t)4096),
                          out);
            BUG_ON(true);
        }
        BUG_ON(again.jobs.len != trace.jobs.len);
    }
    conversion_done(&conversion);
    trace_done(&again);
    trace_done(&trace);
}
