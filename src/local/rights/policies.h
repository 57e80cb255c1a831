/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <yyjson.h>

#include "base/strmap.h"

struct identity;
struct rights_question;

/* All roles and bindings, and what follows from them for an identity. Knows nothing of a store. */
enum policy_kind {
    POLICY_CLUSTER_ROLES,
    POLICY_ROLES,
    POLICY_CLUSTER_BINDINGS,
    POLICY_BINDINGS,
    POLICY_KINDS,
};

struct policies {
    struct strmap all[POLICY_KINDS];
};

void policies_done(struct policies *policies);

/* Takes over the parsed object, in the place of one with its name; `namespace` is "" where the kind has none. */
void policies_put(struct policies *policies, enum policy_kind kind, const char *namespace, const char *name,
                  yyjson_doc *doc);
void policies_drop(struct policies *policies, enum policy_kind kind, const char *namespace, const char *name);

/* Is shown a rule; true ends the visit. */
typedef bool (*policy_rule_fn)(void *arg, yyjson_val *rule);

/* Shows all rules that hold for an identity in a namespace, or with "" for the whole machine. Returns whether it was
 * ended. */
bool policies_visit(const struct policies *policies, const struct identity *identity, const char *namespace,
                    policy_rule_fn visit, void *arg);

/* The same for the rules of one role, which a roleRef names; `namespace` is that of its binding. */
bool policies_visit_role(const struct policies *policies, yyjson_val *role_ref, const char *namespace,
                         policy_rule_fn visit, void *arg);

/* Whether one of the rules allows it. Administrators are asked about like all others. */
bool policies_allow(const struct policies *policies, const struct identity *identity,
                    const struct rights_question *question);
