/* SPDX-License-Identifier: Apache-2.0 */

/* From the text of an AdmissionReview to the text of its answer. */
#include "services/admission/review.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "kube/access/base64.h"
#include "kube/client/meta.h"
#include "text/json.h"

#define REVIEW_API_VERSION "admission.k8s.io/v1"

/* The name, or the beginning of one that the server is to complete. */
static const char *name_of(yyjson_val *object)
{
    const char *name = kube_text(object, "metadata", "name");

    return *name ? name : kube_text(object, "metadata", "generateName");
}

/* An object that says another namespace than the request would be judged for the wrong one. */
static bool check_namespace(const struct admission_request *request, struct admission_verdict *verdict)
{
    const char *own = kube_text(request->object, "metadata", "namespace");
    char shown[2][ADMISSION_TEXT_MAX];

    if (!*own || !*request->namespace || strcmp(own, request->namespace) == 0)
        return true;
    admission_deny(verdict,
                   "error: the namespace from the provided object %s does not match the namespace %s: write the same "
                   "namespace in metadata.namespace and in the request, or leave out metadata.namespace",
                   admission_text(own, shown[0]), admission_text(request->namespace, shown[1]));
    return false;
}

static void add_status(yyjson_mut_doc *doc, yyjson_mut_val *response, const struct admission_verdict *verdict)
{
    yyjson_mut_val *status = yyjson_mut_obj_add_obj(doc, response, "status");

    yyjson_mut_obj_add_str(doc, status, "status", "Failure");
    yyjson_mut_obj_add_str(doc, status, "message", verdict->message.text);
    yyjson_mut_obj_add_str(doc, status, "reason", "Forbidden");
    yyjson_mut_obj_add_int(doc, status, "code", 403);
}

static void add_patch(yyjson_mut_doc *doc, yyjson_mut_val *response, const yyjson_mut_doc *patch)
{
    size_t len = 0;
    _cleanup_(freep) char *text = yyjson_mut_write(patch, 0, &len);

    BUG_ON(!text);
    _cleanup_(freep) char *encoded = base64_encode(text, len);
    yyjson_mut_obj_add_str(doc, response, "patchType", "JSONPatch");
    yyjson_mut_obj_add_strcpy(doc, response, "patch", encoded);
}

static void write_answer(const char *uid, const struct admission_verdict *verdict, struct strbuf *answer)
{
    yyjson_mut_val *root;
    yyjson_mut_doc *doc = json_new_object(&root);

    yyjson_mut_obj_add_str(doc, root, "apiVersion", REVIEW_API_VERSION);
    yyjson_mut_obj_add_str(doc, root, "kind", "AdmissionReview");
    yyjson_mut_val *response = yyjson_mut_obj_add_obj(doc, root, "response");
    yyjson_mut_obj_add_str(doc, response, "uid", uid);
    yyjson_mut_obj_add_bool(doc, response, "allowed", !verdict->is_denied);
    if (verdict->is_denied)
        add_status(doc, response, verdict);
    else if (verdict->patch)
        add_patch(doc, response, verdict->patch);
    if (verdict->warnings.len > 0) {
        yyjson_mut_val *warnings = yyjson_mut_obj_add_arr(doc, response, "warnings");

        vec_foreach (&verdict->warnings, warning)
            yyjson_mut_arr_add_str(doc, warnings, *warning);
    }
    size_t len = 0;
    _cleanup_(freep) char *text = yyjson_mut_write(doc, 0, &len);
    BUG_ON(!text);
    strbuf_add(answer, text, len);
    yyjson_mut_doc_free(doc);
}

/* Takes the review apart. Returns 0 or -EINVAL. */
static int read_review(yyjson_val *root, const char **ret_uid, struct admission_request *request, struct err *err)
{
    yyjson_val *asked = yyjson_obj_get(root, "request");
    yyjson_val *old = yyjson_obj_get(asked, "oldObject");

    if (strcmp(kube_text(root, "apiVersion"), REVIEW_API_VERSION) != 0 ||
        strcmp(kube_text(root, "kind"), "AdmissionReview") != 0)
        return err_set(err, -EINVAL, "expected an AdmissionReview of " REVIEW_API_VERSION);
    *ret_uid = kube_text(asked, "uid");
    if (!**ret_uid)
        return err_set(err, -EINVAL, "request.uid: missing");
    request->namespace = kube_text(asked, "namespace");
    request->object = yyjson_obj_get(asked, "object");
    request->old = yyjson_is_obj(old) ? old : NULL;
    if (request->object && !yyjson_is_obj(request->object) && !yyjson_is_null(request->object))
        return err_set(err, -EINVAL, "request.object: expected an object");
    return 0;
}

int review_answer(const struct admission_rules *rules, admission_rule_fn rule, const char *text, size_t len,
                  uint64_t random, struct strbuf *answer, struct review_outcome *ret_outcome, struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    struct admission_request request = {.random = random};
    struct admission_verdict verdict;
    const char *uid = "";
    int r = json_parse(text, len, "AdmissionReview", &doc, err);

    if (r == 0)
        r = read_review(yyjson_doc_get_root(doc), &uid, &request, err);
    if (r < 0)
        return r;
    admission_verdict_init(&verdict);
    /* Nothing is left to be judged of what is deleted. */
    if (yyjson_is_obj(request.object) && check_namespace(&request, &verdict))
        rule(rules, &request, &verdict);
    write_answer(uid, &verdict, answer);
    ret_outcome->is_denied = verdict.is_denied;
    (void)snprintf(ret_outcome->object, sizeof ret_outcome->object, "%.64s%s%.200s", request.namespace,
                   *request.namespace ? "/" : "", name_of(request.object));
    (void)snprintf(ret_outcome->message, sizeof ret_outcome->message, "%s", verdict.message.text);
    admission_verdict_done(&verdict);
    return 0;
}
