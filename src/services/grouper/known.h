/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <yyjson.h>

#include "base/map.h"
#include "base/strmap.h"
#include "base/vec.h"
#include "objects/group/live.h"

struct err;

/*
 * What the grouper knows of the cluster without asking: which priority classes, namespaces and pod groups there are,
 * and what the administrator wants by default. Of a pod group only digests are kept.
 */
struct known_group {
    char *namespace;
    char *name;
    uint64_t seen;     // digest of what others could have changed, as last seen
    uint64_t checked;  // the same, when it was last as it should be
    uint64_t wanted;   // digest of what it should be, then; 0: never checked
    bool is_flat;
};

struct known_default {
    char *kind;  // "Kind.group" or "Kind"
    char *priority_class;
    char *preemptibility;
};

struct known {
    struct map64 priority_classes;  // by hash of the name
    struct map64 namespaces;        // those that the selector chooses
    struct strmap groups;           // struct known_group *
    VEC(struct known_default) defaults;
};

void known_init(struct known *known);
void known_done(struct known *known);

/* Names as numbers; two names with the same number are not to be expected in the life of a cluster. */
uint64_t known_key(const char *namespace, const char *name);

/* The group was seen so, or is gone. known_group() is NULL for one that was not seen. */
void known_add_group(struct known *known, const char *namespace, const char *name, yyjson_val *object);
void known_drop_group(struct known *known, const char *namespace, const char *name);
struct known_group *known_group(const struct known *known, const char *namespace, const char *name);

/* The group is, as the server has it now, what `wanted` stands for. */
void known_check_group(struct known *known, const char *namespace, const char *name, yyjson_val *object,
                       uint64_t wanted);

/* Whether the group is still as it was when it was last checked against the same wish. */
bool known_is_checked(const struct known *known, const char *namespace, const char *name, uint64_t wanted);

/* The text of the key `types` of the ConfigMap; NULL: there is none. What was known stays when it cannot be read. */
MUST_CHECK int known_set_defaults(struct known *known, const char *text, struct err *err);
bool known_find_default(const struct known *known, const char *group, const char *kind,
                        struct group_defaults *ret_defaults);

/* What grouping asks, as its callbacks; `arg` is the struct known. */
bool known_has_priority_class(void *arg, const char *name);
enum group_presence known_find_group(void *arg, const char *namespace, const char *name);
bool known_defaults_of(void *arg, const char *group, const char *kind, struct group_defaults *ret_defaults);
