/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Who may send what. A request proves who sends it by a token in the header Authorization, or by a session's cookie. A browser
 * sends the cookie along with requests that other pages have made up: changes by a session need its CSRF token as well.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/time.h"
#include "console/data/db.h"
#include "console/data/items.h"
#include "console/rest/context.h"
#include "kube/client/bucket.h"

enum { GUESTS_MAX = 4096 };

/* Requests a second, from one address, of those who have not signed in. */
#define GUEST_RATE 10.0
#define GUEST_BURST 60.0

/* Sent with every answer. */
static const char *const headers[][2] = {
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Strict-Transport-Security", "max-age=31536000"},
};

/* The page takes everything from here, and is framed by nobody. Browsers ask each time whether their copy is still good. */
static const char *const page_headers[][2] = {
    {"Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
                                "font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
                                "frame-ancestors 'none'"},
    {"Cache-Control", "no-cache"},
};

/* Answers of the REST are data: a browser that is led to one shows it, and keeps nothing. */
static const char *const data_headers[][2] = {
    {"Content-Security-Policy", "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
    {"Cache-Control", "no-store"},
};

struct guest {
    char address[64];
    struct bucket bucket;
};

/* When there are too many addresses, all begin anew: that is better than to let memory grow or to refuse everybody. */
static void forget_guests(struct console *console)
{
    struct guest *guest;

    for (size_t cursor = 0; (guest = strmap_next(&console->guests, &cursor));)
        free(guest);
    strmap_done(&console->guests);
    strmap_init(&console->guests);
}

static int limit_guest(struct console *console, struct http_exchange *exchange, struct err *err)
{
    const struct http_peer *peer = http_exchange_peer(exchange);
    nsec_t now = nsec_now_monotonic();
    char address[64] = "";

    if (peer)
        (void)snprintf(address, sizeof address, "%.*s",
                       (int)(strrchr(peer->address, ':') ? strrchr(peer->address, ':') - peer->address : 0),
                       peer->address);
    struct guest *guest = strmap_get(&console->guests, "", address);
    if (!guest) {
        if (console->guests.len >= GUESTS_MAX)
            forget_guests(console);
        guest = xcalloc(1, sizeof *guest);
        memcpy(guest->address, address, sizeof address);
        bucket_init(&guest->bucket, GUEST_RATE, GUEST_BURST, now);
        (void)strmap_put(&console->guests, "", guest->address, guest);
    }
    if (bucket_take(&guest->bucket, now) > 0)
        return err_set(err, -EAGAIN, "too many requests from this address: try again in a second");
    return 0;
}

/* A session that nobody has used for so long has ended. Its use is written down now and then. */
#define SESSION_IDLE (30 * NSEC_PER_MIN)
#define SESSION_USE_EACH (1 * NSEC_PER_MIN)

/* A grant that is valid: its subject and CSRF token. */
struct grant {
    char subject[UUID_TEXT_MAX];
    char csrf[SECRET_TEXT_MAX];
    nsec_t used;
    bool is_there;
};

static int take_grant(void *arg, const struct db_value *columns, size_t count)
{
    struct grant *grant = arg;

    (void)count;
    grant->is_there = true;
    (void)snprintf(grant->subject, sizeof grant->subject, "%s", columns[0].text);
    (void)snprintf(grant->csrf, sizeof grant->csrf, "%s", columns[1].text);
    grant->used = columns[2].number;
    return 0;
}

static int find_grant(struct console *console, const char *id, const char *kind, struct grant *ret_grant,
                      struct err *err)
{
    nsec_t now = nsec_now_wall();
    int r = db_query(console->db,
                     DB_CALL("SELECT subject, csrf, used FROM grants WHERE id = $1 AND kind = $2 AND expires > $3 AND "
                             "(kind <> 'session' OR used > $4)",
                             db_text(id), db_text(kind), db_number(now), db_number(now - SESSION_IDLE)),
                     take_grant, ret_grant, err);

    if (r == 0 && !ret_grant->is_there)
        r = err_set(err, -ENOKEY, "the token or session has expired: sign in again");
    return r;
}

bool console_is_secure(const struct console *console)
{
    return *console->flags->tls_cert || strncmp(console->flags->url, "https://", 8) == 0;
}

const char *session_cookie(const struct console *console)
{
    return console_is_secure(console) ? "__Host-muster-console" : "muster-console";
}

bool find_cookie(const struct http_exchange *exchange, const char *name, char value[static SECRET_TEXT_MAX])
{
    const char *at = http_exchange_header(exchange, "Cookie");
    size_t name_len = strlen(name);

    for (; at && *at; at += strspn(at, "; ")) {
        size_t len = strcspn(at, ";");

        if (len > name_len && strncmp(at, name, name_len) == 0 && at[name_len] == '=' &&
            len - name_len - 1 < SECRET_TEXT_MAX) {
            (void)snprintf(value, SECRET_TEXT_MAX, "%.*s", (int)(len - name_len - 1), at + name_len + 1);
            return true;
        }
        at += len;
    }
    return false;
}

static int check_csrf(const struct http_exchange *exchange, const struct grant *grant, struct err *err)
{
    const char *method = http_exchange_method(exchange);
    const char *token = http_exchange_header(exchange, "X-CSRF-Token");

    if (strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0 || (token && secret_equals(token, grant->csrf)))
        return 0;
    return err_set(err, -EACCES, "changes in a session need its token in the X-CSRF-Token header");
}

static int note_use(struct console *console, const char *id, const struct grant *grant, struct err *err)
{
    nsec_t now = nsec_now_wall();

    if (now - grant->used < SESSION_USE_EACH)
        return 0;
    return db_run(console->db, DB_CALL("UPDATE grants SET used = $2 WHERE id = $1", db_text(id), db_number(now)), NULL,
                  err);
}

static int find_subject(struct console *console, struct http_exchange *exchange, struct caller *caller, struct err *err)
{
    const char *header = http_exchange_header(exchange, "Authorization");
    struct grant grant = {0};
    char cookie[SECRET_TEXT_MAX];
    struct token token;
    int r;

    if (header && strncasecmp(header, "Bearer ", 7) == 0) {
        r = token_read(console->token_key, header + 7, nsec_now_wall(), &token, err);
        if (r == 0)
            r = find_grant(console, token.grant, "access", &grant, err);
        (void)snprintf(caller->grant, sizeof caller->grant, "%s", token.grant);
    } else if (find_cookie(exchange, session_cookie(console), cookie)) {
        secret_digest(cookie, caller->grant);
        r = find_grant(console, caller->grant, "session", &grant, err);
        if (r == 0)
            r = check_csrf(exchange, &grant, err);
        if (r == 0)
            r = note_use(console, caller->grant, &grant, err);
        (void)snprintf(caller->csrf, sizeof caller->csrf, "%s", grant.csrf);
    } else {
        return err_set(err, -ENOKEY, "this needs a token in the Authorization header, or a session");
    }
    (void)snprintf(caller->id, sizeof caller->id, "%s", grant.subject);
    return r;
}

/* The subject has to be there still, and enabled. */
static int load_caller(struct console *console, struct caller *caller, struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    int64_t must_change = 0;
    int r = item_get(console->db, ITEM_USER, caller->id, &doc, err);

    caller->is_user = r == 0;
    if (r == -ENOENT)
        r = item_get(console->db, ITEM_SERVICE_ACCOUNT, caller->id, &doc, err);
    if (r == -ENOENT)
        return err_set(err, -ENOKEY, "the account of this token no longer exists");
    if (r < 0)
        return r;
    yyjson_val *item = yyjson_doc_get_root(doc);
    const char *name = yyjson_get_str(yyjson_obj_get(item, caller->is_user ? "username" : "name"));
    (void)snprintf(caller->name, sizeof caller->name, "%s", name ? name : "");
    if (!caller->is_user && !yyjson_get_bool(yyjson_obj_get(item, "enabled")))
        return err_set(err, -ENOKEY, "the service account is disabled");
    r = db_query_number(console->db, DB_CALL("SELECT must_change FROM secrets WHERE subject = $1", db_text(caller->id)),
                        &must_change, err);
    if (r < 0 && r != -ENOENT)
        return r;
    caller->must_change_password = must_change != 0;
    r = access_load(&caller->access, console->db, caller->id, err);
    return r < 0 || !caller->is_user ? r : access_load_groups(&caller->access, console->db, item, err);
}

static int check_permission(const struct caller *caller, const char *role, struct err *err)
{
    enum resource_type type;
    enum action action;

    if (strcmp(role, ROLE_SELF) == 0)
        return 0;
    if (caller->must_change_password)
        return err_set(err, -EACCES, "change the password first: POST /api/v1/me/password");
    BUG_ON(!permission_parse(role, &type, &action));
    /* Departments, projects and rules are looked at one by one by their handlers, and so are assets, workloads and policies; what
     * is shown of the cluster is cut by its own. */
    if (resource_type_group(type) == GROUP_ASSET || resource_type_group(type) == GROUP_WORKLOAD)
        return access_has(&caller->access, type, action)
                   ? 0
                   : err_set(err, -EACCES, "'%.100s' has no role that allows %s", caller->name, role);
    bool is_scoped = type == RESOURCE_DEPARTMENT || type == RESOURCE_PROJECT || type == RESOURCE_ACCESS_RULES ||
                     type == RESOURCE_ACCESS_KEYS || type == RESOURCE_ROLES || type == RESOURCE_USERS ||
                     type == RESOURCE_SERVICE_ACCOUNT || type == RESOURCE_NODES || type == RESOURCE_OVERVIEW ||
                     type == RESOURCE_CONSUMPTION;
    bool is_allowed = is_scoped && action == ACTION_READ ? access_has(&caller->access, type, action)
                      : type == RESOURCE_PROJECT || type == RESOURCE_DEPARTMENT || type == RESOURCE_ACCESS_RULES ||
                              type == RESOURCE_ACCESS_KEYS
                          ? access_has(&caller->access, type, action)
                          : access_has_everywhere(&caller->access, type, action);
    return is_allowed ? 0 : err_set(err, -EACCES, "'%.100s' has no role that allows %s", caller->name, role);
}

static void caller_free(void *arg)
{
    struct caller *caller = arg;

    access_done(&caller->access);
    free(caller);
}

int console_allows(void *arg, struct http_exchange *exchange, const struct rest_route *route, struct err *err)
{
    struct console *console = arg;
    bool is_page = strcmp(route->role, ROLE_PAGE) == 0;
    const char *const(*more)[2] = is_page ? page_headers : data_headers;
    struct caller *caller;
    int r;

    _Static_assert(ARRAY_LEN(page_headers) == ARRAY_LEN(data_headers), "both are gone through alike");
    for (size_t i = 0; i < ARRAY_LEN(headers); i++)
        http_reply_header(exchange, headers[i][0], headers[i][1]);
    for (size_t i = 0; i < ARRAY_LEN(page_headers); i++)
        http_reply_header(exchange, more[i][0], more[i][1]);
    if (is_page)
        return 0;
    if (strcmp(route->role, ROLE_ANYONE) == 0)
        return limit_guest(console, exchange, err);
    caller = xcalloc(1, sizeof *caller);
    rest_attach(exchange, caller, caller_free);
    r = find_subject(console, exchange, caller, err);
    if (r == 0)
        r = load_caller(console, caller, err);
    return r < 0 ? r : check_permission(caller, route->role, err);
}

int caller_refresh(struct console *console, struct caller *caller, struct err *err)
{
    struct grant grant = {0};
    int r = find_grant(console, caller->grant, *caller->csrf ? "session" : "access", &grant, err);

    if (r < 0)
        return r;
    access_done(&caller->access);
    caller->access = (struct access){0};
    r = load_caller(console, caller, err);
    return r == 0 && caller->must_change_password ? err_set(err, -EACCES, "change the password first") : r;
}
