/* SPDX-License-Identifier: Apache-2.0 */
#include "services/admission/keyring.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "kube/access/base64.h"
#include "kube/client/meta.h"
#include "text/json.h"

#define AUTHORITY_NAME "muster-admission-ca"

/* Clocks differ, and a text of certificates stays small whatever happens. */
#define SKEW NSEC_PER_HOUR
#define SETTLE_MAX (10 * NSEC_PER_MIN)
enum { BUNDLE_CERTS_MAX = 4, BUNDLE_BYTES_MAX = 64 << 10 };

/* Members of the Secret's data. */
#define DATA_SERVER_CERT "tls.crt"
#define DATA_SERVER_KEY "tls.key"
#define DATA_CERT "ca.crt"
#define DATA_KEY "ca.key"
#define DATA_NEXT_CERT "next-ca.crt"
#define DATA_NEXT_KEY "next-ca.key"
#define DATA_PREVIOUS "previous-ca.crt"

void keyring_done(struct keyring *keyring)
{
    certificate_done(&keyring->server);
    certificate_done(&keyring->authority);
    certificate_done(&keyring->next);
    free(keyring->previous_pem);
    *keyring = (struct keyring){0};
}

static char *read_text(yyjson_val *data, const char *key)
{
    const char *encoded = yyjson_get_str(yyjson_obj_get(data, key));
    char *text = NULL;
    size_t len = 0;

    if (!encoded || base64_decode(encoded, &text, &len) < 0)
        return NULL;
    if (len > 0 && !memchr(text, '\0', len))
        return text;
    free(text);
    return NULL;
}

void keyring_read(yyjson_val *secret, struct keyring *ret_keyring)
{
    yyjson_val *data = yyjson_obj_get(secret, "data");

    *ret_keyring = (struct keyring){
        .server = {read_text(data, DATA_SERVER_CERT), read_text(data, DATA_SERVER_KEY)},
        .authority = {read_text(data, DATA_CERT), read_text(data, DATA_KEY)},
        .next = {read_text(data, DATA_NEXT_CERT), read_text(data, DATA_NEXT_KEY)},
        .previous_pem = read_text(data, DATA_PREVIOUS),
    };
}

static void write_text(yyjson_mut_doc *doc, yyjson_mut_val *data, const char *key, const char *text)
{
    if (!text)
        return;
    _cleanup_(freep) char *encoded = base64_encode(text, strlen(text));
    yyjson_mut_obj_add_strcpy(doc, data, key, encoded);
}

static yyjson_mut_doc *new_secret(const char *namespace, const char *name)
{
    yyjson_mut_val *root;
    yyjson_mut_doc *doc = json_new_object(&root);

    yyjson_mut_obj_add_str(doc, root, "apiVersion", "v1");
    yyjson_mut_obj_add_str(doc, root, "kind", "Secret");
    yyjson_mut_val *meta = yyjson_mut_obj_add_obj(doc, root, "metadata");
    yyjson_mut_obj_add_strcpy(doc, meta, "name", name);
    yyjson_mut_obj_add_strcpy(doc, meta, "namespace", namespace);
    yyjson_mut_obj_add_str(doc, root, "type", "Opaque");
    return doc;
}

yyjson_mut_doc *keyring_write(const struct keyring *keyring, yyjson_val *secret, const char *namespace,
                              const char *name)
{
    yyjson_mut_doc *doc = secret ? kube_copy(secret) : new_secret(namespace, name);
    yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);

    (void)yyjson_mut_obj_remove_key(root, "data");
    yyjson_mut_val *data = yyjson_mut_obj_add_obj(doc, root, "data");
    write_text(doc, data, DATA_SERVER_CERT, keyring->server.cert_pem);
    write_text(doc, data, DATA_SERVER_KEY, keyring->server.key_pem);
    write_text(doc, data, DATA_CERT, keyring->authority.cert_pem);
    write_text(doc, data, DATA_KEY, keyring->authority.key_pem);
    write_text(doc, data, DATA_NEXT_CERT, keyring->next.cert_pem);
    write_text(doc, data, DATA_NEXT_KEY, keyring->next.key_pem);
    write_text(doc, data, DATA_PREVIOUS, keyring->previous_pem);
    return doc;
}

/* The time that a certificate has left; negative for one that cannot be used. */
static nsec_t left_of(const char *cert_pem, nsec_t now, struct certificate_facts *ret_facts)
{
    if (!cert_pem || certificate_read(cert_pem, ret_facts, NULL) < 0 || now < ret_facts->not_before)
        return -1;
    return ret_facts->not_after - now;
}

static bool is_authority(const struct certificate *certificate, nsec_t now)
{
    struct certificate_facts facts;

    return certificate->key_pem && left_of(certificate->cert_pem, now, &facts) > 0 && facts.is_authority &&
           certificate_has_key(certificate->cert_pem, certificate->key_pem);
}

bool keyring_can_serve(const struct keyring *keyring, nsec_t now)
{
    struct certificate_facts facts;

    return keyring->server.key_pem && left_of(keyring->server.cert_pem, now, &facts) > 0 &&
           certificate_has_key(keyring->server.cert_pem, keyring->server.key_pem);
}

/* Its name says when it was made, so that two of them are told apart. */
static int make_authority(struct certificate *ret_authority, const struct keyring_wishes *wishes, nsec_t now,
                          struct err *err)
{
    nsec_t lifetime = wishes->authority_lifetime;
    nsec_t skew = MIN(SKEW, lifetime);
    char name[64];

    (void)snprintf(name, sizeof name, AUTHORITY_NAME "-%lld", (long long)(now / NSEC_PER_SEC));
    return certificate_make_authority(
        &(struct certificate_request){.common_name = name, .not_before = now - skew, .not_after = now + lifetime},
        ret_authority, err);
}

/* The authority to come takes over; API servers go on trusting the one before. */
static void promote(struct keyring *keyring)
{
    free(keyring->previous_pem);
    keyring->previous_pem = TAKE_PTR(keyring->authority.cert_pem);
    certificate_done(&keyring->authority);
    keyring->authority = keyring->next;
    keyring->next = (struct certificate){0};
}

/* When the certificate was made, as far as it says. */
static bool is_settled(const char *cert_pem, const struct keyring_wishes *wishes, nsec_t now)
{
    struct certificate_facts facts;
    nsec_t lifetime = wishes->authority_lifetime;
    nsec_t left = left_of(cert_pem, now, &facts);

    return lifetime - left >= MIN(SETTLE_MAX, lifetime / 30);
}

static int advance_authority(struct keyring *keyring, const struct keyring_wishes *wishes, nsec_t now,
                             char ret_why[static KEYRING_WHY_MAX], struct err *err)
{
    struct certificate_facts facts;
    bool has_next = is_authority(&keyring->next, now);

    if (!is_authority(&keyring->authority, now)) {
        bool is_first = !keyring->authority.cert_pem;

        if (!has_next) {
            certificate_done(&keyring->next);
            int r = make_authority(&keyring->next, wishes, now, err);
            if (r < 0)
                return r;
        }
        promote(keyring);
        (void)snprintf(ret_why, KEYRING_WHY_MAX, "%s",
                       is_first ? "there is no certificate authority yet"
                                : "the certificate authority cannot be used any more");
        return 1;
    }
    if (has_next && wishes->is_next_trusted && is_settled(keyring->next.cert_pem, wishes, now)) {
        promote(keyring);
        (void)snprintf(ret_why, KEYRING_WHY_MAX, "the next certificate authority is trusted everywhere and takes over");
        return 1;
    }
    if (has_next || left_of(keyring->authority.cert_pem, now, &facts) > wishes->authority_lifetime / 3)
        return 0;
    certificate_done(&keyring->next);
    int r = make_authority(&keyring->next, wishes, now, err);
    if (r < 0)
        return r;
    (void)snprintf(ret_why, KEYRING_WHY_MAX,
                   "a third of the certificate authority's time is left: the next one is created");
    return 1;
}

static const char *problem_with_server(const struct keyring *keyring, const struct keyring_wishes *wishes, nsec_t now)
{
    const struct certificate *server = &keyring->server;
    struct certificate_facts facts;

    if (!server->cert_pem || !server->key_pem)
        return "there is no serving certificate yet";
    nsec_t left = left_of(server->cert_pem, now, &facts);
    if (left <= 0 || !certificate_has_key(server->cert_pem, server->key_pem))
        return "the serving certificate cannot be used";
    if (left < (facts.not_after - facts.not_before) / 3)
        return "a third of the serving certificate's time is left";
    if (!certificate_is_signed_by(server->cert_pem, keyring->authority.cert_pem))
        return "the serving certificate was issued by another authority";
    for (size_t i = 0; i < wishes->dns_name_count; i++) {
        if (!certificate_is_for(server->cert_pem, wishes->dns_names[i]))
            return "the serving certificate lacks a name of the Service";
    }
    return NULL;
}

static int advance_server(struct keyring *keyring, const struct keyring_wishes *wishes, nsec_t now,
                          char ret_why[static KEYRING_WHY_MAX], struct err *err)
{
    nsec_t skew = MIN(SKEW, wishes->server_lifetime / 10);
    const char *problem = problem_with_server(keyring, wishes, now);
    struct certificate_facts authority;
    struct certificate made = {0};

    if (!problem)
        return 0;
    nsec_t left = left_of(keyring->authority.cert_pem, now, &authority);
    nsec_t lifetime = MIN(wishes->server_lifetime, left);
    int r = certificate_issue(&keyring->authority,
                              &(struct certificate_request){.common_name = "muster-admission",
                                                            .dns_names = wishes->dns_names,
                                                            .dns_name_count = wishes->dns_name_count,
                                                            .not_before = now - skew,
                                                            .not_after = now + lifetime},
                              &made, err);
    if (r < 0)
        return r;
    certificate_done(&keyring->server);
    keyring->server = made;
    if (!*ret_why)
        (void)snprintf(ret_why, KEYRING_WHY_MAX, "%s", problem);
    return 1;
}

int keyring_advance(struct keyring *keyring, const struct keyring_wishes *wishes, nsec_t now,
                    char ret_why[static KEYRING_WHY_MAX], struct err *err)
{
    struct certificate_facts facts;
    int changes = 0;

    ret_why[0] = '\0';
    int r = advance_authority(keyring, wishes, now, ret_why, err);
    if (r >= 0) {
        changes = r;
        r = advance_server(keyring, wishes, now, ret_why, err);
    }
    if (r < 0)
        return r;
    changes |= r;
    if (keyring->previous_pem && left_of(keyring->previous_pem, now, &facts) <= 0) {
        free(TAKE_PTR(keyring->previous_pem));
        if (!*ret_why)
            (void)snprintf(ret_why, KEYRING_WHY_MAX, "the previous certificate authority has expired");
        changes = 1;
    }
    return changes;
}

/* Bundles. */

static bool bundle_has(const char *bundle_pem, const char *cert_pem)
{
    for (const char *at = bundle_pem;;) {
        _cleanup_(freep) char *one = certificate_next(&at);

        if (!one)
            return false;
        if (strcmp(one, cert_pem) == 0)
            return true;
    }
}

bool keyring_bundle_has_next(const struct keyring *keyring, const char *bundle_pem)
{
    return !keyring->next.cert_pem || bundle_has(bundle_pem, keyring->next.cert_pem);
}

/* Whether one of our replicas has made it, and it can still vouch for a certificate. */
static bool is_worth_keeping(const char *cert_pem, nsec_t now)
{
    struct certificate_facts facts;

    return left_of(cert_pem, now, &facts) > 0 && facts.is_authority &&
           strncmp(facts.common_name, AUTHORITY_NAME, strlen(AUTHORITY_NAME)) == 0;
}

char *keyring_bundle(const struct keyring *keyring, const char *bundle_pem, nsec_t now)
{
    const char *const own[] = {keyring->authority.cert_pem, keyring->next.cert_pem, keyring->previous_pem};
    struct strbuf bundle;
    bool is_complete = true;
    size_t count = 0;

    strbuf_init(&bundle, BUNDLE_BYTES_MAX);
    for (size_t i = 0; i < ARRAY_LEN(own); i++) {
        if (!own[i])
            continue;
        is_complete = is_complete && bundle_has(bundle_pem, own[i]);
        strbuf_addstr(&bundle, own[i]);
        count++;
    }
    for (const char *at = bundle_pem; !is_complete && count < BUNDLE_CERTS_MAX;) {
        _cleanup_(freep) char *one = certificate_next(&at);

        if (!one)
            break;
        if (!is_worth_keeping(one, now) || bundle_has(bundle.text, one))
            continue;
        strbuf_addstr(&bundle, one);
        count++;
    }
    if (!is_complete && !bundle.is_cut)
        return strbuf_take(&bundle);
    strbuf_done(&bundle);
    return NULL;
}
