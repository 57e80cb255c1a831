/* SPDX-License-Identifier: Apache-2.0 */
#include "local/admission/webhooks.h"

#include <openssl/rand.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/macros.h"
#include "base/strbuf.h"
#include "local/api/kinds.h"
#include "local/api/meta.h"
#include "local/api/patch.h"
#include "local/server/request.h"
#include "net/rest/errors.h"
#include "objects/keys.h"
#include "services/admission/rules.h"
#include "text/json.h"

enum { MESSAGE_MAX = 64 << 10 };

#define POD_HOOK "admission.kai-scheduler.svc"

struct webhook {
    const char *name;
    const char *group;
    const char *version;
    const char *plural;
    admission_rule_fn rule;
    bool is_for_updates;
};

static const struct webhook changing[] = {
    {POD_HOOK, "", "v1", "pods", admission_default_pod, false},
};
static const struct webhook checking[] = {
    {POD_HOOK, "", "v1", "pods", admission_check_pod, true},
    {"topology." POD_HOOK, "kai.scheduler", "v1alpha1", "topologies", admission_check_topology, true},
    {"queue-validation.kai.scheduler", "scheduling.run.ai", "v2", "queues", admission_check_queue, true},
    {"podgroup-validation.kai.scheduler", "scheduling.run.ai", "v2alpha2", "podgroups", admission_check_pod_group,
     true},
};

/* A single machine has no containers, whose runtime class would show them a GPU. */
static const struct admission_rules settings = {
    .scheduler_name = KEY_SCHEDULER_NAME, .shares_gpus = true, .runtime_class = ""};

/* Namespaces whose pods are not looked at. */
static const char *const excluded[] = {"kube-system", "kai-scheduler"};

static bool is_excluded(const struct request *request)
{
    for (size_t i = 0; i < ARRAY_LEN(excluded); i++) {
        if (strcmp(request->namespace, excluded[i]) == 0)
            return true;
    }
    return false;
}

static const struct webhook *find(const struct webhook *hooks, size_t count, const struct request *request, bool is_new)
{
    const struct api_kind *kind = request->kind;

    if (*request->subresource || is_excluded(request))
        return NULL;
    for (size_t i = 0; i < count; i++) {
        if ((is_new || hooks[i].is_for_updates) && strcmp(hooks[i].plural, kind->plural) == 0 &&
            strcmp(hooks[i].group, kind->group) == 0 && strcmp(hooks[i].version, kind->version) == 0)
            return &hooks[i];
    }
    return NULL;
}

/* Patches of our own rules fit to the object that they were made for. */
static void apply_patch_doc(yyjson_mut_doc *doc, yyjson_mut_doc *patch)
{
    _cleanup_(json_doc_freep) yyjson_doc *fixed = yyjson_mut_doc_imut_copy(patch, NULL);
    struct err err = {0};

    BUG_ON(!fixed || patch_json(doc, yyjson_doc_get_root(fixed), &err) != PATCH_DONE);
}

/* False after an answer. */
static bool report(struct request *request, const struct webhook *hook, const struct admission_verdict *verdict)
{
    struct strbuf text;

    vec_foreach (&verdict->warnings, warning)
        request_warn(request, *warning);
    if (!verdict->is_denied)
        return true;
    strbuf_init(&text, MESSAGE_MAX);
    strbuf_addf(&text, "admission webhook \"%s\" denied the request: %s", hook->name, verdict->message.text);
    fail_problem(request, &(struct rest_problem){.status = 403, .reason = "Forbidden", .message = text.text});
    strbuf_done(&text);
    return false;
}

static bool call(struct request *request, const struct webhook *hook, yyjson_mut_doc *doc, yyjson_mut_doc *old)
{
    _cleanup_(json_doc_freep) yyjson_doc *object = yyjson_mut_doc_imut_copy(doc, NULL);
    _cleanup_(json_doc_freep) yyjson_doc *before = old ? yyjson_mut_doc_imut_copy(old, NULL) : NULL;
    struct admission_request asked = {.namespace = request->namespace,
                                      .object = yyjson_doc_get_root(object),
                                      .old = before ? yyjson_doc_get_root(before) : NULL};
    struct admission_verdict verdict;

    BUG_ON(!object || RAND_bytes((unsigned char *)&asked.random, sizeof asked.random) != 1);
    admission_verdict_init(&verdict);
    hook->rule(&settings, &asked, &verdict);
    bool is_good = report(request, hook, &verdict);

    if (is_good && verdict.patch)
        apply_patch_doc(doc, verdict.patch);
    admission_verdict_done(&verdict);
    return is_good;
}

bool webhooks_change(struct request *request, yyjson_mut_doc *doc, yyjson_mut_doc *old)
{
    const struct webhook *hook = find(changing, ARRAY_LEN(changing), request, !old);

    return !hook || call(request, hook, doc, old);
}

bool webhooks_check(struct request *request, yyjson_mut_doc *doc, yyjson_mut_doc *old)
{
    const struct webhook *hook = find(checking, ARRAY_LEN(checking), request, !old);

    return !hook || call(request, hook, doc, old);
}
