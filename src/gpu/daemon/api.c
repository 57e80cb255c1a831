/* SPDX-License-Identifier: Apache-2.0 */

/*
 * HTTP on a socket in the daemon's folder, for its owner alone: what there is, groups that come and go, and figures. The
 * port of the metrics, where there is one, answers nothing else.
 *
 *     GET    /v1/status          GPUs, groups, processes
 *     PUT    /v1/groups/NAME     makes or changes a group (group_spec.h); ?new=true only makes one
 *     GET    /v1/groups/NAME     as it was made
 *     POST   /v1/groups/NAME/park    moves the memory of its processes to the host, which wait from then on
 *     POST   /v1/groups/NAME/resume  and back
 *     DELETE /v1/groups/NAME     ?kill=true ends its processes; ?owner=PID only if it is that one's
 *     GET    /metrics, /healthz
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "gpu/daemon/gpud_parts.h"
#include "net/rest/rest.h"
#include "text/json.h"
#include "text/metrics.h"

enum { ANSWER_MAX = 16 << 20, BODY_MAX = 64 << 10 };

static void reply_json(struct http_exchange *exchange, int status, const struct strbuf *text)
{
    http_reply(exchange, status, "application/json", text->text, text->len);
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
    return rest_param(exchange, "name");
}

void api_reply_group(struct http_exchange *exchange, int status, const struct group *group)
{
    struct strbuf text;

    strbuf_init(&text, BODY_MAX);
    group_spec_encode(&group->spec, &text);
    if (group->spec.mig[0]) {
        /* In front of the rest: what was not requested, but given. */
        _cleanup_(freep) char *rest = strbuf_take(&text);

        strbuf_addf(&text, "{\"slice\":\"%s\",%s", group->slice.uuid, rest + 1);
    }
    reply_json(exchange, status, &text);
    strbuf_done(&text);
}

static void get_group(void *arg, struct http_exchange *exchange)
{
    const struct group *group = group_find(arg, name_in(exchange));

    if (group)
        api_reply_group(exchange, 200, group);
    else
        rest_fail(exchange, -ENOENT, "no group '%s'; GET /v1/status lists the groups", name_in(exchange));
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
        r = err_set(err, -EINVAL, "the path names group '%s', the body '%s'", name_in(exchange), spec->name);
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

    if (group && rest_query_is_true(exchange, "new"))
        r = err_set(&err, -EEXIST, "group '%s' already exists", spec.name);
    if (r >= 0 && is_new && spec.mig[0]) {
        slices_order(gpud, &spec, exchange);
        return;
    }
    if (r >= 0)
        r = is_new ? group_add(gpud, &spec, &group, &err) : group_change(group, &spec, &err);
    if (r < 0) {
        rest_fail_err(exchange, &err);
        return;
    }
    log_info(gpud->log, is_new ? "group created" : "group changed", log_str("group", spec.name));
    loop_task_queue(&gpud->saving);
    api_reply_group(exchange, is_new ? 201 : 200, group);
}

static void delete_group(void *arg, struct http_exchange *exchange)
{
    struct gpud *gpud = arg;
    struct group *group = group_find(gpud, name_in(exchange));
    const char *owner = rest_query(exchange, "owner");

    if (!group || (owner && strtoll(owner, NULL, 10) != group->spec.owner)) {
        rest_fail(exchange, -ENOENT, "no group '%s'; GET /v1/status lists the groups", name_in(exchange));
        return;
    }
    if (group->park.state != PARK_RUNNING && !rest_query_is_true(exchange, "kill")) {
        rest_fail(exchange, -EBUSY,
                  "group '%s' is parked, and its processes would wait forever: resume it, or add "
                  "?kill=true",
                  name_in(exchange));
        return;
    }
    log_info(gpud->log, "group removed", log_str("group", group->spec.name));
    group_remove(group, rest_query_is_true(exchange, "kill"));
    loop_task_queue(&gpud->saving);
    http_reply(exchange, 200, "application/json", "{}", 2);
}

static const struct rest_route group_routes[] = {
    REST_ROUTE("GET", "/v1/status", get_status),
    REST_ROUTE("GET", "/v1/groups/{name}", get_group),
    REST_ROUTE("PUT", "/v1/groups/{name}", put_group, .body_max = BODY_MAX),
    REST_ROUTE("DELETE", "/v1/groups/{name}", delete_group),
    REST_ROUTE("POST", "/v1/groups/{name}/park", park_order),
    REST_ROUTE("POST", "/v1/groups/{name}/resume", resume_order),
};

static const struct rest_route probe_routes[] = {
    REST_ROUTE("GET", "/metrics", get_metrics),
    REST_ROUTE("GET", "/healthz", get_health),
};

int api_start(struct gpud *gpud, struct err *err)
{
    char path[256];
    const struct rest_set sets[] = {{probe_routes, ARRAY_LEN(probe_routes), gpud},
                                    {group_routes, ARRAY_LEN(group_routes), gpud}};
    struct rest_options options = {
        .http.unix_path = path, .sets = sets, .set_count = ARRAY_LEN(sets), .errors = REST_ERRORS_JSON};

    (void)snprintf(path, sizeof path, "%s/api.sock", gpud->config->folder);
    int r = rest_server_start(gpud->loop, &options, &gpud->api, err);
    if (r < 0 || !gpud->config->metrics_address)
        return r;
    options = (struct rest_options){
        .http = {.address = gpud->config->metrics_address, .port = gpud->config->metrics_port},
        .sets = sets,
        .set_count = 1,  // nobody changes groups from afar
    };
    return rest_server_start(gpud->loop, &options, &gpud->metrics_server, err);
}
