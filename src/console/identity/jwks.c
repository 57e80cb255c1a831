/* SPDX-License-Identifier: Apache-2.0 */
#include "console/identity/jwks.h"

#include <errno.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/rsa.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "text/json.h"

enum {
    NUMBER_MAX = 1024,
    RSA_BITS_MIN = 2048,
    RSA_BITS_MAX = 8192,
    KID_MAX = 256,
    SIGNATURE_MAX = 1024,
    POINT_MAX = 48
};

#define VARIANT sodium_base64_VARIANT_URLSAFE_NO_PADDING

/* What a key may verify. */
static const struct algorithm {
    const char *name;
    int key;            // EVP_PKEY_RSA or EVP_PKEY_EC
    const char *curve;  // of an EC key, as OpenSSL names it
    const char *jwk_curve;
    const char *digest;
    bool is_pss;
    size_t half;  // bytes of each of an ECDSA signature's two numbers
} algorithms[] = {
    {"RS256", EVP_PKEY_RSA, NULL, NULL, "SHA256", false, 0},
    {"RS384", EVP_PKEY_RSA, NULL, NULL, "SHA384", false, 0},
    {"RS512", EVP_PKEY_RSA, NULL, NULL, "SHA512", false, 0},
    {"PS256", EVP_PKEY_RSA, NULL, NULL, "SHA256", true, 0},
    {"ES256", EVP_PKEY_EC, "prime256v1", "P-256", "SHA256", false, 32},
    {"ES384", EVP_PKEY_EC, "secp384r1", "P-384", "SHA384", false, 48},
};

struct jwk {
    char id[KID_MAX];   // "": it has none
    const char *alg;    // of the table; NULL: any that fits
    const char *curve;  // "P-256", ...; NULL: RSA
    EVP_PKEY *key;
};

struct jwks {
    struct jwk keys[JWKS_KEYS_MAX];
    size_t count;
};

static const struct algorithm *find_algorithm(const char *name)
{
    for (size_t i = 0; name && i < ARRAY_LEN(algorithms); i++) {
        if (strcmp(algorithms[i].name, name) == 0)
            return &algorithms[i];
    }
    return NULL;
}

/* --- keys --- */

static const char *member(yyjson_val *object, const char *key)
{
    return yyjson_get_str(yyjson_obj_get(object, key));
}

static bool decode(const char *text, unsigned char *bytes, size_t size, size_t *ret_len)
{
    return text && sodium_base642bin(bytes, size, text, strlen(text), NULL, ret_len, NULL, VARIANT) == 0;
}

static EVP_PKEY *key_from(const char *type, OSSL_PARAM_BLD *build)
{
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, type, NULL);
    OSSL_PARAM *parameters = OSSL_PARAM_BLD_to_param(build);
    EVP_PKEY *key = NULL;

    if (!context || !parameters || EVP_PKEY_fromdata_init(context) != 1 ||
        EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, parameters) != 1)
        key = NULL;
    OSSL_PARAM_free(parameters);
    EVP_PKEY_CTX_free(context);
    return key;
}

static EVP_PKEY *read_rsa(yyjson_val *jwk)
{
    unsigned char bytes[2][NUMBER_MAX];
    size_t len[2];
    EVP_PKEY *key = NULL;

    if (!decode(member(jwk, "n"), bytes[0], NUMBER_MAX, &len[0]) ||
        !decode(member(jwk, "e"), bytes[1], sizeof(uint64_t), &len[1]) || len[0] * 8 > RSA_BITS_MAX)
        return NULL;
    OSSL_PARAM_BLD *build = OSSL_PARAM_BLD_new();
    BIGNUM *modulus = BN_bin2bn(bytes[0], (int)len[0], NULL);
    BIGNUM *exponent = BN_bin2bn(bytes[1], (int)len[1], NULL);

    if (build && modulus && exponent && BN_num_bits(modulus) >= RSA_BITS_MIN && BN_is_odd(exponent) &&
        !BN_is_one(exponent) && OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_RSA_N, modulus) == 1 &&
        OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_RSA_E, exponent) == 1)
        key = key_from("RSA", build);
    OSSL_PARAM_BLD_free(build);
    BN_free(modulus);
    BN_free(exponent);
    return key;
}

static EVP_PKEY *read_ec(yyjson_val *jwk, const char **ret_curve)
{
    const char *curve = member(jwk, "crv");
    const struct algorithm *algorithm = NULL;
    unsigned char point[1 + 2 * POINT_MAX] = {4};
    size_t len[2];
    EVP_PKEY *key = NULL;

    for (size_t i = 0; curve && i < ARRAY_LEN(algorithms); i++) {
        if (algorithms[i].jwk_curve && strcmp(algorithms[i].jwk_curve, curve) == 0)
            algorithm = &algorithms[i];
    }
    if (!algorithm || !decode(member(jwk, "x"), point + 1, algorithm->half, &len[0]) || len[0] != algorithm->half ||
        !decode(member(jwk, "y"), point + 1 + algorithm->half, algorithm->half, &len[1]) || len[1] != algorithm->half)
        return NULL;
    OSSL_PARAM_BLD *build = OSSL_PARAM_BLD_new();
    if (build && OSSL_PARAM_BLD_push_utf8_string(build, OSSL_PKEY_PARAM_GROUP_NAME, algorithm->curve, 0) == 1 &&
        OSSL_PARAM_BLD_push_octet_string(build, OSSL_PKEY_PARAM_PUB_KEY, point, 1 + 2 * algorithm->half) == 1)
        key = key_from("EC", build);
    OSSL_PARAM_BLD_free(build);
    *ret_curve = algorithm->jwk_curve;
    return key;
}

static void add_key(struct jwks *jwks, yyjson_val *jwk)
{
    const char *type = member(jwk, "kty");
    const char *use = member(jwk, "use");
    const char *id = member(jwk, "kid");
    const char *alg = member(jwk, "alg");
    struct jwk key = {0};

    if (!type || (use && strcmp(use, "sig") != 0) || (id && strlen(id) >= KID_MAX) || (alg && !find_algorithm(alg)))
        return;
    if (strcmp(type, "RSA") == 0)
        key.key = read_rsa(jwk);
    else if (strcmp(type, "EC") == 0)
        key.key = read_ec(jwk, &key.curve);
    if (!key.key)
        return;
    key.alg = alg ? find_algorithm(alg)->name : NULL;
    (void)snprintf(key.id, sizeof key.id, "%s", id ? id : "");
    jwks->keys[jwks->count++] = key;
}

int jwks_parse(const char *text, size_t len, struct jwks **ret_jwks, struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    struct json_at keys;
    int r = json_parse(text, len, "keys", &doc, err);

    if (r < 0)
        return r;
    struct json_at root = json_root(doc);
    r = json_member_array(&root, "keys", JSON_REQUIRED, &keys, err);
    if (r < 0)
        return r;
    if (yyjson_arr_size(keys.val) > JWKS_KEYS_MAX)
        return err_set(err, -EINVAL, "keys: more than %d", JWKS_KEYS_MAX);
    struct jwks *jwks = xcalloc(1, sizeof *jwks);
    for (struct json_at item = {0}; json_next(&keys, &item);)
        add_key(jwks, item.val);
    *ret_jwks = jwks;
    return 0;
}

void jwks_free(struct jwks *jwks)
{
    for (size_t i = 0; jwks && i < jwks->count; i++)
        EVP_PKEY_free(jwks->keys[i].key);
    free(jwks);
}

size_t jwks_count(const struct jwks *jwks)
{
    return jwks->count;
}

/* --- tokens --- */

/* A part of a token as text, to be freed; NULL when it is no base64. */
static char *decode_part(const char *text, size_t len, size_t *ret_len)
{
    char *bytes = xcalloc(1, len + 1);

    if (sodium_base642bin((unsigned char *)bytes, len, text, len, NULL, ret_len, NULL, VARIANT) == 0)
        return bytes;
    free(bytes);
    return NULL;
}

static int not_valid(struct err *err, const char *why)
{
    return err_set(err, -ENOKEY, "the token of the identity provider is not valid: %s", why);
}

/* JSON Web Signatures have the two numbers one after the other, OpenSSL wants them in DER. */
static bool encode_ecdsa(const struct algorithm *algorithm, unsigned char *signature, size_t *len)
{
    unsigned char *out = signature;

    if (*len != 2 * algorithm->half)
        return false;
    ECDSA_SIG *pair = ECDSA_SIG_new();
    BIGNUM *first = BN_bin2bn(signature, (int)algorithm->half, NULL);
    BIGNUM *second = BN_bin2bn(signature + algorithm->half, (int)algorithm->half, NULL);
    BUG_ON(!pair || !first || !second || ECDSA_SIG_set0(pair, first, second) != 1);
    int der = i2d_ECDSA_SIG(pair, &out);
    ECDSA_SIG_free(pair);
    *len = der > 0 ? (size_t)der : 0;
    return der > 0;
}

static bool is_signed(const struct jwk *jwk, const struct algorithm *algorithm, const char *text, size_t text_len,
                      const unsigned char *signature, size_t len)
{
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    EVP_PKEY_CTX *key_context = NULL;
    bool is_right =
        context && EVP_DigestVerifyInit_ex(context, &key_context, algorithm->digest, NULL, NULL, jwk->key, NULL) == 1;

    if (is_right && algorithm->is_pss)
        is_right = EVP_PKEY_CTX_set_rsa_padding(key_context, RSA_PKCS1_PSS_PADDING) == 1 &&
                   EVP_PKEY_CTX_set_rsa_pss_saltlen(key_context, RSA_PSS_SALTLEN_DIGEST) == 1;
    is_right = is_right && EVP_DigestVerify(context, signature, len, (const unsigned char *)text, text_len) == 1;
    EVP_MD_CTX_free(context);
    return is_right;
}

static bool fits(const struct jwk *jwk, const struct algorithm *algorithm, const char *id)
{
    bool is_same_curve = jwk->curve && algorithm->jwk_curve ? strcmp(jwk->curve, algorithm->jwk_curve) == 0
                                                            : !jwk->curve && !algorithm->jwk_curve;

    return is_same_curve && (!jwk->alg || strcmp(jwk->alg, algorithm->name) == 0) && (!id || strcmp(jwk->id, id) == 0);
}

static int read_header(const char *text, size_t len, const struct algorithm **ret_algorithm, char id[static KID_MAX],
                       bool *ret_has_id, struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    _cleanup_(freep) char *header = decode_part(text, len, &len);

    if (!header || json_parse(header, len, "header", &doc, err) < 0 || !yyjson_is_obj(yyjson_doc_get_root(doc)))
        return not_valid(err, "its header is malformed");
    yyjson_val *root = yyjson_doc_get_root(doc);
    const char *kid = member(root, "kid");
    *ret_algorithm = find_algorithm(member(root, "alg"));
    if (!*ret_algorithm)
        return not_valid(err, "its algorithm is not supported");
    if (yyjson_obj_get(root, "crit") || (kid && strlen(kid) >= KID_MAX))
        return not_valid(err, "its header is not supported");
    *ret_has_id = kid != NULL;
    (void)snprintf(id, KID_MAX, "%s", kid ? kid : "");
    return 0;
}

static int check_signature(const struct jwks *jwks, const char *token, const char *last, const char *id,
                           const struct algorithm *algorithm, struct err *err)
{
    unsigned char signature[SIGNATURE_MAX + 16];
    size_t len = 0;
    size_t tried = 0;

    if (!decode(last + 1, signature, SIGNATURE_MAX, &len) ||
        (algorithm->key == EVP_PKEY_EC && !encode_ecdsa(algorithm, signature, &len)))
        return not_valid(err, "its signature is malformed");
    for (size_t i = 0; i < jwks->count; i++) {
        if (!fits(&jwks->keys[i], algorithm, id))
            continue;
        tried++;
        if (is_signed(&jwks->keys[i], algorithm, token, (size_t)(last - token), signature, len))
            return 0;
    }
    if (tried == 0)
        return err_set(err, -ESRCH, "the identity provider has no key '%s'", id ? id : "");
    return not_valid(err, "its signature is wrong");
}

int jwks_verify(const struct jwks *jwks, const char *token, yyjson_doc **ret_claims, struct err *err)
{
    _cleanup_(freep) char *payload = NULL;
    const struct algorithm *algorithm = NULL;
    const char *first = strchr(token, '.');
    const char *last = strrchr(token, '.');
    char id[KID_MAX];
    bool has_id = false;
    size_t len = 0;
    int r;

    BUG_ON(sodium_init() < 0);
    if (!first || first == last || memchr(first + 1, '.', (size_t)(last - first - 1)) || strlen(token) > JWT_TEXT_MAX)
        return not_valid(err, "it is malformed");
    if ((r = read_header(token, (size_t)(first - token), &algorithm, id, &has_id, err)) < 0 ||
        (r = check_signature(jwks, token, last, has_id ? id : NULL, algorithm, err)) < 0)
        return r;
    payload = decode_part(first + 1, (size_t)(last - first - 1), &len);
    if (!payload || json_parse(payload, len, "claims", ret_claims, err) < 0)
        return not_valid(err, "its claims are malformed");
    if (!yyjson_is_obj(yyjson_doc_get_root(*ret_claims))) {
        yyjson_doc_free(*ret_claims);
        *ret_claims = NULL;
        return not_valid(err, "its claims are malformed");
    }
    return 0;
}
