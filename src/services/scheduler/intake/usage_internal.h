/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "base/time.h"
#include "base/vec.h"
#include "model/resources.h"
#include "objects/settings/settings.h"
#include "text/clock/cron.h"

struct err;
struct strbuf;

/* What the series of one queue add up to; samples are in the order of their names. */
struct usage_sample {
    char *queue;  // "" where a series names none
    double value;
};

struct usage_samples VEC_OF(struct usage_sample);

void usage_samples_done(struct usage_samples *samples);

/*
 * Since when use counts, at `now`: the length of the window, from its last reset on where it has resets. 0: it has just
 * begun, or begins in the future.
 */
nsec_t usage_range(const struct usage_setting *usage, const struct cron *cron, nsec_t now);

/* The PromQL that adds up `metric` over `range`, with what is long ago counting less if there is a half-life. */
void usage_expression(const struct usage_setting *usage, const char *metric, nsec_t range, nsec_t now,
                      struct strbuf *out);

/* The address of an instant query of `expression` at `now`. */
void usage_address(const char *url, const char *expression, nsec_t now, struct strbuf *out);

/*
 * The answer to an instant query: a vector. Series of the same queue are added up, as there are several when whoever
 * counts was restarted. Returns 0; -EBADMSG when it is something else, or holds what is no amount; what the server says
 * when it refused.
 */
MUST_CHECK int usage_answer_parse(const char *body, size_t len, struct usage_samples *ret_samples, struct err *err);
