/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <yyjson.h>

#include "base/macros.h"
#include "base/time.h"

struct err;

/* The parameters of pods/log. */
struct log_options {
    bool is_following, is_previous, has_times;
    int64_t tail;   // lines; -1: all
    int64_t limit;  // bytes; -1: all
    nsec_t since;   // of the wall clock; 0: from the beginning
    bool skips_stdout, skips_stderr;
};

/* A parameter of the query by its name, "" where it is missing. */
typedef const char *(*log_query_fn)(void *arg, const char *name);

/* Returns 0, or -EINVAL with the reason. */
MUST_CHECK int log_options_read(struct log_options *options, log_query_fn query, void *arg, nsec_t now,
                                struct err *err);

/* The same as members of a JSON object, and back: for the machine that runs the pod. */
struct strbuf;
void log_options_write(const struct log_options *options, struct strbuf *text);
void log_options_decode(struct log_options *options, yyjson_val *object);
