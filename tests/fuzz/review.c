/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Any text is an AdmissionReview or none. The answer to one is JSON with the UID of the request, a denial has a reason, and
 * a patch can be applied to the pod, after which nothing is left to be patched.
 */
#include "services/admission/review.h"

#include <string.h>

#include "base/macros.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "fuzz.h"
#include "text/json.h"

static const struct admission_rules rules = {.scheduler_name = "kai-scheduler",
                                             .shares_gpus = true,
                                             .limits_memory = true,
                                             .blocks_devices = true,
                                             .runtime_class = "nvidia"};

static const admission_rule_fn all[] = {admission_default_pod, admission_check_pod, admission_check_pod_group,
                                        admission_check_queue, admission_check_topology};

static void check_answer(const struct strbuf *answer, bool is_denied)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;

    BUG_ON(answer->is_cut || json_parse(answer->text, answer->len, "answer", &doc, NULL) < 0);
    BUG_ON(!yyjson_get_str(yyjson_doc_ptr_get(doc, "/response/uid")));
    BUG_ON(yyjson_is_true(yyjson_doc_ptr_get(doc, "/response/allowed")) == is_denied);
    BUG_ON(is_denied && yyjson_get_len(yyjson_doc_ptr_get(doc, "/response/status/message")) == 0);
}

/* Two keys of one name in an object are one to some readers and two to others; the API server never sends them. */
static bool has_twins(yyjson_val *value)
{
    yyjson_val *key, *item;
    size_t i, max;

    if (yyjson_is_arr(value)) {
        yyjson_arr_foreach(value, i, max, item)
        {
            if (has_twins(item))
                return true;
        }
    }
    if (!yyjson_is_obj(value))
        return false;
    yyjson_obj_foreach(value, i, max, key, item)
    {
        if (yyjson_obj_getn(value, yyjson_get_str(key), yyjson_get_len(key)) != item || has_twins(item))
            return true;
    }
    return false;
}

static void check_patch(yyjson_val *pod)
{
    const struct admission_request request = {.namespace = "", .object = pod, .random = 7};
    struct admission_verdict first, second;

    if (!yyjson_is_obj(pod) || has_twins(pod))
        return;
    admission_verdict_init(&first);
    admission_default_pod(&rules, &request, &first);
    if (first.patch && yyjson_is_obj(yyjson_obj_get(pod, "metadata"))) {
        yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
        yyjson_mut_val *after =
            yyjson_mut_patch(doc, yyjson_val_mut_copy(doc, pod), yyjson_mut_doc_get_root(first.patch), NULL);

        BUG_ON(!after);
        yyjson_mut_doc_set_root(doc, after);
        yyjson_doc *fixed = yyjson_mut_doc_imut_copy(doc, NULL);
        const struct admission_request again = {.namespace = "", .object = yyjson_doc_get_root(fixed), .random = 8};
        admission_verdict_init(&second);
        admission_default_pod(&rules, &again, &second);
        BUG_ON(second.patch);
        admission_verdict_done(&second);
        yyjson_doc_free(fixed);
        yyjson_mut_doc_free(doc);
    }
    admission_verdict_done(&first);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    _cleanup_(freep) char *text = xstrndup((const char *)data, size);
    size_t len = strlen(text);

    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        struct review_outcome outcome;
        struct strbuf answer;

        strbuf_init(&answer, 64 << 20);
        if (review_answer(&rules, all[i], text, len, 7, &answer, &outcome, NULL) == 0)
            check_answer(&answer, outcome.is_denied);
        strbuf_done(&answer);
    }
    if (json_parse(text, len, "input", &doc, NULL) == 0)
        check_patch(yyjson_doc_ptr_get(doc, "/request/object"));
    return 0;
}
