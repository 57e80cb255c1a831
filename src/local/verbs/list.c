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
#include "local/verbs/past_internal.h"
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
    long long limit = strtoll(request_query(request, "limit"), NULL, 10);

    return (struct list_query){
        .limit = limit > 0 ? (uint64_t)limit : 0,  // the API server takes a negative limit for none
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

/* Lists of custom kinds have the token also when it is empty. */
static void add_list_meta(struct strbuf *text, const struct list_part *part, bool has_token)
{
    strbuf_addf(text, "\"metadata\":{\"resourceVersion\":\"%" PRIu64 "\"", part->version);
    if (*part->token || has_token)
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

    if (is_table && !table_check(request))
        return;
    strbuf_init(&text, LIST_BYTES_MAX);
    if (is_table) {
        struct strbuf meta;
        strbuf_init(&meta, LIST_BYTES_MAX);
        add_list_meta(&meta, part, false);
        table_write(&text, request, meta.text, part->objects, part->count);
        strbuf_done(&meta);
    } else {
        add_list_head(&text, request);
        add_list_meta(&text, part, request->is_custom && request->form != ACCEPT_METADATA);
        strbuf_addstr(&text, ",\"items\":[");
        for (uint32_t i = 0; i < part->count; i++) {
            if (i > 0)
                strbuf_addch(&text, ',');
            object_add_item(&text, request->kind, request->form, part->objects[i]->body, part->objects[i]->body_len);
        }
        strbuf_addstr(&text, "]}");
        /* A list of metadata alone is null in Go when it is empty. */
        if (part->count == 0 && request->form == ACCEPT_METADATA) {
            text.len -= strlen("[]}");
            strbuf_addstr(&text, "null}");
        }
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
    if (count < left || (page->has_others && count == limit)) {
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

    if (*query->version && strcmp(query->version, "0") != 0) {
        fail_bad(request, "specifying resource version is not allowed when using continue");
        return;
    }
    if (page_place_read(&place, query->token) < 0) {
        fail_bad(request, "continue key is not valid: it was not created by this server");
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

/* The objects that a list found, and what is known about them. */
struct found {
    struct page_objects objects;
    uint64_t version;
    bool counts_rest;
    bool has_others;
};

static void answer_found(struct request *request, const struct list_query *query, struct found *found)
{
    struct page_objects *objects = &found->objects;

    if (query->limit && (objects->len > query->limit || (objects->len == query->limit && found->has_others))) {
        struct page *page =
            pages_add(&request->server->pages, objects, found->version, request->number, nsec_now_monotonic());
        page->counts_rest = found->counts_rest;
        page->has_others = found->has_others;
        answer_page(request, page, 0, query->limit);
    } else {
        list_answer(request, objects, found->version);
    }
}

static void found_done(struct found *found)
{
    vec_foreach (&found->objects, object)
        store_object_unref(*object);
    vec_done(&found->objects);
}

static void answer_rest(struct request *request, const struct list_query *query, const struct page_place *place)
{
    struct found found = {.version = store_version(request->server->store)};
    struct selection selection;

    if (!selection_read(request, &selection))
        return;
    selection_collect(&selection, request, place->namespace, place->name, &found.objects);
    found.counts_rest = !selection.has_selectors;
    found.has_others =
        query->limit && found.objects.len > 0 && selection_has_others(&selection, request, &found.objects);
    answer_found(request, query, &found);
    found_done(&found);
    selection_done(&selection);
}

static void answer_past(struct request *request, const struct list_query *query, uint64_t version)
{
    struct found found = {.version = version};
    struct selection selection;

    if (!selection_read(request, &selection))
        return;
    found.counts_rest = !selection.has_selectors;
    if (past_collect(&selection, request, version, &found.objects, &found.has_others) < 0)
        fail_problem(request, &(struct rest_problem){
                                  .status = 410, .message = "The resourceVersion for the provided list is too old."});
    else
        answer_found(request, query, &found);
    found_done(&found);
    selection_done(&selection);
}

static void answer_newest(struct request *request)
{
    struct list_query query = query_of(request);

    /* Who takes any version gets it whole, as from the cache of the API server. */
    if (strcmp(query.version, "0") == 0)
        query.limit = 0;

    answer_rest(request, &query, &(struct page_place){.namespace = "", .name = ""});
}

/* A version alone is the oldest that will do, and with a limit the one that the pages have to show. */
static bool wants_past(const struct list_query *query, uint64_t version)
{
    return strcmp(query->match, "Exact") == 0 || (!*query->match && query->limit && version > 0);
}

void verb_list(struct request *request)
{
    const struct list_query query = query_of(request);
    uint64_t version = 0;

    /* Of several mistakes, that of a number is reported first, then that of a selector. */
    if (!request_check_number(request, "limit") || !request_check_number(request, "timeoutSeconds") ||
        !selection_check(request))
        return;
    if (!check_query(request, &query) || !selection_check_fields(request) ||
        !version_read_of_list(request, query.version, &version))
        return;
    if (*query.token) {
        go_on(request, &query);
        return;
    }
    if (wants_past(&query, version) && version < store_version(request->server->store))
        answer_past(request, &query, version);
    else
        version_wait(request, version, answer_newest);
}
