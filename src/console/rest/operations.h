/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* What Run:ai's REST consists of: facts about another's interface, which docs/runai-compatibility.md shows as a table. */
enum { OPERATION_COUNT = 391 };

struct operation {
    const char *method;
    const char *path;
    const char *name;
    bool is_deprecated;
};

extern const struct operation operations[];
extern const size_t operation_count;
