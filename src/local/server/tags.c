/* SPDX-License-Identifier: Apache-2.0 */

/* Labels and fields of an object as tags, so that selectors need not read it. */
#include <stdio.h>
#include <string.h>
#include <yyjson.h>

#include "base/strbuf.h"
#include "local/api/kinds.h"
#include "local/api/selector.h"
#include "local/server/resources.h"
#include "store/store.h"

/* Fields that are named otherwise than the members that they show, or whose absence means something else than "". */
static const struct {
    const char *field;
    const char *member;
    const char *fallback;
} special[] = {
    {"source", "source.component", ""},
    {"status.successful", "status.succeeded", "0"},
    {"status.replicas", "status.replicas", "0"},
    {"spec.unschedulable", "spec.unschedulable", "false"},
    {"spec.hostNetwork", "spec.hostNetwork", "false"},
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
    const char *fallback = "";
    char tag[STORE_NAME_MAX];
    struct strbuf text;

    for (size_t i = 0; i < sizeof special / sizeof *special; i++) {
        if (strcmp(special[i].field, field) == 0) {
            member = special[i].member;
            fallback = special[i].fallback;
        }
    }
    strbuf_init(&text, STORE_TAG_BYTES_MAX);
    if (strcmp(field, "status.podIPs") == 0)
        write_addresses(member_at(root, member), &text);
    else
        write_value(member_at(root, member), fallback, &text);
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

/* The kind of a name in the store: "apps/deployments", "pods". */
static const struct api_kind *kind_of(const struct server *server, const char *name)
{
    for (size_t i = 0;; i++) {
        const struct api_kind *kind = resource_at(server, i);
        size_t len = kind ? strlen(kind->group) : 0;
        if (!kind)
            return NULL;
        if (strncmp(kind->group, name, len) == 0 && (len == 0 || name[len] == '/') &&
            strcmp(kind->plural, name + len + (len > 0)) == 0)
            return kind;
    }
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
