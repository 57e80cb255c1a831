/* SPDX-License-Identifier: Apache-2.0 */

/* The rules of the top owner's kind, and what they ask for: objects, pods beside this one, Kartas and their values. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "kube/client/meta.h"
#include "kube/follow/list.h"
#include "objects/kinds.h"
#include "services/grouper/pod_text.h"
#include "services/grouper/reconcile_internal.h"
#include "text/json.h"

/* Reads that the rules may ask for. */
enum { ROUNDS_MAX = 8 };

static void on_needed(void *arg, struct got *got, int status, const struct err *err)
{
    struct reconcile *work = arg;

    work->get = NULL;
    /* Where there are no Kartas, or none for us to see, kinds have no other rules than ours. */
    bool is_refused = status == 403 && follow_is_current(work->grouper);
    if (!got && work->live.need == GROUP_NEEDS_KARTAS && (err->code == -ENOENT || status == 404 || is_refused)) {
        work->live.has_kartas = true;
        reconcile_go_on(work);
        return;
    }
    if (!got) {
        reconcile_fail(work, err);
        return;
    }
    vec_push(&work->others, got);
    if (work->live.need == GROUP_NEEDS_KARTAS) {
        work->live.has_kartas = true;
        work->live.kartas = yyjson_obj_get(got_object(got), "items");
    } else if (work->live.need == GROUP_NEEDS_POD) {
        work->live.pod = got_object(got);
    } else if (work->live.need == GROUP_NEEDS_OWNER) {
        for (size_t i = 0; i < work->owner_count; i++) {
            struct owner *owner = &work->owners[i];

            if (owner->object == work->live.object)
                owner->object = group_add_owner(&work->set, owner->api_version, owner->kind, got_object(got), false);
        }
    } else if (object_set_add(&work->set, got_object(got), NULL, &work->err) < 0) {
        reconcile_fail(work, &work->err);
        return;
    }
    reconcile_go_on(work);
}

static int on_listed_pod(void *arg, yyjson_val *object)
{
    struct reconcile *work = arg;
    struct pod_text text = pod_text_of(object);
    yyjson_doc *doc = NULL;
    int r = json_parse(text.text, text.len, "pod", &doc, NULL);

    free(text.text);
    if (r < 0)
        return 0;
    vec_push(&work->pods, doc);
    return object_set_add(&work->set, yyjson_doc_get_root(doc), NULL, NULL);
}

static void on_listed(void *arg, const struct kube_answer *answer, const char *resource_version)
{
    struct reconcile *work = arg;

    (void)resource_version;
    work->list = NULL;
    if (answer->err.code < 0) {
        reconcile_fail(work, &answer->err);
        return;
    }
    work->live.has_pods = true;
    reconcile_go_on(work);
}

static void on_values(void *arg, yyjson_val *answer, yyjson_val *invalid, const struct err *err)
{
    struct reconcile *work = arg;
    struct group_live *live = &work->live;
    size_t i, max;
    yyjson_val *wrong;

    work->values = NULL;
    if (!answer && !invalid) {
        reconcile_fail(work, err);
        return;
    }
    yyjson_arr_foreach(invalid, i, max, wrong)
    {
        if (yyjson_is_str(wrong) && i < live->questions.len)
            vec_push(&live->senseless, (struct group_senseless){
                                           .expression = live->questions.items[i].expression,
                                           .wrong = arena_strdup(&work->set.arena, yyjson_get_str(wrong)),
                                       });
    }
    if (answer) {
        yyjson_mut_doc *doc = kube_copy(answer);

        work->answers = yyjson_mut_doc_imut_copy(doc, NULL);
        yyjson_mut_doc_free(doc);
        live->answers = yyjson_doc_get_root(work->answers);
    }
    reconcile_go_on(work);
}

static void ask_values(struct reconcile *work)
{
    const struct group_live *live = &work->live;

    work->values = values_ask(work->grouper->values,
                              &(struct values_request){
                                  .questions = live->questions.items,
                                  .question_count = live->questions.len,
                                  .documents = {work->owners[work->owner_count - 1].object->root.val, live->pod},
                                  .fn = on_values,
                                  .arg = work,
                              });
}

static void get_needed(struct reconcile *work)
{
    const struct group_live *live = &work->live;
    struct get_request request = {live->api_version, live->kind, work->object->namespace, live->name, NULL, false};

    if (++work->rounds > ROUNDS_MAX) {
        reconcile_fail(
            work,
            &(struct err){-ELOOP, "grouping needs too many requests: the rules of its owner's kind may form a loop"});
        return;
    }
    if (live->need == GROUP_NEEDS_PODS) {
        work->list = kube_list_start(work->grouper->service->client, &(struct kube_list_request){
                                                                         .resource = kube_known(KUBE_PODS),
                                                                         .namespace = work->object->namespace,
                                                                         .label_selector = live->selector,
                                                                         .page_size = 500,
                                                                         .on_object = on_listed_pod,
                                                                         .on_done = on_listed,
                                                                         .arg = work,
                                                                     });
        return;
    }
    if (live->need == GROUP_NEEDS_VALUES) {
        ask_values(work);
        return;
    }
    if (live->need == GROUP_NEEDS_KARTAS)
        request = (struct get_request){"run.ai/v1alpha1", "Karta", "", NULL, live->selector, false};
    if (live->need == GROUP_NEEDS_POD)
        request = (struct get_request){"v1", "Pod", work->object->namespace, work->object->name, NULL, false};
    if (live->need == GROUP_NEEDS_OWNER) {
        request.api_version = live->object->api_version;
        request.kind = live->object->kind->kind;
        request.name = live->object->name;
    }
    work->get = getter_get(work->grouper->getter, &request, on_needed, work);
}

/* Many pods come to the same conclusion about a Karta. */
static void warn_once(struct reconcile *work)
{
    const char *warning = work->live.warning;
    uint64_t hash = warning ? hash_str(warning, 0) : 0;

    work->live.warning = NULL;
    if (!warning || work->grouper->last_warning == hash)
        return;
    work->grouper->last_warning = hash;
    log_warn(work->grouper->service->log, warning, log_str("namespace", work->object->namespace),
             log_str("pod", work->object->name));
}

void reconcile_go_on(struct reconcile *work)
{
    const struct object *owners[OWNERS_MAX];
    struct err err = {0};
    int r;

    for (size_t i = 0; i < work->owner_count; i++)
        owners[i] = work->owners[i].object;
    if (group_is_to_skip(work->object, owners, work->owner_count)) {
        reconcile_finish(work);
        return;
    }
    r = group_pod_live(&work->set, work->object, owners, work->owner_count, &work->grouper->options, &work->live,
                       &work->outcome, &err);
    warn_once(work);
    if (r == -EAGAIN)
        get_needed(work);
    else if (r < 0)
        reconcile_fail(work, &err);
    else
        reconcile_write_group(work);
}
