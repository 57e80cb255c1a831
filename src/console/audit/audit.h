/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "base/macros.h"
#include "base/time.h"

struct db;
struct err;

/*
 * The audit log. Each entry has a hash over its text and the hash before it, so that an entry that is changed, removed or
 * put between others breaks the chain. The newest entry's number and hash, the head, are also written to a file outside of
 * the database: a log whose end was cut does not reach the head any more.
 */

/* Appends an entry, a JSON object of one line, in the transaction that is under way. Returns its number. */
MUST_CHECK int64_t audit_add(struct db *db, nsec_t time, const char *entry, struct err *err);

/* Replaces the file with the newest entry; for after a commit. */
MUST_CHECK int audit_write_head(struct db *db, const char *path, struct err *err);

/*
 * Checks the chain, and, unless `head_path` is NULL, that it holds the head. Returns the number of entries, or -EBADMSG with
 * the first entry that is wrong.
 */
MUST_CHECK int64_t audit_verify(struct db *db, const char *head_path, struct err *err);
