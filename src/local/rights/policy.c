/* SPDX-License-Identifier: Apache-2.0 */
#include "local/rights/policy.h"

#include <stdio.h>
#include <string.h>

#include "kube/client/meta.h"
#include "local/rights/identity.h"

enum { RESOURCE_TEXT_MAX = 512 };

static bool has_word(yyjson_val *list, const char *word)
{
    yyjson_val *item;
    size_t i, max;

    yyjson_arr_foreach(list, i, max, item)
    {
        if (yyjson_equals_str(item, "*") || yyjson_equals_str(item, word))
            return true;
    }
    return false;
}

/* "pods", "pods/log", "*" for all, and a star before the slash for a part of all kinds. */
static bool has_resource(yyjson_val *list, const struct rights_question *question)
{
    bool is_part = *question->subresource;
    char full[RESOURCE_TEXT_MAX];
    char any[RESOURCE_TEXT_MAX];

    (void)snprintf(full, sizeof full, "%s%s%s", question->resource, is_part ? "/" : "", question->subresource);
    (void)snprintf(any, sizeof any, "*/%s", question->subresource);
    return has_word(list, full) || (is_part && has_word(list, any));
}

static bool has_path(yyjson_val *list, const char *path)
{
    yyjson_val *item;
    size_t i, max;

    yyjson_arr_foreach(list, i, max, item)
    {
        const char *own = yyjson_get_str(item);
        size_t len = own ? strlen(own) : 0;

        if (len == 0)
            continue;
        if (own[len - 1] == '*' ? strncmp(own, path, len - 1) == 0 : strcmp(own, path) == 0)
            return true;
    }
    return false;
}

bool rule_allows(yyjson_val *rule, const struct rights_question *question)
{
    yyjson_val *names = yyjson_obj_get(rule, "resourceNames");

    if (!has_word(yyjson_obj_get(rule, "verbs"), question->verb))
        return false;
    if (!question->resource)
        return has_path(yyjson_obj_get(rule, "nonResourceURLs"), question->path);
    if (!has_word(yyjson_obj_get(rule, "apiGroups"), question->group) ||
        !has_resource(yyjson_obj_get(rule, "resources"), question))
        return false;
    if (yyjson_arr_size(names) == 0)
        return true;
    yyjson_val *name;
    size_t i, max;

    /* A star is no more than a name here. */
    yyjson_arr_foreach(names, i, max, name)
    {
        if (*question->name && yyjson_equals_str(name, question->name))
            return true;
    }
    return false;
}

static bool has_group(const struct identity *identity, const char *group)
{
    vec_foreach (&identity->groups, own) {
        if (strcmp(*own, group) == 0)
            return true;
    }
    return false;
}

static bool is_meant(yyjson_val *subject, const struct identity *identity)
{
    const char *kind = kube_text(subject, "kind");
    const char *name = kube_text(subject, "name");

    if (strcmp(kind, "User") == 0)
        return strcmp(name, identity->name) == 0;
    if (strcmp(kind, "Group") == 0)
        return has_group(identity, name);
    return strcmp(kind, "ServiceAccount") == 0 && identity->account && strcmp(name, identity->account) == 0 &&
           strcmp(kube_text(subject, "namespace"), identity->account_namespace) == 0;
}

bool subjects_have(yyjson_val *subjects, const struct identity *identity)
{
    yyjson_val *subject;
    size_t i, max;

    yyjson_arr_foreach(subjects, i, max, subject)
    {
        if (is_meant(subject, identity))
            return true;
    }
    return false;
}
