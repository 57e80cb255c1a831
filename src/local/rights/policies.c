/* SPDX-License-Identifier: Apache-2.0 */
#include "local/rights/policies.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kube/client/meta.h"
#include "local/api/label_selector.h"
#include "local/rights/identity.h"
#include "local/rights/policy.h"

/* Roles that are made of roles that are made of roles: admin, edit, view. */
enum { AGGREGATION_DEPTH_MAX = 4 };

struct policy {
    char *namespace;
    char *name;
    yyjson_doc *doc;
};

static void policy_free(struct policy *policy)
{
    if (!policy)
        return;
    free(policy->namespace);
    free(policy->name);
    yyjson_doc_free(policy->doc);
    free(policy);
}

void policies_done(struct policies *policies)
{
    for (size_t i = 0; i < POLICY_KINDS; i++) {
        struct policy *policy;

        for (size_t cursor = 0; (policy = strmap_next(&policies->all[i], &cursor));)
            policy_free(policy);
        strmap_done(&policies->all[i]);
    }
}

void policies_put(struct policies *policies, enum policy_kind kind, const char *namespace, const char *name,
                  yyjson_doc *doc)
{
    struct policy *policy = xcalloc(1, sizeof *policy);

    *policy = (struct policy){.namespace = xstrdup(namespace), .name = xstrdup(name), .doc = doc};
    policy_free(strmap_put(&policies->all[kind], policy->namespace, policy->name, policy));
}

void policies_drop(struct policies *policies, enum policy_kind kind, const char *namespace, const char *name)
{
    policy_free(strmap_remove(&policies->all[kind], namespace, name));
}

static bool visit_rules(yyjson_val *role, policy_rule_fn visit, void *arg)
{
    yyjson_val *rule;
    size_t i, max;

    yyjson_arr_foreach(yyjson_obj_get(role, "rules"), i, max, rule)
    {
        if (visit(arg, rule))
            return true;
    }
    return false;
}

static bool is_part(yyjson_val *selectors, yyjson_val *role)
{
    yyjson_val *labels = yyjson_obj_get(yyjson_obj_get(role, "metadata"), "labels");
    yyjson_val *selector;
    size_t i, max;

    yyjson_arr_foreach(selectors, i, max, selector)
    {
        if (label_selector_matches(selector, labels))
            return true;
    }
    return false;
}

/* The rules of a ClusterRole, and of those that its aggregationRule adds. */
static bool visit_cluster_role(const struct policies *policies, const struct policy *policy, int depth,
                               policy_rule_fn visit, void *arg)
{
    yyjson_val *role = yyjson_doc_get_root(policy->doc);
    yyjson_val *selectors = yyjson_obj_get(yyjson_obj_get(role, "aggregationRule"), "clusterRoleSelectors");
    const struct policy *other;

    if (visit_rules(role, visit, arg))
        return true;
    for (size_t cursor = 0; yyjson_arr_size(selectors) > 0 && depth < AGGREGATION_DEPTH_MAX &&
                            (other = strmap_next(&policies->all[POLICY_CLUSTER_ROLES], &cursor));) {
        if (other != policy && is_part(selectors, yyjson_doc_get_root(other->doc)) &&
            visit_cluster_role(policies, other, depth + 1, visit, arg))
            return true;
    }
    return false;
}

bool policies_visit_role(const struct policies *policies, yyjson_val *role_ref, const char *namespace,
                         policy_rule_fn visit, void *arg)
{
    bool is_cluster = strcmp(kube_text(role_ref, "kind"), "ClusterRole") == 0;
    const struct policy *role = strmap_get(&policies->all[is_cluster ? POLICY_CLUSTER_ROLES : POLICY_ROLES],
                                           is_cluster ? "" : namespace, kube_text(role_ref, "name"));

    if (!role)
        return false;
    return is_cluster ? visit_cluster_role(policies, role, 0, visit, arg)
                      : visit_rules(yyjson_doc_get_root(role->doc), visit, arg);
}

static bool visit_bindings(const struct policies *policies, enum policy_kind kind, const struct identity *identity,
                           const char *namespace, policy_rule_fn visit, void *arg)
{
    const struct policy *policy;

    for (size_t cursor = 0; (policy = strmap_next(&policies->all[kind], &cursor));) {
        yyjson_val *binding = yyjson_doc_get_root(policy->doc);

        if (strcmp(policy->namespace, namespace) == 0 && subjects_have(yyjson_obj_get(binding, "subjects"), identity) &&
            policies_visit_role(policies, yyjson_obj_get(binding, "roleRef"), namespace, visit, arg))
            return true;
    }
    return false;
}

bool policies_visit(const struct policies *policies, const struct identity *identity, const char *namespace,
                    policy_rule_fn visit, void *arg)
{
    if (visit_bindings(policies, POLICY_CLUSTER_BINDINGS, identity, "", visit, arg))
        return true;
    return *namespace && visit_bindings(policies, POLICY_BINDINGS, identity, namespace, visit, arg);
}

static bool ask(void *arg, yyjson_val *rule)
{
    return rule_allows(rule, arg);
}

bool policies_allow(const struct policies *policies, const struct identity *identity,
                    const struct rights_question *question)
{
    struct rights_question copy = *question;

    return policies_visit(policies, identity, question->namespace ? question->namespace : "", ask, &copy);
}
