/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/macros.h"
#include "base/time.h"
#include "base/vec.h"

/*
 * Secrets that machines join with. Each is taken once, and is worth nothing after its time. They are kept in memory alone:
 * a restart of the server ends them.
 */
enum { JOIN_SECRET_MAX = 65, JOIN_TOKENS_MAX = 256 };

struct join_tokens {
    VEC(struct join_token {
        char secret[JOIN_SECRET_MAX];
        nsec_t expires;
    })
    items;
};

void join_tokens_done(struct join_tokens *tokens);

/* Makes one. Returns 0, or -EUSERS when there are too many. */
MUST_CHECK int join_tokens_make(struct join_tokens *tokens, nsec_t now, nsec_t lifetime,
                                char secret[static JOIN_SECRET_MAX]);

/* Uses one up. Returns 0, or -ENOKEY when there is none, or its time is over. */
MUST_CHECK int join_tokens_take(struct join_tokens *tokens, nsec_t now, const char *secret);
