/* SPDX-License-Identifier: Apache-2.0 */

/* Lists, whole or page by page. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "local/api/kinds.h"
#include "local/api/problems.h"
#include "local/server/object_text.h"
#include "local/server/request.h"
#include "local/server/server_parts.h"
#include "local/server/table.h"
#include "local/verbs/list_internal.h"
#include "local/verbs/selection_internal.h"
#include "local/verbs/version_wait_internal.h"
#include "net/rest/errors.h"

/* What the query says beside the selectors. */
struct list_query {
    uint64_t limit;  // 0: all at once
    const char *version;
    const char *match;
    const char *token;
};

static struct list_query query_of(const struct request *request)
{
    return (struct list_query){
        .limit = strtoull(request_query(request, "limit"), NULL, 10),
        .version = request_query(request, "resourceVersion"),
        .match = request_query(request, "resourceVersionMatch"),
        .token = request_query(request, "continue"),
    };
}

static void check_match(const struct list_query *query, struct problems *problems)
{
    const struct field match = field_member(NULL, "resourceVersionMatch");
    bool is_exact = strcmp(query->match, "Exact") == 0;

    if (!*query->match)
        return;
    if (!*query->version)
        problem_forbidden(problems, &match, "resourceVersionMatch is forbidden unless resourceVersion is provided");
    if (*query->token)
        problem_forbidden(problems, &match, "resourceVersionMatch is forbidden when continue is provided");
    if (!is_exact && strcmp(query->match, "NotOlderThan") != 0) {
        char text[512];
        (void)snprintf(text, sizeof text,
                       "Unsupported value: \"%.200s\": supported values: \"Exact\", \"NotOlderThan\", \"\"",
                       query->match);
        problem_add(problems, PROBLEM_NOT_SUPPORTED, &match, text);
    }
    if (is_exact && strcmp(query->version, "0") == 0)
        problem_forbidden(problems, &match, "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
}

/* False after an answer. */
static bool check_query(struct request *request, const struct list_query *query)
{
    struct problems problems = {0};

    check_match(query, &problems);
    if (request_query_is_true(request, "sendInitialEvents"))
        problem_forbidden(&problems, FIELD(NULL, "sendInitialEvents"), "sendInitialEvents is forbidden for list");
    if (!problems_any(&problems))
        return true;
    fail_invalid_type(request, "meta.k8s.io", "ListOptions", "", &problems);
    problems_done(&problems);
    return false;
}

/* The objects that one answer shows, and what it says about the rest. */
struct list_part {
    const struct store_object *const *objects;
    uint32_t count;
    uint64_t version;
    const char *token;  // "": this is the end
    uint64_t rest;      // how many are left; 0: not told
};

static void add_list_meta(struct strbuf *text, const struct list_part *part)
{
    strbuf_addf(text, "\"metadata\":{\"resourceVersion\":\"%" PRIu64 "\"", part->version);
    if (*part->token)
        strbuf_addf(text, ",\"continue\":\"%s\"", part->token);
    if (part->rest)
        strbuf_addf(text, ",\"remainingItemCount\":%" PRIu64, part->rest);
    strbuf_addch(text, '}');
}

static void add_list_head(struct strbuf *text, const struct request *request)
{
    char version[API_VERSION_MAX];

    if (request->form == ACCEPT_METADATA)
        strbuf_addstr(text, "{\"kind\":\"PartialObjectMetadataList\",\"apiVersion\":\"meta.k8s.io/v1\",");
    else
        strbuf_addf(text, "{\"kind\":\"%sList\",\"apiVersion\":\"%s\",", request->kind->kind,
                    api_kind_version(request->kind, version));
}

static void answer_part(struct request *request, const struct list_part *part)
{
    bool is_table = request->form == ACCEPT_TABLE || request->form == ACCEPT_TABLE_BETA;
    struct strbuf text;

    strbuf_init(&text, LIST_BYTES_MAX);
    if (is_table) {
        struct strbuf meta;
        strbuf_init(&meta, LIST_BYTES_MAX);
        add_list_meta(&meta, part);
        table_write(&text, request, meta.text, part->objects, part->count);
        strbuf_done(&meta);
    } else {
        add_list_head(&text, request);
        add_list_meta(&text, part);
        strbuf_addstr(&text, ",\"items\":[");
        for (uint32_t i = 0; i < part->count; i++) {
            if (i > 0)
                strbuf_addch(&text, ',');
            object_add_item(&text, request->kind, request->form, part->objects[i]->body, part->objects[i]->body_len);
        }
        strbuf_addstr(&text, "]}");
    }
    if (text.is_cut)
        fail_internal(request, "the list is larger than %d MiB; use limit and continue", LIST_BYTES_MAX >> 20);
    else
        answer_json(request, 200, text.text, text.len);
    strbuf_done(&text);
}

void list_answer(struct request *request, const struct page_objects *objects, uint64_t version)
{
    answer_part(request,
                &(struct list_part){.objects = objects->items, .count = objects->len, .version = version, .token = ""});
}

/* Shows the next `limit` objects of a page and keeps the rest. */
static void answer_page(struct request *request, struct page *page, uint32_t from, uint64_t limit)
{
    uint32_t left = page->objects.len - from;
    uint32_t count = limit && limit < left ? (uint32_t)limit : left;
    char token[PAGE_TOKEN_MAX] = "";
    struct list_part part = {
        .objects = page->objects.items + from, .count = count, .version = page->version, .token = token};

    page->at = from + count;
    if (count < left) {
        page_token(page, token);
        part.rest = page->counts_rest ? left - count : 0;
    }
    answer_part(request, &part);
}

/* The objects behind a place, as they are now: of a list whose first pages showed an older state. */
static void answer_rest(struct request *request, const struct list_query *query, const struct page_place *place);

/* The client may go on behind what it has seen, though not at the same version: the token in the answer does that. */
static void fail_expired(struct request *request, const struct page_place *place)
{
    char token[PAGE_TOKEN_MAX];

    page_place_token("", place->namespace, place->name, token);
    fail_problem(request,
                 &(struct rest_problem){
                     .status = 410,
                     .message =
                         "The provided continue parameter is too old to display a consistent list result. You can "
                         "start a new list without the continue parameter, or use the continue token in this "
                         "response to retrieve the remainder of the results. Continuing with the provided token "
                         "results in an inconsistent list - objects that were created, modified, or deleted "
                         "between the time the first chunk was returned and now may show up in the list.",
                     .continue_token = token});
}

static void go_on(struct request *request, const struct list_query *query)
{
    struct page_place place;
    struct page *page;

    if (page_place_read(&place, query->token) < 0) {
        fail_bad(request, "continue key is not valid: it was not made by this server");
        return;
    }
    if (!*place.id) {
        answer_rest(request, query, &place);
        return;
    }
    page = pages_find(&request->server->pages, &place, request->number, nsec_now_monotonic());
    if (page)
        answer_page(request, page, page->at, query->limit);
    else
        fail_expired(request, &place);
}

static void answer_rest(struct request *request, const struct list_query *query, const struct page_place *place)
{
    struct server *server = request->server;
    struct page_objects objects = {0};
    struct selection selection;
    uint64_t version = store_version(server->store);

    if (!selection_read(request, &selection))
        return;
    selection_collect(&selection, request, place->namespace, place->name, &objects);
    if (query->limit && objects.len > query->limit) {
        struct page *page = pages_add(&server->pages, &objects, version, request->number, nsec_now_monotonic());
        page->counts_rest = !selection.has_selectors;
        answer_page(request, page, 0, query->limit);
    } else {
        list_answer(request, &objects, version);
    }
    vec_foreach (&objects, object)
        store_object_unref(*object);
    vec_done(&objects);
    selection_done(&selection);
}

static void answer_newest(struct request *request)
{
    const struct list_query query = query_of(request);

    answer_rest(request, &query, &(struct page_place){.namespace = "", .name = ""});
}

void verb_list(struct request *request)
{
    const struct list_query query = query_of(request);
    uint64_t version = 0;

    if (!check_query(request, &query) || !version_read_of_list(request, query.version, &version))
        return;
    if (*query.token) {
        go_on(request, &query);
        return;
    }
    if (strcmp(query.match, "Exact") == 0 && version < store_version(request->server->store)) {
        fail_problem(request, &(struct rest_problem){
                                  .status = 410, .message = "The resourceVersion for the provided list is too old."});
        return;
    }
    version_wait(request, version, answer_newest);
}
