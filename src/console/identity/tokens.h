/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "base/macros.h"
#include "base/time.h"
#include "console/identity/secrets.h"

struct err;

/*
 * Access tokens: JSON Web Tokens signed by HMAC-SHA-256 with a key of the console. A token names a grant of the database,
 * which has to exist for the token to be valid: removing the grant revokes the token at once.
 */
enum { TOKEN_KEY_BYTES = 32, TOKEN_TEXT_MAX = 1024 };

struct token {
    char grant[SECRET_TEXT_MAX];
    char subject[UUID_TEXT_MAX];
    nsec_t issued;
    nsec_t expires;
};

void token_write(const unsigned char key[static TOKEN_KEY_BYTES], const struct token *token,
                 char text[static TOKEN_TEXT_MAX]);

/* Returns 0, or -ENOKEY for a text that is no token of ours or has expired. */
MUST_CHECK int token_read(const unsigned char key[static TOKEN_KEY_BYTES], const char *text, nsec_t now,
                          struct token *ret_token, struct err *err);
