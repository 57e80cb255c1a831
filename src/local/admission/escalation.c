/* SPDX-License-Identifier: Apache-2.0 */
#include "local/admission/escalation.h"

#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "base/strbuf.h"
#include "kube/client/meta.h"
#include "local/api/kinds.h"
#include "local/api/meta.h"
#include "local/rights/identity.h"
#include "local/rights/policies.h"
#include "local/rights/rights.h"
#include "local/server/request.h"
#include "local/server/server_parts.h"
#include "text/json.h"

#define RBAC "rbac.authorization.k8s.io"

enum { REASON_MAX = 2048, PART_MAX = 256 };

struct escalation {
    struct request *request;
    struct strbuf reason;  // what the writer may not do; empty: nothing
};

/* Asks about one combination of a rule's words. Returns true to go no further. */
static bool is_missing(struct escalation *escalation, const struct rights_question *question)
{
    struct request *request = escalation->request;

    if (rights_allow(request->server->rights, request->identity, question))
        return false;
    rights_explain(&escalation->reason, request->identity, question);
    return true;
}

static bool check_names(struct escalation *escalation, yyjson_val *rule, struct rights_question *question)
{
    yyjson_val *names = yyjson_obj_get(rule, "resourceNames");
    yyjson_val *name;
    size_t i, max;

    question->name = "";
    if (yyjson_arr_size(names) == 0)
        return is_missing(escalation, question);
    yyjson_arr_foreach(names, i, max, name)
    {
        question->name = yyjson_get_str(name) ? yyjson_get_str(name) : "";
        if (is_missing(escalation, question))
            return true;
    }
    return false;
}

/* "pods/log" in its two parts. */
static bool check_resource(struct escalation *escalation, yyjson_val *rule, const char *full,
                           struct rights_question *question)
{
    char resource[PART_MAX];
    const char *slash = strchr(full, '/');
    int len = snprintf(resource, sizeof resource, "%.*s", slash ? (int)(slash - full) : (int)strlen(full), full);

    question->resource = resource;
    question->subresource = slash ? slash + 1 : "";
    bool is_over = len >= (int)sizeof resource || check_names(escalation, rule, question);

    if (len >= (int)sizeof resource)
        strbuf_addstr(&escalation->reason, "the name of a resource is too long");
    question->resource = NULL;
    return is_over;
}

static const char *text_of(yyjson_val *value)
{
    const char *text = yyjson_get_str(value);

    return text ? text : "";
}

static bool check_verb(struct escalation *escalation, yyjson_val *rule, const char *verb)
{
    struct rights_question question = {.verb = verb, .namespace = escalation->request->namespace};
    yyjson_val *group, *resource, *path;
    size_t i, j, max, resources;

    yyjson_arr_foreach(yyjson_obj_get(rule, "nonResourceURLs"), i, max, path)
    {
        question.path = text_of(path);
        if (is_missing(escalation, &question))
            return true;
    }
    yyjson_arr_foreach(yyjson_obj_get(rule, "apiGroups"), i, max, group)
    {
        question.group = text_of(group);
        yyjson_arr_foreach(yyjson_obj_get(rule, "resources"), j, resources, resource)
        {
            if (check_resource(escalation, rule, text_of(resource), &question))
                return true;
        }
    }
    return false;
}

/* A policy_rule_fn. */
static bool check_rule(void *arg, yyjson_val *rule)
{
    yyjson_val *verb;
    size_t i, max;

    yyjson_arr_foreach(yyjson_obj_get(rule, "verbs"), i, max, verb)
    {
        if (check_verb(arg, rule, text_of(verb)))
            return true;
    }
    return false;
}

static bool may(const struct request *request, const char *verb, const char *resource, const char *name)
{
    return rights_allow(request->server->rights, request->identity,
                        &(struct rights_question){.verb = verb,
                                                  .group = RBAC,
                                                  .resource = resource,
                                                  .subresource = "",
                                                  .namespace = request->namespace,
                                                  .name = name});
}

static void check_role(struct escalation *escalation, yyjson_val *role)
{
    yyjson_val *rule;
    size_t i, max;

    if (may(escalation->request, "escalate", escalation->request->kind->plural, kube_text(role, "metadata", "name")))
        return;
    /* What others add to such a role later is not known now. */
    if (yyjson_obj_get(role, "aggregationRule"))
        strbuf_addstr(&escalation->reason, "only administrators may write an aggregationRule");
    yyjson_arr_foreach(yyjson_obj_get(role, "rules"), i, max, rule)
    {
        if (escalation->reason.len > 0 || check_rule(escalation, rule))
            return;
    }
}

static void check_binding(struct escalation *escalation, yyjson_val *binding)
{
    struct request *request = escalation->request;
    yyjson_val *role = yyjson_obj_get(binding, "roleRef");
    bool is_cluster = strcmp(kube_text(role, "kind"), "ClusterRole") == 0;

    if (may(request, "bind", is_cluster ? "clusterroles" : "roles", kube_text(role, "name")))
        return;
    (void)policies_visit_role(rights_policies(request->server->rights), role, request->namespace, check_rule,
                              escalation);
}

/* Roles and bindings by their plural: "roles", "clusterroles", "rolebindings", "clusterrolebindings". */
static bool ends_with(const char *text, const char *end)
{
    size_t len = strlen(text), end_len = strlen(end);

    return len >= end_len && strcmp(text + len - end_len, end) == 0;
}

static bool is_same(yyjson_mut_doc *doc, yyjson_mut_doc *old)
{
    static const char *const members[] = {"rules", "aggregationRule", "subjects", "roleRef"};

    for (size_t i = 0; i < ARRAY_LEN(members); i++) {
        yyjson_mut_val *a = yyjson_mut_obj_get(yyjson_mut_doc_get_root(doc), members[i]);
        yyjson_mut_val *b = yyjson_mut_obj_get(yyjson_mut_doc_get_root(old), members[i]);

        if ((a || b) && !(a && b && yyjson_mut_equals(a, b)))
            return false;
    }
    return true;
}

bool escalation_check(struct request *request, yyjson_mut_doc *doc, yyjson_mut_doc *old)
{
    struct escalation escalation = {.request = request};

    if (request->identity->is_admin || strcmp(request->kind->group, RBAC) != 0 || (old && is_same(doc, old)))
        return true;
    _cleanup_(json_doc_freep) yyjson_doc *fixed = yyjson_mut_doc_imut_copy(doc, NULL);

    strbuf_init(&escalation.reason, REASON_MAX);
    if (ends_with(request->kind->plural, "bindings"))
        check_binding(&escalation, yyjson_doc_get_root(fixed));
    else
        check_role(&escalation, yyjson_doc_get_root(fixed));
    bool is_good = escalation.reason.len == 0;

    if (!is_good)
        fail_forbidden(request, meta_text(doc, "name"),
                       "user \"%.200s\" is attempting to grant RBAC permissions not currently held: %s",
                       request->identity->name, escalation.reason.text);
    strbuf_done(&escalation.reason);
    return is_good;
}
