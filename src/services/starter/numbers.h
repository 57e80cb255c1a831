/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct kube_client;

/*
 * Numbers for Jobs, each given once: a ConfigMap holds the first one that nobody has reserved. A block is reserved there
 * before any of it is used, so that a crash skips numbers and never repeats one.
 */
struct numbers;

struct numbers_options {
    struct kube_client *client;
    const char *namespace;
    void (*on_ready)(void *arg);  // there are numbers again
    void (*on_problem)(void *arg, const struct err *err);
    void *arg;
};

struct numbers *numbers_new(const struct numbers_options *options);
void numbers_free(struct numbers *numbers);

/* The next number; 0: there is none at the moment, and on_ready will be called. `above` is a number that is in use. */
int64_t numbers_take(struct numbers *numbers, int64_t above);
