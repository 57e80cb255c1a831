/* SPDX-License-Identifier: Apache-2.0 */
#include "local/rights/account_tokens.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "kube/access/base64.h"
#include "kube/client/meta.h"
#include "local/rights/identity.h"
#include "local/server/files.h"
#include "text/file.h"
#include "text/json.h"

enum { TOKEN_MAX = 16 << 10, SIGNATURE_BYTES = 32 };

static const char header[] = "{\"alg\":\"HS256\",\"typ\":\"JWT\"}";

void account_claims_done(struct account_claims *claims)
{
    free(claims->namespace);
    free(claims->name);
    free(claims->uid);
    free(claims->pod);
    free(claims->pod_uid);
    vec_foreach (&claims->audiences, audience)
        free(*audience);
    vec_done(&claims->audiences);
    *claims = (struct account_claims){0};
}

int token_key_open(const char *path, struct token_key *ret_key, struct err *err)
{
    _cleanup_(freep) char *text = NULL;
    size_t len = 0;

    if (file_read(path, TOKEN_KEY_BYTES + 1, &text, &len, NULL) == 0 && len == TOKEN_KEY_BYTES) {
        memcpy(ret_key->bytes, text, TOKEN_KEY_BYTES);
        explicit_bzero(text, len);
        return 0;
    }
    BUG_ON(RAND_bytes(ret_key->bytes, TOKEN_KEY_BYTES) != 1);
    return file_replace(path, (const char *)ret_key->bytes, TOKEN_KEY_BYTES, err);
}

/* Base64 as it stands in tokens: two other characters, and no padding. */
static void add_encoded(struct strbuf *text, const void *data, size_t len)
{
    _cleanup_(freep) char *encoded = base64_encode(data, len);

    for (const char *at = encoded; *at && *at != '='; at++)
        strbuf_addch(text, (char)(*at == '+' ? '-' : *at == '/' ? '_' : *at));
}

static int decode(const char *text, size_t len, char **ret_data, size_t *ret_len)
{
    _cleanup_(freep) char *copy = xstrndup(text, len);

    for (char *at = copy; *at; at++) {
        if (*at == '+' || *at == '/' || *at == '=')
            return -EINVAL;
        *at = (char)(*at == '-' ? '+' : *at == '_' ? '/' : *at);
    }
    return base64_decode(copy, ret_data, ret_len);
}

static void sign(const struct token_key *key, const char *text, size_t len, unsigned char out[static SIGNATURE_BYTES])
{
    unsigned int size = SIGNATURE_BYTES;

    BUG_ON(!HMAC(EVP_sha256(), key->bytes, TOKEN_KEY_BYTES, (const unsigned char *)text, len, out, &size));
}

static void add_object(yyjson_mut_doc *doc, yyjson_mut_val *parent, const char *member, const char *name,
                       const char *uid)
{
    yyjson_mut_val *object = yyjson_mut_obj_add_obj(doc, parent, member);

    (void)yyjson_mut_obj_add_strcpy(doc, object, "name", name);
    (void)yyjson_mut_obj_add_strcpy(doc, object, "uid", uid);
}

static void add_claims(struct strbuf *text, const struct account_claims *claims)
{
    yyjson_mut_val *root = NULL;
    yyjson_mut_doc *doc = json_new_object(&root);
    yyjson_mut_val *audiences = yyjson_mut_obj_add_arr(doc, root, "aud");
    struct strbuf subject;
    size_t len = 0;

    vec_foreach (&claims->audiences, audience)
        (void)yyjson_mut_arr_add_str(doc, audiences, *audience);
    (void)yyjson_mut_obj_add_int(doc, root, "exp", claims->expires);
    (void)yyjson_mut_obj_add_int(doc, root, "iat", claims->issued);
    (void)yyjson_mut_obj_add_str(doc, root, "iss", ACCOUNT_TOKEN_AUDIENCE);
    yyjson_mut_val *own = yyjson_mut_obj_add_obj(doc, root, "kubernetes.io");
    (void)yyjson_mut_obj_add_str(doc, own, "namespace", claims->namespace);
    add_object(doc, own, "serviceaccount", claims->name, claims->uid);
    if (claims->pod)
        add_object(doc, own, "pod", claims->pod, claims->pod_uid);
    (void)yyjson_mut_obj_add_int(doc, root, "nbf", claims->issued);
    strbuf_init(&subject, TOKEN_MAX);
    strbuf_addf(&subject, ACCOUNT_PREFIX "%s:%s", claims->namespace, claims->name);
    (void)yyjson_mut_obj_add_str(doc, root, "sub", subject.text);
    char *json = yyjson_mut_write(doc, 0, &len);
    BUG_ON(!json);
    add_encoded(text, json, len);
    free(json);
    strbuf_done(&subject);
    yyjson_mut_doc_free(doc);
}

char *account_token_make(const struct token_key *key, const struct account_claims *claims)
{
    unsigned char signature[SIGNATURE_BYTES];
    struct strbuf text;

    strbuf_init(&text, TOKEN_MAX);
    add_encoded(&text, header, sizeof header - 1);
    strbuf_addch(&text, '.');
    add_claims(&text, claims);
    sign(key, text.text, text.len, signature);
    strbuf_addch(&text, '.');
    add_encoded(&text, signature, sizeof signature);
    return strbuf_take(&text);
}

/* Reads what was signed by this key, and so was written by add_claims(). Returns 0 or -ENOKEY. */
static int read_claims(yyjson_val *root, struct account_claims *claims)
{
    yyjson_val *own = yyjson_obj_get(root, "kubernetes.io");
    yyjson_val *pod = yyjson_obj_get(own, "pod");
    yyjson_val *audience;
    size_t i, max;

    if (!yyjson_is_obj(own))
        return -ENOKEY;
    claims->namespace = xstrdup(kube_text(own, "namespace"));
    claims->name = xstrdup(kube_text(own, "serviceaccount", "name"));
    claims->uid = xstrdup(kube_text(own, "serviceaccount", "uid"));
    claims->pod = pod ? xstrdup(kube_text(pod, "name")) : NULL;
    claims->pod_uid = pod ? xstrdup(kube_text(pod, "uid")) : NULL;
    claims->issued = yyjson_get_sint(yyjson_obj_get(root, "iat"));
    claims->expires = yyjson_get_sint(yyjson_obj_get(root, "exp"));
    yyjson_arr_foreach(yyjson_obj_get(root, "aud"), i, max, audience)
    {
        if (yyjson_is_str(audience))
            vec_push(&claims->audiences, xstrdup(yyjson_get_str(audience)));
    }
    return 0;
}

/* The part between the dots, when the signature behind them is ours. Returns 0 or -ENOKEY. */
static int check_signature(const struct token_key *key, const char *text, const char **ret_claims, size_t *ret_len)
{
    const char *first = strchr(text, '.');
    const char *second = first ? strchr(first + 1, '.') : NULL;
    unsigned char expected[SIGNATURE_BYTES];
    _cleanup_(freep) char *given = NULL;
    size_t len = 0;

    if (!second || strlen(text) > TOKEN_MAX || decode(second + 1, strlen(second + 1), &given, &len) < 0)
        return -ENOKEY;
    sign(key, text, (size_t)(second - text), expected);
    if (len != sizeof expected || CRYPTO_memcmp(given, expected, sizeof expected) != 0)
        return -ENOKEY;
    *ret_claims = first + 1;
    *ret_len = (size_t)(second - first - 1);
    return 0;
}

int account_token_read(const struct token_key *key, const char *text, nsec_t now, struct account_claims *ret_claims)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    _cleanup_(freep) char *json = NULL;
    struct account_claims claims = {0};
    const char *part = NULL;
    size_t len = 0;

    if (check_signature(key, text, &part, &len) < 0 || decode(part, len, &json, &len) < 0 ||
        json_parse(json, len, "token", &doc, NULL) < 0)
        return -ENOKEY;
    if (read_claims(yyjson_doc_get_root(doc), &claims) < 0 || claims.expires <= now / NSEC_PER_SEC) {
        account_claims_done(&claims);
        return -ENOKEY;
    }
    *ret_claims = claims;
    return 0;
}
