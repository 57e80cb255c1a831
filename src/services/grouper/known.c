/* SPDX-License-Identifier: Apache-2.0 */
#include "services/grouper/known.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"
#include "objects/keys.h"
#include "text/json.h"

/* Nobody has defaults for more kinds than that. */
enum { DEFAULTS_MAX = 1000 };

void known_init(struct known *known)
{
    *known = (struct known){0};
}

static void clear_defaults(struct known *known)
{
    vec_foreach (&known->defaults, at) {
        free(at->kind);
        free(at->priority_class);
        free(at->preemptibility);
    }
    vec_done(&known->defaults);
}

static void group_free(struct known_group *group)
{
    free(group->namespace);
    free(group->name);
    free(group);
}

void known_done(struct known *known)
{
    struct known_group *group;

    for (size_t cursor = 0; (group = strmap_next(&known->groups, &cursor));)
        group_free(group);
    strmap_done(&known->groups);
    map64_done(&known->namespaces);
    map64_done(&known->priority_classes);
    clear_defaults(known);
}

uint64_t known_key(const char *namespace, const char *name)
{
    return hash_str(name, hash_str(namespace, 0));
}

static uint64_t hash_value(yyjson_val *val, uint64_t seed)
{
    size_t len = 0;
    char *text = yyjson_val_write(val, YYJSON_WRITE_ALLOW_INVALID_UNICODE, &len);
    uint64_t hash = text ? hash_bytes(text, len + 1, seed) : seed;

    free(text);
    return hash;
}

/* The scheduler writes these all the time. */
static bool is_of_scheduler(const char *key)
{
    return strcmp(key, KEY_LAST_START) == 0 || strcmp(key, KEY_LAST_EVICTION) == 0 || strcmp(key, KEY_STALE_SINCE) == 0;
}

/* Of all that we write: the generation stands for the spec. */
static uint64_t digest_of(yyjson_val *group)
{
    yyjson_val *meta = yyjson_obj_get(group, "metadata");
    uint64_t digest = 0;
    size_t i, max;
    yyjson_val *key, *val;

    digest = hash_value(yyjson_obj_get(meta, "uid"), digest);
    digest = hash_value(yyjson_obj_get(meta, "generation"), digest);
    digest = hash_value(yyjson_obj_get(meta, "labels"), digest);
    digest = hash_value(yyjson_obj_get(meta, "ownerReferences"), digest);
    yyjson_obj_foreach(yyjson_obj_get(meta, "annotations"), i, max, key, val)
    {
        if (is_of_scheduler(yyjson_get_str(key)))
            continue;
        digest = hash_value(key, digest);
        digest = hash_value(val, digest);
    }
    return digest;
}

struct known_group *known_group(const struct known *known, const char *namespace, const char *name)
{
    return strmap_get(&known->groups, namespace, name);
}

static struct known_group *note_group(struct known *known, const char *namespace, const char *name, yyjson_val *object)
{
    struct known_group *group = known_group(known, namespace, name);

    if (!group) {
        group = xcalloc(1, sizeof *group);
        group->namespace = xstrdup(namespace);
        group->name = xstrdup(name);
        (void)strmap_put(&known->groups, group->namespace, group->name, group);
    }
    group->seen = digest_of(object);
    group->is_flat = yyjson_arr_size(yyjson_obj_get(yyjson_obj_get(object, "spec"), "subGroups")) == 0;
    return group;
}

void known_add_group(struct known *known, const char *namespace, const char *name, yyjson_val *object)
{
    (void)note_group(known, namespace, name, object);
}

void known_drop_group(struct known *known, const char *namespace, const char *name)
{
    struct known_group *group = strmap_remove(&known->groups, namespace, name);

    if (group)
        group_free(group);
}

void known_check_group(struct known *known, const char *namespace, const char *name, yyjson_val *object,
                       uint64_t wanted)
{
    struct known_group *group = note_group(known, namespace, name, object);

    group->checked = group->seen;
    group->wanted = wanted;
}

bool known_is_checked(const struct known *known, const char *namespace, const char *name, uint64_t wanted)
{
    const struct known_group *group = known_group(known, namespace, name);

    return group && group->wanted == wanted && group->seen == group->checked;
}

static int add_default(struct known *known, const struct json_at *at, struct err *err)
{
    const char *type = NULL, *group = "", *priority = "", *preemptibility = "";
    struct known_default added = {0};
    char kind[512];
    int r = json_member_str(at, "typeName", JSON_REQUIRED, &type, err);

    if (r >= 0)
        r = json_member_str(at, "group", JSON_OPTIONAL, &group, err);
    if (r >= 0)
        r = json_member_str(at, "priorityName", JSON_OPTIONAL, &priority, err);
    if (r >= 0)
        r = json_member_str(at, "preemptibility", JSON_OPTIONAL, &preemptibility, err);
    if (r < 0)
        return r;
    if (snprintf(kind, sizeof kind, "%s%s%s", type, *group ? "." : "", group) >= (int)sizeof kind)
        return json_fail(at, err, -EINVAL, "names are too long");
    added.kind = xstrdup(kind);
    added.priority_class = *priority ? xstrdup(priority) : NULL;
    added.preemptibility = *preemptibility ? xstrdup(preemptibility) : NULL;
    for (char *c = added.preemptibility; c && *c; c++)
        *c = (char)tolower((unsigned char)*c);
    vec_push(&known->defaults, added);
    return 0;
}

int known_set_defaults(struct known *known, const char *text, struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    struct known fresh = {0};
    struct json_at root;
    int r = 0;

    if (text)
        r = json_parse(text, strlen(text), "types", &doc, err);
    if (r < 0)
        return r;
    root = text ? json_root(doc) : (struct json_at){0};
    if (text)
        r = json_array(&root, err);
    for (struct json_at item = {0}; r >= 0 && json_next(&root, &item);) {
        r = add_default(&fresh, &item, err);
        if (r >= 0 && fresh.defaults.len > DEFAULTS_MAX)
            r = json_fail(&root, err, -E2BIG, "expected at most %d kinds", DEFAULTS_MAX);
    }
    if (r < 0) {
        clear_defaults(&fresh);
        return r;
    }
    clear_defaults(known);
    memcpy(&known->defaults, &fresh.defaults, sizeof known->defaults);
    return 0;
}

static const struct known_default *find_default(const struct known *known, const char *kind)
{
    vec_foreach (&known->defaults, at) {
        if (strcmp(at->kind, kind) == 0)
            return at;
    }
    return NULL;
}

bool known_find_default(const struct known *known, const char *group, const char *kind,
                        struct group_defaults *ret_defaults)
{
    const struct known_default *found;
    char whole[512];

    (void)snprintf(whole, sizeof whole, "%s%s%s", kind, *group ? "." : "", group);
    found = find_default(known, whole);
    if (!found)
        found = find_default(known, kind);
    if (!found)
        return false;
    *ret_defaults = (struct group_defaults){found->priority_class, found->preemptibility};
    return true;
}

bool known_has_priority_class(void *arg, const char *name)
{
    return map64_get(&((struct known *)arg)->priority_classes, known_key("", name), NULL);
}

enum group_presence known_find_group(void *arg, const char *namespace, const char *name)
{
    const struct known_group *group = known_group(arg, namespace, name);

    return !group ? GROUP_ABSENT : group->is_flat ? GROUP_FLAT : GROUP_WITH_SUBGROUPS;
}

bool known_defaults_of(void *arg, const char *group, const char *kind, struct group_defaults *ret_defaults)
{
    return known_find_default(arg, group, kind, ret_defaults);
}
