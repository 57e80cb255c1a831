/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <sys/types.h>

#include "base/macros.h"
#include "base/strmap.h"
#include "base/time.h"

/*
 * Tokens for clients on TCP. A client gets one over the Unix socket, where the kernel says who it is. Tokens live in memory
 * alone: after a restart clients ask for new ones.
 */
enum { TOKEN_TEXT_MAX = 64, TOKENS_MAX = 10000, TOKENS_OF_USER_MAX = 1000 };

#define TOKEN_LIFETIME (10 * NSEC_PER_MIN)

struct tokens {
    struct strmap by_text;
};

void tokens_done(struct tokens *tokens);

/* Makes a token for a user, valid until `now` + TOKEN_LIFETIME. Returns 0, or -EUSERS when there are too many, or the
 * user has too many of them. */
MUST_CHECK int tokens_make(struct tokens *tokens, uid_t uid, nsec_t now, char text[static TOKEN_TEXT_MAX]);

/* Whose token it is. Returns 0, or -ENOKEY for one that is unknown or has expired. */
MUST_CHECK int tokens_find(const struct tokens *tokens, const char *text, nsec_t now, uid_t *ret_uid);
