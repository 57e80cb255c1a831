/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/vec.h"
#include "local/api/kinds.h"
#include "local/discovery/discovery_internal.h"
#include "local/server/resources.h"
#include "local/server/server_parts.h"
#include "text/json.h"

/* Groups, or versions of one, in the order in which their first kind comes. */
struct names VEC_OF(const char *);

static bool has_name(const struct names *names, const char *name)
{
    vec_foreach (names, at) {
        if (strcmp(*at, name) == 0)
            return true;
    }
    return false;
}

static struct names groups_of(const struct server *server)
{
    const struct api_kind *kind;
    struct names groups = {0};

    for (size_t i = 0; (kind = resource_at(server, i)); i++) {
        if (*kind->group && !has_name(&groups, kind->group))
            vec_push(&groups, kind->group);
    }
    return groups;
}

static struct names versions_of(const struct server *server, const char *group)
{
    const struct api_kind *kind;
    struct names versions = {0};

    for (size_t i = 0; (kind = resource_at(server, i)); i++) {
        if (strcmp(kind->group, group) == 0 && !has_name(&versions, kind->version))
            vec_push(&versions, kind->version);
    }
    return versions;
}

/* The next kind of a group and version at or behind `*at`, which moves behind it. */
static const struct api_kind *next_kind(const struct server *server, const char *group, const char *version, size_t *at)
{
    const struct api_kind *kind;

    while ((kind = resource_at(server, (*at)++))) {
        if (strcmp(kind->group, group) == 0 && strcmp(kind->version, version) == 0)
            return kind;
    }
    return NULL;
}

static void add_words(yyjson_mut_doc *doc, yyjson_mut_val *to, const char *key, const char *words)
{
    yyjson_mut_val *list;

    if (!words)
        return;
    list = yyjson_mut_obj_add_arr(doc, to, key);
    for (const char *at = words; *at;) {
        size_t len = strcspn(at, " ");
        (void)yyjson_mut_arr_add_strncpy(doc, list, at, len);
        at += len + (at[len] == ' ');
    }
}

static void add_type(yyjson_mut_doc *doc, yyjson_mut_val *to, const char *key, const char *group, const char *version,
                     const char *kind)
{
    yyjson_mut_val *type = yyjson_mut_obj_add_obj(doc, to, key);

    (void)yyjson_mut_obj_add_strcpy(doc, type, "group", group);
    (void)yyjson_mut_obj_add_strcpy(doc, type, "version", version);
    (void)yyjson_mut_obj_add_strcpy(doc, type, "kind", kind);
}

/* --- One document for all --- */

static void add_parts(yyjson_mut_doc *doc, yyjson_mut_val *resource, const struct api_kind *kind)
{
    struct discovery_part part;
    yyjson_mut_val *list = NULL;

    for (size_t i = 0; discovery_part_at(kind, i, &part); i++) {
        if (!list)
            list = yyjson_mut_obj_add_arr(doc, resource, "subresources");
        yyjson_mut_val *item = yyjson_mut_arr_add_obj(doc, list);
        (void)yyjson_mut_obj_add_str(doc, item, "subresource", part.name);
        add_type(doc, item, "responseKind", part.group, part.version, part.kind);
        add_words(doc, item, "verbs", part.verbs);
    }
}

static void add_resource(yyjson_mut_doc *doc, yyjson_mut_val *list, const struct api_kind *kind)
{
    yyjson_mut_val *item = yyjson_mut_arr_add_obj(doc, list);

    (void)yyjson_mut_obj_add_strcpy(doc, item, "resource", kind->plural);
    add_type(doc, item, "responseKind", kind->group, kind->version, kind->kind);
    (void)yyjson_mut_obj_add_str(doc, item, "scope", kind->flags & KIND_NAMESPACED ? "Namespaced" : "Cluster");
    (void)yyjson_mut_obj_add_strcpy(doc, item, "singularResource", kind->singular);
    add_words(doc, item, "verbs", discovery_verbs(kind));
    add_words(doc, item, "shortNames", kind->short_names);
    add_words(doc, item, "categories", kind->categories);
    add_parts(doc, item, kind);
}

static void add_aggregated_group(yyjson_mut_doc *doc, yyjson_mut_val *items, const struct server *server,
                                 const char *group)
{
    yyjson_mut_val *item = yyjson_mut_arr_add_obj(doc, items);
    yyjson_mut_val *meta = yyjson_mut_obj_add_obj(doc, item, "metadata");
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, item, "versions");
    struct names versions = versions_of(server, group);
    const struct api_kind *kind;

    if (*group)
        (void)yyjson_mut_obj_add_strcpy(doc, meta, "name", group);
    vec_foreach (&versions, version) {
        yyjson_mut_val *entry = yyjson_mut_arr_add_obj(doc, list);
        (void)yyjson_mut_obj_add_strcpy(doc, entry, "version", *version);
        yyjson_mut_val *resources = yyjson_mut_obj_add_arr(doc, entry, "resources");
        for (size_t at = 0; (kind = next_kind(server, group, *version, &at));)
            add_resource(doc, resources, kind);
        (void)yyjson_mut_obj_add_str(doc, entry, "freshness", "Current");
    }
    vec_done(&versions);
}

yyjson_mut_doc *discovery_aggregated(const struct server *server, const char *version, bool is_core)
{
    yyjson_mut_val *root = NULL;
    yyjson_mut_doc *doc = json_new_object(&root);
    char api_version[64];

    (void)snprintf(api_version, sizeof api_version, "apidiscovery.k8s.io/%s", version);
    (void)yyjson_mut_obj_add_str(doc, root, "kind", "APIGroupDiscoveryList");
    (void)yyjson_mut_obj_add_strcpy(doc, root, "apiVersion", api_version);
    (void)yyjson_mut_obj_add_obj(doc, root, "metadata");
    yyjson_mut_val *items = yyjson_mut_obj_add_arr(doc, root, "items");

    if (is_core) {
        add_aggregated_group(doc, items, server, "");
        return doc;
    }
    struct names groups = groups_of(server);

    vec_foreach (&groups, group)
        add_aggregated_group(doc, items, server, *group);
    vec_done(&groups);
    return doc;
}

/* --- A document each --- */

yyjson_mut_doc *discovery_core_versions(const struct server *server)
{
    yyjson_mut_val *root = NULL;
    yyjson_mut_doc *doc = json_new_object(&root);
    char address[320];

    (void)yyjson_mut_obj_add_str(doc, root, "kind", "APIVersions");
    add_words(doc, root, "versions", "v1");
    yyjson_mut_val *clients = yyjson_mut_obj_add_arr(doc, root, "serverAddressByClientCIDRs");
    yyjson_mut_val *entry = yyjson_mut_arr_add_obj(doc, clients);

    (void)snprintf(address, sizeof address, "%s:%u", server->address ? server->address : "localhost",
                   (unsigned)server->port);
    (void)yyjson_mut_obj_add_str(doc, entry, "clientCIDR", "0.0.0.0/0");
    (void)yyjson_mut_obj_add_strcpy(doc, entry, "serverAddress", address);
    return doc;
}

static void add_version(yyjson_mut_doc *doc, yyjson_mut_val *to, const char *group, const char *version)
{
    char text[API_VERSION_MAX];

    (void)snprintf(text, sizeof text, "%s/%s", group, version);
    (void)yyjson_mut_obj_add_strcpy(doc, to, "groupVersion", text);
    (void)yyjson_mut_obj_add_strcpy(doc, to, "version", version);
}

/* Fills the object with the group. Whether there is one. */
static bool fill_group(yyjson_mut_doc *doc, yyjson_mut_val *to, const struct server *server, const char *group)
{
    struct names versions = versions_of(server, group);
    yyjson_mut_val *list;
    bool is_there = versions.len > 0;

    (void)yyjson_mut_obj_add_strcpy(doc, to, "name", group);
    list = yyjson_mut_obj_add_arr(doc, to, "versions");
    vec_foreach (&versions, version)
        add_version(doc, yyjson_mut_arr_add_obj(doc, list), group, *version);
    if (is_there)
        add_version(doc, yyjson_mut_obj_add_obj(doc, to, "preferredVersion"), group, versions.items[0]);
    vec_done(&versions);
    return is_there;
}

yyjson_mut_doc *discovery_groups(const struct server *server)
{
    yyjson_mut_val *root = NULL;
    yyjson_mut_doc *doc = json_new_object(&root);
    struct names groups = groups_of(server);

    (void)yyjson_mut_obj_add_str(doc, root, "kind", "APIGroupList");
    (void)yyjson_mut_obj_add_str(doc, root, "apiVersion", "v1");
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, root, "groups");

    vec_foreach (&groups, group)
        (void)fill_group(doc, yyjson_mut_arr_add_obj(doc, list), server, *group);
    vec_done(&groups);
    return doc;
}

yyjson_mut_doc *discovery_group(const struct server *server, const char *group)
{
    yyjson_mut_val *root = NULL;
    yyjson_mut_doc *doc = json_new_object(&root);

    (void)yyjson_mut_obj_add_str(doc, root, "kind", "APIGroup");
    (void)yyjson_mut_obj_add_str(doc, root, "apiVersion", "v1");
    if (*group && fill_group(doc, root, server, group))
        return doc;
    yyjson_mut_doc_free(doc);
    return NULL;
}

static void add_old_parts(yyjson_mut_doc *doc, yyjson_mut_val *list, const struct api_kind *kind)
{
    struct discovery_part part;
    char name[512];

    for (size_t i = 0; discovery_part_at(kind, i, &part); i++) {
        yyjson_mut_val *item = yyjson_mut_arr_add_obj(doc, list);
        (void)snprintf(name, sizeof name, "%s/%s", kind->plural, part.name);
        (void)yyjson_mut_obj_add_strcpy(doc, item, "name", name);
        (void)yyjson_mut_obj_add_str(doc, item, "singularName", "");
        (void)yyjson_mut_obj_add_bool(doc, item, "namespaced", kind->flags & KIND_NAMESPACED);
        if (strcmp(part.group, kind->group) != 0 || strcmp(part.version, kind->version) != 0) {
            (void)yyjson_mut_obj_add_strcpy(doc, item, "group", part.group);
            (void)yyjson_mut_obj_add_strcpy(doc, item, "version", part.version);
        }
        (void)yyjson_mut_obj_add_strcpy(doc, item, "kind", part.kind);
        add_words(doc, item, "verbs", part.verbs);
    }
}

yyjson_mut_doc *discovery_resources(const struct server *server, const char *group, const char *version)
{
    yyjson_mut_val *root = NULL;
    yyjson_mut_doc *doc = json_new_object(&root);
    const struct api_kind *kind;
    char api_version[API_VERSION_MAX];
    bool is_there = false;

    (void)snprintf(api_version, sizeof api_version, "%s%s%s", group, *group ? "/" : "", version);
    (void)yyjson_mut_obj_add_str(doc, root, "kind", "APIResourceList");
    (void)yyjson_mut_obj_add_str(doc, root, "apiVersion", "v1");
    (void)yyjson_mut_obj_add_strcpy(doc, root, "groupVersion", api_version);
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, root, "resources");

    for (size_t at = 0; (kind = next_kind(server, group, version, &at)); is_there = true) {
        yyjson_mut_val *item = yyjson_mut_arr_add_obj(doc, list);
        (void)yyjson_mut_obj_add_strcpy(doc, item, "name", kind->plural);
        (void)yyjson_mut_obj_add_strcpy(doc, item, "singularName", kind->singular);
        (void)yyjson_mut_obj_add_bool(doc, item, "namespaced", kind->flags & KIND_NAMESPACED);
        (void)yyjson_mut_obj_add_strcpy(doc, item, "kind", kind->kind);
        add_words(doc, item, "verbs", discovery_verbs(kind));
        add_words(doc, item, "shortNames", kind->short_names);
        add_words(doc, item, "categories", kind->categories);
        add_old_parts(doc, list, kind);
    }
    if (is_there)
        return doc;
    yyjson_mut_doc_free(doc);
    return NULL;
}
