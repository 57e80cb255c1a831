/* SPDX-License-Identifier: Apache-2.0 */

/*
 * To compile an expression takes libjq tens of milliseconds, since it compiles its own library with it. All questions
 * of a request are therefore one program, and only when that cannot be compiled is each looked at alone.
 */
#include "text/jq.h"

#include <errno.h>
#include <jq.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"

/* The first thing that libjq complains about, without its own name in front. */
struct complaint {
    char text[256];
};

static void on_complaint(void *arg, jv message)
{
    static const char prefix[] = "jq: error: ";
    struct complaint *complaint = arg;
    const char *text = jv_get_kind(message) == JV_KIND_STRING ? jv_string_value(message) : "the expression is invalid";

    if (strncmp(text, prefix, sizeof prefix - 1) == 0)
        text += sizeof prefix - 1;
    if (!*complaint->text)
        (void)snprintf(complaint->text, sizeof complaint->text, "%.*s", (int)strcspn(text, "\n"), text);
    jv_free(message);
}

static void on_debug(void *arg, jv message)
{
    (void)arg;
    jv_free(message);
}

/* A program that is ready to run; NULL with a complaint when it makes no sense. */
static jq_state *compile(const char *program, struct complaint *ret_complaint)
{
    jq_state *jq = jq_init();

    BUG_ON(!jq);
    *ret_complaint = (struct complaint){0};
    jq_set_error_cb(jq, on_complaint, ret_complaint);
    jq_set_debug_cb(jq, on_debug, NULL);
    if (!jq_compile(jq, program))
        jq_teardown(&jq);
    return jq;
}

/* A member of an object, or something that is not valid. The object is borrowed. */
static jv member(jv object, const char *key)
{
    return jv_get_kind(object) == JV_KIND_OBJECT ? jv_object_get(jv_copy(object), jv_string(key)) : jv_invalid();
}

static jv item(jv array, int index)
{
    return jv_array_get(jv_copy(array), index);
}

static int count_of(jv array)
{
    return jv_array_length(jv_copy(array));
}

/* The text of a question, as long as `questions` is there; NULL when it is no text. */
static const char *expression_of(jv questions, int index)
{
    jv question = item(questions, index);
    jv expression = member(question, "expression");
    const char *text = jv_get_kind(expression) == JV_KIND_STRING ? jv_string_value(expression) : NULL;

    jv_free(expression);
    jv_free(question);
    return text;
}

static int document_of(jv questions, int index)
{
    jv question = item(questions, index);
    jv number = member(question, "document");
    double value = jv_get_kind(number) == JV_KIND_NUMBER ? jv_number_value(number) : -1;

    jv_free(number);
    jv_free(question);
    return value >= 0 && value < 1000 ? (int)value : -1;
}

/* What is wrong with an expression before it is compiled. */
static bool is_refused(const char *expression, struct complaint *ret_complaint)
{
    const char *what = NULL;

    if (!expression || !*expression)
        what = "an empty expression";
    else if (strlen(expression) > JQ_EXPRESSION_MAX)
        what = "an expression that is too long";
    else
        what = jq_forbidden(expression);
    if (what)
        (void)snprintf(ret_complaint->text, sizeof ret_complaint->text, "%s is not allowed", what);
    return what;
}

/* Every question alone; the first line of what is wrong with it, or null. */
static jv find_invalid(jv questions)
{
    jv invalid = jv_array();

    for (int i = 0; i < count_of(questions); i++) {
        struct complaint complaint;
        const char *expression = expression_of(questions, i);
        jv wrong = jv_null();

        if (is_refused(expression, &complaint)) {
            wrong = jv_string(complaint.text);
        } else {
            jq_state *jq = compile(expression, &complaint);

            if (!jq)
                wrong = jv_string(*complaint.text ? complaint.text : "the expression is invalid");
            jq_teardown(&jq);
        }
        invalid = jv_array_append(invalid, wrong);
    }
    return invalid;
}

/* A comment at the end of an expression must not take the closing bracket with it, hence the newlines. */
static void program_add(struct strbuf *program, const char *expression, int document)
{
    if (document < 0)
        strbuf_addf(program, "(def checked: (%s\n); {results: []})", expression);
    else
        strbuf_addf(program, "(.[%d] | try {results: [%s\n]} catch {wrong: .})", document, expression);
}

/* All questions as one program; NULL when one of them is refused or they make no sense together. */
static jq_state *compile_all(jv questions)
{
    struct complaint complaint;
    struct strbuf program;
    jq_state *jq = NULL;
    bool is_fine = true;

    strbuf_init(&program, 64U << 20);
    strbuf_addch(&program, '[');
    for (int i = 0; is_fine && i < count_of(questions); i++) {
        const char *expression = expression_of(questions, i);

        is_fine = !is_refused(expression, &complaint);
        strbuf_addstr(&program, i ? "," : "");
        if (is_fine)
            program_add(&program, expression, document_of(questions, i));
    }
    strbuf_addch(&program, ']');
    if (is_fine && !program.is_cut)
        jq = compile(program.text, &complaint);
    strbuf_done(&program);
    return jq;
}

static jv wrong_answer(jv message)
{
    jv text = jv_get_kind(message) == JV_KIND_STRING ? message : jv_dump_string(message, 0);

    return jv_object_set(jv_object(), jv_string("wrong"), text);
}

/* One answer as the program gave it, made sure of: {"results": [...]} or {"wrong": "..."}. */
static jv check_answer(jv answer)
{
    jv results = member(answer, "results");
    jv wrong = member(answer, "wrong");
    bool is_list = jv_get_kind(results) == JV_KIND_ARRAY;
    bool is_long = is_list && count_of(results) > JQ_RESULTS_MAX;

    jv_free(results);
    if (is_list && !is_long) {
        jv_free(wrong);
        return answer;
    }
    jv_free(answer);
    if (is_long) {
        jv_free(wrong);
        return wrong_answer(jv_string("returns more than 1000 results"));
    }
    if (!jv_is_valid(wrong)) {
        jv_free(wrong);
        return wrong_answer(jv_string("returns no result"));
    }
    return wrong_answer(wrong);
}

/* The answers for one input, which is consumed. */
static jv answer_input(jq_state *jq, jv input, int count)
{
    jv answers = jv_array();
    jv found;

    jq_start(jq, input, 0);
    found = jq_next(jq);
    for (int i = 0; i < count; i++) {
        if (jv_get_kind(found) == JV_KIND_ARRAY)
            answers = jv_array_append(answers, check_answer(item(found, i)));
        else
            answers = jv_array_append(answers, wrong_answer(jv_string("ends without a result")));
    }
    jv_free(found);
    return answers;
}

static jv answer_all(jv questions, jv inputs)
{
    jq_state *jq = compile_all(questions);
    jv answers = jv_array();

    if (!jq) {
        jv_free(answers);
        return jv_object_set(jv_object(), jv_string("invalid"), find_invalid(questions));
    }
    for (int i = 0; i < count_of(inputs); i++)
        answers = jv_array_append(answers, answer_input(jq, item(inputs, i), count_of(questions)));
    jq_teardown(&jq);
    return jv_object_set(jv_object(), jv_string("answers"), answers);
}

/* The whole request, which is consumed. */
static int answer_request(jv request, char **ret_answer, struct err *err)
{
    jv questions = member(request, "questions");
    jv inputs = member(request, "inputs");
    int r = 0;

    jv_free(request);
    if (jv_get_kind(questions) == JV_KIND_ARRAY && jv_get_kind(inputs) == JV_KIND_ARRAY &&
        count_of(questions) <= JQ_QUESTIONS_MAX) {
        jv text = jv_dump_string(answer_all(questions, inputs), 0);

        *ret_answer = xstrdup(jv_string_value(text));
        jv_free(text);
    } else {
        r = err_set(err, -EINVAL, "expected {\"questions\": [...], \"inputs\": [...]} with at most %d questions",
                    JQ_QUESTIONS_MAX);
    }
    jv_free(questions);
    jv_free(inputs);
    return r;
}

int jq_answer(const char *request, size_t len, char **ret_answer, struct err *err)
{
    jv parsed = len <= INT32_MAX ? jv_parse_sized(request, (int)len) : jv_invalid();

    if (!jv_is_valid(parsed)) {
        jv message = jv_invalid_get_msg(parsed);
        int r = err_set(err, -EINVAL, "the request is not JSON: %s",
                        jv_get_kind(message) == JV_KIND_STRING ? jv_string_value(message) : "empty or too long");

        jv_free(message);
        return r;
    }
    return answer_request(parsed, ret_answer, err);
}
