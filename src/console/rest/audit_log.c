/* SPDX-License-Identifier: Apache-2.0 */

/* The audit log as the REST shows it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/time.h"
#include "console/rest/handlers.h"
#include "console/rest/listing_source.h"

enum { SAMPLES = 20, SAMPLES_MAX = 1000, ENTRIES_MAX = 100000 };

static const struct listing_field fields[] = {
    {"timestamp", "/timestamp"},     {"subject", "/subject"},         {"subject_type", "/subject_type"},
    {"action", "/action"},           {"entity_type", "/entity_type"}, {"entity_name", "/entity_name"},
    {"entity_id", "/entity_id"},     {"result", "/result"},           {"http_status_code", "/http_status_code"},
    {"http_method", "/http_method"}, {"source_ip", "/source_ip"},     {NULL, NULL},
};

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

#define ENTRIES " FROM audit WHERE time >= $1 AND time <= $2"

static int list_audit(struct request *request, struct err *err)
{
    struct listing_kind kind = {fields, "/entity_name", SAMPLES, SAMPLES_MAX};
    struct listing_rows rows = {0};
    struct listing_found found = {.next = -1};
    nsec_t start = 0, end = 0;
    int r;

    if ((r = read_time(request, "start", &start, err)) < 0 || (r = read_time(request, "end", &end, err)) < 0 ||
        (r = read_samples(request, &kind.limit, err)) < 0)
        return r;
    const struct listing_source source = {
        .rows = DB_CALL("SELECT entry" ENTRIES " ORDER BY seq DESC", db_number(start), db_number(end)),
        .count = "SELECT count(*)" ENTRIES,
        .rows_max = ENTRIES_MAX,
    };
    r = listing_load(request, &kind, &source, &rows, &found, err);
    request->answer = yyjson_mut_obj(request->doc);
    (void)yyjson_mut_obj_add_sint(request->doc, request->answer, "total", found.total);
    if (found.next >= 0)
        (void)yyjson_mut_obj_add_sint(request->doc, request->answer, "next", found.next);
    (void)yyjson_mut_obj_add_val(request->doc, request->answer, "audit_logs", rows_array(request, &rows));
    vec_done(&rows);
    return r;
}
READS(handle_list_audit, list_audit)
