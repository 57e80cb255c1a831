/* SPDX-License-Identifier: Apache-2.0 */
#include "local/machines/join_tokens.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <string.h>

void join_tokens_done(struct join_tokens *tokens)
{
    if (tokens->items.items)
        explicit_bzero(tokens->items.items, tokens->items.len * sizeof *tokens->items.items);
    vec_done(&tokens->items);
}

static void drop(struct join_tokens *tokens, uint32_t at)
{
    tokens->items.items[at] = tokens->items.items[tokens->items.len - 1];
    tokens->items.len--;
}

static void drop_expired(struct join_tokens *tokens, nsec_t now)
{
    for (uint32_t i = tokens->items.len; i-- > 0;) {
        if (tokens->items.items[i].expires <= now)
            drop(tokens, i);
    }
}

int join_tokens_make(struct join_tokens *tokens, nsec_t now, nsec_t lifetime, char secret[static JOIN_SECRET_MAX])
{
    unsigned char bytes[JOIN_SECRET_MAX / 2];
    struct join_token token = {.expires = now + lifetime};

    drop_expired(tokens, now);
    if (tokens->items.len >= JOIN_TOKENS_MAX)
        return -EUSERS;
    BUG_ON(RAND_bytes(bytes, sizeof bytes) != 1);
    for (size_t i = 0; i < sizeof bytes; i++)
        (void)snprintf(token.secret + 2 * i, sizeof token.secret - 2 * i, "%02x", bytes[i]);
    memcpy(secret, token.secret, JOIN_SECRET_MAX);
    vec_push(&tokens->items, token);
    return 0;
}

int join_tokens_take(struct join_tokens *tokens, nsec_t now, const char *secret)
{
    drop_expired(tokens, now);
    if (strlen(secret) != JOIN_SECRET_MAX - 1)
        return -ENOKEY;
    for (uint32_t i = 0; i < tokens->items.len; i++) {
        if (CRYPTO_memcmp(tokens->items.items[i].secret, secret, JOIN_SECRET_MAX - 1) == 0) {
            drop(tokens, i);
            return 0;
        }
    }
    return -ENOKEY;
}
