/* SPDX-License-Identifier: Apache-2.0 */

/* Events as JSON (core/v1). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "kube/events/events_internal.h"
#include "text/json.h"

/* Names of objects have at most 253 bytes; ours has the time behind the name of what it is about. */
enum { NAME_PART_MAX = 230, MESSAGE_MAX = 16 * 1024 };

void event_text_done(struct event_text *text)
{
    free(text->event_name);
    free(text->event_namespace);
    free(text->api_version);
    free(text->kind);
    free(text->namespace);
    free(text->name);
    free(text->uid);
    free(text->resource_version);
    free(text->type);
    free(text->reason);
    free(text->message);
    yyjson_mut_doc_free(text->notes);
    *text = (struct event_text){0};
}

void event_text_rest(struct event_text *text)
{
    char *name = TAKE_PTR(text->event_name);

    event_text_done(text);
    text->event_name = name;
}

void event_text_rename(struct event_text *text, nsec_t now)
{
    struct strbuf name;

    strbuf_init(&name, NAME_PART_MAX + 32);
    strbuf_addf(&name, "%.*s.%llx", NAME_PART_MAX, text->name, (unsigned long long)now);
    free(text->event_name);
    text->event_name = strbuf_take(&name);
}

/* Cut where a character ends. */
static char *message_of(const struct event *event, bool is_combined)
{
    struct strbuf message;

    strbuf_init(&message, MESSAGE_MAX);
    if (is_combined)
        strbuf_addstr(&message, "(combined from similar events): ");
    strbuf_addstr(&message, event->message);
    char *text = strbuf_take(&message);
    size_t len = strlen(text);

    if (len == MESSAGE_MAX) {
        while (len > 0 && ((unsigned char)text[len - 1] & 0xc0) == 0x80)
            len--;
        text[len ? len - 1 : 0] = '\0';
    }
    return text;
}

static yyjson_mut_doc *notes_of(const struct event *event)
{
    if (event->note_count == 0)
        return NULL;
    yyjson_mut_val *root;
    yyjson_mut_doc *doc = json_new_object(&root);

    for (size_t i = 0; i < event->note_count; i++)
        (void)yyjson_mut_obj_add(root, yyjson_mut_strcpy(doc, event->notes[i].key),
                                 yyjson_mut_strcpy(doc, event->notes[i].value));
    return doc;
}

static void set_object(struct event_text *text, const struct event *event)
{
    text->event_namespace = xstrdup(event->namespace[0] ? event->namespace : "default");
    text->api_version = xstrdup(event->api_version);
    text->kind = xstrdup(event->kind);
    text->namespace = xstrdup(event->namespace);
    text->name = xstrdup(event->name);
    text->uid = xstrdup(event->uid);
    text->resource_version = event->resource_version ? xstrdup(event->resource_version) : NULL;
    text->type = xstrdup(event->type);
    text->reason = xstrdup(event->reason);
}

void event_text_set(struct event_text *text, const struct event *event, bool is_combined, nsec_t now)
{
    if (!text->kind)
        set_object(text, event);
    if (!text->event_name)
        event_text_rename(text, now);
    free(text->message);
    text->message = message_of(event, is_combined);
    yyjson_mut_doc_free(text->notes);
    text->notes = notes_of(event);
}

/* Events count in seconds. */
static yyjson_mut_val *time_value(yyjson_mut_doc *doc, nsec_t time)
{
    char text[TIME_TEXT_MAX];

    return yyjson_mut_strcpy(doc, time_format(time - time % NSEC_PER_SEC, text));
}

static void add(yyjson_mut_doc *doc, yyjson_mut_val *to, const char *key, const char *value)
{
    if (value && value[0])
        (void)yyjson_mut_obj_add_str(doc, to, key, value);
}

static void add_times(yyjson_mut_doc *doc, yyjson_mut_val *to, const struct event_times *times)
{
    (void)yyjson_mut_obj_add_uint(doc, to, "count", times->count);
    (void)yyjson_mut_obj_add_val(doc, to, "lastTimestamp", time_value(doc, times->last));
}

static void add_notes(yyjson_mut_doc *doc, yyjson_mut_val *meta, const struct event_text *text)
{
    if (text->notes)
        (void)yyjson_mut_obj_add_val(doc, meta, "annotations",
                                     yyjson_mut_val_mut_copy(doc, yyjson_mut_doc_get_root(text->notes)));
}

static yyjson_mut_val *new_object(yyjson_mut_doc **ret_doc)
{
    yyjson_mut_val *root;
    yyjson_mut_doc *doc = json_new_object(&root);

    *ret_doc = doc;
    return root;
}

yyjson_mut_doc *event_encode(const struct event_text *text, const struct event_times *times, const char *component,
                             const char *instance)
{
    yyjson_mut_doc *doc = NULL;
    yyjson_mut_val *root = new_object(&doc);

    add(doc, root, "apiVersion", "v1");
    add(doc, root, "kind", "Event");
    yyjson_mut_val *meta = yyjson_mut_obj_add_obj(doc, root, "metadata");

    add(doc, meta, "name", text->event_name);
    add(doc, meta, "namespace", text->event_namespace);
    add_notes(doc, meta, text);
    yyjson_mut_val *object = yyjson_mut_obj_add_obj(doc, root, "involvedObject");

    add(doc, object, "apiVersion", text->api_version);
    add(doc, object, "kind", text->kind);
    add(doc, object, "namespace", text->namespace);
    add(doc, object, "name", text->name);
    add(doc, object, "uid", text->uid);
    add(doc, object, "resourceVersion", text->resource_version);
    add(doc, root, "type", text->type);
    add(doc, root, "reason", text->reason);
    add(doc, root, "message", text->message);
    yyjson_mut_val *source = yyjson_mut_obj_add_obj(doc, root, "source");

    add(doc, source, "component", component);
    add(doc, source, "host", instance);
    add(doc, root, "reportingComponent", component);
    add(doc, root, "reportingInstance", instance);
    (void)yyjson_mut_obj_add_val(doc, root, "firstTimestamp", time_value(doc, times->first));
    add_times(doc, root, times);
    return doc;
}

yyjson_mut_doc *event_patch_encode(const struct event_text *text, const struct event_times *times)
{
    yyjson_mut_doc *doc = NULL;
    yyjson_mut_val *root = new_object(&doc);

    add(doc, root, "message", text->message);
    if (text->notes)
        add_notes(doc, yyjson_mut_obj_add_obj(doc, root, "metadata"), text);
    add_times(doc, root, times);
    return doc;
}
