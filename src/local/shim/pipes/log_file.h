/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"
#include "base/time.h"

struct err;

/*
 * The output of one run of a container, as container runtimes write it, a line each:
 *
 *     2026-01-02T15:04:05.000000000Z stdout F text
 *
 * with P for a piece of a line that goes on in the next one: lines of more than 16 KiB, and a last line without an end.
 * A file of 10 MiB is renamed to NAME.YYYYMMDD-HHMMSS and a new one begun; the newest four of these are kept.
 */
struct log_file;

enum log_stream { LOG_STDOUT, LOG_STDERR, _LOG_STREAM_MAX };
enum { LOG_LINE_MAX = 16 << 10, LOG_FILE_MAX = 10 << 20, LOG_OLD_FILES_MAX = 4, LOG_OLD_NAME_LEN = 16 };

/* The file FOLDER/NUMBER.log, which is appended to; the folder is made. */
MUST_CHECK int log_file_open(const char *folder, uint32_t number, struct log_file **ret_file, struct err *err);

/* Writes what is left of the last lines. NULL is allowed. */
void log_file_close(struct log_file *file);

/* Output is never held up by a disk that is full: it is lost then, as it would be for a file of the program's own. */
void log_file_add(struct log_file *file, enum log_stream stream, nsec_t now, const char *bytes, size_t len);
