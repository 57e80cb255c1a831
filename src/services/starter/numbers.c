/* SPDX-License-Identifier: Apache-2.0 */
#include "services/starter/numbers.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/time.h"
#include "kube/client/client.h"
#include "kube/client/modify.h"
#include "kube/client/verbs.h"
#include "net/loop.h"
#include "objects/fields.h"
#include "text/json.h"

#define MAP_NAME "muster-job-numbers"
#define KEY_NEXT "next"
#define RETRY (2 * NSEC_PER_SEC)
#define NUMBER_MAX (INT64_C(1) << 53)

enum { BLOCK = 32 };

struct numbers {
    struct numbers_options options;
    struct kube_modify *modify;
    struct kube_call *create;
    struct loop_timer later;
    int64_t next, end;      // those that are reserved and unused
    int64_t reserved_from;  // by the request that is under way
    int64_t above;
};

static void reserve(void *arg);

/* The first number behind what is stored, and behind those that are in use. */
static int change(void *arg, yyjson_mut_doc *doc, yyjson_mut_val *object, struct err *err)
{
    struct numbers *numbers = arg;
    yyjson_mut_val *data = yyjson_mut_obj_get(object, "data");
    const char *text = yyjson_mut_get_str(yyjson_mut_obj_get(data, KEY_NEXT));
    int64_t stored = 1;
    char after[24];

    (void)err;
    if (!text || !int_parse(text, 1, NUMBER_MAX, &stored))
        stored = 1;
    numbers->reserved_from = MAX(stored, numbers->above + 1);
    if (!data)
        data = yyjson_mut_obj_add_obj(doc, object, "data");
    (void)snprintf(after, sizeof after, "%" PRId64, numbers->reserved_from + BLOCK);
    (void)yyjson_mut_obj_put(data, yyjson_mut_str(doc, KEY_NEXT), yyjson_mut_strcpy(doc, after));
    return 1;
}

static void fail(struct numbers *numbers, const struct err *err)
{
    numbers->options.on_problem(numbers->options.arg, err);
    loop_timer_start(&numbers->later, RETRY);
}

static void on_created(void *arg, const struct kube_answer *answer)
{
    struct numbers *numbers = arg;

    numbers->create = NULL;
    if (answer->err.code < 0 && answer->status != 409)
        fail(numbers, &answer->err);
    else
        reserve(numbers);
}

static void create(struct numbers *numbers)
{
    yyjson_mut_val *root;
    yyjson_mut_doc *doc = json_new_object(&root);

    (void)yyjson_mut_obj_add_str(doc, root, "apiVersion", "v1");
    (void)yyjson_mut_obj_add_str(doc, root, "kind", "ConfigMap");
    (void)yyjson_mut_obj_add_str(doc, yyjson_mut_obj_add_obj(doc, root, "metadata"), "name", MAP_NAME);
    (void)yyjson_mut_obj_add_str(doc, yyjson_mut_obj_add_obj(doc, root, "data"), KEY_NEXT, "1");
    numbers->create = kube_send_doc(numbers->options.client,
                                    &(struct kube_request){
                                        .verb = KUBE_CREATE,
                                        .resource = kube_known(KUBE_CONFIG_MAPS),
                                        .namespace = numbers->options.namespace,
                                        .on_done = on_created,
                                        .arg = numbers,
                                    },
                                    doc);
    yyjson_mut_doc_free(doc);
}

static void on_reserved(void *arg, const struct kube_answer *answer)
{
    struct numbers *numbers = arg;

    numbers->modify = NULL;
    if (answer->status == 404) {
        create(numbers);
        return;
    }
    if (answer->err.code < 0) {
        fail(numbers, &answer->err);
        return;
    }
    numbers->next = numbers->reserved_from;
    numbers->end = numbers->next + BLOCK;
    numbers->options.on_ready(numbers->options.arg);
}

static void reserve(void *arg)
{
    struct numbers *numbers = arg;

    numbers->modify = kube_modify_start(numbers->options.client, &(struct kube_modify_request){
                                                                     .resource = kube_known(KUBE_CONFIG_MAPS),
                                                                     .namespace = numbers->options.namespace,
                                                                     .name = MAP_NAME,
                                                                     .change = change,
                                                                     .on_done = on_reserved,
                                                                     .arg = numbers,
                                                                 });
}

struct numbers *numbers_new(const struct numbers_options *options)
{
    struct numbers *numbers = xcalloc(1, sizeof *numbers);

    numbers->options = *options;
    loop_timer_init(&numbers->later, kube_client_loop(options->client), reserve, numbers);
    return numbers;
}

void numbers_free(struct numbers *numbers)
{
    if (!numbers)
        return;
    if (numbers->modify)
        kube_modify_cancel(numbers->modify);
    if (numbers->create)
        kube_cancel(numbers->create);
    loop_timer_done(&numbers->later);
    free(numbers);
}

int64_t numbers_take(struct numbers *numbers, int64_t above)
{
    numbers->above = MAX(numbers->above, above);
    /* Numbers that are in use already are skipped. */
    numbers->next = MAX(numbers->next, above + 1);
    if (numbers->next < numbers->end)
        return numbers->next++;
    if (!numbers->modify && !numbers->create && !loop_timer_is_running(&numbers->later))
        reserve(numbers);
    return 0;
}
