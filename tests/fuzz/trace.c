/* SPDX-License-Identifier: Apache-2.0 */

/* Any bytes are a trace or an error with a message; a trace that was read is written, and reads back with as many jobs. */
#include "sim/trace/trace.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "fuzz.h"

static int parse(struct trace *trace, const char *bytes, size_t size, struct err *err)
{
    _cleanup_(freep) char *text = xmalloc(size + 1);

    if (size)
        memcpy(text, bytes, size);
    text[size] = '\0';
    trace_init(trace);
    return trace_parse(trace, "fuzz", text, size, err);
}

static double all_gpus(const struct trace *trace)
{
    double sum = 0;

    for (uint32_t i = 0; i < trace->jobs.len; i++)
        sum += (double)trace_job_gpus(trace, &trace->jobs.items[i]);
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    _cleanup_(freep) char *out = NULL;
    struct trace trace;
    struct trace again;
    struct err err = {0};
    size_t len = 0;
    FILE *file;

    if (parse(&trace, (const char *)data, size, &err) < 0) {
        BUG_ON(err.text[0] == '\0');
        trace_done(&trace);
        return 0;
    }
    file = open_memstream(&out, &len);
    trace_write(&trace, file);
    (void)fclose(file);
    /* Without workloads there is no column of theirs to read. */
    if (trace.jobs.len == 0) {
        trace_done(&trace);
        return 0;
    }
    if (parse(&again, out, len, &err) < 0) {
        (void)fprintf(stderr, "the trace cannot be read again: %s\n", err.text);
        BUG_ON(true);
    }
    BUG_ON(again.jobs.len != trace.jobs.len);
    /* Rows are written by time, so that workloads may come in another order. */
    BUG_ON(all_gpus(&trace) != all_gpus(&again));
    trace_done(&again);
    trace_done(&trace);
    return 0;
}
