/* SPDX-License-Identifier: Apache-2.0 */

/* The sockets of the server, and the certificates that its clients know it by. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "local/machines/machines.h"
#include "local/rights/rights.h"
#include "local/server/files.h"
#include "local/server/routes.h"
#include "local/server/server_parts.h"
#include "net/certificates/certificate.h"
#include "text/file.h"

#define DAY (24 * NSEC_PER_HOUR)
#define AUTHORITY_LIFETIME (3650 * DAY)
#define SERVER_LIFETIME (365 * DAY)
#define CLOCK_SKEW (NSEC_PER_HOUR)

enum { PEM_MAX = 64 << 10 };

/* Of a daemon that serves all users. */
enum { MODE_SOCKET_ALL = 0666, MODE_FOLDER_ALL = 0711, MODE_KUBECONFIG_ALL = 0644 };

static char *path_in(const struct server *server, const char *name)
{
    return file_path(server->folder, name);
}

static char *joined_text(const char *first, const char *second)
{
    struct strbuf text;

    strbuf_init(&text, PEM_MAX);
    strbuf_addstr(&text, first);
    strbuf_addstr(&text, second);
    return strbuf_take(&text);
}

/* The authority is one file with the certificate and then the key. */
static int read_authority(const char *path, struct certificate *ret_authority)
{
    static const char key_mark[] = "-----BEGIN PRIVATE KEY-----";
    _cleanup_(freep) char *text = NULL;
    struct certificate_facts facts;
    size_t len = 0;

    if (file_read(path, PEM_MAX, &text, &len, NULL) < 0)
        return -ENOENT;
    const char *key = strstr(text, key_mark);

    if (!key || certificate_read(text, &facts, NULL) < 0 || facts.not_after < nsec_now_wall() + SERVER_LIFETIME)
        return -ENOENT;
    *ret_authority = (struct certificate){.cert_pem = xstrndup(text, (size_t)(key - text)), .key_pem = xstrdup(key)};
    if (certificate_has_key(ret_authority->cert_pem, ret_authority->key_pem))
        return 0;
    certificate_done(ret_authority);
    return -ENOENT;
}

static int make_authority(const char *path, struct certificate *ret_authority, struct err *err)
{
    nsec_t now = nsec_now_wall();
    struct certificate_request request = {
        .common_name = "muster-local", .not_before = now - CLOCK_SKEW, .not_after = now + AUTHORITY_LIFETIME};
    int r = certificate_make_authority(&request, ret_authority, err);

    if (r < 0)
        return r;
    char *text = joined_text(ret_authority->cert_pem, ret_authority->key_pem);

    r = file_replace(path, text, strlen(text), err);
    explicit_bzero(text, strlen(text));
    free(text);
    if (r < 0)
        certificate_done(ret_authority);
    return r;
}

static int issue(const struct server *server, const struct certificate *authority, struct certificate *ret_certificate,
                 struct err *err)
{
    nsec_t now = nsec_now_wall();
    const char *names[] = {"localhost",          "127.0.0.1",  "::1",          "kubernetes.default.svc",
                           "kubernetes.default", "kubernetes", server->address};
    struct certificate_request request = {
        .common_name = "muster-local-api",
        .dns_names = names,
        .dns_name_count = ARRAY_LEN(names),
        .not_before = now - CLOCK_SKEW,
        .not_after = now + SERVER_LIFETIME,
    };

    return certificate_issue(authority, &request, ret_certificate, err);
}

static int start(struct server *server, const struct http_server_options *http, struct err *err)
{
    const struct rest_set set = {server_routes, server_route_count, server};
    struct rest_options options = {
        .http = *http,
        .sets = &set,
        .set_count = 1,
        .errors = REST_ERRORS_STATUS,
        .allow = guard_allows,
        .allow_arg = server,
        .body_max = SERVER_BODY_MAX,
    };
    int r;

    options.http.connections_max = SERVER_CONNECTIONS_MAX;
    r = rest_server_start(server->loop, &options, &server->listeners[server->listener_count], err);
    server->listener_count += r == 0;
    return r;
}

/* A port that the last run had may have been taken meanwhile. */
static int start_tcp(struct server *server, const struct certificate *certificate, const char *authority_pem,
                     bool may_change, struct err *err)
{
    /* Machines that join know the authority by its fingerprint, and find it in the chain. */
    _cleanup_(freep) char *chain = joined_text(certificate->cert_pem, authority_pem);
    struct http_server_options options = {
        .address = server->address,
        .port = server->port,
        .cert_pem = chain,
        .key_pem = certificate->key_pem,
        .client_ca_pem = authority_pem,
    };
    int r = start(server, &options, err);

    if (r == -EADDRINUSE && may_change) {
        options.port = 0;
        r = start(server, &options, err);
    }
    if (r < 0)
        return err_wrap(err, r, "cannot listen on %s:%u", server->address, (unsigned)server->port);
    server->port = http_server_port(server->listeners[server->listener_count - 1]);
    /* Names such as localhost lead to either; a machine without IPv6 goes without. */
    if (strcmp(server->address, "127.0.0.1") == 0) {
        options.address = "::1";
        options.port = server->port;
        if (start(server, &options, NULL) < 0)
            log_debug(server->log, "not listening on ::1");
    }
    return 0;
}

/* Users pass through the folder to the socket, and read the kubeconfig, which holds no secret. */
static int open_to_all(const struct server *server, const char *path, mode_t mode, struct err *err)
{
    if (rights_serve_all(server->rights) && chmod(path, mode) < 0)
        return err_set(err, -errno, "%s: %s", path, strerror(errno));
    return 0;
}

int server_listen(struct server *server, struct err *err)
{
    _cleanup_(freep) char *socket = path_in(server, SERVER_SOCKET);
    _cleanup_(freep) char *kubeconfig = path_in(server, SERVER_KUBECONFIG);
    _cleanup_(freep) char *authority_path = path_in(server, "authority.pem");
    _cleanup_(certificate_done) struct certificate authority = {0};
    _cleanup_(certificate_done) struct certificate certificate = {0};
    bool may_change = server->port == 0;
    bool is_for_all = rights_serve_all(server->rights);
    int r = start(
        server, &(struct http_server_options){.unix_path = socket, .unix_mode = is_for_all ? MODE_SOCKET_ALL : 0}, err);

    if (r < 0)
        return err_wrap(err, r, "cannot listen on %s", socket);
    r = open_to_all(server, server->folder, MODE_FOLDER_ALL, err);
    if (r < 0)
        return r;
    if (!server->address) {
        /* That of an earlier start names a port where nobody listens any more. */
        (void)unlink(kubeconfig);
        server->machines = machines_open(server, &authority, 0);
        return 0;
    }
    if (may_change)
        server->port = kubeconfig_port(server->folder);
    r = read_authority(authority_path, &authority);
    if (r < 0)
        r = make_authority(authority_path, &authority, err);
    if (r == 0)
        r = issue(server, &authority, &certificate, err);
    if (r == 0)
        r = start_tcp(server, &certificate, authority.cert_pem, may_change, err);
    if (r == 0)
        r = kubeconfig_write(server, authority.cert_pem, err);
    if (r == 0)
        server->machines = machines_open(server, &authority, server->node_certificate_lifetime);
    return r < 0 ? r : open_to_all(server, kubeconfig, MODE_KUBECONFIG_ALL, err);
}
