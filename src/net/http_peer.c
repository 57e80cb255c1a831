/* SPDX-License-Identifier: Apache-2.0 */

/* Who is at the other end: an address, the credentials of a Unix socket, the certificate of TLS. */
#include <arpa/inet.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "net/http_server_internal.h"

enum { NAME_MAX_BYTES = 1024 };

static void format_address(const struct sockaddr_storage *address, char *text, size_t size)
{
    char host[INET6_ADDRSTRLEN] = "";

    if (address->ss_family == AF_INET6) {
        const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)address;

        (void)inet_ntop(AF_INET6, &in6->sin6_addr, host, sizeof host);
        (void)snprintf(text, size, "[%s]:%u", host, ntohs(in6->sin6_port));
    } else if (address->ss_family == AF_INET) {
        const struct sockaddr_in *in = (const struct sockaddr_in *)address;

        (void)inet_ntop(AF_INET, &in->sin_addr, host, sizeof host);
        (void)snprintf(text, size, "%s:%u", host, ntohs(in->sin_port));
    } else {
        (void)snprintf(text, size, "unix");
    }
}

void http_peer_find(struct http_connection *connection)
{
    struct http_peer *peer = &connection->peer;
    struct sockaddr_storage address = {0};
    socklen_t len = sizeof address;
    int fd = stream_fd(connection->stream);

    peer->is_tls = stream_ssl(connection->stream) != NULL;
    if (getpeername(fd, (struct sockaddr *)&address, &len) < 0)
        return;
    format_address(&address, peer->address, sizeof peer->address);
    if (address.ss_family != AF_UNIX)
        return;
    struct ucred credentials;

    len = sizeof credentials;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &len) < 0)
        return;
    peer->has_credentials = true;
    peer->uid = credentials.uid;
    peer->gid = credentials.gid;
    peer->pid = credentials.pid;
}

/* A copy of one entry of a name; NULL when it is too long or holds a NUL, which could pass for another name. */
static char *entry_text(const X509_NAME *name, int at)
{
    unsigned char *text = NULL;
    int len = ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at)));
    char *copy = NULL;

    if (len > 0 && len <= NAME_MAX_BYTES && !memchr(text, '\0', (size_t)len))
        copy = strndup((const char *)text, (size_t)len);
    OPENSSL_free(text);
    return copy;
}

static void read_subject(struct http_peer *peer, const X509_NAME *subject)
{
    int at = X509_NAME_get_index_by_NID((X509_NAME *)(uintptr_t)subject, NID_commonName, -1);

    if (at >= 0)
        peer->name = entry_text(subject, at);
    for (at = -1; peer->name && peer->group_count < HTTP_GROUPS_MAX;) {
        at = X509_NAME_get_index_by_NID((X509_NAME *)(uintptr_t)subject, NID_organizationName, at);
        if (at < 0)
            break;
        peer->groups[peer->group_count] = entry_text(subject, at);
        peer->group_count += peer->groups[peer->group_count] != NULL;
    }
}

void http_peer_identify(struct http_connection *connection)
{
    const SSL *ssl = stream_ssl(connection->stream);

    if (!ssl || connection->is_identified)
        return;
    connection->is_identified = true;
    X509 *certificate = SSL_get0_peer_certificate(ssl);

    /* Without an authority for clients none is asked for, and nothing is verified. */
    if (certificate && SSL_get_verify_result(ssl) == X509_V_OK)
        read_subject(&connection->peer, X509_get_subject_name(certificate));
}

void http_peer_done(struct http_peer *peer)
{
    free((char *)(uintptr_t)peer->name);
    for (size_t i = 0; i < peer->group_count; i++)
        free((char *)(uintptr_t)peer->groups[i]);
}
