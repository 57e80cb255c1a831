/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The record as text:
 *
 *     {"version": 1, "length": 60, "queues": ["a", "b"],
 *      "buckets": [{"first": 1763230020, "last": 1763230080, "count": 2, "capacity": [cpu, memory, gpu],
 *                   "use": [0, cpu, memory, gpu, 1, cpu, memory, gpu]}]}
 *
 * Times are seconds and amounts amounts times seconds; `use` has the number of a queue in front of what it had.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "services/scheduler/intake/daybook_internal.h"
#include "text/json.h"

enum { VERSION = 1, SAMPLES_MAX = 1 << 24, ENTRY_LEN = 1 + SHARE_COUNT };

static void add_amounts(struct strbuf *text, const double amounts[SHARE_COUNT])
{
    for (int r = 0; r < SHARE_COUNT; r++)
        strbuf_addf(text, "%s%.10g", r ? "," : "", amounts[r]);
}

static void add_seconds(struct strbuf *text, const char *key, nsec_t time)
{
    strbuf_addf(text, "\"%s\":%.3f", key, (double)time / (double)NSEC_PER_SEC);
}

static void add_bucket(struct strbuf *text, const struct bucket *bucket)
{
    const char *separator = "";

    strbuf_addch(text, '{');
    add_seconds(text, "first", bucket->first);
    strbuf_addch(text, ',');
    add_seconds(text, "last", bucket->last);
    strbuf_addf(text, ",\"count\":%u,\"capacity\":[", bucket->count);
    add_amounts(text, bucket->capacity);
    strbuf_addstr(text, "],\"use\":[");
    vec_foreach (&bucket->entries, entry) {
        strbuf_addf(text, "%s%u,", separator, entry->queue);
        add_amounts(text, entry->sums);
        separator = ",";
    }
    strbuf_addstr(text, "]}");
}

char *daybook_encode(const struct daybook *daybook, size_t *ret_len)
{
    struct strbuf text;
    const char *separator = "";

    strbuf_init(&text, DAYBOOK_BYTES_MAX);
    strbuf_addf(&text, "{\"version\":%d,", VERSION);
    add_seconds(&text, "length", daybook->length);
    strbuf_addstr(&text, ",\"queues\":[");
    vec_foreach (&daybook->queues, name) {
        strbuf_addstr(&text, separator);
        json_add_string(&text, *name);
        separator = ",";
    }
    strbuf_addstr(&text, "],\"buckets\":[");
    separator = "";
    vec_foreach (&daybook->buckets, bucket) {
        strbuf_addstr(&text, separator);
        add_bucket(&text, bucket);
        separator = ",";
    }
    strbuf_addstr(&text, "]}");
    *ret_len = text.len;
    if (!text.is_cut)
        return strbuf_take(&text);
    strbuf_done(&text);
    return NULL;
}

static bool is_amount(yyjson_val *value)
{
    return yyjson_is_num(value) && isfinite(yyjson_get_num(value)) && yyjson_get_num(value) >= 0;
}

static int read_amounts(yyjson_val *list, size_t from, double ret_amounts[SHARE_COUNT])
{
    for (size_t r = 0; r < SHARE_COUNT; r++) {
        yyjson_val *value = yyjson_arr_get(list, from + r);

        if (!is_amount(value))
            return -EINVAL;
        ret_amounts[r] = yyjson_get_num(value);
    }
    return 0;
}

static int read_seconds(yyjson_val *object, const char *key, nsec_t *ret_time)
{
    yyjson_val *value = yyjson_obj_get(object, key);
    double seconds = yyjson_get_num(value);

    if (!is_amount(value) || seconds > (double)(INT64_MAX / NSEC_PER_SEC))
        return -EINVAL;
    /* Milliseconds: doubles have no more of a time of today. */
    *ret_time = (nsec_t)llround(seconds * 1000) * NSEC_PER_MSEC;
    return 0;
}

/* Lists are walked from one element to the next: to look one up by its number takes as long as all before it. */
static int read_use(yyjson_val *list, const struct daybook *daybook, struct bucket *bucket)
{
    struct bucket_entry entry = {0};
    size_t i, count;
    yyjson_val *value;

    if (!yyjson_is_arr(list) || yyjson_arr_size(list) % ENTRY_LEN != 0 ||
        yyjson_arr_size(list) / ENTRY_LEN > DAYBOOK_ENTRIES_MAX)
        return -EINVAL;
    yyjson_arr_foreach(list, i, count, value)
    {
        size_t at = i % ENTRY_LEN;

        if (!is_amount(value) || (at == 0 && yyjson_get_num(value) >= daybook->queues.len))
            return -EINVAL;
        if (at == 0)
            entry.queue = (uint32_t)yyjson_get_num(value);
        else
            entry.sums[at - 1] = yyjson_get_num(value);
        if (at == SHARE_COUNT)
            vec_push(&bucket->entries, entry);
    }
    return 0;
}

static int read_bucket(struct daybook *daybook, yyjson_val *object)
{
    struct bucket bucket = {0};
    yyjson_val *count = yyjson_obj_get(object, "count");
    int r = read_seconds(object, "first", &bucket.first);

    if (r == 0)
        r = read_seconds(object, "last", &bucket.last);
    if (r == 0)
        r = read_amounts(yyjson_obj_get(object, "capacity"), 0, bucket.capacity);
    if (r < 0 || bucket.last < bucket.first || !yyjson_is_uint(count) || yyjson_get_uint(count) == 0 ||
        yyjson_get_uint(count) > SAMPLES_MAX)
        return -EINVAL;
    if (daybook->buckets.len && daybook->buckets.items[daybook->buckets.len - 1].last >= bucket.first)
        return -EINVAL;
    bucket.count = (uint32_t)yyjson_get_uint(count);
    vec_push(&daybook->buckets, bucket);
    return read_use(yyjson_obj_get(object, "use"), daybook, &daybook->buckets.items[daybook->buckets.len - 1]);
}

static int read_root(struct daybook *daybook, yyjson_val *root)
{
    yyjson_val *queues = yyjson_obj_get(root, "queues");
    yyjson_val *buckets = yyjson_obj_get(root, "buckets");
    size_t i, count;
    yyjson_val *item;

    if (yyjson_get_uint(yyjson_obj_get(root, "version")) != VERSION || !yyjson_is_arr(queues) ||
        !yyjson_is_arr(buckets) || read_seconds(root, "length", &daybook->length) < 0)
        return -EINVAL;
    yyjson_arr_foreach(queues, i, count, item)
    {
        if (!yyjson_is_str(item) || daybook_queue(daybook, yyjson_get_str(item)) != i)
            return -EINVAL;
    }
    yyjson_arr_foreach(buckets, i, count, item)
    {
        if (read_bucket(daybook, item) < 0)
            return -EINVAL;
    }
    return daybook->buckets.len > 0 && daybook->length == 0 ? -EINVAL : 0;
}

int daybook_decode(const char *text, size_t len, struct daybook **ret_daybook, struct err *err)
{
    _cleanup_(daybook_freep) struct daybook *daybook = daybook_new();
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;

    if (len > DAYBOOK_BYTES_MAX || json_parse(text, len, "daybook", &doc, NULL) < 0 ||
        read_root(daybook, yyjson_doc_get_root(doc)) < 0)
        return err_set(err, -EINVAL, "this is not a record of past use");
    *ret_daybook = TAKE_PTR(daybook);
    return 0;
}
