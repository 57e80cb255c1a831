/* SPDX-License-Identifier: Apache-2.0 */
#include "net/certificates/authority.h"

#include <errno.h>
#include <netdb.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "net/certificates/certificate_internal.h"

static void set_timeout(int fd, nsec_t timeout)
{
    const struct timeval limit = {.tv_sec = timeout / NSEC_PER_SEC, .tv_usec = timeout % NSEC_PER_SEC / NSEC_PER_USEC};

    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
}

/* Tries one address after the other. */
static int connect_to(const char *host, const char *port, nsec_t timeout, int *ret_fd, struct err *err)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *all = NULL;
    int failed = getaddrinfo(host, port, &hints, &all);
    int fd = -1;
    int code = -EHOSTUNREACH;

    if (failed != 0)
        return err_set(err, -EHOSTUNREACH, "%s: %s", host, gai_strerror(failed));
    for (const struct addrinfo *at = all; at && fd < 0; at = at->ai_next) {
        fd = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol);
        if (fd < 0)
            continue;
        set_timeout(fd, timeout);
        if (connect(fd, at->ai_addr, at->ai_addrlen) == 0)
            break;
        code = errno == EINPROGRESS ? -ETIMEDOUT : -errno;
        (void)close(fd);
        fd = -1;
    }
    freeaddrinfo(all);
    if (fd < 0)
        return err_set(err, code, "connecting to %s port %s: %s", host, port, strerror(-code));
    *ret_fd = fd;
    return 0;
}

static char *pem_of(X509 *x509)
{
    BIO *text = BIO_new(BIO_s_mem());

    BUG_ON(!text || PEM_write_bio_X509(text, x509) != 1);
    return certificate_text(text);
}

/* The certificate of the chain with the fingerprint, as a text; NULL when there is none. */
static char *find_in_chain(const SSL *ssl, const char *fingerprint)
{
    STACK_OF(X509) *chain = SSL_get_peer_cert_chain(ssl);

    for (int i = 0; i < sk_X509_num(chain); i++) {
        char own[CERTIFICATE_FINGERPRINT_MAX];
        char *pem = pem_of(sk_X509_value(chain, i));

        if (certificate_fingerprint(pem, own) == 0 && strcasecmp(own, fingerprint) == 0)
            return pem;
        free(pem);
    }
    return NULL;
}

static int read_chain(SSL *ssl, const char *host, const char *fingerprint, char **ret_pem, struct err *err)
{
    if (SSL_connect(ssl) != 1)
        return err_set(err, -EPROTO, "%s does not answer as a TLS server", host);
    X509 *leaf = SSL_get0_peer_certificate(ssl);
    _cleanup_(freep) char *pem = find_in_chain(ssl, fingerprint);
    _cleanup_(freep) char *own = leaf ? pem_of(leaf) : NULL;

    if (!pem || !own || !certificate_is_signed_by(own, pem))
        return err_set(err, -EKEYREJECTED,
                       "%s is not the server that the token is for: the fingerprint of its authority is another one",
                       host);
    *ret_pem = TAKE_PTR(pem);
    return 0;
}

int authority_find(const char *host, const char *port, const char *fingerprint, nsec_t timeout, char **ret_pem,
                   struct err *err)
{
    int fd = -1;
    int r = connect_to(host, port, timeout, &fd, err);

    if (r < 0)
        return r;
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    SSL *ssl = context ? SSL_new(context) : NULL;

    BUG_ON(!ssl);
    (void)SSL_set_min_proto_version(ssl, TLS1_2_VERSION);
    /* The chain is judged by its fingerprint, below: no authority is known yet. */
    SSL_set_verify(ssl, SSL_VERIFY_NONE, NULL);
    BUG_ON(SSL_set_fd(ssl, fd) != 1);
    r = read_chain(ssl, host, fingerprint, ret_pem, err);
    SSL_free(ssl);
    SSL_CTX_free(context);
    ERR_clear_error();
    (void)close(fd);
    return r;
}
