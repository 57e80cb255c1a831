/* SPDX-License-Identifier: Apache-2.0 */

/*
 * One pod: from its text over its owners and the rules of their kind to a PodGroup that is written and a pod that knows
 * it. Every step that waits for the server ends in a callback which starts the next one; each either goes on or ends
 * all with finish().
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/err.h"
#include "base/mem.h"
#include "kube/list.h"
#include "kube/meta.h"
#include "kube/verbs.h"
#include "objects/group/live.h"
#include "objects/keys.h"
#include "objects/kinds.h"
#include "services/grouper/getter.h"
#include "services/grouper/grouper_internal.h"
#include "services/grouper/merge.h"
#include "services/grouper/pod_text.h"
#include "services/grouper/values.h"
#include "text/json.h"

/* Owners above each other, reads that the rules may ask for, and writes that others may come in between. */
enum { OWNERS_MAX = 16, ROUNDS_MAX = 8, CONFLICTS_MAX = 10 };

struct owner {
    struct got *got;
    const struct object *object;
    const char *api_version, *kind;
};

struct reconcile {
    struct grouper *grouper;
    struct pod_record *pod;
    uint64_t digest;
    char *text;
    yyjson_doc *doc;
    struct object_set set;
    const struct object *object;  // the pod
    struct group_live live;
    struct owner owners[OWNERS_MAX];
    size_t owner_count;
    VEC(struct got *) others;  // objects that the rules asked for
    VEC(yyjson_doc *) pods;
    struct get_wait *get;
    struct values_wait *values;
    yyjson_doc *answers;  // of `values`
    struct kube_list *list;
    struct kube_call *call;
    struct loop_task finisher;
    struct group_outcome outcome;
    uint64_t wanted;     // digest of the group as it should be
    uint64_t group_key;  // that is being written; 0: none
    uint32_t rounds, conflicts;
    struct err err;
};

static void go_on(struct reconcile *work);

uint64_t reconcile_writes(const struct reconcile *work)
{
    return work->group_key;
}

const struct pod_record *reconcile_pod(const struct reconcile *work)
{
    return work->pod;
}

const struct object *reconcile_object(const struct reconcile *work)
{
    return work->object;
}

char *reconcile_take_text(struct reconcile *work)
{
    return TAKE_PTR(work->text);
}

static void reconcile_free(struct reconcile *work)
{
    loop_task_cancel(&work->finisher);
    getter_cancel(work->get);
    values_cancel(work->values);
    yyjson_doc_free(work->answers);
    group_live_done(&work->live);
    if (work->list)
        kube_list_cancel(work->list);
    kube_cancel(work->call);
    for (size_t i = 0; i < work->owner_count; i++)
        got_unref(work->owners[i].got);
    vec_foreach (&work->others, got)
        got_unref(*got);
    vec_done(&work->others);
    vec_foreach (&work->pods, doc)
        yyjson_doc_free(*doc);
    vec_done(&work->pods);
    object_set_done(&work->set);
    yyjson_doc_free(work->doc);
    free(work->text);
    free(work);
}

void reconcile_cancel(struct reconcile *work)
{
    reconcile_free(work);
}

/* Ends it from the loop, so that no caller is left with freed memory. */
static void on_finish(void *arg)
{
    struct reconcile *work = arg;
    struct grouper *grouper = work->grouper;
    struct err err = work->err;

    grouper_done(grouper, work, work->pod, work->digest, err.code < 0 ? &err : NULL);
    reconcile_free(work);
    grouper_unpark(grouper);
}

static void finish(struct reconcile *work)
{
    work->err.code = 0;
    loop_task_queue(&work->finisher);
}

static void fail(struct reconcile *work, const struct err *err)
{
    work->err = *err;
    if (work->err.code >= 0)
        work->err.code = -EIO;
    loop_task_queue(&work->finisher);
}

/* The pod's patch: the last step. */

static void send_patch(struct reconcile *work);

static void on_patched(void *arg, const struct kube_answer *answer)
{
    struct reconcile *work = arg;
    yyjson_val *pod = NULL;

    work->call = NULL;
    if (answer->status == 404) {
        finish(work);
        return;
    }
    if (answer->status == 409 && ++work->conflicts < CONFLICTS_MAX) {
        send_patch(work);
        return;
    }
    if (answer->err.code < 0) {
        fail(work, &answer->err);
        return;
    }
    meter_add(work->grouper->patched, 1);
    /* What comes back over the watch is what we have just done: nothing new. */
    if (kube_answer_object(answer, &pod, NULL) == 0)
        work->digest = pod_digest_of(pod);
    finish(work);
}

static bool says(const char *found, const char *wanted)
{
    return !wanted || (found && strcmp(found, wanted) == 0);
}

static void patch_pod(struct reconcile *work)
{
    const struct group_outcome *outcome = &work->outcome;

    work->group_key = 0;
    meter_add(work->grouper->grouped, 1);
    if (says(object_annotation(work->object, KEY_POD_GROUP), outcome->name) &&
        says(object_label(work->object, KEY_SUBGROUP), outcome->subgroup))
        finish(work);
    else
        send_patch(work);
}

static void send_patch(struct reconcile *work)
{
    const struct group_outcome *outcome = &work->outcome;
    yyjson_mut_val *root;
    yyjson_mut_doc *doc = json_new_object(&root);
    yyjson_mut_val *meta;

    meta = yyjson_mut_obj_add_obj(doc, root, "metadata");
    /* Another pod of that name is not ours to change. */
    (void)yyjson_mut_obj_add_str(doc, meta, "uid", work->object->uid);
    (void)yyjson_mut_obj_add_str(doc, yyjson_mut_obj_add_obj(doc, meta, "annotations"), KEY_POD_GROUP, outcome->name);
    if (outcome->subgroup)
        (void)yyjson_mut_obj_add_str(doc, yyjson_mut_obj_add_obj(doc, meta, "labels"), KEY_SUBGROUP, outcome->subgroup);
    work->call = kube_send_doc(work->grouper->service->client,
                               &(struct kube_request){
                                   .verb = KUBE_PATCH_MERGE,
                                   .resource = kube_known(KUBE_PODS),
                                   .namespace = work->object->namespace,
                                   .name = work->object->name,
                                   .is_repeatable = true,
                                   .on_done = on_patched,
                                   .arg = work,
                               },
                               doc);
    yyjson_mut_doc_free(doc);
}

/* The group. */

static void group_is_written(struct reconcile *work, const struct kube_answer *answer)
{
    yyjson_val *object = NULL;

    if (kube_answer_object(answer, &object, NULL) == 0)
        known_check_group(&work->grouper->known, work->object->namespace, work->outcome.name, object, work->wanted);
    patch_pod(work);
}

static void read_group(struct reconcile *work);

/* What is wrong with the group is wrong with what it was made of: that is what somebody can change. */
static void refused(struct reconcile *work, const struct kube_answer *answer)
{
    const struct object *top = work->owner_count ? work->owners[work->owner_count - 1].object : work->object;
    struct err err = answer->err;

    if (answer->status == 422)
        (void)err_wrap(&err, err.code, "the PodGroup that follows from %s %s is refused", top->kind->kind, top->name);
    fail(work, &err);
}

static void on_updated(void *arg, const struct kube_answer *answer)
{
    struct reconcile *work = arg;

    work->call = NULL;
    if (answer->status == 409 && ++work->conflicts < CONFLICTS_MAX) {
        read_group(work);
        return;
    }
    if (answer->err.code < 0) {
        refused(work, answer);
        return;
    }
    meter_add(work->grouper->updated, 1);
    group_is_written(work, answer);
}

static void on_read(void *arg, const struct kube_answer *answer)
{
    struct reconcile *work = arg;
    struct merge_keys keys = {work->grouper->options.queue_label, work->grouper->options.node_pool_label};
    yyjson_val *object = NULL;
    yyjson_mut_doc *doc;

    work->call = NULL;
    if (answer->status == 404) {
        /* Gone since we saw it: it is made anew. */
        known_drop_group(&work->grouper->known, work->object->namespace, work->outcome.name);
        work->group_key = 0;
        if (++work->conflicts < CONFLICTS_MAX)
            go_on(work);
        else
            fail(work, &answer->err);
        return;
    }
    if (answer->err.code < 0 || kube_answer_object(answer, &object, &work->err) < 0) {
        fail(work, answer->err.code < 0 ? &answer->err : &work->err);
        return;
    }
    doc = kube_copy(object);
    if (!doc || !merge_group(doc, yyjson_mut_doc_get_root(doc), work->outcome.pod_group, &keys)) {
        yyjson_mut_doc_free(doc);
        group_is_written(work, answer);
        return;
    }
    work->call = kube_send_doc(work->grouper->service->client,
                               &(struct kube_request){
                                   .verb = KUBE_UPDATE,
                                   .resource = kube_known(KUBE_POD_GROUPS),
                                   .namespace = work->object->namespace,
                                   .name = work->outcome.name,
                                   .on_done = on_updated,
                                   .arg = work,
                               },
                               doc);
    yyjson_mut_doc_free(doc);
}

static void read_group(struct reconcile *work)
{
    work->call = kube_send(work->grouper->service->client, &(struct kube_request){
                                                               .verb = KUBE_GET,
                                                               .resource = kube_known(KUBE_POD_GROUPS),
                                                               .namespace = work->object->namespace,
                                                               .name = work->outcome.name,
                                                               .on_done = on_read,
                                                               .arg = work,
                                                           });
}

static void on_created(void *arg, const struct kube_answer *answer)
{
    struct reconcile *work = arg;

    work->call = NULL;
    if (answer->status == 409) {
        read_group(work);
        return;
    }
    if (answer->err.code < 0) {
        refused(work, answer);
        return;
    }
    meter_add(work->grouper->created, 1);
    group_is_written(work, answer);
}

static void create_group(struct reconcile *work)
{
    size_t len = 0;
    char *text = yyjson_val_write(work->outcome.pod_group, YYJSON_WRITE_ALLOW_INVALID_UNICODE, &len);

    work->call = kube_send(work->grouper->service->client, &(struct kube_request){
                                                               .verb = KUBE_CREATE,
                                                               .resource = kube_known(KUBE_POD_GROUPS),
                                                               .namespace = work->object->namespace,
                                                               .body = text,
                                                               .body_len = len,
                                                               .is_repeatable = true,
                                                               .on_done = on_created,
                                                               .arg = work,
                                                           });
    free(text);
}

static void write_group(struct reconcile *work)
{
    struct grouper *grouper = work->grouper;
    const char *namespace = work->object->namespace;
    size_t len = 0;
    char *text = yyjson_val_write(work->outcome.pod_group, YYJSON_WRITE_ALLOW_INVALID_UNICODE, &len);

    work->wanted = XXH3_64bits(text, len) | 1;
    free(text);
    if (known_is_checked(&grouper->known, namespace, work->outcome.name, work->wanted)) {
        patch_pod(work);
        return;
    }
    uint64_t key = known_key(namespace, work->outcome.name);
    if (grouper_is_writing(grouper, work, key)) {
        vec_push(&grouper->parked, work);
        return;
    }
    work->group_key = key;
    if (known_group(&grouper->known, namespace, work->outcome.name))
        read_group(work);
    else
        create_group(work);
}

void reconcile_resume(struct reconcile *work)
{
    write_group(work);
}

/* The rules, and what they ask for. */

static void on_needed(void *arg, struct got *got, int status, const struct err *err)
{
    struct reconcile *work = arg;

    work->get = NULL;
    /* Where there are no Kartas, or none for us to see, kinds have no other rules than ours. */
    if (!got && work->live.need == GROUP_NEEDS_KARTAS && (err->code == -ENOENT || status == 404 || status == 403)) {
        work->live.has_kartas = true;
        go_on(work);
        return;
    }
    if (!got) {
        fail(work, err);
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
        fail(work, &work->err);
        return;
    }
    go_on(work);
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
        fail(work, &answer->err);
        return;
    }
    work->live.has_pods = true;
    go_on(work);
}

static void on_values(void *arg, yyjson_val *answer, yyjson_val *invalid, const struct err *err)
{
    struct reconcile *work = arg;
    struct group_live *live = &work->live;
    size_t i, max;
    yyjson_val *wrong;

    work->values = NULL;
    if (!answer && !invalid) {
        fail(work, err);
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
    go_on(work);
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
        fail(work, &(struct err){-ELOOP, "the rules of its owner's kind ask for ever more"});
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
    uint64_t hash = warning ? XXH3_64bits(warning, strlen(warning)) : 0;

    work->live.warning = NULL;
    if (!warning || work->grouper->last_warning == hash)
        return;
    work->grouper->last_warning = hash;
    log_warn(work->grouper->service->log, warning, log_str("namespace", work->object->namespace),
             log_str("pod", work->object->name));
}

static void go_on(struct reconcile *work)
{
    const struct object *owners[OWNERS_MAX];
    struct err err = {0};
    int r;

    for (size_t i = 0; i < work->owner_count; i++)
        owners[i] = work->owners[i].object;
    if (group_is_to_skip(work->object, owners, work->owner_count)) {
        finish(work);
        return;
    }
    r = group_pod_live(&work->set, work->object, owners, work->owner_count, &work->grouper->options, &work->live,
                       &work->outcome, &err);
    warn_once(work);
    if (r == -EAGAIN)
        get_needed(work);
    else if (r < 0)
        fail(work, &err);
    else
        write_group(work);
}

/* The way up. */

static void walk_up(struct reconcile *work, yyjson_val *from);

/* Whether errors matter to anybody: a pod that leaves takes its owners with it. */
static bool is_leaving(const struct reconcile *work)
{
    return *kube_text(work->object->root.val, "metadata", "deletionTimestamp");
}

static void walk_failed(struct reconcile *work, const struct err *err)
{
    if (is_leaving(work))
        finish(work);
    else
        fail(work, err);
}

static void on_owner(void *arg, struct got *got, int status, const struct err *err)
{
    struct reconcile *work = arg;
    struct owner *owner = &work->owners[work->owner_count];
    yyjson_val *references;
    struct err wrong;

    work->get = NULL;
    /* What we may not see is not there for us: the last one that we could read is the top. */
    if (status == 403) {
        go_on(work);
        return;
    }
    if (!got) {
        walk_failed(work, err);
        return;
    }
    owner->got = got;
    owner->object = group_add_owner(&work->set, owner->api_version, owner->kind, got_object(got), true);
    work->owner_count++;
    references = yyjson_obj_get(yyjson_obj_get(got_object(got), "metadata"), "ownerReferences");
    const char *wanted_uid = owner->object->uid;
    yyjson_val *below =
        work->owner_count > 1 ? got_object(work->owners[work->owner_count - 2].got) : work->object->root.val;
    yyjson_val *reference = yyjson_arr_get_first(yyjson_obj_get(yyjson_obj_get(below, "metadata"), "ownerReferences"));
    if (strcmp(kube_text(reference, "uid"), wanted_uid) != 0) {
        (void)err_set(&wrong, -ESTALE, "%s %s has expired: it is another one of that name now", owner->kind,
                      owner->object->name);
        walk_failed(work, &wrong);
    } else if (yyjson_arr_size(references) > 1) {
        (void)err_set(&wrong, -EINVAL, "%s %s has more than one owner", owner->kind, owner->object->name);
        walk_failed(work, &wrong);
    } else if (yyjson_arr_size(references) == 1) {
        walk_up(work, got_object(got));
    } else {
        go_on(work);
    }
}

/* Reads the first owner of an object. */
static void walk_up(struct reconcile *work, yyjson_val *from)
{
    yyjson_val *reference = yyjson_arr_get_first(yyjson_obj_get(yyjson_obj_get(from, "metadata"), "ownerReferences"));
    struct owner *owner = &work->owners[work->owner_count];

    if (work->owner_count == OWNERS_MAX) {
        fail(work, &(struct err){-ELOOP, "owners: more above each other than can be"});
        return;
    }
    owner->api_version = kube_text(reference, "apiVersion");
    owner->kind = kube_text(reference, "kind");
    work->get = getter_get(work->grouper->getter,
                           &(struct get_request){
                               .api_version = owner->api_version,
                               .kind = owner->kind,
                               .namespace = work->object->namespace,
                               .name = kube_text(reference, "name"),
                               .is_metadata_only = true,
                           },
                           on_owner, work);
}

void reconcile_start(struct grouper *grouper, struct pod_record *pod)
{
    struct reconcile *work = xcalloc(1, sizeof *work);
    struct err err = {0};
    bool has_owner = pod->stand.has_owner;

    work->grouper = grouper;
    work->pod = pod;
    work->digest = pod->digest;
    work->text = TAKE_PTR(pod->text);
    pod->work = work;
    vec_push(&grouper->running, work);
    loop_task_init(&work->finisher, grouper->service->loop, on_finish, work);
    object_set_init(&work->set, NULL);
    work->live = (struct group_live){
        .has_priority_class = known_has_priority_class,
        .find_group = known_find_group,
        .find_defaults = known_defaults_of,
        .arg = &grouper->known,
        .searches_legacy = grouper->flags->searches_legacy,
        .gangs_knative = grouper->flags->gangs_knative,
        .uses_kartas = grouper->flags->uses_kartas,
    };
    if (json_parse(work->text, pod->text_len, "pod", &work->doc, &err) < 0 ||
        object_set_add(&work->set, yyjson_doc_get_root(work->doc), NULL, &err) < 0) {
        fail(work, &err);
        return;
    }
    work->object = work->set.objects.items[0];
    if (group_is_to_skip(work->object, NULL, 0) || (!has_owner && object_annotation(work->object, KEY_POD_GROUP)))
        finish(work);
    else if (has_owner)
        walk_up(work, work->object->root.val);
    else
        go_on(work);
}
