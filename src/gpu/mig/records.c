/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/mig/records.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "text/file.h"
#include "text/file_replace.h"
#include "text/json.h"

static int copy(const struct json_at *at, const char *key, enum json_need need, char *text, size_t size,
                struct err *err)
{
    const char *found = "";
    int r = json_member_str(at, key, need, &found, err);

    if (r < 0)
        return r;
    if (strlen(found) >= size)
        return json_fail(at, err, -EINVAL, "%s is longer than %zu bytes", key, size - 1);
    memcpy(text, found, strlen(found) + 1);
    return r;
}

static int read_number(const struct json_at *at, const char *key, int64_t max, uint32_t *ret_number, struct err *err)
{
    int64_t number = 0;
    int r = json_member_int64(at, key, JSON_REQUIRED, 0, max, &number, err);

    if (r >= 0)
        *ret_number = (uint32_t)number;
    return r;
}

static int read_record(const struct json_at *at, struct mig_record *record, struct err *err)
{
    int r = json_object(at, err);

    *record = (struct mig_record){.instance = MIG_NOT_MADE};
    if (r >= 0)
        r = copy(at, "gpu", JSON_REQUIRED, record->gpu, sizeof record->gpu, err);
    if (r >= 0)
        r = copy(at, "uuid", JSON_OPTIONAL, record->uuid, sizeof record->uuid, err);
    if (r >= 0)
        r = copy(at, "group", JSON_OPTIONAL, record->owner, sizeof record->owner, err);
    if (r >= 0)
        r = read_number(at, "profile", UINT32_MAX, &record->profile, err);
    if (r >= 0)
        r = read_number(at, "start", MIG_ROW_MAX - 1, &record->place.start, err);
    if (r >= 0)
        r = read_number(at, "size", MIG_ROW_MAX, &record->place.size, err);
    if (r >= 0)
        r = json_member_int64(at, "instance", JSON_OPTIONAL, 0, UINT32_MAX, &record->instance, err);
    if (r >= 0 && (record->place.size == 0 || record->place.start + record->place.size > MIG_ROW_MAX))
        r = json_fail(at, err, -EINVAL, "is outside of the GPU");
    return r;
}

int mig_records_parse(const char *text, size_t len, struct mig_records *records, struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    int r = json_parse(text, len, "the slices", &doc, err);

    if (r < 0)
        return r;
    struct json_at root = json_root(doc);
    r = json_array(&root, err);
    for (struct json_at item = {0}; r >= 0 && json_next(&root, &item);) {
        struct mig_record record;

        r = records->len < MIG_RECORDS_MAX ? read_record(&item, &record, err)
                                           : json_fail(&root, err, -EINVAL, "has more than %d slices", MIG_RECORDS_MAX);
        if (r >= 0)
            vec_push(records, record);
    }
    if (r < 0)
        vec_done(records);
    return r < 0 ? r : 0;
}

int mig_records_read(const char *path, struct mig_records *records, struct err *err)
{
    _cleanup_(freep) char *text = NULL;
    size_t len = 0;

    if (access(path, F_OK) < 0 && errno == ENOENT)
        return 0;
    int r = file_read(path, MIG_RECORDS_FILE_MAX, &text, &len, err);
    return r < 0 ? r : mig_records_parse(text, len, records, err);
}

static void add_text(struct strbuf *text, const char *key, const char *value)
{
    if (!value[0])
        return;
    strbuf_addf(text, ", \"%s\": ", key);
    json_add_string(text, value);
}

static void add_record(struct strbuf *text, const struct mig_record *record)
{
    strbuf_addstr(text, "{\"gpu\": ");
    json_add_string(text, record->gpu);
    strbuf_addf(text, ", \"profile\": %u, \"start\": %u, \"size\": %u", record->profile, record->place.start,
                record->place.size);
    if (record->instance != MIG_NOT_MADE)
        strbuf_addf(text, ", \"instance\": %lld", (long long)record->instance);
    add_text(text, "uuid", record->uuid);
    add_text(text, "group", record->owner);
    strbuf_addstr(text, "}");
}

int mig_records_write(const char *path, const struct mig_records *records, struct err *err)
{
    struct strbuf text;

    strbuf_init(&text, MIG_RECORDS_FILE_MAX);
    strbuf_addstr(&text, "[");
    vec_foreach (records, at) {
        strbuf_addstr(&text, at == records->items ? "\n" : ",\n");
        add_record(&text, at);
    }
    strbuf_addstr(&text, "\n]\n");
    int r = text.is_cut ? -EFBIG : file_put(path, text.text, text.len, NULL);
    strbuf_done(&text);
    return r < 0 ? err_set(err, r, "the slices cannot be recorded in %s: %s", path, strerror(-r)) : 0;
}
