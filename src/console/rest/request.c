/* SPDX-License-Identifier: Apache-2.0 */

/* From a request to its answer: the body is read, a change is made in one transaction with its entry in the audit log. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "console/audit/audit.h"
#include "console/changes/change_feed.h"
#include "console/changes/changes.h"
#include "console/data/db.h"
#include "console/notify/notices.h"
#include "console/rest/context.h"
#include "frame/service.h"
#include "text/yaml.h"

void put_text(yyjson_mut_doc *doc, yyjson_mut_val *to, const char *key, const char *text)
{
    (void)yyjson_mut_obj_add_strcpy(doc, to, key, text);
}

void put_now(yyjson_mut_doc *doc, yyjson_mut_val *to, const char *key)
{
    char text[TIME_TEXT_MAX];

    put_text(doc, to, key, time_format(nsec_now_wall() / NSEC_PER_MSEC * NSEC_PER_MSEC, text));
}

yyjson_mut_val *copy_item(yyjson_mut_doc *doc, yyjson_val *item)
{
    yyjson_mut_val *copy = yyjson_val_mut_copy(doc, item);

    BUG_ON(!copy);
    return copy;
}

/* The address without its port. */
static void address_of(struct http_exchange *exchange, char address[static 64])
{
    const struct http_peer *peer = http_exchange_peer(exchange);
    const char *text = peer ? peer->address : "";
    const char *colon = strrchr(text, ':');
    bool has_brackets = *text == '[';
    size_t len = colon ? (size_t)(colon - text) : strlen(text);

    (void)snprintf(address, 64, "%.*s", (int)(len - (has_brackets && len > 1 ? 2 : 0)), text + has_brackets);
}

/* A long name is cut, perhaps within a character: the entry has to be readable all the same. */
static void clean(char *text)
{
    if (utf8_is_valid(text))
        return;
    for (; *text; text++)
        if ((unsigned char)*text >= 0x80)
            *text = '?';
}

static int note_change(const struct request *request, struct err *err)
{
    const struct caller *caller = request->caller;
    const struct change_row row = {
        .type = request->type,
        .action = request->action,
        .id = request->id,
        .name = request->name,
        .subject = caller ? caller->name : request->name,
        .scope = request->place.scope,
        .department = request->place.department,
        .project = request->place.project,
        .owner = request->is_private && caller ? caller->id : NULL,
        .sync_kind = request->sync_kind,
        .syncs_all = request->syncs_all,
    };

    return change_add(request->console->db, request->console->process, &row, err);
}

/* Sign-ins and what failed are not: anybody could make them. Nor is what only its owner may see. */
static int note_notice(struct request *request, struct err *err)
{
    const struct caller *caller = request->caller;
    const struct notice notice = {
        .event = "change",
        .detail = request->type,
        .action = request->action,
        .id = request->id,
        .name = request->name,
        .subject = caller ? caller->name : NULL,
        .place = request->place,
    };

    return caller && request->status < 400 && !request->is_private ? notify_add(request->console, &notice, err) : 0;
}

int request_audit(struct request *request, struct err *err)
{
    yyjson_mut_val *entry;
    yyjson_mut_doc *doc = json_new_object(&entry);
    char address[64];
    char id[UUID_TEXT_MAX];
    nsec_t now = nsec_now_wall();
    const struct caller *caller = request->caller;

    clean(request->name);
    uuid_make(id);
    address_of(request->exchange, address);
    put_text(doc, entry, "id", id);
    put_now(doc, entry, "timestamp");
    put_text(doc, entry, "tenant_id", TENANT_ID_TEXT);
    put_text(doc, entry, "subject", caller ? caller->name : request->name);
    put_text(doc, entry, "subject_type", !caller || caller->is_user ? "User" : "App");
    if (*address)
        put_text(doc, entry, "source_ip", address);
    put_text(doc, entry, "action", request->action);
    put_text(doc, entry, "http_method", http_exchange_method(request->exchange));
    put_text(doc, entry, "url", http_exchange_path(request->exchange));
    put_text(doc, entry, "entity_type", request->type);
    put_text(doc, entry, "entity_name", request->name);
    put_text(doc, entry, "entity_id", request->id);
    put_text(doc, entry, "result", request->status < 400 ? "Succeeded" : "Failed");
    (void)yyjson_mut_obj_add_int(doc, entry, "http_status_code", request->status);
    char *text = yyjson_mut_write(doc, YYJSON_WRITE_ALLOW_INVALID_UNICODE, NULL);
    BUG_ON(!text);
    int64_t r = audit_add(request->console->db, now, text, err);
    free(text);
    yyjson_mut_doc_free(doc);
    if (r >= 0)
        r = note_change(request, err);
    return r < 0 ? (int)r : note_notice(request, err);
}

int request_commit(struct request *request, struct err *err)
{
    struct console *console = request->console;
    struct err head_err = {0};
    int r = db_commit(console->db, err);

    if (r < 0)
        return r;
    /* The change is done: a head that is behind by one entry is survived. */
    if (audit_write_head(console->db, console->head_path, &head_err) < 0)
        log_warn(console->service->log, "the head of the audit log could not be written", log_error(&head_err));
    change_feed_wake(console->feed);
    return 0;
}

static char *write_yaml(yyjson_mut_val *value, size_t *ret_len)
{
    yyjson_doc *doc = yyjson_mut_val_imut_copy(value, NULL);
    char *text = NULL;
    FILE *out = open_memstream(&text, ret_len);

    BUG_ON(!doc || !out);
    yaml_write(yyjson_doc_get_root(doc), out);
    BUG_ON(fclose(out) != 0);
    yyjson_doc_free(doc);
    return text;
}

void request_reply(struct request *request, int r, const struct err *err)
{
    size_t len = 0;
    char *text = NULL;

    if (r < 0) {
        rest_fail_err(request->exchange, err);
    } else if (!request->answer) {
        http_reply(request->exchange, request->status, NULL, NULL, 0);
    } else if (request->is_yaml) {
        text = write_yaml(request->answer, &len);
        http_reply(request->exchange, request->status, YAML_TYPE, text, len);
    } else {
        text = yyjson_mut_val_write(request->answer, 0, &len);
        BUG_ON(!text);
        http_reply(request->exchange, request->status, "application/json", text, len);
    }
    free(text);
    yyjson_mut_doc_free(request->doc);
}

static struct request request_new(struct console *console, struct http_exchange *exchange)
{
    return (struct request){
        .console = console,
        .exchange = exchange,
        .caller = rest_attached(exchange),
        .doc = yyjson_mut_doc_new(NULL),
        .status = 200,
    };
}

/* A filter that were left out in silence would show rows that the client does not want. */
static bool is_among(const char *const *names, const char *name)
{
    for (; names && *names; names++) {
        if (strcmp(*names, name) == 0)
            return true;
    }
    return false;
}

static int check_query(const struct http_exchange *exchange, const char *const *more, struct err *err)
{
    static const char *const names[] = {"filterBy", "search", "sortBy",          "sortOrder", "offset",    "limit",
                                        "start",    "end",    "numberOfSamples", "subjectId", "verbosity", NULL};
    const char *name;
    const char *value;

    for (size_t at = 0; rest_query_next(exchange, &at, &name, &value);) {
        if (!is_among(names, name) && !is_among(more, name))
            return err_set(err, -ENOSYS, "%.50s: this parameter of the query is not supported yet", name);
    }
    return 0;
}

void serve_read(struct console *console, struct http_exchange *exchange, serve_fn fn)
{
    serve_read_by(console, exchange, fn, NULL);
}

int serve_begin(struct console *console, struct http_exchange *exchange, const char *const *names,
                struct request *ret_request, struct err *err)
{
    *ret_request = request_new(console, exchange);
    return check_query(exchange, names, err);
}

void serve_read_by(struct console *console, struct http_exchange *exchange, serve_fn fn, const char *const *names)
{
    struct request request;
    struct err err = {0};
    int r = serve_begin(console, exchange, names, &request, &err);

    request_reply(&request, r < 0 ? r : fn(&request, &err), &err);
}

static int change(struct request *request, serve_fn fn, struct err *err)
{
    struct db *db = request->console->db;
    int r = db_begin(db, err);

    if (r == 0)
        r = fn(request, err);
    if (r == 0 && request->action)
        r = request_audit(request, err);
    if (r == 0)
        return request_commit(request, err);
    db_rollback(db);
    return r;
}

void serve_change_yaml(struct console *console, struct http_exchange *exchange, serve_fn fn)
{
    struct request request = request_new(console, exchange);
    struct yaml_docs docs = {0};
    struct err err = {0};
    size_t len = 0;
    const char *text = http_exchange_body(exchange, &len);
    int r = yaml_parse(text, len, "the body", &docs, &err);

    if (r == 0 && docs.len != 1)
        r = err_set(&err, -EINVAL, "the body: expected one document, found %u", docs.len);
    if (r == 0) {
        request.body = json_root(docs.items[0].json);
        r = change(&request, fn, &err);
    }
    request_reply(&request, r, &err);
    yaml_docs_done(&docs);
}

void serve_change(struct console *console, struct http_exchange *exchange, serve_fn fn)
{
    struct request request = request_new(console, exchange);
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    struct err err = {0};
    size_t len = 0;
    const char *text = http_exchange_body(exchange, &len);
    int r = 0;

    if (len > 0) {
        r = json_parse(text, len, "the body", &doc, &err);
        if (r == 0)
            request.body = json_root(doc);
    }
    if (r == 0)
        r = change(&request, fn, &err);
    request_reply(&request, r, &err);
}
