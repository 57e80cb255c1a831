/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/time.h"

struct err;

/*
 * What a service tells whoever runs it: a line each, with a text that is always the same for the same thing and fields
 * that say which one, so that lines can be searched and counted:
 *
 *     log_warn(log, "pod cannot be grouped", log_str("pod", name), log_error(&err));
 *
 *     2026-11-15T10:52:03.218Z WARN  pod cannot be grouped pod=team-a/train-0 error="no such kind"
 *     {"level":"warn","ts":"2026-11-15T10:52:03.218Z","msg":"pod cannot be grouped","pod":"team-a/train-0",...}
 *
 * A text that comes very often is left out for the rest of a second; its next line says how often, as `repeated`.
 * Whatever names from outside hold, a line stays one line, and JSON stays JSON. May be used by several threads.
 */
struct log;

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG, LOG_TRACE, _LOG_LEVEL_MAX };

struct log_options {
    FILE *stream;  // NULL: standard error
    bool is_json;
    enum log_level level;  // finer ones are left out
    const char *name;      // of the service, a field of every line; NULL: none
    uint32_t repeats_max;  // of one text in a second; 0: 100
    nsec_t (*wall)(void);  // clocks, for tests; NULL: the system's
    nsec_t (*monotonic)(void);
};

struct log *log_new(const struct log_options *options);
void log_free(struct log *log);
void log_freep(struct log **log);

/* Whether lines of the level are written at all: asked before something is made up only to be logged. */
bool log_has(const struct log *log, enum log_level level);

/* Lines that were left out because their text came too often. */
uint64_t log_left_out(const struct log *log);

enum log_field_type { LOG_FIELD_END, LOG_FIELD_STR, LOG_FIELD_INT, LOG_FIELD_DOUBLE, LOG_FIELD_DURATION };

struct log_field {
    const char *key;
    enum log_field_type type;
    union {
        const char *text;  // NULL is written as an empty string
        int64_t number;
        double real;
    } value;
};

static inline struct log_field log_str(const char *key, const char *text)
{
    return (struct log_field){.key = key, .type = LOG_FIELD_STR, .value.text = text};
}

static inline struct log_field log_int(const char *key, int64_t number)
{
    return (struct log_field){.key = key, .type = LOG_FIELD_INT, .value.number = number};
}

static inline struct log_field log_double(const char *key, double real)
{
    return (struct log_field){.key = key, .type = LOG_FIELD_DOUBLE, .value.real = real};
}

/* As Go writes durations: "1.5s". */
static inline struct log_field log_duration(const char *key, nsec_t duration)
{
    return (struct log_field){.key = key, .type = LOG_FIELD_DURATION, .value.number = duration};
}

/* "error": what went wrong. */
struct log_field log_error(const struct err *err);

/* NULL as `log` writes nothing, so that parts can be used without one. `fields` end with one of type LOG_FIELD_END. */
void log_write(struct log *log, enum log_level level, const char *text, const struct log_field *fields);

/* What is left of the list is its end; one that is too long does not compile. */
enum { LOG_FIELDS_MAX = 15 };
#define LOG_FIELDS(...) ((const struct log_field[LOG_FIELDS_MAX + 1]){__VA_ARGS__})
#define log_fail(log, text, ...) log_write((log), LOG_ERROR, (text), LOG_FIELDS(__VA_ARGS__))
#define log_warn(log, text, ...) log_write((log), LOG_WARN, (text), LOG_FIELDS(__VA_ARGS__))
#define log_info(log, text, ...) log_write((log), LOG_INFO, (text), LOG_FIELDS(__VA_ARGS__))
#define log_debug(log, text, ...) log_write((log), LOG_DEBUG, (text), LOG_FIELDS(__VA_ARGS__))
