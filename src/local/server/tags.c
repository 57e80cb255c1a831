/* SPDX-License-Identifier: Apache-2.0 */

/* Labels and fields of an object as tags, so that selectors need not read it. */
#include <stdio.h>
#include <string.h>
#include <yyjson.h>

#include "base/strbuf.h"
#include "base/text_is.h"
#include "local/api/kinds.h"
#include "local/api/selector.h"
#include "local/custom/definitions.h"
#include "local/server/resources.h"
#include "local/server/server_parts.h"
#include "store/store.h"

/* Fields that are named otherwise than the members that they show, or whose absence means something else than "". */
static const struct {
    const char *field;
    const char *member;
    const char *other;  // the member that stands in for one that is empty; NULL: none
    const char *fallback;
} special[] = {
    {"source", "source.component", "reportingComponent", ""},
    {"status.successful", "status.succeeded", NULL, "0"},
    {"status.replicas", "status.replicas", NULL, "0"},
    {"spec.unschedulable", "spec.unschedulable", NULL, "false"},
    {"spec.hostNetwork", "spec.hostNetwork", NULL, "false"},
};

/* Fields by which objects are looked up often. */
static const char indexed[] = "spec.nodeName involvedObject.uid";

static yyjson_val *member_at(yyjson_val *at, const char *path)
{
    while (at && *path) {
        size_t len = strcspn(path, ".");
        at = yyjson_obj_getn(at, path, len);
        path += len + (path[len] == '.');
    }
    return at;
}

static void write_value(yyjson_val *value, const char *fallback, struct strbuf *text)
{
    if (yyjson_is_str(value))
        strbuf_add(text, yyjson_get_str(value), yyjson_get_len(value));
    else if (yyjson_is_bool(value))
        strbuf_addstr(text, yyjson_get_bool(value) ? "true" : "false");
    else if (yyjson_is_int(value))
        strbuf_addf(text, "%lld", (long long)yyjson_get_sint(value));
    else
        strbuf_addstr(text, fallback);
}

/* The addresses of a pod are one field. */
static void write_addresses(yyjson_val *list, struct strbuf *text)
{
    yyjson_arr_iter iter = yyjson_arr_iter_with(list);

    for (yyjson_val *item; (item = yyjson_arr_iter_next(&iter));) {
        const char *ip = yyjson_get_str(yyjson_obj_get(item, "ip"));
        strbuf_addf(text, "%s%s", text->len ? "," : "", ip ? ip : "");
    }
}

static void tag_field(yyjson_val *root, const char *field, struct store_tags *tags)
{
    const char *member = field;
    const char *other = NULL;
    const char *fallback = "";
    char tag[STORE_NAME_MAX];
    struct strbuf text;

    for (size_t i = 0; i < sizeof special / sizeof *special; i++) {
        if (strcmp(special[i].field, field) == 0) {
            member = special[i].member;
            other = special[i].other;
            fallback = special[i].fallback;
        }
    }
    strbuf_init(&text, STORE_TAG_BYTES_MAX);
    if (strcmp(field, "status.podIPs") == 0)
        write_addresses(member_at(root, member), &text);
    else
        write_value(member_at(root, member), fallback, &text);
    if (text.len == 0 && other)
        write_value(member_at(root, other), fallback, &text);
    (void)snprintf(tag, sizeof tag, SELECTOR_FIELD "%s", field);
    (void)store_tags_add(tags, tag, text.text, kind_list_has(indexed, field));
    strbuf_done(&text);
}

static void tag_labels(yyjson_val *meta, struct store_tags *tags)
{
    yyjson_obj_iter iter = yyjson_obj_iter_with(yyjson_obj_get(meta, "labels"));
    char tag[STORE_NAME_MAX];

    for (yyjson_val *key; (key = yyjson_obj_iter_next(&iter));) {
        const char *name = yyjson_get_str(key);
        const char *value = yyjson_get_str(yyjson_obj_iter_get_val(key));
        (void)snprintf(tag, sizeof tag, SELECTOR_LABEL "%s", name ? name : "");
        (void)store_tags_add(tags, tag, value ? value : "", false);
    }
}

/* Whether it is the kind of a name in the store: "apps/deployments", "pods". */
static bool is_named(const struct api_kind *kind, const char *name)
{
    size_t len = strlen(kind->group);

    if (strncmp(kind->group, name, len) != 0 || (len > 0 && name[len] != '/'))
        return false;
    return text_is(kind->plural, name + len + (len > 0));
}

static const struct api_kind *kind_of(const struct server *server, const char *name)
{
    const struct api_kind *kind;
    const struct custom_kind *custom;

    for (size_t i = 0; (kind = builtin_kind_at(i)); i++) {
        if (is_named(kind, name))
            return kind;
    }
    for (size_t i = 0; (custom = definitions_at(server->definitions, i)); i++) {
        if (is_named(&custom->api, name))
            return &custom->api;
    }
    return NULL;
}

void resource_tag(void *arg, const char *kind, const char *body, size_t len, struct store_tags *tags)
{
    const struct api_kind *row = kind_of(arg, kind);
    yyjson_doc *doc = yyjson_read(body, len, 0);
    yyjson_val *root = yyjson_doc_get_root(doc);
    char field[STORE_NAME_MAX];

    tag_field(root, "metadata.name", tags);
    tag_field(root, "metadata.namespace", tags);
    tag_labels(yyjson_obj_get(root, "metadata"), tags);
    for (const char *at = row && row->fields ? row->fields : ""; *at;) {
        size_t word = strcspn(at, " ");
        (void)snprintf(field, sizeof field, "%.*s", (int)word, at);
        tag_field(root, field, tags);
        at += word + (at[word] == ' ');
    }
    yyjson_doc_free(doc);
}
