/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/time.h"
#include "cli/work/find.h"
#include "cli/work/submit.h"
#include "kube/client/meta.h"
#include "net/loop.h"
#include "objects/keys.h"

enum { NAME_BYTES = 254, LABEL_MAX = 63, SUFFIX_LEN = 5 };

#define NUMBER_WAIT (15 * NSEC_PER_SEC)
#define POLL_FIRST (20 * NSEC_PER_MSEC)
#define POLL_MAX NSEC_PER_SEC

void submitted_done(struct submitted *submitted)
{
    vec_foreach (&submitted->names, name)
        free(*name);
    vec_done(&submitted->names);
    free(submitted->namespace);
    free(submitted->job_id);
}

const char *submit_user(void)
{
    const struct passwd *user = getpwuid(geteuid());
    const char *name = user ? user->pw_name : "";
    size_t len = strlen(name);
    bool is_label = len > 0 && len <= LABEL_MAX &&
                    strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "0123456789-_.") == len;

    return is_label && !strchr("-_.", name[0]) && !strchr("-_.", name[len - 1]) ? name : "";
}

int api_is_local(struct api *api, bool *ret, struct err *err)
{
    struct api_answer answer = {0};
    int code = api_send(api, &(struct kube_request){.verb = KUBE_GET, .path = "/version"}, &answer, err);

    if (code == 0)
        *ret = strstr(kube_text(yyjson_doc_get_root(answer.doc), "gitVersion"), "+muster") != NULL;
    api_answer_done(&answer);
    return code;
}

/* A random end for a name that is taken; letters that make no words. */
static void add_suffix(char *name, size_t size)
{
    static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
    uint64_t chance = (uint64_t)nsec_now_wall() ^ (uint64_t)getpid() << 40;
    size_t len = strlen(name);

    (void)snprintf(name + len, size - len, "-");
    for (int i = 0; i < SUFFIX_LEN && ++len + 1 < size; i++) {
        name[len] = letters[chance % (sizeof letters - 1)];
        name[len + 1] = '\0';
        chance /= sizeof letters - 1;
    }
}

static int create(struct api *api, const struct job_spec *spec, struct api_answer *ret, struct err *err)
{
    yyjson_mut_doc *doc = job_spec_encode(spec);
    int code = api_send_doc(api,
                            &(struct kube_request){
                                .verb = KUBE_CREATE,
                                .resource = kube_known(KUBE_JOBS),
                                .namespace = spec->namespace,
                            },
                            doc, ret, err);

    yyjson_mut_doc_free(doc);
    return code;
}

/* A name that another Job has gets an end, and the Job keeps the name that the user gave as an annotation. */
static int create_one(struct api *api, const struct job_spec *spec, struct submitted *ret, struct err *err)
{
    struct api_answer answer = {0};
    int code = create(api, spec, &answer, err);

    if (code < 0 && answer.status == 409 && spec->name) {
        struct job_spec renamed = *spec;
        char name[NAME_BYTES];

        api_answer_done(&answer);
        (void)snprintf(name, sizeof name, "%s", spec->name);
        add_suffix(name, sizeof name);
        renamed.name = name;
        renamed.job_name = spec->job_name ? spec->job_name : spec->name;
        code = create(api, &renamed, &answer, err);
    }
    if (code == 0)
        vec_push(&ret->names, xstrdup(kube_text(yyjson_doc_get_root(answer.doc), "metadata", "name")));
    api_answer_done(&answer);
    return code;
}

static int create_array(struct api *api, struct job_spec *spec, const struct array_spec *array, struct submitted *ret,
                        struct err *err)
{
    char shared[NAME_BYTES];
    char name[NAME_BYTES];
    int code = 0;

    /* The name of an array is one of its own, for its elements find each other by it. */
    (void)snprintf(shared, sizeof shared, "%s", spec->name ? spec->name : spec->base_name);
    shared[LABEL_MAX - SUFFIX_LEN - 1] = '\0';
    add_suffix(shared, sizeof shared);
    spec->array = shared;
    spec->array_limit = array->limit;
    if (!spec->job_name)
        spec->job_name = spec->name ? spec->name : spec->base_name;
    for (uint32_t i = 0; code == 0 && i < array->indexes.len; i++) {
        (void)snprintf(name, sizeof name, "%.*s-%lld", NAME_BYTES - 32, shared, (long long)array->indexes.items[i]);
        spec->name = name;
        spec->array_index = array->indexes.items[i];
        code = create_one(api, spec, ret, err);
    }
    spec->array = NULL;
    spec->name = NULL;
    return code;
}

static void on_pause(void *arg)
{
    loop_stop(arg);
}

static void pause_for(struct api *api, nsec_t time)
{
    struct loop_timer timer = {0};

    loop_timer_init(&timer, api->loop, on_pause, api->loop);
    loop_timer_start(&timer, time);
    loop_run(api->loop);
    loop_timer_done(&timer);
}

/* Reads a label of the first Job until it is not empty. */
static int await_number(struct api *api, const char *label, struct submitted *submitted, struct err *err)
{
    nsec_t until = nsec_now_monotonic() + NUMBER_WAIT;
    nsec_t pause = POLL_FIRST;
    int code = 0;

    while (code == 0) {
        struct api_answer answer = {0};

        code = api_send(api,
                        &(struct kube_request){
                            .verb = KUBE_GET,
                            .resource = kube_known(KUBE_JOBS),
                            .namespace = submitted->namespace,
                            .name = submitted->names.items[0],
                        },
                        &answer, err);
        const char *number = kube_text(yyjson_doc_get_root(answer.doc), "metadata", "labels", label);
        if (*number)
            submitted->job_id = xstrdup(number);
        api_answer_done(&answer);
        if (code < 0 || submitted->job_id)
            break;
        if (nsec_now_monotonic() > until)
            return err_set(
                err, -EIO,
                "%s/%s was submitted, but has no job number: the cluster needs 'muster starter' or 'muster controller'",
                submitted->namespace, submitted->names.items[0]);
        pause_for(api, pause);
        pause = MIN(pause * 2, POLL_MAX);
    }
    return code;
}

int submit_job(struct api *api, struct job_spec *spec, const struct array_spec *array, bool waits_for_number,
               struct submitted *ret, struct err *err)
{
    int code;

    memset(ret, 0, sizeof *ret);
    ret->namespace = xstrdup(spec->namespace);
    code = array ? create_array(api, spec, array, ret, err) : create_one(api, spec, ret, err);
    if (code == 0 && waits_for_number)
        code = await_number(api, array ? KEY_ARRAY_ID : KEY_JOB_ID, ret, err);
    return code;
}

static bool is_one_of(const struct submitted *submitted, const struct workload_row *row)
{
    vec_foreach (&submitted->names, name) {
        if (strcmp(*name, row->name) == 0)
            return true;
    }
    return false;
}

/* One reading: whether all have ended, and with which code. */
static int look(struct api *api, const struct submitted *submitted, bool *ret_ended, int *ret_exit, struct err *err)
{
    struct workload_set set = {0};
    int code = workload_set_read(&set, api, submitted->namespace, err);

    *ret_ended = true;
    *ret_exit = 0;
    vec_foreach (&set.rows, row) {
        if (!row->job || !is_one_of(submitted, row))
            continue;
        if (!row_is_finished(row))
            *ret_ended = false;
        else if (row->state != ROW_COMPLETED && *ret_exit == 0)
            *ret_exit = row->exit_code > 0 && row->exit_signal == 0 ? row->exit_code : 1;
    }
    workload_set_done(&set);
    return code;
}

int submit_await(struct api *api, const struct submitted *submitted, int *ret_exit, struct err *err)
{
    nsec_t pause = POLL_FIRST;
    bool has_ended = false;
    int code;

    while ((code = look(api, submitted, &has_ended, ret_exit, err)) == 0 && !has_ended) {
        pause_for(api, pause);
        pause = MIN(pause * 2, POLL_MAX);
    }
    return code;
}
