/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Keys and certificates for tests, made on the spot: nothing to keep, nothing that expires. */
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/mem.h"

struct cert {
    EVP_PKEY *key;
    X509 *x509;
    char *cert_pem;
    char *key_pem;
};

static inline char *cert_text(BIO *bio)
{
    char *bytes = NULL;
    long len = BIO_get_mem_data(bio, &bytes);
    char *text = xstrndup(bytes, (size_t)len);

    BIO_free(bio);
    return text;
}

static inline void cert_extend(struct cert *cert, struct cert *issuer, int nid, const char *value)
{
    X509V3_CTX context;

    X509V3_set_ctx(&context, issuer->x509, cert->x509, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
    BUG_ON(!extension || X509_add_ext(cert->x509, extension, -1) != 1);
    X509_EXTENSION_free(extension);
}

static inline void cert_name(X509_NAME *subject, const char *field, const char *text)
{
    BUG_ON(X509_NAME_add_entry_by_txt(subject, field, MBSTRING_ASC, (const unsigned char *)text, -1, -1, 0) != 1);
}

/* Signed by `issuer`, or by itself. `names` is a subjectAltName such as "IP:127.0.0.1". `groups` are organisations. */
static inline void cert_make(struct cert *cert, struct cert *issuer, const char *name, const char *names,
                             const char *const *groups)
{
    *cert = (struct cert){.key = EVP_EC_gen("P-256"), .x509 = X509_new()};
    BUG_ON(!cert->key || !cert->x509);
    struct cert *by = issuer ? issuer : cert;

    (void)X509_set_version(cert->x509, 2);
    (void)ASN1_INTEGER_set(X509_get_serialNumber(cert->x509), issuer ? 2 : 1);
    (void)X509_gmtime_adj(X509_getm_notBefore(cert->x509), -3600);
    (void)X509_gmtime_adj(X509_getm_notAfter(cert->x509), 3600);
    (void)X509_set_pubkey(cert->x509, cert->key);
    X509_NAME *subject = X509_get_subject_name(cert->x509);

    cert_name(subject, "CN", name);
    for (; groups && *groups; groups++)
        cert_name(subject, "O", *groups);
    (void)X509_set_issuer_name(cert->x509, X509_get_subject_name(by->x509));
    cert_extend(cert, by, NID_basic_constraints, issuer ? "critical,CA:FALSE" : "critical,CA:TRUE");
    cert_extend(cert, by, NID_subject_key_identifier, "hash");
    if (names)
        cert_extend(cert, by, NID_subject_alt_name, names);
    BUG_ON(X509_sign(cert->x509, by->key, EVP_sha256()) <= 0);

    BIO *bio = BIO_new(BIO_s_mem());
    (void)PEM_write_bio_X509(bio, cert->x509);
    cert->cert_pem = cert_text(bio);
    bio = BIO_new(BIO_s_mem());
    (void)PEM_write_bio_PrivateKey(bio, cert->key, NULL, NULL, 0, NULL, NULL);
    cert->key_pem = cert_text(bio);
}

static inline void cert_init(struct cert *cert, struct cert *issuer, const char *name, const char *names)
{
    cert_make(cert, issuer, name, names, NULL);
}

/* A client's, with the groups that it is in. */
static inline void cert_init_in(struct cert *cert, struct cert *issuer, const char *name, const char *const *groups)
{
    cert_make(cert, issuer, name, NULL, groups);
}

static inline void cert_done(struct cert *cert)
{
    EVP_PKEY_free(cert->key);
    X509_free(cert->x509);
    free(cert->cert_pem);
    free(cert->key_pem);
}
