/* SPDX-License-Identifier: Apache-2.0 */
#include "console/notify/notices.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "console/data/db.h"
#include "console/data/items.h"
#include "console/notify/channels.h"
#include "console/rest/context.h"
#include "frame/service.h"

enum { WAITING_MAX = 10000, WORDS_MAX = 2048 };

static char *encode(const struct notice *notice)
{
    yyjson_mut_val *root;
    yyjson_mut_doc *doc = json_new_object(&root);
    char id[UUID_TEXT_MAX];

    uuid_make(id);
    put_text(doc, root, "id", id);
    put_now(doc, root, "time");
    put_text(doc, root, "event", notice->event);
    put_text(doc, root, "detail", notice->detail);
    if (notice->action)
        put_text(doc, root, "action", notice->action);
    if (notice->subject)
        put_text(doc, root, "subject", notice->subject);
    if (notice->message && *notice->message)
        put_text(doc, root, "message", notice->message);
    yyjson_mut_val *object = yyjson_mut_obj_add_obj(doc, root, "object");
    put_text(doc, object, "id", notice->id);
    put_text(doc, object, "name", notice->name);
    put_text(doc, root, "scope", scope_name(notice->place.scope));
    if (*notice->place.department)
        put_text(doc, root, "departmentId", notice->place.department);
    if (*notice->place.project)
        put_text(doc, root, "projectId", notice->place.project);
    if (*notice->place.name)
        put_text(doc, root, "scopeName", notice->place.name);
    char *text = yyjson_mut_write(doc, YYJSON_WRITE_ALLOW_INVALID_UNICODE, NULL);
    BUG_ON(!text);
    yyjson_mut_doc_free(doc);
    return text;
}

int notify_add_to(struct console *console, const char *channel, const struct notice *notice, struct err *err)
{
    _cleanup_(freep) char *text = NULL;
    int64_t waiting = 0, seq = 0;
    int r = db_query_number(console->db, DB_CALL("SELECT count(*) FROM notices"), &waiting, err);

    if (r < 0)
        return r;
    if (waiting >= WAITING_MAX) {
        log_warn(console->service->log, "too many notices wait; one was not kept", log_str("channel", channel));
        return 0;
    }
    if ((r = next_number(console->db, "notice", 1, &seq, err)) < 0)
        return r;
    text = encode(notice);
    return db_run(console->db,
                  DB_CALL("INSERT INTO notices(seq, channel, notice, tries, due) VALUES($1, $2, $3, 0, 0)",
                          db_number(seq), db_text(channel), db_text(text)),
                  NULL, err);
}

struct adding {
    const struct notice *notice;
    struct console *console;
    VEC(char *) channels;
};

/* Noted, and written when the walk is over: a statement within a walk would be one within another. */
static int note_channel(void *arg, yyjson_val *item)
{
    struct adding *adding = arg;

    if (notify_channel_wants(item, adding->notice))
        vec_push(&adding->channels, xstrdup(yyjson_get_str(yyjson_obj_get(item, "name"))));
    return 0;
}

int notify_add(struct console *console, const struct notice *notice, struct err *err)
{
    struct adding adding = {.notice = notice, .console = console};
    int r = items_each(console->db, ITEM_CHANNEL, "", note_channel, &adding, err);

    vec_foreach (&adding.channels, channel) {
        if (r == 0)
            r = notify_add_to(console, *channel, notice, err);
        free(*channel);
    }
    vec_done(&adding.channels);
    return r;
}

int notify_drop(struct console *console, const char *channel, struct err *err)
{
    return db_run(console->db, DB_CALL("DELETE FROM notices WHERE channel = $1", db_text(channel)), NULL, err);
}

static const char *text_of(yyjson_val *object, const char *key)
{
    const char *text = yyjson_get_str(yyjson_obj_get(object, key));

    return text ? text : "";
}

char *notify_words(yyjson_val *notice)
{
    const char *event = text_of(notice, "event");
    const char *name = text_of(yyjson_obj_get(notice, "object"), "name");
    const char *scope = text_of(notice, "scopeName");
    const char *message = text_of(notice, "message");
    struct strbuf words;

    strbuf_init(&words, WORDS_MAX);
    if (strcmp(event, "workload") == 0)
        strbuf_addf(&words, "Workload '%.200s'%s%.200s%s: %s", name, *scope ? " in '" : "", scope, *scope ? "'" : "",
                    text_of(notice, "detail"));
    else if (strcmp(event, "change") == 0)
        strbuf_addf(&words, "%.200s: %s of %s '%.200s'", text_of(notice, "subject"), text_of(notice, "action"),
                    text_of(notice, "detail"), name);
    else
        strbuf_addf(&words, "A test of the notification channel '%.200s'", name);
    if (*message)
        strbuf_addf(&words, ". %.500s", message);
    return strbuf_take(&words);
}
