/* SPDX-License-Identifier: Apache-2.0 */

/* What Prometheus is asked, and what it answers. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "services/scheduler/intake/usage_internal.h"
#include "text/json.h"

void usage_samples_done(struct usage_samples *samples)
{
    vec_foreach (samples, sample)
        free(sample->queue);
    vec_done(samples);
}

nsec_t usage_range(const struct usage_setting *usage, const struct cron *cron, nsec_t now)
{
    nsec_t start = usage->source.tumbling_start;

    switch (usage->window_type) {
    case USAGE_TUMBLING:
        return start < now ? (now - start) % usage->window : 0;
    case USAGE_CRON:
        start = cron_before(cron, now);
        return start > 0 ? now - start : 0;
    default:
        return usage->window;
    }
}

static void add_duration(struct strbuf *out, nsec_t duration)
{
    if (duration % NSEC_PER_SEC == 0)
        strbuf_addf(out, "%" PRId64 "s", duration / NSEC_PER_SEC);
    else
        strbuf_addf(out, "%" PRId64 "ms", MAX(duration / NSEC_PER_MSEC, (nsec_t)1));
}

void usage_expression(const struct usage_setting *usage, const char *metric, nsec_t range, nsec_t now,
                      struct strbuf *out)
{
    if (usage->half_life > 0)
        strbuf_addf(out, "sum_over_time(((%s) * 0.5^((%" PRId64 " - time()) / %.3f))[", metric, now / NSEC_PER_SEC,
                    (double)usage->half_life / (double)NSEC_PER_SEC);
    else
        strbuf_addf(out, "sum_over_time((%s)[", metric);
    add_duration(out, range);
    strbuf_addch(out, ':');
    add_duration(out, usage->source.resolution);
    strbuf_addstr(out, "])");
}

static void add_escaped(struct strbuf *out, const char *text)
{
    for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
        if (isalnum(*at) || strchr("-._~", *at))
            strbuf_addch(out, (char)*at);
        else
            strbuf_addf(out, "%%%02X", *at);
    }
}

void usage_address(const char *url, const char *expression, nsec_t now, struct strbuf *out)
{
    size_t len = strlen(url);

    while (len > 0 && url[len - 1] == '/')
        len--;
    strbuf_add(out, url, len);
    strbuf_addstr(out, "/api/v1/query?query=");
    add_escaped(out, expression);
    strbuf_addf(out, "&time=%" PRId64 ".%03d", now / NSEC_PER_SEC, (int)(now % NSEC_PER_SEC / NSEC_PER_MSEC));
}

static int by_queue(const void *a, const void *b)
{
    return strcmp(((const struct usage_sample *)a)->queue, ((const struct usage_sample *)b)->queue);
}

static void add_up(struct usage_samples *samples)
{
    uint32_t kept = 0;

    if (samples->len == 0)
        return;
    qsort(samples->items, samples->len, sizeof *samples->items, by_queue);
    for (uint32_t i = 1; i < samples->len; i++) {
        if (by_queue(&samples->items[kept], &samples->items[i]) != 0) {
            samples->items[++kept] = samples->items[i];
            continue;
        }
        samples->items[kept].value += samples->items[i].value;
        free(samples->items[i].queue);
    }
    samples->len = kept + 1;
}

/* {"metric": {"queue_name": "a"}, "value": [1763230000.1, "42"]} */
static int sample_parse(yyjson_val *item, struct usage_samples *samples, struct err *err)
{
    const char *queue = yyjson_get_str(yyjson_obj_get(yyjson_obj_get(item, "metric"), "queue_name"));
    const char *text = yyjson_get_str(yyjson_arr_get(yyjson_obj_get(item, "value"), 1));
    char *end = NULL;
    double value = text ? strtod(text, &end) : NAN;

    if (!text || end == text || *end || !isfinite(value) || value < 0)
        return err_set(err, -EBADMSG, "expected amounts that are not negative, found '%s'%s%s", text ? text : "",
                       queue ? " for queue " : "", queue ? queue : "");
    vec_push(samples, (struct usage_sample){xstrdup(queue ? queue : ""), value});
    return 0;
}

static int result_parse(yyjson_val *root, struct usage_samples *samples, struct err *err)
{
    yyjson_val *data = yyjson_obj_get(root, "data");
    const char *type = yyjson_get_str(yyjson_obj_get(data, "resultType"));
    yyjson_val *result = yyjson_obj_get(data, "result");
    size_t i, count;
    yyjson_val *item;

    if (!type || strcmp(type, "vector") != 0 || !yyjson_is_arr(result))
        return err_set(err, -EBADMSG, "expected a vector, found %s", type ? type : "no result");
    yyjson_arr_foreach(result, i, count, item)
    {
        int r = sample_parse(item, samples, err);

        if (r < 0)
            return r;
    }
    add_up(samples);
    return 0;
}

int usage_answer_parse(const char *body, size_t len, struct usage_samples *ret_samples, struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;

    if (json_parse(body, len, "answer", &doc, NULL) < 0)
        return err_set(err, -EBADMSG, "the answer is not a result of Prometheus");
    yyjson_val *root = yyjson_doc_get_root(doc);
    const char *status = yyjson_get_str(yyjson_obj_get(root, "status"));
    const char *problem = yyjson_get_str(yyjson_obj_get(root, "error"));
    if (!status || strcmp(status, "success") != 0)
        return err_set(err, -EBADMSG, "%s", problem ? problem : "the answer is not a result of Prometheus");
    return result_parse(root, ret_samples, err);
}
