/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/strbuf.h"
#include "objects/owner.h"
#include "sim/why/why_internal.h"

/* What the files that turn remedies into commands share. */
enum { PATCH_OPERATIONS_MAX = 32 * 1024 };

struct patcher {
    const struct why *why;
    const struct why_remedy *remedy;
    struct strbuf *out;
    struct owner owner;
    struct strbuf operations;  // of a JSON patch, without the brackets
    bool is_unsafe;            // a name in it could mean something to a shell
};

/* The name as it is. Names come from outside, and commands are made to be copied: one that could mean something to a shell
 * or end a JSON string marks the patcher, whose commands are then not shown. */
const char *patch_plain(struct patcher *p, const char *name);

/* Adds {"op": operation, "path": path, "value": value}; `value` is JSON, or NULL for none. */
void patch_add_operation(struct patcher *p, const char *operation, const char *path, const char *value);

/* Appends the operations, an array, as a strategic merge patch of the object. False, and nothing appended, when one of them
 * has no place in such a patch. */
bool patch_as_merge(const char *operations, yyjson_val *object, struct strbuf *out);

/* Adds what the remedy changes in the pod templates of p->owner. */
void patch_collect_templates(struct patcher *p);
