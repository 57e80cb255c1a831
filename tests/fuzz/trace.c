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
    BUG_ON(parse(&again, out, len, &err) < 0);
    BUG_ON(again.jobs.len != trace.jobs.len);
    for (uint32_t i = 0; i < trace.jobs.len; i++)
        BUG_ON(trace_job_gpus(&trace, &trace.jobs.items[i]) != trace_job_gpus(&again, &again.jobs.items[i]));
    trace_done(&again);
    trace_done(&trace);
    return 0;
}
