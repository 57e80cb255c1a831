/* SPDX-License-Identifier: Apache-2.0 */

/*
 * HTTP on a socket in the daemon's folder, for its owner alone: what there is, groups that come and go, and figures. The
 * port of the metrics, where there is one, answers nothing else.
 *
 *     GET    /v1/status          GPUs, groups, processes
 *     PUT    /v1/groups/NAME     makes or changes a group (group_spec.h); ?new=true only makes one
 *     GET    /v1/groups/NAME     as it was made
 *     DELETE /v1/groups/NAME     ?kill=true ends its processes; ?owner=PID only if it is that one's
 *     GET    /metrics, /healthz
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/strbuf.h"
#include "gpu/daemon/gpud_internal.h"
#include "net/http_server.h"
#include "text/json.h"
#include "text/metrics.h"

enum { ANSWER_MAX = 16 << 20, BODY_MAX = 64 << 10 };

#define GROUPS_PATH "/v1/groups/"

static void reply_json(struct http_exchange *exchange, int status, const struct strbuf *text)
{
    http_reply(exchange, status, "application/json", text->text, text->len);
}

static void reply_error(struct http_exchange *exchange, int code, const struct err *err)
{
    static const struct {
        int code;
        int status;
    } known[] = {{-EINVAL, 400}, {-ENOENT, 404}, {-EBUSY, 409}, {-EEXIST, 409}, {-ENAMETOOLONG, 400}, {-ENOTSUP, 422}};
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    int status = 500;
    size_t len = 0;

    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        if (known[i].code == code)
            status = known[i].status;
    }
    yyjson_mut_doc_set_root(doc, root);
    (void)yyjson_mut_obj_add_str(doc, root, "error", err->text);
    char *json = yyjson_mut_write(doc, YYJSON_WRITE_ALLOW_INVALID_UNICODE, &len);
    BUG_ON(!json);
    http_reply(exchange, status, "application/json", json, len);
    free(json);
    yyjson_mut_doc_free(doc);
}

static void get_status(void *arg, struct http_exchange *exchange)
{
    struct strbuf text;

    strbuf_init(&text, ANSWER_MAX);
    figures_status(arg, &text);
    reply_json(exchange, 200, &text);
    strbuf_done(&text);
}

static void get_metrics(void *arg, struct http_exchange *exchange)
{
    struct gpud *gpud = arg;
    struct strbuf text;

    strbuf_init(&text, ANSWER_MAX);
    metrics_render(gpud->metrics, &text);
    http_reply(exchange, 200, METRICS_CONTENT_TYPE, text.text, text.len);
    strbuf_done(&text);
}

static void get_health(void *arg, struct http_exchange *exchange)
{
    (void)arg;
    http_reply_text(exchange, 200, "ok\n");
}

static const char *name_in(const struct http_exchange *exchange)
{
    return http_exchange_path(exchange) + strlen(GROUPS_PATH);
}

static void reply_group(struct http_exchange *exchange, int status, const struct group *group)
{
    struct strbuf text;

    strbuf_init(&text, BODY_MAX);
    group_spec_encode(&group->spec, &text);
    reply_json(exchange, status, &text);
    strbuf_done(&text);
}

static void get_group(void *arg, struct http_exchange *exchange)
{
    const struct group *group = group_find(arg, name_in(exchange));
    struct err err = {0};

    if (group)
        reply_group(exchange, 200, group);
    else
        reply_error(exchange, err_set(&err, -ENOENT, "there is no group '%s'", name_in(exchange)), &err);
}

static int read_spec(const struct http_exchange *exchange, struct group_spec *spec, struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    size_t len = 0;
    const char *body = http_exchange_body(exchange, &len);
    int r = json_parse(body, len, "the request", &doc, err);

    if (r < 0)
        return r;
    struct json_at root = json_root(doc);
    r = group_spec_decode(&root, spec, err);
    if (r >= 0 && strcmp(spec->name, name_in(exchange)) != 0)
        r = err_set(err, -EINVAL, "the path says '%s' and the request '%s'", name_in(exchange), spec->name);
    return r;
}

static void put_group(void *arg, struct http_exchange *exchange)
{
    struct gpud *gpud = arg;
    struct group_spec spec;
    struct err err = {0};
    int r = read_spec(exchange, &spec, &err);
    struct group *group = r < 0 ? NULL : group_find(gpud, spec.name);
    bool is_new = !group;
    char only_new[8] = "";

    (void)http_exchange_parameter(exchange, "new", only_new, sizeof only_new);
    if (group && strcmp(only_new, "true") == 0)
        r = err_set(&err, -EEXIST, "there is a group '%s' already", spec.name);
    if (r >= 0)
        r = is_new ? group_add(gpud, &spec, &group, &err) : group_change(group, &spec, &err);
    if (r < 0) {
        reply_error(exchange, r, &err);
        return;
    }
    log_info(gpud->log, is_new ? "group made" : "group changed", log_str("group", spec.name));
    loop_task_queue(&gpud->saving);
    reply_group(exchange, is_new ? 201 : 200, group);
}

static void delete_group(void *arg, struct http_exchange *exchange)
{
    struct gpud *gpud = arg;
    struct group *group = group_find(gpud, name_in(exchange));
    char kills[8] = "";
    char owner[24] = "";
    struct err err = {0};

    (void)http_exchange_parameter(exchange, "owner", owner, sizeof owner);
    if (!group || (owner[0] && strtoll(owner, NULL, 10) != group->spec.owner)) {
        reply_error(exchange, err_set(&err, -ENOENT, "there is no group '%s'", name_in(exchange)), &err);
        return;
    }
    (void)http_exchange_parameter(exchange, "kill", kills, sizeof kills);
    log_info(gpud->log, "group removed", log_str("group", group->spec.name));
    group_remove(group, strcmp(kills, "true") == 0);
    loop_task_queue(&gpud->saving);
    http_reply(exchange, 200, "application/json", "{}", 2);
}

static const struct http_route api_routes[] = {
    {"GET", "/v1/status", get_status},         {"GET", GROUPS_PATH "*", get_group}, {"PUT", GROUPS_PATH "*", put_group},
    {"DELETE", GROUPS_PATH "*", delete_group}, {"GET", "/metrics", get_metrics},    {"GET", "/healthz", get_health},
};

static const struct http_route metrics_routes[] = {
    {"GET", "/metrics", get_metrics},
    {"GET", "/healthz", get_health},
};

int api_start(struct gpud *gpud, struct err *err)
{
    char path[256];
    struct http_server_options options = {.unix_path = path,
                                          .routes = api_routes,
                                          .route_count = ARRAY_LEN(api_routes),
                                          .arg = gpud,
                                          .body_max = BODY_MAX};

    (void)snprintf(path, sizeof path, "%s/api.sock", gpud->config->folder);
    int r = http_server_start(gpud->loop, &options, &gpud->api, err);
    if (r < 0 || !gpud->config->metrics_address)
        return r;
    options = (struct http_server_options){.address = gpud->config->metrics_address,
                                           .port = gpud->config->metrics_port,
                                           .routes = metrics_routes,
                                           .route_count = ARRAY_LEN(metrics_routes),
                                           .arg = gpud};
    return http_server_start(gpud->loop, &options, &gpud->metrics_server, err);
}
