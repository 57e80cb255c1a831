/* SPDX-License-Identifier: Apache-2.0 */

/* There is one header, and a token with any other is refused: which algorithm is used is not for the client to say. */
#include "console/identity/tokens.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <yyjson.h>

#include "base/err.h"
#include "text/json.h"

enum { PAYLOAD_MAX = 512, SIGNATURE_TEXT_MAX = 64 };

#define HEADER "{\"alg\":\"HS256\",\"typ\":\"JWT\"}"
#define VARIANT sodium_base64_VARIANT_URLSAFE_NO_PADDING

_Static_assert(TOKEN_KEY_BYTES == crypto_auth_hmacsha256_KEYBYTES, "the key fits");

static void encode(const char *text, char *out, size_t size)
{
    (void)sodium_bin2base64(out, size, (const unsigned char *)text, strlen(text), VARIANT);
}

static void sign(const unsigned char *key, const char *text, size_t len, char out[static SIGNATURE_TEXT_MAX])
{
    unsigned char bytes[crypto_auth_hmacsha256_BYTES];

    (void)crypto_auth_hmacsha256(bytes, (const unsigned char *)text, len, key);
    (void)sodium_bin2base64(out, SIGNATURE_TEXT_MAX, bytes, sizeof bytes, VARIANT);
}

void token_write(const unsigned char key[static TOKEN_KEY_BYTES], const struct token *token,
                 char text[static TOKEN_TEXT_MAX])
{
    char payload[PAYLOAD_MAX];
    char parts[2][TOKEN_TEXT_MAX / 2];
    char signature[SIGNATURE_TEXT_MAX];

    BUG_ON(sodium_init() < 0);
    (void)snprintf(payload, sizeof payload,
                   "{\"iss\":\"muster\",\"sub\":\"%s\",\"jti\":\"%s\",\"iat\":%lld,\"exp\":%lld}", token->subject,
                   token->grant, (long long)(token->issued / NSEC_PER_SEC), (long long)(token->expires / NSEC_PER_SEC));
    encode(HEADER, parts[0], sizeof parts[0]);
    encode(payload, parts[1], sizeof parts[1]);
    int len = snprintf(text, TOKEN_TEXT_MAX, "%s.%s", parts[0], parts[1]);

    sign(key, text, (size_t)len, signature);
    (void)snprintf(text + len, TOKEN_TEXT_MAX - (size_t)len, ".%s", signature);
}

static int read_payload(const char *text, size_t len, struct token *ret_token, struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    unsigned char payload[PAYLOAD_MAX];
    size_t payload_len = 0;
    const char *subject = "";
    const char *grant = "";
    int64_t expires = 0;

    if (sodium_base642bin(payload, sizeof payload, text, len, NULL, &payload_len, NULL, VARIANT) != 0)
        return err_set(err, -ENOKEY, "the token is not valid");
    int r = json_parse((const char *)payload, payload_len, "token", &doc, err);
    if (r < 0)
        return r;
    struct json_at root = json_root(doc);
    if ((r = json_member_str(&root, "sub", JSON_REQUIRED, &subject, err)) < 0 ||
        (r = json_member_str(&root, "jti", JSON_REQUIRED, &grant, err)) < 0 ||
        (r = json_member_int64(&root, "exp", JSON_REQUIRED, 0, INT32_MAX * INT64_C(4), &expires, err)) < 0)
        return r;
    (void)snprintf(ret_token->subject, sizeof ret_token->subject, "%s", subject);
    (void)snprintf(ret_token->grant, sizeof ret_token->grant, "%s", grant);
    ret_token->expires = expires * NSEC_PER_SEC;
    return 0;
}

int token_read(const unsigned char key[static TOKEN_KEY_BYTES], const char *text, nsec_t now, struct token *ret_token,
               struct err *err)
{
    char header[SIGNATURE_TEXT_MAX];
    char signature[SIGNATURE_TEXT_MAX];
    const char *first = strchr(text, '.');
    const char *last = strrchr(text, '.');

    BUG_ON(sodium_init() < 0);
    *ret_token = (struct token){0};
    encode(HEADER, header, sizeof header);
    if (!first || first == last || strlen(text) >= TOKEN_TEXT_MAX || strlen(header) != (size_t)(first - text) ||
        strncmp(text, header, strlen(header)) != 0)
        return err_set(err, -ENOKEY, "the token is not valid");
    sign(key, text, (size_t)(last - text), signature);
    if (!secret_equals(signature, last + 1) || read_payload(first + 1, (size_t)(last - first - 1), ret_token, err) < 0)
        return err_set(err, -ENOKEY, "the token is not valid");
    if (ret_token->expires <= now)
        return err_set(err, -ENOKEY, "the token has expired");
    return 0;
}
