/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <yyjson.h>

#include "base/err.h"

struct loop;

/* The admin socket of the GPU daemon, one question at a time. */
struct gpud_link;

struct gpud_link *gpud_link_new(struct loop *loop, const char *gpud_folder);
void gpud_link_free(struct gpud_link *link);

struct gpud_answer {
    int status;         // of HTTP; 0 when nobody answered
    yyjson_val *value;  // what it said; NULL when that was no JSON
    struct err err;     // code 0: it did as it was told; otherwise the daemon's own words, or why there are none
};

/* Everything is borrowed. The next question may be put from here. */
typedef void (*gpud_answer_fn)(void *arg, const struct gpud_answer *answer);

/* `body` may be NULL. The one before has to be answered. */
void gpud_ask(struct gpud_link *link, const char *method, const char *path, const char *body, gpud_answer_fn fn,
              void *arg);

/* Whether an answer is waited for. */
bool gpud_is_asked(const struct gpud_link *link);
