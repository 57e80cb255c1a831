/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct request;

/* A version in a query, 0 for "". Returns false after it has answered that it is no version. */
bool version_read(struct request *request, const char *text, uint64_t *ret_version);

/* The same for a list, which words it otherwise. */
bool version_read_of_list(struct request *request, const char *text, uint64_t *ret_version);

/* Calls `then` when the store has reached the version, at once if it has; answers 504 when it does not get there soon. */
void version_wait(struct request *request, uint64_t version, void (*then)(struct request *request));

/* Answers 504: the version is not there yet. */
void fail_too_new(struct request *request, uint64_t version);
