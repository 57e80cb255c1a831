/* SPDX-License-Identifier: Apache-2.0 */

/* The service: its flags, the first start, and what ends with it. */
#include "console/console.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "console/assets/vault.h"
#include "console/audit/audit.h"
#include "console/changes/change_feed.h"
#include "console/data/db.h"
#include "console/data/items.h"
#include "console/live/live.h"
#include "console/notify/deliver.h"
#include "console/org/pools.h"
#include "console/org/sync.h"
#include "console/rest/handlers.h"
#include "console/rest/routes.h"
#include "console/rest/streams.h"
#include "console/signin/setup_link.h"
#include "console/workloads/expiry.h"
#include "console/workloads/follow.h"
#include "frame/service.h"
#include "net/http.h"
#include "net/http_server.h"
#include "text/file.h"

enum { PEM_MAX = 1 << 20, CONNECTIONS_MAX = 1024, PATH_TEXT_MAX = 4096 };

#define AT(member) FLAG_AT(struct console_flags, member)

static const struct flag flags[] = {
    {"listen", FLAG_STRING, AT(listen), "127.0.0.1:8443", "address of the REST API; port 0: any free port", 0, 0},
    {"database", FLAG_STRING, AT(database), CONSOLE_DATABASE, "SQLite file, or postgresql://USER@HOST/NAME", 0, 0},
    {"audit-head", FLAG_STRING, AT(audit_head), "",
     "file with the newest entry of the audit log; default: next to the database's file", 0, 0},
    {"secrets-key", FLAG_STRING, AT(secrets_key), "",
     "file with the keys of secrets; default: next to the database's file, or to --audit-head", 0, 0},
    {"tls-cert", FLAG_STRING, AT(tls_cert), "", "certificate chain in PEM; required unless --listen is on loopback", 0,
     0},
    {"tls-key", FLAG_STRING, AT(tls_key), "", "private key of the certificate, in PEM", 0, 0},
    {"cluster-name", FLAG_STRING, AT(cluster_name), "cluster", "name of the cluster in the REST API", 0, 0},
    {"allow-networks", FLAG_STRING, AT(allow_networks), "",
     "private networks that users' URLs may point to: 10.0.0.0/8,fd00::/8", 0, 0},
    {"url", FLAG_STRING, AT(url), "", "URL of the console for browsers, used in links; default: the address", 0, 0},
};

static bool is_loopback(const char *host)
{
    return strcmp(host, "127.0.0.1") == 0 || strcmp(host, "::1") == 0 || strcmp(host, "localhost") == 0;
}

static bool is_file(const char *database)
{
    return strstr(database, "://") == NULL;
}

static int configure(struct service *service, struct err *err)
{
    const struct console_flags *values = service->values;
    char host[256];
    uint16_t port = 0;
    int r = address_parse(values->listen, host, &port, err);

    if (r < 0)
        return err_wrap(err, r, "--listen");
    if (r == 0)
        return err_set(err, -EINVAL, "--listen: expected an address");
    if ((*values->tls_cert != '\0') != (*values->tls_key != '\0'))
        return err_set(err, -EINVAL, "--tls-cert and --tls-key need each other");
    if (!*values->tls_cert && !is_loopback(host))
        return err_set(err, -EINVAL, "--listen: without --tls-cert and --tls-key, only 127.0.0.1 and ::1 are served");
    if (!is_file(values->database) && !*values->audit_head)
        return err_set(err, -EINVAL, "--audit-head: with PostgreSQL, say where the head of the audit log is written");
    struct reach reach;
    r = reach_parse(values->allow_networks, &reach, err);
    return r < 0 ? err_wrap(err, r, "--allow-networks") : 0;
}

/* --- what is kept about the console itself --- */

/* The value of a key; made by `make` on the first start, by whichever console is the first. */
static int keep(struct console *console, const char *key, void (*make)(char *text), char *text, size_t size,
                struct err *err)
{
    _cleanup_(freep) char *found = NULL;
    int r = db_query_text(console->db, DB_CALL("SELECT value FROM meta WHERE key = $1", db_text(key)), &found, err);

    if (r == -ENOENT) {
        make(text);
        r = db_run(
            console->db,
            DB_CALL("INSERT INTO meta(key, value) VALUES($1, $2) ON CONFLICT DO NOTHING", db_text(key), db_text(text)),
            NULL, err);
        if (r == 0)
            r = db_query_text(console->db, DB_CALL("SELECT value FROM meta WHERE key = $1", db_text(key)), &found, err);
    }
    if (r == 0)
        (void)snprintf(text, size, "%s", found);
    return r;
}

static void make_uuid(char *text)
{
    uuid_make(text);
}

static void make_key(char *text)
{
    secret_make(text);
}

static void make_time(char *text)
{
    (void)time_format(nsec_now_wall() / NSEC_PER_SEC * NSEC_PER_SEC, text);
}

static int read_identity(struct console *console, struct err *err)
{
    char key[SECRET_TEXT_MAX];
    size_t len = 0;
    int r;

    if ((r = keep(console, "cluster", make_uuid, console->cluster_id, sizeof console->cluster_id, err)) < 0 ||
        (r = keep(console, "since", make_time, console->cluster_since, sizeof console->cluster_since, err)) < 0 ||
        (r = keep(console, "token-key", make_key, key, sizeof key, err)) < 0)
        return r;
    if (sodium_hex2bin(console->token_key, sizeof console->token_key, key, strlen(key), NULL, &len, NULL) != 0 ||
        len != sizeof console->token_key)
        return err_set(err, -EBADMSG, "the database has no key for tokens");
    sodium_memzero(key, sizeof key);
    return 0;
}

/* Projects that name no department are in this one. */
static int make_default_department(struct console *console, struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *found = NULL;
    struct request request = {.console = console};
    int r = item_find(console->db, ITEM_DEPARTMENT, console->cluster_id, SYNC_DEFAULT_DEPARTMENT, &found, err);

    if (r != -ENOENT)
        return r;
    request.doc = yyjson_mut_doc_new(NULL);
    r = unit_create(&request, false, SYNC_DEFAULT_DEPARTMENT, "system", err);
    yyjson_mut_doc_free(request.doc);
    return r;
}

void console_url(const struct console *console, char *url, size_t size)
{
    const char *scheme = *console->flags->tls_cert ? "https" : "http";
    size_t len = strlen(console->flags->url);
    struct err err = {0};
    char host[256] = "";
    uint16_t port;

    if (len > 0) {
        (void)snprintf(url, size, "%.*s", (int)(len - (console->flags->url[len - 1] == '/')), console->flags->url);
        return;
    }
    BUG_ON(address_parse(console->flags->listen, host, &port, &err) < 0);
    (void)snprintf(url, size, strchr(host, ':') ? "%s://[%s]:%u" : "%s://%s:%u", scheme, *host ? host : "localhost",
                   http_server_port(console->server));
}

/* What every organisation has, by whichever console is the first. */
static int make_defaults(struct console *console, struct err *err)
{
    int r = db_begin(console->db, err);

    if (r < 0)
        return r;
    if ((r = pool_make_default(console, err)) < 0 || (r = make_default_department(console, err)) < 0) {
        db_rollback(console->db);
        return r;
    }
    return db_commit(console->db, err);
}

/* As long as there is no administrator, each start makes a new link. */
static int offer_setup(struct console *console, struct err *err)
{
    int64_t users = 0;
    char code[SECRET_TEXT_MAX];
    char url[PATH_TEXT_MAX];
    int r = db_query_number(console->db, DB_CALL("SELECT count(*) FROM items WHERE kind = $1", db_text(ITEM_USER)),
                            &users, err);

    if (r < 0 || users > 0)
        return r;
    secret_make(code);
    r = setup_offer(console, code, err);
    if (r < 0)
        return r;
    console_url(console, url, sizeof url);
    (void)printf("Set up the first administrator: %s/setup?code=%s\n", url, code);
    (void)fflush(stdout);
    return 0;
}

/* --- open and close --- */

static char *head_path(const struct console_flags *values)
{
    struct strbuf path;

    if (*values->audit_head)
        return xstrdup(values->audit_head);
    strbuf_init(&path, PATH_TEXT_MAX);
    strbuf_addf(&path, "%s" CONSOLE_HEAD_SUFFIX, values->database);
    return strbuf_take(&path);
}

/* Made on the first start, next to a file of ours that is outside of the database. */
static int open_vault(struct console *console, struct err *err)
{
    const struct console_flags *values = console->flags;
    _cleanup_(freep) char *made = NULL;
    struct strbuf path;

    if (*values->secrets_key)
        return vault_open(values->secrets_key, console->db, &console->vault, err);
    strbuf_init(&path, PATH_TEXT_MAX);
    strbuf_addf(&path, "%s.secrets-key", is_file(values->database) ? values->database : console->head_path);
    made = strbuf_take(&path);
    return vault_open(made, console->db, &console->vault, err);
}

static int open_outside(struct console *console, struct err *err)
{
    int r = reach_parse(console->flags->allow_networks, &console->reach, err);

    if (r < 0)
        return r;
    console->outside = http_client_new(console->service->loop);
    return r;
}

static int listen_on(struct console *console, struct err *err)
{
    _cleanup_(freep) char *cert = NULL;
    _cleanup_(freep) char *key = NULL;
    const struct console_flags *values = console->flags;
    struct rest_set set = {.arg = console};
    struct rest_options options = {
        .http = {.connections_max = CONNECTIONS_MAX},
        .sets = &set,
        .set_count = 1,
        .errors = REST_ERRORS_CODE,
        .allow = console_allows,
        .allow_arg = console,
    };
    char host[256];
    size_t len;
    int r;

    if ((r = routes_make(&console->rows, &set.count, err)) < 0 ||
        (r = address_parse(values->listen, host, &options.http.port, err)) < 0 ||
        (*values->tls_cert && (r = file_read(values->tls_cert, PEM_MAX, &cert, &len, err)) < 0) ||
        (*values->tls_key && (r = file_read(values->tls_key, PEM_MAX, &key, &len, err)) < 0))
        return r;
    set.routes = console->rows;
    options.http.address = strcmp(host, "localhost") == 0 ? "127.0.0.1" : *host ? host : "0.0.0.0";
    options.http.cert_pem = cert;
    options.http.key_pem = key;
    r = rest_server_start(console->service->loop, &options, &console->server, err);
    return r < 0 ? err_wrap(err, r, "cannot listen on %s", values->listen) : 0;
}

static void console_free(struct console *console)
{
    void *guest;

    http_server_free(console->server);
    if (console->outside)
        http_client_free(console->outside);
    delivery_free(console->delivery);
    change_feed_free(console->feed);
    live_free(console->live);
    change_streams_free(console->streams);
    workload_watch_free(console->workloads);
    expiry_free(console->expiry);
    sync_free(console->sync);
    vault_free(console->vault);
    db_close(console->db);
    for (size_t cursor = 0; (guest = strmap_next(&console->guests, &cursor));)
        free(guest);
    strmap_done(&console->guests);
    sso_free_all(console);
    sodium_memzero(console->token_key, sizeof console->token_key);
    free(console->head_path);
    free(console->rows);
    free(console);
}

/* The head on the disk must be one that the log has: a database that was exchanged is not served. */
static int check_audit(struct console *console, struct err *err)
{
    struct err missing = {0};
    _cleanup_(freep) char *text = NULL;
    size_t len = 0;
    int64_t count;

    if (file_read(console->head_path, PATH_TEXT_MAX, &text, &len, &missing) == -ENOENT)
        return audit_write_head(console->db, console->head_path, err);
    count = audit_verify(console->db, console->head_path, err);
    return count < 0 ? err_wrap(err, (int)count, "the audit log") : 0;
}

static int open_parts(struct console *console, struct err *err)
{
    int r;

    if ((r = db_open(console->flags->database, DB_WRITE, &console->db, err)) < 0 ||
        (r = read_identity(console, err)) < 0 || (r = open_outside(console, err)) < 0 ||
        (r = check_audit(console, err)) < 0 || (r = open_vault(console, err)) < 0 ||
        (r = make_defaults(console, err)) < 0)
        return r;
    console->sync = sync_new(console);
    console->expiry = expiry_new(console);
    console->workloads = workload_watch_new(console);
    console->streams = change_streams_new(console);
    console->live = live_new(console);
    console->delivery = delivery_new(console);
    if ((r = change_feed_new(console, &console->feed, err)) < 0 || (r = listen_on(console, err)) < 0)
        return r;
    return offer_setup(console, err);
}

static int open_console(struct service *service, struct err *err)
{
    struct console *console = xcalloc(1, sizeof *console);
    int r;

    console->service = service;
    console->flags = service->values;
    console->head_path = head_path(console->flags);
    uuid_make(console->process);
    strmap_init(&console->guests);
    strmap_init(&console->providers);
    r = open_parts(console, err);
    if (r < 0) {
        console_free(console);
        return r;
    }
    service->state = console;
    log_info(service->log, "the console is listening", log_int("port", http_server_port(console->server)));
    service_set_ready(service, true);
    return 0;
}

void console_work_done(struct console *console)
{
    if (console->is_stopping && console->works == 0)
        service_stopped(console->service);
}

static void stop(struct service *service)
{
    struct console *console = service->state;

    console->is_stopping = true;
    live_end(console->live);
    console_work_done(console);
}

static void close_console(struct service *service)
{
    console_free(service->state);
}

const struct service_kind console_service = {
    .name = "console",
    .flags = flags,
    .flag_count = ARRAY_LEN(flags),
    .values_size = sizeof(struct console_flags),
    .has_api = true,
    .configure = configure,
    .open = open_console,
    .stop = stop,
    .close = close_console,
};
