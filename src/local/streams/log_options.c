/* SPDX-License-Identifier: Apache-2.0 */
#include "local/streams/log_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "local/controllers/values.h"

static bool is_true(const char *text)
{
    return strcmp(text, "true") == 0 || strcmp(text, "1") == 0;
}

static int read_number(const char *name, const char *text, int64_t min, int64_t *number, struct err *err)
{
    char *end;

    if (!*text)
        return 0;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (*end || errno == ERANGE)
        return err_set(err, -EINVAL, "%s: Invalid value: \"%.64s\": must be a number", name, text);
    if (value < min)
        return err_set(err, -EINVAL, "%s: Invalid value: %lld: must be greater than or equal to %lld", name, value,
                       (long long)min);
    *number = value;
    return 0;
}

int log_options_read(struct log_options *options, log_query_fn query, void *arg, nsec_t now, struct err *err)
{
    const char *time = query(arg, "sinceTime"), *stream = query(arg, "stream");
    int64_t seconds = 0;
    int r;

    *options = (struct log_options){
        .is_following = is_true(query(arg, "follow")),
        .is_previous = is_true(query(arg, "previous")),
        .has_times = is_true(query(arg, "timestamps")),
        .tail = -1,
        .limit = -1,
        .skips_stdout = strcmp(stream, "Stderr") == 0,
        .skips_stderr = strcmp(stream, "Stdout") == 0,
    };
    r = read_number("tailLines", query(arg, "tailLines"), 0, &options->tail, err);
    if (r == 0)
        r = read_number("limitBytes", query(arg, "limitBytes"), 1, &options->limit, err);
    if (r == 0)
        r = read_number("sinceSeconds", query(arg, "sinceSeconds"), 1, &seconds, err);
    if (r == 0 && *time)
        r = time_parse(time, &options->since, err);
    if (r < 0)
        return -EINVAL;
    if (*time && seconds > 0)
        return err_set(err, -EINVAL, "at most one of `sinceTime` or `sinceSeconds` may be specified");
    if (seconds > 0)
        options->since = seconds < now / NSEC_PER_SEC ? now - seconds * NSEC_PER_SEC : 0;
    return 0;
}

void log_options_write(const struct log_options *options, struct strbuf *text)
{
    strbuf_addf(text, "\"follow\":%s,\"previous\":%s,\"timestamps\":%s,\"skipsStdout\":%s,\"skipsStderr\":%s",
                options->is_following ? "true" : "false", options->is_previous ? "true" : "false",
                options->has_times ? "true" : "false", options->skips_stdout ? "true" : "false",
                options->skips_stderr ? "true" : "false");
    strbuf_addf(text, ",\"tail\":%lld,\"limit\":%lld,\"since\":%lld", (long long)options->tail,
                (long long)options->limit, (long long)options->since);
}

void log_options_decode(struct log_options *options, yyjson_val *object)
{
    *options = (struct log_options){
        .is_following = bool_at(object, "follow"),
        .is_previous = bool_at(object, "previous"),
        .has_times = bool_at(object, "timestamps"),
        .skips_stdout = bool_at(object, "skipsStdout"),
        .skips_stderr = bool_at(object, "skipsStderr"),
        .tail = number_at(object, -1, "tail"),
        .limit = number_at(object, -1, "limit"),
        .since = number_at(object, 0, "since"),
    };
}
