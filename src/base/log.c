/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Logging. A line is put together in memory and written at once, so that lines of several processes on one stream do
 * not mix. Texts that repeat are counted in a small table by hash; two texts that share a slot only make the count less
 * exact, never a line wrong.
 */
#include "base/log.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/macros.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/utf8.h"

enum { LINE_BYTES_MAX = 16 << 10, SLOTS = 256, REPEATS_MAX = 100 };

struct repeat {
    uint64_t hash;
    nsec_t since;
    uint32_t count;
    uint64_t left_out;
};

struct log {
    struct log_options options;
    pthread_mutex_t lock;
    char *name;
    struct strbuf line;
    uint64_t left_out;
    struct repeat repeats[SLOTS];
};

static const struct {
    const char *json, *text;
} level_names[_LOG_LEVEL_MAX] = {
    [LOG_ERROR] = {"error", "ERROR"}, [LOG_WARN] = {"warn", "WARN "},   [LOG_INFO] = {"info", "INFO "},
    [LOG_DEBUG] = {"debug", "DEBUG"}, [LOG_TRACE] = {"trace", "TRACE"},
};

struct log *log_new(const struct log_options *options)
{
    struct log *log = xcalloc(1, sizeof *log);

    log->options = *options;
    if (!log->options.stream)
        log->options.stream = stderr;
    if (!log->options.repeats_max)
        log->options.repeats_max = REPEATS_MAX;
    if (!log->options.wall)
        log->options.wall = nsec_now_wall;
    if (!log->options.monotonic)
        log->options.monotonic = nsec_now_monotonic;
    log->name = options->name ? xstrdup(options->name) : NULL;
    strbuf_init(&log->line, LINE_BYTES_MAX);
    BUG_ON(pthread_mutex_init(&log->lock, NULL) != 0);
    return log;
}

void log_free(struct log *log)
{
    if (!log)
        return;
    (void)pthread_mutex_destroy(&log->lock);
    strbuf_done(&log->line);
    free(log->name);
    free(log);
}

void log_freep(struct log **log)
{
    log_free(*log);
}

bool log_has(const struct log *log, enum log_level level)
{
    return log && level <= log->options.level;
}

uint64_t log_left_out(const struct log *log)
{
    return log->left_out;
}

struct log_field log_error(const struct err *err)
{
    return log_str("error", err ? err->text : "");
}

/* In double quotes, with what JSON does not allow in them escaped; text lines use the same form. */
static void add_quoted(struct strbuf *line, const char *text)
{
    const unsigned char *at = (const unsigned char *)text;

    strbuf_addch(line, '"');
    while (*at) {
        size_t len = utf8_len((const char *)at);

        if (len == 0 || *at == 0x7f) {
            strbuf_addstr(line, "\\ufffd");
            len = 1;
        } else if (*at == '"' || *at == '\\') {
            strbuf_addch(line, '\\');
            strbuf_addch(line, (char)*at);
        } else if (*at == '\n') {
            strbuf_addstr(line, "\\n");
        } else if (*at < 0x20) {
            strbuf_addf(line, "\\u%04x", *at);
        } else {
            strbuf_add(line, (const char *)at, len);
        }
        at += len;
    }
    strbuf_addch(line, '"');
}

/* A word in a text line needs no quotes when nothing in it could be mistaken. */
static bool is_plain(const char *text)
{
    if (!*text)
        return false;
    for (; *text; text++) {
        if (*text <= ' ' || *text == '"' || *text == '=' || *text == '\\' || (unsigned char)*text >= 0x7f)
            return false;
    }
    return true;
}

static void add_value(struct log *log, const struct log_field *field)
{
    char duration[DURATION_TEXT_MAX];
    const char *text = field->value.text ? field->value.text : "";

    if (field->type == LOG_FIELD_INT) {
        strbuf_addf(&log->line, "%" PRId64, field->value.number);
        return;
    }
    if (field->type == LOG_FIELD_DOUBLE && isfinite(field->value.real)) {
        strbuf_addf(&log->line, "%.9g", field->value.real);
        return;
    }
    if (field->type == LOG_FIELD_DOUBLE)
        text = isnan(field->value.real) ? "NaN" : field->value.real > 0 ? "+Inf" : "-Inf";
    else if (field->type == LOG_FIELD_DURATION)
        text = duration_format(field->value.number, duration);
    if (!log->options.is_json && is_plain(text))
        strbuf_addstr(&log->line, text);
    else
        add_quoted(&log->line, text);
}

static void add_field(struct log *log, const struct log_field *field)
{
    if (log->options.is_json) {
        strbuf_addch(&log->line, ',');
        add_quoted(&log->line, field->key);
        strbuf_addch(&log->line, ':');
    } else {
        strbuf_addf(&log->line, " %s=", field->key);
    }
    add_value(log, field);
}

/* Milliseconds are what people look at; zeros are kept so that columns stay in line. */
static void add_time(struct strbuf *line, nsec_t now)
{
    char text[TIME_TEXT_MAX];
    nsec_t whole = now - now % NSEC_PER_SEC;

    (void)time_format(whole, text);
    strbuf_addf(line, "%.*s.%03dZ", (int)strcspn(text, "Z"), text, (int)(now % NSEC_PER_SEC / NSEC_PER_MSEC));
}

/* Whether the text may be written; if so, `*ret_left_out` lines like it were not, since the last one that was. */
static bool may_write(struct log *log, const char *text, uint64_t *ret_left_out)
{
    uint64_t hash = hash_str(text, 0);
    struct repeat *repeat = &log->repeats[hash % SLOTS];
    nsec_t now = log->options.monotonic();

    if (repeat->hash != hash) {
        *repeat = (struct repeat){.hash = hash, .since = now};
    } else if (now - repeat->since >= NSEC_PER_SEC) {
        repeat->since = now;
        repeat->count = 0;
    }
    if (repeat->count >= log->options.repeats_max) {
        repeat->left_out++;
        log->left_out++;
        return false;
    }
    repeat->count++;
    *ret_left_out = repeat->left_out;
    repeat->left_out = 0;
    return true;
}

static void add_head(struct log *log, enum log_level level, const char *text)
{
    if (log->options.is_json) {
        strbuf_addf(&log->line, "{\"level\":\"%s\",\"ts\":\"", level_names[level].json);
        add_time(&log->line, log->options.wall());
        strbuf_addstr(&log->line, "\",\"msg\":");
        add_quoted(&log->line, text);
    } else {
        add_time(&log->line, log->options.wall());
        strbuf_addf(&log->line, " %s %s", level_names[level].text, text);
    }
    if (log->name)
        add_field(log, &(struct log_field){.key = "service", .type = LOG_FIELD_STR, .value.text = log->name});
}

static void write_line(struct log *log, enum log_level level, const char *text, const struct log_field *fields)
{
    uint64_t left_out;

    if (!may_write(log, text, &left_out))
        return;
    strbuf_clear(&log->line);
    add_head(log, level, text);
    if (left_out)
        add_field(log, &(struct log_field){"repeated", LOG_FIELD_INT, {.number = (int64_t)left_out}});
    for (const struct log_field *field = fields; field->type != LOG_FIELD_END; field++) {
        size_t before = log->line.len;

        add_field(log, field);
        /* A field that does not fit is left out whole, with those behind it, so that the rest can be read. */
        if (log->line.is_cut || log->line.len > LINE_BYTES_MAX - 8) {
            log->line.len = before;
            log->line.text[before] = '\0';
            log->line.is_cut = false;
            break;
        }
    }
    strbuf_addstr(&log->line, log->options.is_json ? "}\n" : "\n");
    (void)fwrite(log->line.text, 1, log->line.len, log->options.stream);
    (void)fflush(log->options.stream);
}

void log_write(struct log *log, enum log_level level, const char *text, const struct log_field *fields)
{
    if (!log_has(log, level))
        return;
    (void)pthread_mutex_lock(&log->lock);
    write_line(log, level, text, fields);
    (void)pthread_mutex_unlock(&log->lock);
}
