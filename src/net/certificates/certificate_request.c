/* SPDX-License-Identifier: Apache-2.0 */

/* Certificates of clients, whose keys never leave the machine where they were made: requests, and what becomes of them. */
#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "net/certificates/certificate_internal.h"

int certificate_make_request(struct certificate *ret_request, struct err *err)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509_REQ *request = X509_REQ_new();
    BIO *text = BIO_new(BIO_s_mem());
    BIO *secret = BIO_new(BIO_s_mem());

    BUG_ON(!key || !request || !text || !secret);
    bool is_good = X509_REQ_set_version(request, 0) == 1 && X509_REQ_set_pubkey(request, key) == 1 &&
                   X509_REQ_sign(request, key, EVP_sha256()) > 0 && PEM_write_bio_X509_REQ(text, request) == 1 &&
                   PEM_write_bio_PrivateKey(secret, key, NULL, NULL, 0, NULL, NULL) == 1;

    *ret_request = (struct certificate){.cert_pem = certificate_text(text), .key_pem = certificate_text(secret)};
    X509_REQ_free(request);
    EVP_PKEY_free(key);
    ERR_clear_error();
    if (is_good)
        return 0;
    certificate_done(ret_request);
    return err_set(err, -EIO, "a key cannot be generated");
}

/* The key that a request is about; NULL when the request is none, or its sender does not have the key. */
static EVP_PKEY *key_of(const char *pem)
{
    BIO *bio = BIO_new_mem_buf(pem, -1);

    BUG_ON(!bio);
    X509_REQ *request = PEM_read_bio_X509_REQ(bio, NULL, NULL, NULL);
    EVP_PKEY *key = request ? X509_REQ_get_pubkey(request) : NULL;

    if (key && (EVP_PKEY_get_base_id(key) != EVP_PKEY_EC || EVP_PKEY_get_bits(key) != 256 ||
                X509_REQ_verify(request, key) != 1)) {
        EVP_PKEY_free(key);
        key = NULL;
    }
    X509_REQ_free(request);
    BIO_free(bio);
    ERR_clear_error();
    return key;
}

static bool add_organisations(X509 *x509, const struct certificate_client *client)
{
    X509_NAME *subject = X509_get_subject_name(x509);

    for (size_t i = 0; i < client->organisation_count; i++) {
        const unsigned char *name = (const unsigned char *)client->organisations[i];

        if (X509_NAME_add_entry_by_txt(subject, "O", MBSTRING_UTF8, name, -1, -1, 0) != 1)
            return false;
    }
    return true;
}

static int issue_with(X509 *issuer, EVP_PKEY *issuer_key, const struct certificate_client *client, EVP_PKEY *key,
                      char **ret_cert_pem, struct err *err)
{
    const struct certificate_request request = {
        .common_name = client->common_name, .not_before = client->not_before, .not_after = client->not_after};
    X509 *x509 = X509_new();
    int r;

    BUG_ON(!x509);
    r = certificate_begin(x509, key, issuer, &request, err);
    if (r == 0 && !add_organisations(x509, client))
        r = err_set(err, -EINVAL, "the organisations of '%s' are too long", client->common_name);
    if (r == 0) {
        BUG_ON(!certificate_extend(x509, issuer, NID_basic_constraints, "critical,CA:FALSE"));
        BUG_ON(!certificate_extend(x509, issuer, NID_key_usage, "critical,digitalSignature"));
        BUG_ON(!certificate_extend(x509, issuer, NID_ext_key_usage, "clientAuth"));
        if (X509_sign(x509, issuer_key, EVP_sha256()) <= 0)
            r = err_set(err, -EKEYREJECTED, "the key of the certificate authority cannot sign");
    }
    if (r == 0) {
        BIO *text = BIO_new(BIO_s_mem());

        BUG_ON(!text || PEM_write_bio_X509(text, x509) != 1);
        *ret_cert_pem = certificate_text(text);
    }
    X509_free(x509);
    ERR_clear_error();
    return r;
}

int certificate_issue_client(const struct certificate *authority, const struct certificate_client *client,
                             const char *request_pem, char **ret_cert_pem, struct err *err)
{
    EVP_PKEY *key = key_of(request_pem);
    X509 *issuer = certificate_x509(authority->cert_pem);
    EVP_PKEY *issuer_key = certificate_key(authority->key_pem);
    int r;

    if (!key)
        r = err_set(err, -EINVAL, "not a certificate request for a P-256 key, signed with that key");
    else if (!issuer || !issuer_key || X509_check_private_key(issuer, issuer_key) != 1)
        r = err_set(err, -EKEYREJECTED, "the key of the certificate authority does not match its certificate");
    else
        r = issue_with(issuer, issuer_key, client, key, ret_cert_pem, err);
    ERR_clear_error();
    X509_free(issuer);
    EVP_PKEY_free(issuer_key);
    EVP_PKEY_free(key);
    return r;
}

int certificate_fingerprint(const char *cert_pem, char text[static CERTIFICATE_FINGERPRINT_MAX])
{
    unsigned char digest[CERTIFICATE_FINGERPRINT_MAX / 2];
    X509 *x509 = certificate_x509(cert_pem);
    unsigned int len = sizeof digest;
    bool is_good = x509 && X509_digest(x509, EVP_sha256(), digest, &len) == 1 && len == sizeof digest;

    X509_free(x509);
    ERR_clear_error();
    if (!is_good)
        return -EINVAL;
    for (size_t i = 0; i < sizeof digest; i++)
        (void)snprintf(text + 2 * i, CERTIFICATE_FINGERPRINT_MAX - 2 * i, "%02x", digest[i]);
    return 0;
}
