/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "console/rest/context.h"

/* Five wrong passwords in a row lock the user for this time. */
#define LOCK_TIME (15 * NSEC_PER_MIN)

/* What is kept of a secret: a hash of a password, or the digest of a secret that we have made. */
struct secret_row {
    char hash[PASSWORD_HASH_MAX];
    int64_t failures, locked_until;
};

/* Leaves the row as it is where the subject has no secret. */
MUST_CHECK int read_secret(struct console *console, const char *subject, struct secret_row *row, struct err *err);

MUST_CHECK int set_secret(struct console *console, const char *subject, const char *hash, bool must_change,
                          struct err *err);
MUST_CHECK int delete_secret(struct console *console, const char *subject, struct err *err);

MUST_CHECK int count_failure(struct console *console, const char *subject, struct err *err);
MUST_CHECK int forget_failures(struct console *console, const char *subject, struct err *err);
