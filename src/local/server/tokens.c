/* SPDX-License-Identifier: Apache-2.0 */
#include "local/server/tokens_internal.h"

#include <errno.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/vec.h"

struct token {
    uid_t uid;
    nsec_t expires;
    char text[TOKEN_TEXT_MAX];
};

enum { TOKEN_BYTES = 24 };

void tokens_done(struct tokens *tokens)
{
    struct token *token;

    for (size_t cursor = 0; (token = strmap_next(&tokens->by_text, &cursor));)
        free(token);
    strmap_done(&tokens->by_text);
}

static void drop_expired(struct tokens *tokens, nsec_t now)
{
    VEC(struct token *) expired = {0};
    struct token *token;

    for (size_t cursor = 0; (token = strmap_next(&tokens->by_text, &cursor));) {
        if (token->expires <= now)
            vec_push(&expired, token);
    }
    vec_foreach (&expired, at) {
        (void)strmap_remove(&tokens->by_text, "", (*at)->text);
        free(*at);
    }
    vec_done(&expired);
}

/* One user must not leave others without tokens. */
static size_t count_of(const struct tokens *tokens, uid_t uid)
{
    const struct token *token;
    size_t count = 0;

    for (size_t cursor = 0; (token = strmap_next(&tokens->by_text, &cursor));)
        count += token->uid == uid;
    return count;
}

int tokens_make(struct tokens *tokens, uid_t uid, nsec_t now, char text[static TOKEN_TEXT_MAX])
{
    unsigned char bytes[TOKEN_BYTES];
    struct token *token;

    drop_expired(tokens, now);
    if (tokens->by_text.len >= TOKENS_MAX || count_of(tokens, uid) >= TOKENS_OF_USER_MAX)
        return -EUSERS;
    token = xcalloc(1, sizeof *token);
    *token = (struct token){.uid = uid, .expires = now + TOKEN_LIFETIME};
    BUG_ON(RAND_bytes(bytes, sizeof bytes) != 1);
    for (size_t i = 0; i < sizeof bytes; i++)
        (void)snprintf(token->text + 2 * i, sizeof token->text - 2 * i, "%02x", bytes[i]);
    (void)strmap_put(&tokens->by_text, "", token->text, token);
    (void)snprintf(text, TOKEN_TEXT_MAX, "%s", token->text);
    return 0;
}

int tokens_find(const struct tokens *tokens, const char *text, nsec_t now, uid_t *ret_uid)
{
    const struct token *token = strmap_get(&tokens->by_text, "", text);

    if (!token || token->expires <= now)
        return -ENOKEY;
    *ret_uid = token->uid;
    return 0;
}
