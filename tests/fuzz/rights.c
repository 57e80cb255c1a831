/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Any roles and bindings can be asked, and whoever may do everything may do each thing. Any pod is checked against a user's
 * limits, and one that is refused is refused with a reason. No text is a token of a key that has signed nothing else. The
 * input is {role, binding, pod, token}.
 */
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/strbuf.h"
#include "fuzz.h"
#include "local/admission/pod_limits.h"
#include "local/rights/account_tokens.h"
#include "local/rights/identity.h"
#include "local/rights/policies.h"
#include "local/rights/policy.h"
#include "local/rights/users.h"
#include "text/json.h"

enum { PROBLEMS_MAX = 2048 };

static yyjson_doc *copy_of(yyjson_val *value)
{
    yyjson_mut_doc *copy = yyjson_mut_doc_new(NULL);

    yyjson_mut_doc_set_root(copy, yyjson_val_mut_copy(copy, value));
    yyjson_doc *doc = yyjson_mut_doc_imut_copy(copy, NULL);
    yyjson_mut_doc_free(copy);
    return doc;
}

static void check_policies(yyjson_val *role, yyjson_val *binding)
{
    struct identity *identity = identity_new("system:serviceaccount:a:b", 1);
    struct policies policies = {0};
    struct rights_question question = {
        .verb = "*", .group = "", .resource = "pods", .subresource = "log", .namespace = "a", .name = ""};

    identity_set_account(identity, "a", "b", "u");
    identity_add_group(identity, "g");
    policies_put(&policies, POLICY_CLUSTER_ROLES, "", "r", copy_of(role));
    policies_put(&policies, POLICY_CLUSTER_ROLES, "", "s", copy_of(role));
    policies_put(&policies, POLICY_ROLES, "a", "r", copy_of(role));
    policies_put(&policies, POLICY_CLUSTER_BINDINGS, "", "b", copy_of(binding));
    policies_put(&policies, POLICY_BINDINGS, "a", "b", copy_of(binding));
    bool may_all = policies_allow(&policies, identity, &question);
    question.verb = "get";
    bool may_get = policies_allow(&policies, identity, &question);
    BUG_ON(may_all && !may_get);
    question.name = "x";
    BUG_ON(may_get && !policies_allow(&policies, identity, &question));
    (void)policies_allow(&policies, identity, &(struct rights_question){.verb = "get", .path = "/metrics"});
    policies_done(&policies);
    identity_unref(identity);
}

static void check_pod(yyjson_val *pod)
{
    char name[] = "alice", home[] = "/users/alice";
    const struct user user = {.uid = 1000, .name = name, .home = home};
    const struct pod_limits limits = {.user = &user, .folders = "/data,/scratch", .prefix = "spec.template."};
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_val_mut_copy(doc, pod);
    struct strbuf problems;

    yyjson_mut_doc_set_root(doc, root);
    strbuf_init(&problems, PROBLEMS_MAX);
    pod_limits_check(&limits, root, &problems);
    BUG_ON(problems.len > 0 && strncmp(problems.text, "spec.template.spec.", strlen("spec.template.spec.")) != 0);
    strbuf_clear(&problems);
    yyjson_mut_val *meta = yyjson_mut_obj_get(root, "metadata");
    pod_limits_check_keys(&limits, meta, meta, &problems);
    BUG_ON(problems.len > 0);
    pod_limits_check_keys(&limits, meta, NULL, &problems);
    strbuf_done(&problems);
    yyjson_mut_doc_free(doc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct token_key key = {.bytes = {1}};
    struct account_claims claims = {0};
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;

    if (json_parse((const char *)data, size, "input", &doc, NULL) < 0)
        return 0;
    yyjson_val *root = yyjson_doc_get_root(doc);
    yyjson_val *role = yyjson_obj_get(root, "role"), *binding = yyjson_obj_get(root, "binding");
    yyjson_val *pod = yyjson_obj_get(root, "pod");
    const char *token = yyjson_get_str(yyjson_obj_get(root, "token"));

    if (role && binding)
        check_policies(role, binding);
    if (pod)
        check_pod(pod);
    BUG_ON(token && account_token_read(&key, token, 0, &claims) == 0);
    return 0;
}
