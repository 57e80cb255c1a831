/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "base/strbuf.h"
#include "model/ids.h"

struct state;

struct dump {
    const struct state *state;
    struct strbuf out;
};

void dump_begin(struct dump *dump, const struct state *state);

/* Sorts the lines from `from` on. */
void dump_sort(struct dump *dump, size_t from);

const char *dump_name(const struct dump *dump, name_id name);
void dump_id(struct dump *dump, const char *what, name_id namespace, name_id name);
