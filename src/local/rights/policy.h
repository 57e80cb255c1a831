/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <yyjson.h>

struct identity;

/*
 * Roles and their bindings (rbac.authorization.k8s.io/v1): who is meant, and what a rule allows. Pure.
 */

/* A request that somebody may be allowed to make: a verb on objects, or on a path that is none of an object. */
struct rights_question {
    const char *verb;         // "get", "list", "create", "deletecollection", "*" and so on
    const char *group;        // "" for the core
    const char *resource;     // "pods"; NULL: `path` is asked for
    const char *subresource;  // "" without one
    const char *namespace;    // "" for the whole machine
    const char *name;         // "" without one
    const char *path;
};

/* Whether the rule allows it. Words of the question that are "*" are allowed by "*" alone, so that a rule of one role can
 * be asked about as it is. */
bool rule_allows(yyjson_val *rule, const struct rights_question *question);

/* Whether a binding, or another list of subjects, means the identity. */
bool subjects_have(yyjson_val *subjects, const struct identity *identity);
