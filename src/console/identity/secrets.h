/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/macros.h"

/*
 * Random values and what is kept of secrets. Secrets that we make have 256 random bits, and their SHA-256 is kept; passwords,
 * which people choose, are kept by Argon2id.
 */
enum {
    SECRET_TEXT_MAX = 65,    // 32 bytes in hexadecimal digits
    UUID_TEXT_MAX = 37,      // "5f0c...": version 4
    PASSWORD_HASH_MAX = 128  // of crypto_pwhash_str()
};

/* The shortest and longest password in bytes: NIST SP 800-63B asks for at least 8 and for 64 to be allowed. */
enum { PASSWORD_MIN = 12, PASSWORD_MAX = 256 };

void secret_make(char text[static SECRET_TEXT_MAX]);
void uuid_make(char text[static UUID_TEXT_MAX]);

/* SHA-256 in hexadecimal digits, of a text, or of two in a row. */
void secret_digest(const char *text, char digest[static SECRET_TEXT_MAX]);
void secret_digest_two(const char *first, const char *second, char digest[static SECRET_TEXT_MAX]);

/* Compares in a time that does not depend on where they differ. */
bool secret_equals(const char *a, const char *b);

/* Argon2id takes a fraction of a second and 64 MiB: both are for a loop_work_fn. The hash returns -ENOMEM when it cannot. */
MUST_CHECK int password_hash(const char *password, char hash[static PASSWORD_HASH_MAX]);
bool password_matches(const char *hash, const char *password);
