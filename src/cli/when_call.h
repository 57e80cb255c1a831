/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/macros.h"
#include "base/time.h"
#include "base/vec.h"
#include "sim/when/when.h"

struct err;

/* A call of muster when, as its options and operands say; the texts are the caller's. */
struct when_call {
    bool as_json;
    const char *workload;  // NULL: what is new
    const char *history;
    const char *journal;
    const char *trace;
    const char *rows;
    const char *kubeconfig;
    bool has_at;
    nsec_t at;
    nsec_t within;
    nsec_t begun;
    nsec_t every;  // 0: no backtest
    nsec_t warm_up;
    uint32_t at_most;
    struct when_options options;
    VEC(const char *) files;
    VEC(const char *) paths;
    FILE *out;
};

/*
 * Answer from a cluster in files or a live one, from a journal at a moment, or from a trace: at a moment, or at many of them
 * by a backtest. What they say goes to `out`. Return 0 or a negative errno.
 */
MUST_CHECK int when_call_answer_cluster(struct when_call *call, struct err *err);
MUST_CHECK int when_call_answer_journal(struct when_call *call, struct err *err);
MUST_CHECK int when_call_answer_trace(struct when_call *call, struct err *err);
