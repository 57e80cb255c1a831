/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/work/api.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "cli/local/local.h"
#include "kube/access/config.h"
#include "kube/client/discovery.h"
#include "kube/client/meta.h"
#include "kube/client/verbs.h"
#include "kube/follow/list.h"
#include "local/server/server.h"
#include "local/server/service.h"
#include "net/loop.h"
#include "text/json.h"

enum { PAGE_SIZE = 500 };

#define SYSTEM_STATE "/var/lib/muster"  // of a server that root runs for all users

bool api_place_set(struct api_place *place, int option, const char *value)
{
    const char **const values[] = {
        [API_OPTION_KUBECONFIG] = &place->kubeconfig,
        [API_OPTION_CONTEXT] = &place->context,
        [API_OPTION_NAMESPACE] = &place->namespace,
    };

    if (option >= API_OPTION_COUNT)
        return false;
    *values[option] = value;
    return true;
}

/* "unix:" and the socket of a server in that folder; NULL when none answers there. */
static char *socket_in(const char *folder)
{
    _cleanup_(freep) char *socket = local_path(folder, SERVER_SOCKET);

    if (access(socket, W_OK) < 0 || local_ask(folder, "GET", "/livez", NULL, NULL) < 0)
        return NULL;
    return local_path(KUBE_UNIX_PREFIX, socket + (*socket == '/'));
}

/* The server of this machine: that of the user, or else that of all users. */
static char *local_server(void)
{
    _cleanup_(freep) char *folder = state_folder(NULL);
    char *found = socket_in(folder);

    return found || strcmp(folder, SYSTEM_STATE) == 0 ? found : socket_in(SYSTEM_STATE);
}

/* Users of a server of root work in namespaces of their own. NULL when the server does not say. */
static char *own_namespace(const char *socket)
{
    _cleanup_(freep) char *folder = xstrdup(socket + strlen(KUBE_UNIX_PREFIX));
    _cleanup_(freep) char *body = NULL;
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    char *slash = strrchr(folder, '/');

    if (slash)
        *slash = '\0';
    if (local_ask(folder, "GET", "/muster/process", &body, NULL) < 0 ||
        json_parse(body, strlen(body), "the answer", &doc, NULL) < 0)
        return NULL;
    const char *name = yyjson_get_str(yyjson_obj_get(yyjson_doc_get_root(doc), "namespace"));

    return name ? xstrdup(name) : NULL;
}

static bool names_files(void)
{
    const char *files = getenv("KUBECONFIG");

    return files && *files;
}

char *api_local_config(const struct api_place *place)
{
    return place->kubeconfig || place->context || names_files() ? NULL : local_server();
}

int api_open(struct api *api, const struct api_place *place, struct err *err)
{
    _cleanup_(freep) char *socket = api_local_config(place);
    struct kube_config *config = NULL;
    const char *path = socket ? socket : place->kubeconfig;
    int code;

    memset(api, 0, sizeof *api);
    code = kube_config_load(path, place->context, &config, err);
    if (code == -ENOENT && !path)
        return err_set(err, -ENOENT,
                       "there is no server: start one on this machine with 'muster up', or name a cluster with "
                       "--kubeconfig FILE");
    if (code < 0)
        return code;
    if (place->namespace || socket) {
        free(config->namespace);
        config->namespace = place->namespace ? xstrdup(place->namespace) : own_namespace(socket);
    }
    api->loop = loop_new();
    api->namespace = config->namespace && *config->namespace ? config->namespace : "default";
    api->name = config->name;
    api->client = kube_client_new(api->loop, config, &(struct kube_client_options){.accepts_gzip = true});
    return 0;
}

bool api_begin(const struct command *command, struct arguments *arguments, const char *operand, struct api *api,
               int *ret_status)
{
    struct api_place place = {0};
    struct err err = {0};
    int option;
    int code;

    memset(api, 0, sizeof *api);
    while ((option = arguments_next(arguments)) >= 0)
        (void)api_place_set(&place, option, arguments->value);
    if (option != ARGUMENT_END) {
        *ret_status = arguments_status(arguments, option);
        return false;
    }
    if (arguments->operand_count == 0) {
        *ret_status = command_wrong(command, "a %s is missing", operand);
        return false;
    }
    code = api_open(api, &place, &err);
    *ret_status = code < 0 ? command_failed(code, &err) : EXIT_FINE;
    return code == 0;
}

void api_close(struct api *api)
{
    if (api->discovery)
        discovery_free(api->discovery);
    if (api->client)
        kube_client_free(api->client);
    if (api->loop)
        loop_free(api->loop);
    memset(api, 0, sizeof *api);
}

void api_answer_done(struct api_answer *answer)
{
    yyjson_doc_free(answer->doc);
    answer->doc = NULL;
}

static yyjson_doc *copy_of(yyjson_val *object)
{
    yyjson_mut_doc *copy = kube_copy(object);
    yyjson_doc *doc = copy ? yyjson_mut_doc_imut_copy(copy, NULL) : NULL;

    yyjson_mut_doc_free(copy);
    return doc;
}

struct sending {
    struct api *api;
    struct api_answer answer;
    struct err err;
};

/* What the server says of a request: whether the request is to blame. */
static int code_of(const struct kube_answer *answer)
{
    return answer->status == 400 || answer->status == 404 || answer->status == 409 || answer->status == 422 ? -EINVAL
                                                                                                            : -EIO;
}

static void tell_unreachable(struct api *api, const struct kube_answer *answer, struct err *err)
{
    *err = answer->err;
    err->code = code_of(answer);
    if (answer->status == 0)
        (void)err_wrap(err, -EIO, "server %s does not answer (is it running?)", api->name);
}

static void on_sent(void *arg, const struct kube_answer *answer)
{
    struct sending *sending = arg;
    yyjson_val *object = NULL;

    sending->answer.status = answer->status;
    if (answer->err.code < 0)
        tell_unreachable(sending->api, answer, &sending->err);
    else if (kube_answer_object(answer, &object, NULL) == 0)
        sending->answer.doc = copy_of(object);
    loop_stop(sending->api->loop);
}

int api_send(struct api *api, const struct kube_request *request, struct api_answer *ret, struct err *err)
{
    struct kube_request complete = *request;
    struct sending sending = {.api = api};

    complete.on_done = on_sent;
    complete.arg = &sending;
    if (complete.tries == 0)
        complete.tries = 3;
    (void)kube_send(api->client, &complete);
    loop_run(api->loop);
    if (ret)
        *ret = sending.answer;
    else
        api_answer_done(&sending.answer);
    if (sending.err.code < 0 && err)
        *err = sending.err;
    return sending.err.code;
}

int api_send_doc(struct api *api, const struct kube_request *request, const yyjson_mut_doc *doc, struct api_answer *ret,
                 struct err *err)
{
    struct kube_request with = *request;
    char *body = yyjson_mut_write(doc, 0, &with.body_len);
    int code;

    if (!body)
        return err_set(err, -EINVAL, "the request has text that is not UTF-8");
    with.body = body;
    code = api_send(api, &with, ret, err);
    free(body);
    return code;
}

struct finding {
    struct api *api;
    const struct kube_resource *found;
    struct err err;
};

static void on_kind(void *arg, const struct kube_resource *resource, const struct err *err)
{
    struct finding *finding = arg;

    finding->err = *err;
    finding->found = resource;
    loop_stop(finding->api->loop);
}

int api_find_kind(struct api *api, const char *api_version, const char *kind, const struct kube_resource **ret,
                  struct err *err)
{
    struct finding finding = {.api = api};

    if (!api->discovery)
        api->discovery = discovery_new(api->client);
    discovery_find(api->discovery, api_version, kind, on_kind, &finding);
    loop_run(api->loop);
    if (finding.err.code < 0)
        return err_set(err, -EIO, "%s", finding.err.text);
    if (!finding.found)
        return err_set(err, -EINVAL, "the server has no kind %s of %s", kind, api_version);
    *ret = finding.found;
    return 0;
}

void api_objects_done(struct api_objects *objects)
{
    vec_foreach (objects, doc)
        yyjson_doc_free(*doc);
    vec_done(objects);
}

/* Several lists at a time; the loop stops with the last one. */
struct listing {
    struct api *api;
    struct api_objects *to;
    unsigned int *open;
    bool may_be_missing;
    struct err *err;  // the first failure of all of them
};

static int on_object(void *arg, yyjson_val *object)
{
    struct listing *listing = arg;
    yyjson_doc *doc = copy_of(object);

    if (doc)
        vec_push(listing->to, doc);
    return 0;
}

static void on_listed(void *arg, const struct kube_answer *answer, const char *resource_version)
{
    struct listing *listing = arg;
    bool is_missing = listing->may_be_missing && answer->status == 404;

    (void)resource_version;
    if (answer->err.code < 0 && !is_missing && listing->err->code == 0)
        tell_unreachable(listing->api, answer, listing->err);
    if (--*listing->open == 0)
        loop_stop(listing->api->loop);
}

static void start_list(struct listing *listing, const struct kube_resource *resource, const char *namespace,
                       const char *selector)
{
    (void)kube_list_start(listing->api->client, &(struct kube_list_request){
                                                    .resource = resource,
                                                    .namespace = resource->is_namespaced ? namespace : NULL,
                                                    .label_selector = selector,
                                                    .page_size = PAGE_SIZE,
                                                    .on_object = on_object,
                                                    .on_done = on_listed,
                                                    .arg = listing,
                                                });
    ++*listing->open;
}

int api_list(struct api *api, const struct kube_resource *resource, const char *namespace, const char *selector,
             struct api_objects *ret, struct err *err)
{
    unsigned int open = 0;
    struct err first = {0};
    struct listing listing = {.api = api, .to = ret, .open = &open, .err = &first};

    start_list(&listing, resource, namespace, selector);
    loop_run(api->loop);
    if (first.code < 0)
        *err = first;
    return first.code;
}

void api_view_done(struct api_view *view)
{
    view_objects_done(&view->objects);
    for (int kind = 0; kind < _VIEW_KIND_MAX; kind++)
        api_objects_done(&view->docs[kind]);
}

int api_read_view(struct api *api, unsigned int kinds, const char *namespace, struct api_view *ret, struct err *err)
{
    struct listing listings[_VIEW_KIND_MAX];
    unsigned int open = 0;
    struct err first = {0};

    memset(ret, 0, sizeof *ret);
    for (enum view_kind kind = 0; kind < _VIEW_KIND_MAX; kind++) {
        if (!(kinds >> kind & 1))
            continue;
        listings[kind] =
            (struct listing){.api = api, .to = &ret->docs[kind], .open = &open, .may_be_missing = true, .err = &first};
        start_list(&listings[kind], view_resource(kind), namespace, NULL);
    }
    loop_run(api->loop);
    for (enum view_kind kind = 0; kind < _VIEW_KIND_MAX; kind++) {
        vec_foreach (&ret->docs[kind], doc)
            vec_push(&ret->objects.of[kind], yyjson_doc_get_root(*doc));
    }
    if (first.code < 0)
        *err = first;
    return first.code;
}
