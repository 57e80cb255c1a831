/* SPDX-License-Identifier: Apache-2.0 */
#include "console/identity/secrets.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

enum { SECRET_BYTES = 32, UUID_BYTES = 16 };

_Static_assert(PASSWORD_HASH_MAX >= crypto_pwhash_STRBYTES, "a hash has room");
_Static_assert(SECRET_TEXT_MAX == 2 * crypto_hash_sha256_BYTES + 1, "a digest has room");

/* Thread-safe, and cheap after the first time. */
static void start(void)
{
    BUG_ON(sodium_init() < 0);
}

void secret_make(char text[static SECRET_TEXT_MAX])
{
    unsigned char bytes[SECRET_BYTES];

    start();
    randombytes_buf(bytes, sizeof bytes);
    (void)sodium_bin2hex(text, SECRET_TEXT_MAX, bytes, sizeof bytes);
    sodium_memzero(bytes, sizeof bytes);
}

void uuid_make(char text[static UUID_TEXT_MAX])
{
    unsigned char b[UUID_BYTES];

    start();
    randombytes_buf(b, sizeof b);
    b[6] = (unsigned char)((b[6] & 0x0f) | 0x40);
    b[8] = (unsigned char)((b[8] & 0x3f) | 0x80);
    (void)snprintf(text, UUID_TEXT_MAX, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0],
                   b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]);
}

void secret_digest(const char *text, char digest[static SECRET_TEXT_MAX])
{
    secret_digest_two(text, "", digest);
}

void secret_digest_two(const char *first, const char *second, char digest[static SECRET_TEXT_MAX])
{
    unsigned char bytes[crypto_hash_sha256_BYTES];
    crypto_hash_sha256_state state;

    start();
    (void)crypto_hash_sha256_init(&state);
    (void)crypto_hash_sha256_update(&state, (const unsigned char *)first, strlen(first));
    (void)crypto_hash_sha256_update(&state, (const unsigned char *)second, strlen(second));
    (void)crypto_hash_sha256_final(&state, bytes);
    (void)sodium_bin2hex(digest, SECRET_TEXT_MAX, bytes, sizeof bytes);
}

bool secret_equals(const char *a, const char *b)
{
    size_t len = strlen(a);

    return len == strlen(b) && sodium_memcmp(a, b, len) == 0;
}

int password_hash(const char *password, char hash[static PASSWORD_HASH_MAX])
{
    start();
    if (crypto_pwhash_str_alg(hash, password, strlen(password), crypto_pwhash_OPSLIMIT_INTERACTIVE,
                              crypto_pwhash_MEMLIMIT_INTERACTIVE, crypto_pwhash_ALG_ARGON2ID13) != 0)
        return -ENOMEM;
    return 0;
}

bool password_matches(const char *hash, const char *password)
{
    start();
    return crypto_pwhash_str_verify(hash, password, strlen(password)) == 0;
}
