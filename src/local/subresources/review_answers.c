/* SPDX-License-Identifier: Apache-2.0 */
#include "local/subresources/review_answers.h"

#include <string.h>
#include <unistd.h>

#include "base/macros.h"
#include "local/rights/account_tokens.h"
#include "local/rights/identity.h"
#include "local/rights/policies.h"
#include "local/rights/rights.h"
#include "local/rights/users.h"

static const char *text_at(yyjson_mut_val *object, const char *member)
{
    const char *text = yyjson_mut_get_str(yyjson_mut_obj_get(object, member));

    return text ? text : "";
}

/* --- Identities --- */

static void add_user(struct review_request *request, const char *member, const struct identity *identity)
{
    static const char pod_name[] = "authentication.kubernetes.io/pod-name";
    yyjson_mut_doc *doc = request->doc;
    yyjson_mut_val *info = yyjson_mut_obj_add_obj(doc, request->status, member);

    (void)yyjson_mut_obj_add_strcpy(doc, info, "username", identity->name);
    if (*identity->uid)
        (void)yyjson_mut_obj_add_strcpy(doc, info, "uid", identity->uid);
    yyjson_mut_val *groups = yyjson_mut_obj_add_arr(doc, info, "groups");
    vec_foreach (&identity->groups, group)
        (void)yyjson_mut_arr_add_strcpy(doc, groups, *group);
    if (identity->pod) {
        yyjson_mut_val *extra = yyjson_mut_obj_add_obj(doc, info, "extra");
        (void)yyjson_mut_arr_add_strcpy(doc, yyjson_mut_obj_add_arr(doc, extra, pod_name), identity->pod);
    }
}

void review_self(struct review_request *request)
{
    add_user(request, "userInfo", request->identity);
}

/* Adds the audiences that the token and the question have in common. Returns whether there is one. */
static bool add_audiences(struct review_request *request, const struct account_claims *claims)
{
    yyjson_mut_val *asked = yyjson_mut_obj_get(request->spec, "audiences");
    yyjson_mut_val *common = yyjson_mut_arr(request->doc);
    yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(asked);

    if (yyjson_mut_arr_size(asked) == 0) {
        asked = yyjson_mut_arr(request->doc);
        (void)yyjson_mut_arr_add_str(request->doc, asked, ACCOUNT_TOKEN_AUDIENCE);
        iter = yyjson_mut_arr_iter_with(asked);
    }
    for (yyjson_mut_val *one; (one = yyjson_mut_arr_iter_next(&iter));) {
        /* Tokens of users are for this server alone. */
        bool is_common = !claims->name && yyjson_mut_equals_str(one, ACCOUNT_TOKEN_AUDIENCE);

        vec_foreach (&claims->audiences, audience)
            is_common = is_common || yyjson_mut_equals_str(one, *audience);
        if (is_common)
            (void)yyjson_mut_arr_append(common, yyjson_mut_val_mut_copy(request->doc, one));
    }
    if (yyjson_mut_arr_size(common) == 0)
        return false;
    (void)yyjson_mut_obj_add_val(request->doc, request->status, "audiences", common);
    return true;
}

void review_token(struct review_request *request)
{
    _cleanup_(identity_unrefp) struct identity *identity = NULL;
    struct account_claims claims = {0};
    int r = rights_read_token(request->rights, text_at(request->spec, "token"), &identity, &claims);

    if (r == 0 && add_audiences(request, &claims)) {
        (void)yyjson_mut_obj_add_bool(request->doc, request->status, "authenticated", true);
        add_user(request, "user", identity);
    } else {
        (void)yyjson_mut_obj_add_obj(request->doc, request->status, "user");
        (void)yyjson_mut_obj_add_str(request->doc, request->status, "error",
                                     r < 0 ? "invalid bearer token" : "token audiences do not match");
    }
    account_claims_done(&claims);
}

/* --- Rights --- */

static bool is_allowed(struct review_request *request, const struct identity *identity)
{
    yyjson_mut_val *object = yyjson_mut_obj_get(request->spec, "resourceAttributes");
    yyjson_mut_val *path = yyjson_mut_obj_get(request->spec, "nonResourceAttributes");
    struct rights_question question = {.verb = text_at(object ? object : path, "verb")};

    if (object) {
        question.group = text_at(object, "group");
        question.resource = text_at(object, "resource");
        question.subresource = text_at(object, "subresource");
        question.namespace = *request->namespace ? request->namespace : text_at(object, "namespace");
        question.name = text_at(object, "name");
    } else {
        question.path = text_at(path, "path");
    }
    return rights_allow(request->rights, identity, &question);
}

void review_self_access(struct review_request *request)
{
    (void)yyjson_mut_obj_add_bool(request->doc, request->status, "allowed", is_allowed(request, request->identity));
}

/* Somebody by name and groups, as the review has them. */
static struct identity *subject_of(struct review_request *request)
{
    const char *name = text_at(request->spec, "user");
    yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(yyjson_mut_obj_get(request->spec, "groups"));
    const char *admin = rights_user(request->rights, (uint32_t)geteuid())->name;
    struct identity *identity = identity_new(name, 0);

    identity->is_admin = strcmp(name, admin) == 0;
    for (yyjson_mut_val *group; (group = yyjson_mut_arr_iter_next(&iter));) {
        if (yyjson_mut_is_str(group))
            identity_add_group(identity, yyjson_mut_get_str(group));
        identity->is_admin = identity->is_admin || yyjson_mut_equals_str(group, GROUP_ADMINS);
    }
    if (strncmp(name, ACCOUNT_PREFIX, strlen(ACCOUNT_PREFIX)) == 0) {
        const char *place = name + strlen(ACCOUNT_PREFIX);
        const char *colon = strchr(place, ':');
        char namespace[64] = "";

        if (colon && (size_t)(colon - place) < sizeof namespace) {
            memcpy(namespace, place, (size_t)(colon - place));
            identity_set_account(identity, namespace, colon + 1, "");
        }
    }
    return identity;
}

void review_subject_access(struct review_request *request)
{
    _cleanup_(identity_unrefp) struct identity *identity = subject_of(request);

    (void)yyjson_mut_obj_add_bool(request->doc, request->status, "allowed", is_allowed(request, identity));
}

struct rule_lists {
    yyjson_mut_doc *doc;
    yyjson_mut_val *resources;
    yyjson_mut_val *paths;
};

/* A policy_rule_fn. */
static bool add_rule(void *arg, yyjson_val *rule)
{
    struct rule_lists *lists = arg;
    yyjson_mut_val *list = yyjson_obj_get(rule, "nonResourceURLs") ? lists->paths : lists->resources;

    (void)yyjson_mut_arr_append(list, yyjson_val_mut_copy(lists->doc, rule));
    return false;
}

static void add_all(yyjson_mut_doc *doc, yyjson_mut_val *list, const char *const *members, size_t count)
{
    yyjson_mut_val *rule = yyjson_mut_arr_add_obj(doc, list);

    for (size_t i = 0; i < count; i++)
        (void)yyjson_mut_arr_add_str(doc, yyjson_mut_obj_add_arr(doc, rule, members[i]), "*");
}

void review_self_rules(struct review_request *request)
{
    static const char *const of_resources[] = {"verbs", "apiGroups", "resources"};
    static const char *const of_paths[] = {"verbs", "nonResourceURLs"};
    yyjson_mut_doc *doc = request->doc;
    struct rule_lists lists = {.doc = doc,
                               .resources = yyjson_mut_obj_add_arr(doc, request->status, "resourceRules"),
                               .paths = yyjson_mut_obj_add_arr(doc, request->status, "nonResourceRules")};

    if (request->identity->is_admin) {
        add_all(doc, lists.resources, of_resources, ARRAY_LEN(of_resources));
        add_all(doc, lists.paths, of_paths, ARRAY_LEN(of_paths));
    } else {
        (void)policies_visit(rights_policies(request->rights), request->identity, text_at(request->spec, "namespace"),
                             add_rule, &lists);
    }
    (void)yyjson_mut_obj_add_bool(doc, request->status, "incomplete", false);
}
