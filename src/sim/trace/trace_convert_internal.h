/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/time.h"
#include "sim/trace/trace.h"
#include "sim/trace/trace_convert.h"

enum { CONVERT_BYTES_MAX = 0x7fffffff };

/* The queue for a user or group: named after it, or one of `conversion->queues` that its name falls to. */
trace_name convert_queue(struct trace *trace, const struct trace_conversion *conversion, const char *owner);

int convert_alibaba(struct trace *trace, const char *const *paths, size_t path_count,
                    struct trace_conversion *conversion, struct err *err);
int convert_philly(struct trace *trace, const char *const *paths, size_t path_count,
                   struct trace_conversion *conversion, struct err *err);
