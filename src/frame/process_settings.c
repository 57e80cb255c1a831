/* SPDX-License-Identifier: Apache-2.0 */

/* Flags that every process has, and what they mean. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frame/process_internal.h"

#define AT(member) FLAG_AT(struct process_settings, member)

const struct flag process_flags[] = {
    {"metrics-bind-address", FLAG_STRING, AT(metrics_address), ":8080", "address of /metrics; 0: not served", 0, 0},
    {"health-probe-bind-address", FLAG_STRING, AT(health_address), ":8081",
     "address of /healthz and /readyz; 0: not served", 0, 0},
    {"stop-timeout", FLAG_DURATION, AT(stop_timeout), "10s", "time limit for an orderly shutdown", 0, 0},
    {"v", FLAG_INT, AT(verbosity), "3", "verbosity of the log: 0 to 3 normal, 4 details, 6 everything", 0, 10},
    {"log-json", FLAG_BOOL, AT(is_json), "false", "write log lines as JSON", 0, 0},
    {"zap-devel", FLAG_BOOL, AT(is_devel), "true", "false: write log lines as JSON", 0, 0},
    {"zap-encoder", FLAG_STRING, AT(log_encoder), "", "json or console", 0, 0},
    {"zap-log-level", FLAG_STRING, AT(log_level), "", "error, warn, info, debug, or a number as for --v", 0, 0},
    {"version", FLAG_BOOL, AT(wants_version), "false", "print the version and exit", 0, 0},
    {"zap-stacktrace-level", FLAG_IGNORED, 0, "panic", "accepted and ignored", 0, 0},
    {"zap-time-encoding", FLAG_IGNORED, 0, "rfc3339", "accepted and ignored", 0, 0},
};
const size_t process_flag_count = ARRAY_LEN(process_flags);

static enum log_level level_of_verbosity(long verbosity)
{
    return verbosity >= 6 ? LOG_TRACE : verbosity >= 4 ? LOG_DEBUG : LOG_INFO;
}

static int read_log_level(const struct process_settings *settings, enum log_level *ret_level, struct err *err)
{
    static const struct {
        const char *name;
        enum log_level level;
    } names[] = {{"error", LOG_ERROR}, {"panic", LOG_ERROR}, {"warn", LOG_WARN},
                 {"info", LOG_INFO},   {"debug", LOG_DEBUG}, {"trace", LOG_TRACE}};
    char *end;
    long number;

    *ret_level = level_of_verbosity((long)settings->verbosity);
    if (!*settings->log_level)
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (strcmp(settings->log_level, names[i].name) == 0) {
            *ret_level = names[i].level;
            return 0;
        }
    }
    number = strtol(settings->log_level, &end, 10);
    if (*end || number < 1 || number > 127)
        return err_set(err, -EINVAL,
                       "--zap-log-level: expected error, warn, info, debug or a number from 1, found '%s'",
                       settings->log_level);
    *ret_level = level_of_verbosity(number);
    return 0;
}

bool process_log_is_json(const struct process_settings *settings)
{
    if (*settings->log_encoder)
        return strcmp(settings->log_encoder, "json") == 0;
    return settings->is_json || !settings->is_devel;
}

int process_settings_check(const struct process_settings *settings, enum log_level *ret_level, struct err *err)
{
    const char *encoder = settings->log_encoder;

    if (*encoder && strcmp(encoder, "json") != 0 && strcmp(encoder, "console") != 0)
        return err_set(err, -EINVAL, "--zap-encoder: '%s' is neither json nor console", encoder);
    return read_log_level(settings, ret_level, err);
}

int address_parse(const char *text, char host[static 256], uint16_t *ret_port, struct err *err)
{
    const char *colon = strrchr(text, ':');
    const char *start = text;
    size_t len;
    char *end;
    long port;

    if (!*text || strcmp(text, "0") == 0)
        return 0;
    if (!colon)
        return err_set(err, -EINVAL, "'%s' is not an address of the form host:port or :port", text);
    len = (size_t)(colon - text);
    if (len >= 2 && text[0] == '[' && text[len - 1] == ']') {
        start++;
        len -= 2;
    }
    port = strtol(colon + 1, &end, 10);
    if (colon[1] < '0' || colon[1] > '9' || *end || port > UINT16_MAX || len > 255)
        return err_set(err, -EINVAL, "'%s' is not an address of the form host:port or :port", text);
    memcpy(host, start, len);
    host[len] = '\0';
    if (strcmp(host, "localhost") == 0)
        (void)snprintf(host, 256, "127.0.0.1");
    *ret_port = (uint16_t)port;
    return 1;
}
