/* SPDX-License-Identifier: Apache-2.0 */

/* The audit log as the REST shows it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/time.h"
#include "console/data/db.h"
#include "console/rest/handlers.h"
#include "console/rest/listing.h"

enum { SAMPLES = 20, SAMPLES_MAX = 1000, ENTRIES_MAX = 100000 };

static const struct listing_field fields[] = {
    {"timestamp", "/timestamp"},     {"subject", "/subject"},         {"subject_type", "/subject_type"},
    {"action", "/action"},           {"entity_type", "/entity_type"}, {"entity_name", "/entity_name"},
    {"entity_id", "/entity_id"},     {"result", "/result"},           {"http_status_code", "/http_status_code"},
    {"http_method", "/http_method"}, {"source_ip", "/source_ip"},     {NULL, NULL},
};

struct reading {
    struct request *request;
    struct listing_rows rows;
    struct err *err;
};

static int add_entry(void *arg, const struct db_value *columns, size_t count)
{
    struct reading *reading = arg;
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    int r = json_parse(columns[0].text, strlen(columns[0].text), "entry", &doc, reading->err);

    (void)count;
    if (r == 0)
        vec_push(&reading->rows, copy_item(reading->request->doc, yyjson_doc_get_root(doc)));
    return r;
}

static int read_time(struct request *request, const char *name, nsec_t *ret_time, struct err *err)
{
    const char *text = rest_query(request->exchange, name);

    if (!text)
        return err_set(err, -EINVAL, "%s: required in the query", name);
    return time_parse(text, ret_time, err) < 0 ? err_set(err, -EINVAL, "%s: expected a time in RFC 3339", name) : 0;
}

static int read_samples(struct request *request, uint32_t *ret_samples, struct err *err)
{
    const char *text = rest_query(request->exchange, "numberOfSamples");
    char *end = NULL;

    if (!text)
        return 0;
    long samples = strtol(text, &end, 10);
    if (end == text || *end || samples < 0 || samples > SAMPLES_MAX)
        return err_set(err, -EINVAL, "numberOfSamples: expected a whole number from 0 to %d", SAMPLES_MAX);
    *ret_samples = (uint32_t)samples;
    return 0;
}

/* A page of the whole log is not searched: the database knows how long the log is. */
static int count_plain(struct request *request, nsec_t start, nsec_t end, const struct listing_page *page, uint32_t len,
                       int64_t *ret_total, int64_t *ret_next, struct err *err)
{
    int64_t after = page->offset + len;
    int r = db_query_number(
        request->console->db,
        DB_CALL("SELECT count(*) FROM audit WHERE time >= $1 AND time <= $2", db_number(start), db_number(end)),
        ret_total, err);

    *ret_next = after < *ret_total ? after : -1;
    return r;
}

static int list_audit(struct request *request, struct err *err)
{
    struct listing_kind kind = {fields, "/entity_name", SAMPLES, SAMPLES_MAX};
    struct reading reading = {.request = request, .err = err};
    struct listing_page page;
    nsec_t start = 0, end = 0;
    int64_t total = 0, next = -1;
    int r;

    if ((r = read_time(request, "start", &start, err)) < 0 || (r = read_time(request, "end", &end, err)) < 0 ||
        (r = read_samples(request, &kind.limit, err)) < 0)
        return r;
    r = listing_page(request->exchange, &kind, &page, err);
    if (r < 0)
        return r;
    r = db_query(request->console->db,
                 DB_CALL("SELECT entry FROM audit WHERE time >= $1 AND time <= $2 ORDER BY seq DESC LIMIT $3 OFFSET $4",
                         db_number(start), db_number(end), db_number(page.is_plain ? page.limit : ENTRIES_MAX),
                         db_number(page.is_plain ? page.offset : 0)),
                 add_entry, &reading, err);
    if (r == 0 && page.is_plain)
        r = count_plain(request, start, end, &page, reading.rows.len, &total, &next, err);
    else if (r == 0)
        r = listing_apply(request->exchange, &kind, &reading.rows, &total, &next, err);
    request->answer = yyjson_mut_obj(request->doc);
    (void)yyjson_mut_obj_add_sint(request->doc, request->answer, "total", total);
    if (next >= 0)
        (void)yyjson_mut_obj_add_sint(request->doc, request->answer, "next", next);
    (void)yyjson_mut_obj_add_val(request->doc, request->answer, "audit_logs", rows_array(request, &reading.rows));
    vec_done(&reading.rows);
    return r;
}
READS(handle_list_audit, list_audit)
