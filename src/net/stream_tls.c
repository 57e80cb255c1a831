/* SPDX-License-Identifier: Apache-2.0 */

/* Certificates and keys from memory. */
#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>

#include "base/err.h"
#include "net/stream_internal.h"

static int tls_fail(struct err *err, const char *what)
{
    unsigned long code = ERR_peek_last_error();
    const char *reason = code ? ERR_reason_error_string(code) : NULL;

    ERR_clear_error();
    return err_set(err, -EKEYREJECTED, "%s: %s", what, reason ? reason : "cannot be read");
}

/* Without this, OpenSSL asks on the terminal. */
// NOLINTNEXTLINE(readability-non-const-parameter): the type is OpenSSL's
static int no_password(char *buffer, int size, int is_writing, void *arg)
{
    (void)buffer;
    (void)size;
    (void)is_writing;
    (void)arg;
    return 0;
}

static int add_chain(SSL_CTX *context, BIO *pem, struct err *err)
{
    X509 *own = PEM_read_bio_X509(pem, NULL, no_password, NULL);

    if (!own || SSL_CTX_use_certificate(context, own) != 1) {
        X509_free(own);
        return tls_fail(err, "certificate");
    }
    X509_free(own);
    for (X509 *next; (next = PEM_read_bio_X509(pem, NULL, no_password, NULL));) {
        if (SSL_CTX_add0_chain_cert(context, next) == 1)
            continue;
        X509_free(next);
        return tls_fail(err, "certificate chain");
    }
    ERR_clear_error();
    return 0;
}

static int add_key(SSL_CTX *context, BIO *pem, struct err *err)
{
    EVP_PKEY *key = PEM_read_bio_PrivateKey(pem, NULL, no_password, NULL);
    bool is_good = key && SSL_CTX_use_PrivateKey(context, key) == 1;

    EVP_PKEY_free(key);
    if (!is_good)
        return tls_fail(err, "key");
    if (SSL_CTX_check_private_key(context) != 1)
        return tls_fail(err, "the key does not match the certificate");
    return 0;
}

/* A client may come without a certificate; one that it presents must be good. */
static int ask_for_clients(SSL_CTX *context, const char *pem, struct err *err)
{
    X509_STORE *store = SSL_CTX_get_cert_store(context);
    BIO *bio = BIO_new_mem_buf(pem, -1);
    int count = 0;
    int r = 0;

    BUG_ON(!bio);
    for (X509 *next; r == 0 && (next = PEM_read_bio_X509(bio, NULL, no_password, NULL)); count++) {
        if (X509_STORE_add_cert(store, next) != 1 || SSL_CTX_add_client_CA(context, next) != 1)
            r = tls_fail(err, "certificate authority of the clients");
        X509_free(next);
    }
    BIO_free(bio);
    if (r == 0 && count == 0)
        r = tls_fail(err, "certificate authority of the clients");
    ERR_clear_error();
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    return r;
}

int stream_tls_context(const char *cert_pem, const char *key_pem, const char *client_ca_pem, SSL_CTX **ret_context,
                       struct err *err)
{
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    BIO *cert = BIO_new_mem_buf(cert_pem, -1);
    BIO *key = BIO_new_mem_buf(key_pem, -1);

    BUG_ON(!context || !cert || !key);
    (void)SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    /* Nothing is gained by resuming sessions within a cluster, and their keys would have to be rotated. */
    (void)SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    (void)SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET);
    int r = add_chain(context, cert, err);
    if (r == 0)
        r = add_key(context, key, err);
    if (r == 0 && client_ca_pem)
        r = ask_for_clients(context, client_ca_pem, err);
    BIO_free(cert);
    BIO_free(key);
    if (r < 0)
        SSL_CTX_free(context);
    else
        *ret_context = context;
    return r;
}
