/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/time.h"
#include "local/streams/log_options.h"

/* One line of a log file (local/shim/pipes/log_file.h). */
struct log_line {
    nsec_t time;
    const char *time_text;  // of `time_len` bytes
    size_t time_len;
    bool is_stderr;
    bool is_whole;  // it ends here; a piece is followed by the rest
    const char *text;
    size_t len;
};

/* Reads a line without its end. False for one that is none; it is left out. */
bool log_line_parse(const char *bytes, size_t len, struct log_line *ret_line);

/* Whether the options ask for the line, the number of lines aside. */
bool log_line_is_wanted(const struct log_line *line, const struct log_options *options);
