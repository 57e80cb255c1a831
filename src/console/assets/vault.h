/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"

struct db;
struct err;

/*
 * Secrets that users give and the cluster needs again, such as passwords of registries. The database has them encrypted
 * (XChaCha20-Poly1305, bound to the owner's identifier); the keys are in a file outside of it, one on each line:
 *
 *     1 5f0c...  (a number and 64 hexadecimal digits)
 *
 * The last line is the key that is in use. Opening encrypts everything that an older key holds with it again, so that a key is
 * replaced by appending a line and starting the console; lines before the last may go then.
 */
struct vault;

/* Makes the file where there is none and nothing was encrypted yet. -ENOKEY when a key is missing. */
MUST_CHECK int vault_open(const char *path, struct db *db, struct vault **ret_vault, struct err *err);
void vault_free(struct vault *vault);

/* Keeps a text for an owner, in the place of what there was. */
MUST_CHECK int vault_put(struct vault *vault, const char *owner, const char *text, struct err *err);

/* To be freed, after being overwritten; -ENOENT when there is none, -EBADMSG when it was changed. */
MUST_CHECK int vault_get(struct vault *vault, const char *owner, char **ret_text, struct err *err);

MUST_CHECK int vault_delete(struct vault *vault, const char *owner, struct err *err);

/* The number of the key in use. */
int64_t vault_key_id(const struct vault *vault);
