/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/why/why_elsewhere.h"

#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "model/state.h"
#include "objects/notes.h"
#include "sim/why/why_find.h"
#include "text/json.h"
#include "text/wrap.h"

enum { TEXT_MAX = 4096 };
#define REASON "other_scheduler"

struct answer {
    struct strbuf workload;
    const char *kind;
    const char *state;
    const char *outlook;
    struct strbuf message;
    struct strbuf remedy;  // "" when nothing has to be done
};

static void answer_left_out(const struct left_out *left_out, struct answer *a)
{
    strbuf_addf(&a->workload, "%s/%s", left_out->namespace, left_out->name);
    a->kind = left_out->kind;
    a->state = "Pending";
    a->outlook = "never";
    strbuf_addf(&a->message, "its schedulerName is %s, so %s has to place it", left_out->scheduler,
                left_out->scheduler);
    strbuf_addf(&a->remedy,
                strcmp(left_out->kind, "Pod") == 0
                    ? "set spec.schedulerName: %s in its manifest, and create the Pod again"
                    : "set schedulerName: %s in its pod template",
                left_out->ours);
}

static void answer_foreign(const struct state *state, pod_id id, struct answer *a)
{
    const struct pod *pod = &state->pods.items[id];
    const char *node = pod->node == NO_ID ? "" : state_name(state, state->nodes.items[pod->node].name);

    strbuf_addf(&a->workload, "%s/%s", state_name(state, pod->namespace), state_name(state, pod->name));
    a->kind = "Pod";
    a->state = "Running";
    a->outlook = "fine";
    strbuf_addf(&a->message, "another scheduler has placed it%s%s; its resources count as used",
                *node ? " on node " : "", node);
}

static void print(const struct answer *a, const struct table_view *view, FILE *out)
{
    struct strbuf text;

    strbuf_init(&text, TEXT_MAX);
    strbuf_addf(&text, "%s (%s)", a->workload.text, a->kind);
    wrap_print(out, view, "WORKLOAD  ", "          ", STYLE_BOLD, text.text);
    wrap_print(out, view, "STATE     ", "          ", STYLE_PLAIN, a->state);
    strbuf_clear(&text);
    strbuf_addf(&text, REASON ": %s", a->message.text);
    wrap_print(out, view, "REASON    ", "          ", STYLE_PLAIN, text.text);
    wrap_print(out, view, "OUTLOOK   ", "          ", strcmp(a->outlook, "never") == 0 ? STYLE_BAD : STYLE_GOOD,
               a->outlook);
    if (*a->remedy.text) {
        (void)fputc('\n', out);
        wrap_print(out, view, "", "", STYLE_BOLD, "What would help");
        wrap_print(out, view, "  1. ", "     ", STYLE_PLAIN, a->remedy.text);
    }
    strbuf_done(&text);
}

static void write_json(const struct answer *a, FILE *out)
{
    yyjson_mut_val *root;
    yyjson_mut_doc *doc = json_new_object(&root);
    char *text;

    (void)yyjson_mut_obj_add_str(doc, root, "workload", a->workload.text);
    (void)yyjson_mut_obj_add_str(doc, root, "kind", a->kind);
    (void)yyjson_mut_obj_add_str(doc, root, "state", a->state);
    (void)yyjson_mut_obj_add_str(doc, root, "reason", REASON);
    (void)yyjson_mut_obj_add_str(doc, root, "message", a->message.text);
    (void)yyjson_mut_obj_add_str(doc, root, "outlook", a->outlook);
    yyjson_mut_val *remedies = yyjson_mut_obj_add_arr(doc, root, "remedies");
    if (*a->remedy.text) {
        yyjson_mut_val *remedy = yyjson_mut_arr_add_obj(doc, remedies);
        (void)yyjson_mut_obj_add_str(doc, remedy, "kind", "scheduler_name");
        (void)yyjson_mut_obj_add_str(doc, remedy, "text", a->remedy.text);
    }
    text = yyjson_mut_write(doc, YYJSON_WRITE_PRETTY_TWO_SPACES, NULL);
    if (text)
        (void)fprintf(out, "%s\n", text);
    free(text);
    yyjson_mut_doc_free(doc);
}

void why_answer_elsewhere(const struct why_input *input, const struct why_target *target, bool as_json,
                          const struct table_view *view, FILE *out)
{
    struct answer a = {0};

    strbuf_init(&a.workload, TEXT_MAX);
    strbuf_init(&a.message, TEXT_MAX);
    strbuf_init(&a.remedy, TEXT_MAX);
    if (target->left_out)
        answer_left_out(target->left_out, &a);
    else
        answer_foreign(input->state, target->foreign, &a);
    if (as_json)
        write_json(&a, out);
    else
        print(&a, view, out);
    strbuf_done(&a.workload);
    strbuf_done(&a.message);
    strbuf_done(&a.remedy);
}
