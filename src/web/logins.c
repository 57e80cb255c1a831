/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"
#include "web/logins_internal.h"

enum { SECRET_BYTES = 16 };

struct code {
    char text[LOGIN_TEXT_MAX];
    uid_t uid;
    nsec_t expires;
};

static void make_secret(char text[static LOGIN_TEXT_MAX])
{
    unsigned char bytes[SECRET_BYTES];

    BUG_ON(RAND_bytes(bytes, sizeof bytes) != 1);
    for (size_t i = 0; i < sizeof bytes; i++)
        (void)snprintf(text + 2 * i, LOGIN_TEXT_MAX - 2 * i, "%02x", bytes[i]);
}

static void free_all(struct strmap *map)
{
    void *thing;

    for (size_t cursor = 0; (thing = strmap_next(map, &cursor));)
        free(thing);
    strmap_done(map);
}

void logins_done(struct logins *logins)
{
    free_all(&logins->codes);
    free_all(&logins->sessions);
}

static void drop_expired_codes(struct logins *logins, nsec_t now)
{
    VEC(struct code *) expired = {0};
    struct code *code;

    for (size_t cursor = 0; (code = strmap_next(&logins->codes, &cursor));) {
        if (code->expires <= now)
            vec_push(&expired, code);
    }
    vec_foreach (&expired, at) {
        (void)strmap_remove(&logins->codes, "", (*at)->text);
        free(*at);
    }
    vec_done(&expired);
}

int logins_make_code(struct logins *logins, uid_t uid, nsec_t now, char text[static LOGIN_TEXT_MAX])
{
    struct code *code;

    drop_expired_codes(logins, now);
    if (logins->codes.len >= LOGIN_CODES_MAX)
        return -EUSERS;
    code = xcalloc(1, sizeof *code);
    *code = (struct code){.uid = uid, .expires = now + LOGIN_CODE_LIFETIME};
    make_secret(code->text);
    (void)strmap_put(&logins->codes, "", code->text, code);
    memcpy(text, code->text, LOGIN_TEXT_MAX);
    return 0;
}

/* The session that expires first was used least recently: all last equally long. */
static void make_room(struct logins *logins)
{
    struct session *oldest = NULL;
    struct session *session;

    if (logins->sessions.len < LOGIN_SESSIONS_MAX)
        return;
    for (size_t cursor = 0; (session = strmap_next(&logins->sessions, &cursor));) {
        if (!oldest || session->expires < oldest->expires)
            oldest = session;
    }
    if (oldest)
        logins_end(logins, oldest->path);
}

int logins_begin(struct logins *logins, const char *text, nsec_t now, const struct session **ret_session)
{
    struct code *code = strmap_remove(&logins->codes, "", text);
    struct session *session;

    if (!code || code->expires <= now) {
        free(code);
        return -ENOKEY;
    }
    make_room(logins);
    session = xcalloc(1, sizeof *session);
    *session = (struct session){.uid = code->uid, .expires = now + LOGIN_SESSION_LIFETIME};
    make_secret(session->path);
    make_secret(session->key);
    (void)strmap_put(&logins->sessions, "", session->path, session);
    free(code);
    *ret_session = session;
    return 0;
}

int logins_check(struct logins *logins, const char *path, const char *key, nsec_t now)
{
    struct session *session = strmap_get(&logins->sessions, "", path);

    if (!session)
        return -ENOKEY;
    if (session->expires <= now) {
        logins_end(logins, path);
        return -ENOKEY;
    }
    if (strlen(key) != strlen(session->key) || CRYPTO_memcmp(key, session->key, strlen(key)) != 0)
        return -ENOKEY;
    session->expires = now + LOGIN_SESSION_LIFETIME;
    return 0;
}

void logins_end(struct logins *logins, const char *path)
{
    free(strmap_remove(&logins->sessions, "", path));
}
