/* SPDX-License-Identifier: Apache-2.0 */
#include "local/admission/queue_limits.h"

#include <stdio.h>
#include <string.h>

#include "base/strbuf.h"
#include "kube/client/meta.h"
#include "local/admission/templates.h"
#include "local/api/kinds.h"
#include "local/builtin/members.h"
#include "local/rights/users.h"
#include "local/server/request.h"
#include "local/server/resources.h"
#include "local/server/server_parts.h"
#include "objects/keys.h"

enum { PARENTS_MAX = 64, FIELD_MAX = 128 };

#define LABEL_FIELD "metadata.labels[\"" KEY_QUEUE "\"]"

static bool names_group_of(const struct user *user, const char *groups)
{
    for (const char *at = groups; *at;) {
        at += strspn(at, " ,");
        size_t len = strcspn(at, " ,");

        vec_foreach (&user->groups, group) {
            if (len > 0 && strlen(*group) == len && strncmp(*group, at, len) == 0)
                return true;
        }
        at += len;
    }
    return false;
}

static yyjson_doc *read_queue(struct server *server, const char *name)
{
    const struct api_kind *kind = resource_find(server, "scheduling.run.ai", "v2", "queues");
    const struct store_object *object =
        kind ? store_latest(server->store, resource_number(server, kind), "", name) : NULL;

    return object ? yyjson_read(object->body, object->body_len, 0) : NULL;
}

/* Whether the queue and all above it let the user in. Says which one does not, and for whom it is. */
static bool lets_in(struct server *server, const struct user *user, const char *name, struct strbuf *refusal)
{
    yyjson_doc *doc = read_queue(server, name);
    bool is_in = true;

    for (int i = 0; doc && i < PARENTS_MAX && is_in; i++) {
        yyjson_val *queue = yyjson_doc_get_root(doc);
        const char *groups = kube_text(queue, "metadata", "annotations", KEY_QUEUE_GROUPS);

        is_in = !*groups || names_group_of(user, groups);
        if (!is_in)
            strbuf_addf(refusal, "queue %.100s is for members of %.200s", kube_text(queue, "metadata", "name"), groups);
        yyjson_doc *parent = is_in ? read_queue(server, kube_text(queue, "spec", "parentQueue")) : NULL;

        yyjson_doc_free(doc);
        doc = parent;
    }
    yyjson_doc_free(doc);
    return is_in;
}

static void check_place(struct request *request, const struct user *user, const char *field, const char *name,
                        const char *before, struct strbuf *problems)
{
    struct strbuf refusal;

    if (!name || (before && strcmp(name, before) == 0))
        return;
    strbuf_init(&refusal, FIELD_MAX * 4);
    if (!lets_in(request->server, user, name, &refusal))
        strbuf_addf(problems, "%s%s: %s", problems->len ? "; " : "", field, refusal.text);
    strbuf_done(&refusal);
}

static const char *label_of(yyjson_mut_val *object)
{
    yyjson_mut_val *labels = member_get(object, "metadata.labels");

    return yyjson_mut_get_str(yyjson_mut_obj_get(labels, KEY_QUEUE));
}

static bool is_pod_group(const struct api_kind *kind)
{
    return strcmp(kind->plural, "podgroups") == 0 && strcmp(kind->group, "scheduling.run.ai") == 0;
}

void queue_limits_check(struct request *request, yyjson_mut_doc *doc, yyjson_mut_doc *old, const struct user *user,
                        struct strbuf *problems)
{
    yyjson_mut_val *root = yyjson_mut_doc_get_root(doc), *before = old ? yyjson_mut_doc_get_root(old) : NULL;
    const char *path = pod_template_of(request->kind);
    char field[FIELD_MAX];

    if (path || is_pod_group(request->kind))
        check_place(request, user, LABEL_FIELD, label_of(root), label_of(before), problems);
    if (path && *path) {
        (void)snprintf(field, sizeof field, "%s." LABEL_FIELD, path);
        check_place(request, user, field, label_of(member_get(root, path)),
                    before ? label_of(member_get(before, path)) : NULL, problems);
    }
    if (is_pod_group(request->kind))
        check_place(request, user, "spec.queue", yyjson_mut_get_str(member_get(root, "spec.queue")),
                    before ? yyjson_mut_get_str(member_get(before, "spec.queue")) : NULL, problems);
}
