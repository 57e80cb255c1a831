/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct strbuf;

/* A set of completion indexes as the status of a Job writes it: "0-2,5". All zeros is an empty set. */
struct index_range {
    uint32_t first, last;
};

struct job_indexes {
    VEC(struct index_range) ranges;  // in order, none next to another
};

/* What cannot be read is left out; indexes from `limit` on are none. */
void job_indexes_parse(struct job_indexes *set, const char *text, uint32_t limit);
void job_indexes_done(struct job_indexes *set);
void job_indexes_add(struct job_indexes *set, uint32_t index);
bool job_indexes_has(const struct job_indexes *set, uint32_t index);
uint32_t job_indexes_len(const struct job_indexes *set);
void job_indexes_format(const struct job_indexes *set, struct strbuf *text);
