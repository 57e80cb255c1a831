/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <yyjson.h>

#include "console/assets/fields.h"
#include "console/org/place.h"

/*
 * Policies: for a scope and a type of workloads, defaults of a workload's members, rules for them, and data sources that are
 * imposed. Members are those of a table; a policy has the same tree, with a rule in the place of each value:
 *
 *     {"defaults": {"compute": {"gpuDevicesRequest": 1}},
 *      "rules": {"compute": {"gpuDevicesRequest": {"max": 4}}, "image": {"required": true}}}
 *
 * Members that are lists of objects have `instances` (the list) and `attributes` (of each of them).
 */
struct policy_kind {
    const char *type;  // of the REST's answers
    const char *item;  // of the database
    const char *path;  // of the REST
    const struct field *fields;
    bool has_parts;  // a master and workers
};

#define POLICIES "/api/v2/policy"

extern const struct policy_kind policy_kinds[];
extern const size_t policy_kind_count;

const struct policy_kind *policy_kind_at(const char *path);
const struct policy_kind *policy_kind_find(const char *type);

/* Checked copies of the parts of a policy from outside. -EINVAL names the member that is wrong. */
MUST_CHECK int policy_read_defaults(const struct json_at *at, const struct field *fields, yyjson_mut_doc *doc,
                                    yyjson_mut_val *to, struct err *err);
MUST_CHECK int policy_read_rules(const struct json_at *at, const struct field *fields, yyjson_mut_doc *doc,
                                 yyjson_mut_val *to, struct err *err);

/*
 * Adds what a scope says to what the scopes above it say. Of defaults the closest scope wins; of rules the highest one for
 * compute and security, and the closest one for everything else. `source` is the origin that is put into each rule.
 */
void policy_add_defaults(const struct field *fields, yyjson_mut_doc *doc, yyjson_mut_val *to, yyjson_val *from);
void policy_add_rules(const struct field *fields, yyjson_mut_doc *doc, yyjson_mut_val *to, yyjson_val *from,
                      yyjson_mut_val *source);

/* Gives a workload the defaults that it has no member for; of lists of objects, those instances whose name it does not have. */
void policy_fill(const struct field *fields, yyjson_mut_doc *doc, yyjson_mut_val *defaults, yyjson_mut_val *workload);

/* {defaults, rules, imposedAssets} of all scopes from the tenant down to a place, in the document of the request. */
MUST_CHECK int policy_effective(struct request *request, const struct policy_kind *kind, const struct place *place,
                                yyjson_mut_val **ret_effective, struct err *err);

/*
 * Holds a workload's members against the effective policy, after its defaults; appends {field, rule, details, source} to
 * `reasons` for each rule that it breaks. Lists of the workload are lists.
 */
void policy_check(const struct field *fields, yyjson_mut_doc *doc, yyjson_mut_val *effective, yyjson_val *workload,
                  yyjson_mut_val *reasons);
