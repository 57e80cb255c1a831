/* SPDX-License-Identifier: Apache-2.0 */
#include "console/identity/oidc.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "text/json.h"

#define WELL_KNOWN "/.well-known/openid-configuration"

/* The largest uid and gid: the kernel's highest value stands for none. */
#define ID_MAX INT64_C(4294967294)

/* --- the provider --- */

static int take_url(const struct json_at *root, const char *key, char url[static OIDC_URL_MAX], struct err *err)
{
    const char *text = NULL;
    int r = json_member_str(root, key, JSON_REQUIRED, &text, err);

    if (r < 0)
        return r;
    if (strlen(text) >= OIDC_URL_MAX)
        return json_fail(root, err, -EINVAL, "%s is too long", key);
    (void)snprintf(url, OIDC_URL_MAX, "%s", text);
    return 0;
}

static bool has_text(yyjson_val *list, const char *text)
{
    size_t i, count;
    yyjson_val *item;

    yyjson_arr_foreach(list, i, count, item)
    {
        if (yyjson_equals_str(item, text))
            return true;
    }
    return false;
}

int oidc_parse_provider(const char *text, size_t len, const char *url, struct oidc_provider *ret_provider,
                        struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    int r = json_parse(text, len, "the discovery document", &doc, err);

    if (r < 0)
        return r;
    struct json_at root = json_root(doc);
    if ((r = json_object(&root, err)) < 0 || (r = take_url(&root, "issuer", ret_provider->issuer, err)) < 0 ||
        (r = take_url(&root, "authorization_endpoint", ret_provider->authorize, err)) < 0 ||
        (r = take_url(&root, "token_endpoint", ret_provider->token, err)) < 0 ||
        (r = take_url(&root, "jwks_uri", ret_provider->keys, err)) < 0)
        return r;
    size_t issuer = strlen(ret_provider->issuer);
    if (issuer > 0 && ret_provider->issuer[issuer - 1] == '/')
        issuer--;
    if (strncmp(url, ret_provider->issuer, issuer) != 0 || strcmp(url + issuer, WELL_KNOWN) != 0)
        return err_set(err, -EINVAL, "the discovery document at %.200s names another issuer: '%.200s'", url,
                       ret_provider->issuer);
    yyjson_val *methods = yyjson_obj_get(root.val, "token_endpoint_auth_methods_supported");
    ret_provider->posts_secret = has_text(methods, "client_secret_post") && !has_text(methods, "client_secret_basic");
    return 0;
}

/* --- one login --- */

void oidc_login_from(const char *secret, struct oidc_login *ret_login)
{
    unsigned char hash[crypto_hash_sha256_BYTES];

    secret_digest_two("state:", secret, ret_login->state);
    secret_digest_two("nonce:", secret, ret_login->nonce);
    secret_digest_two("verifier:", secret, ret_login->verifier);
    (void)crypto_hash_sha256(hash, (const unsigned char *)ret_login->verifier, strlen(ret_login->verifier));
    (void)sodium_bin2base64(ret_login->challenge, sizeof ret_login->challenge, hash, sizeof hash,
                            sodium_base64_VARIANT_URLSAFE_NO_PADDING);
}

void oidc_add_form(struct strbuf *form, const char *name, const char *value)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";

    if (*name)
        strbuf_addf(form, "%s%s=", form->len > 0 && !strchr("?&", form->text[form->len - 1]) ? "&" : "", name);
    for (; *value; value++) {
        if (strchr(plain, *value))
            strbuf_addch(form, *value);
        else
            strbuf_addf(form, "%%%02X", (unsigned char)*value);
    }
}

char *oidc_authorize_url(const struct oidc_provider *provider, const char *client, const char *scopes,
                         const char *redirect, const struct oidc_login *login)
{
    struct strbuf url;

    strbuf_init(&url, 8L * OIDC_URL_MAX);
    strbuf_addf(&url, "%s%c", provider->authorize, strchr(provider->authorize, '?') ? '&' : '?');
    oidc_add_form(&url, "response_type", "code");
    oidc_add_form(&url, "client_id", client);
    oidc_add_form(&url, "redirect_uri", redirect);
    oidc_add_form(&url, "scope", scopes);
    oidc_add_form(&url, "state", login->state);
    oidc_add_form(&url, "nonce", login->nonce);
    oidc_add_form(&url, "code_challenge", login->challenge);
    oidc_add_form(&url, "code_challenge_method", "S256");
    return strbuf_take(&url);
}

/* --- claims --- */

static int refuse(struct err *err, const char *why)
{
    return err_set(err, -ENOKEY, "the token of the identity provider is refused: %s", why);
}

/* A time of a claim, in seconds; false when it is missing or makes no sense. */
static bool read_time(yyjson_val *claims, const char *name, nsec_t *ret_time)
{
    yyjson_val *value = yyjson_obj_get(claims, name);
    double seconds = yyjson_get_num(value);

    if (!yyjson_is_num(value) || !(seconds >= 0) || seconds > 1e10 / 2)
        return false;
    *ret_time = (nsec_t)seconds * NSEC_PER_SEC;
    return true;
}

static int check_times(yyjson_val *claims, nsec_t now, struct err *err)
{
    nsec_t expires, issued, begins;

    if (!read_time(claims, "exp", &expires) || !read_time(claims, "iat", &issued))
        return refuse(err, "its times of issue and expiry are missing");
    if (expires <= now - OIDC_SKEW)
        return refuse(err, "it has expired");
    if (issued > now + OIDC_SKEW)
        return refuse(err, "it was issued in the future: the clocks differ");
    if (issued < now - OIDC_AGE_MAX - OIDC_SKEW)
        return refuse(err, "it is too old");
    if (yyjson_obj_get(claims, "nbf") && (!read_time(claims, "nbf", &begins) || begins > now + OIDC_SKEW))
        return refuse(err, "it is not valid yet: the clocks differ");
    return 0;
}

int oidc_check_claims(yyjson_val *claims, const char *issuer, const char *client, const char *nonce, nsec_t now,
                      struct err *err)
{
    yyjson_val *audience = yyjson_obj_get(claims, "aud");
    yyjson_val *party = yyjson_obj_get(claims, "azp");
    const char *given = yyjson_get_str(yyjson_obj_get(claims, "nonce"));

    if (!yyjson_equals_str(yyjson_obj_get(claims, "iss"), issuer))
        return refuse(err, "it is from another issuer");
    if (!yyjson_equals_str(audience, client) && !has_text(audience, client))
        return refuse(err, "it is for another audience");
    if (yyjson_arr_size(audience) > 1 && !party)
        return refuse(err, "it has several audiences and no authorized party");
    if (party && !yyjson_equals_str(party, client))
        return refuse(err, "it is for another authorized party");
    if (!given || !secret_equals(given, nonce))
        return refuse(err, "it belongs to another login");
    return check_times(claims, now, err);
}

/* A claim by its name, or by a path of names: "realm_access.roles". A claim whose name has dots wins. */
static yyjson_val *find_claim(yyjson_val *claims, const char *path)
{
    yyjson_val *found = yyjson_obj_get(claims, path);
    size_t len = strcspn(path, ".");

    if (found || path[len] != '.')
        return found;
    return find_claim(yyjson_obj_getn(claims, path, len), path + len + 1);
}

static bool read_id(yyjson_val *value, int64_t *ret_id)
{
    const char *text = yyjson_get_str(value);
    char *end = NULL;

    if (text) {
        if (*text < '0' || *text > '9' || strlen(text) > 10)
            return false;
        *ret_id = strtoll(text, &end, 10);
        return !*end && *ret_id <= ID_MAX;
    }
    *ret_id = yyjson_get_sint(value);
    return yyjson_is_int(value) && *ret_id >= 0 && *ret_id <= ID_MAX;
}

/* -1 stays where the claim is not there. */
static int take_id(yyjson_val *claims, const char *path, int64_t *id, struct err *err)
{
    yyjson_val *value = *path ? find_claim(claims, path) : NULL;
    int64_t found;

    *id = -1;
    if (!value || yyjson_is_null(value))
        return 0;
    if (!read_id(value, &found))
        return err_set(err, -ENOKEY, "the claim '%.100s' is not a uid or gid", path);
    *id = found;
    return 0;
}

static int add_group(struct oidc_person *person, yyjson_val *value, const char *path, struct err *err)
{
    const char *name = yyjson_get_str(value);

    if (!name || !*name || strlen(name) > OIDC_NAME_MAX || strlen(name) != yyjson_get_len(value))
        return err_set(err, -ENOKEY, "the claim '%.100s' has a value that is not a group", path);
    if (person->group_count == OIDC_GROUPS_MAX)
        return err_set(err, -ENOKEY, "the claim '%.100s' has more than %d groups", path, OIDC_GROUPS_MAX);
    person->groups[person->group_count++] = name;
    return 0;
}

static int take_groups(yyjson_val *claims, const char *path, struct oidc_person *person, struct err *err)
{
    yyjson_val *value = *path ? find_claim(claims, path) : NULL;
    size_t i, count;
    yyjson_val *item;
    int r = 0;

    if (yyjson_is_str(value))
        return add_group(person, value, path, err);
    yyjson_arr_foreach(value, i, count, item)
    {
        if (r == 0)
            r = add_group(person, item, path, err);
    }
    return r;
}

static int take_supplementary(yyjson_val *claims, const char *path, struct oidc_person *person, struct err *err)
{
    yyjson_val *value = *path ? find_claim(claims, path) : NULL;
    size_t i, count;
    yyjson_val *item;

    yyjson_arr_foreach(value, i, count, item)
    {
        if (person->supplementary_count == OIDC_GROUPS_MAX ||
            !read_id(item, &person->supplementary[person->supplementary_count]))
            return err_set(err, -ENOKEY, "the claim '%.100s' is not a list of at most %d gids", path, OIDC_GROUPS_MAX);
        person->supplementary_count++;
    }
    return 0;
}

static int check_mandatory(yyjson_val *claims, const struct oidc_mapping *mapping, struct err *err)
{
    yyjson_val *value = mapping->mandatory_claim ? find_claim(claims, mapping->mandatory_claim) : NULL;
    size_t i, count;
    yyjson_val *item;

    if (!mapping->mandatory_claim)
        return 0;
    yyjson_arr_foreach(mapping->mandatory_values, i, count, item)
    {
        const char *wanted = yyjson_get_str(item);

        if (wanted && (yyjson_equals_str(value, wanted) || has_text(value, wanted)))
            return 0;
    }
    return err_set(err, -ENOKEY, "the claim '%.100s' has none of the values that are needed to sign in",
                   mapping->mandatory_claim);
}

int oidc_read_person(yyjson_val *claims, const struct oidc_mapping *mapping, struct oidc_person *ret_person,
                     struct err *err)
{
    yyjson_val *subject = yyjson_obj_get(claims, "sub");
    yyjson_val *email = find_claim(claims, mapping->email);
    yyjson_val *verified = yyjson_obj_get(claims, "email_verified");
    int r;

    *ret_person = (struct oidc_person){.subject = yyjson_get_str(subject), .email = yyjson_get_str(email)};
    if (!ret_person->subject || !*ret_person->subject || strlen(ret_person->subject) > OIDC_NAME_MAX ||
        strlen(ret_person->subject) != yyjson_get_len(subject))
        return refuse(err, "it has no subject");
    if (!ret_person->email || strlen(ret_person->email) != yyjson_get_len(email))
        return err_set(err, -ENOKEY, "the claim '%.100s' has no e-mail address", mapping->email);
    if (verified && !yyjson_get_bool(verified) && !yyjson_equals_str(verified, "true"))
        return err_set(err, -ENOKEY, "the e-mail address is not verified by the identity provider");
    if ((r = check_mandatory(claims, mapping, err)) < 0 ||
        (r = take_groups(claims, mapping->groups, ret_person, err)) < 0 ||
        (r = take_id(claims, mapping->uid, &ret_person->uid, err)) < 0 ||
        (r = take_id(claims, mapping->gid, &ret_person->gid, err)) < 0)
        return r;
    return take_supplementary(claims, mapping->supplementary_groups, ret_person, err);
}
