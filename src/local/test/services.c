/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/strbuf.h"
#include "local/api/kinds.h"
#include "local/api/problems.h"
#include "local/builtin/builtin.h"
#include "local/builtin/members.h"

#define SERVICE(spec) "{\"metadata\":{\"name\":\"a\",\"namespace\":\"n\"},\"spec\":{" spec "}}"
#define PORTS "\"ports\":[{\"port\":80}]"
#define OPEN SERVICE("\"clusterIP\":\"None\"")
#define EXTERNAL SERVICE("\"type\":\"ExternalName\",\"externalName\":\"a.example.com\"")

static const struct api_kind *services(void)
{
    return builtin_kind_find("", "v1", "services");
}

static yyjson_mut_doc *doc_of(const char *text)
{
    yyjson_doc *read = yyjson_read(text, strlen(text), 0);
    yyjson_mut_doc *doc = yyjson_doc_mut_copy(read, NULL);

    assert_non_null(doc);
    yyjson_doc_free(read);
    return doc;
}

/* The service as the server completes it; `old`, which may be NULL, is the one before. */
static yyjson_mut_doc *complete(const char *text, yyjson_mut_doc *old)
{
    yyjson_mut_doc *doc = doc_of(text);

    builtin_default(services(), doc, old);
    builtin_prepare(services(), doc, old);
    return doc;
}

static const char *text_of(yyjson_mut_doc *doc, const char *path)
{
    return member_text(yyjson_mut_doc_get_root(doc), path);
}

static void expect_list(yyjson_mut_doc *doc, const char *path, const char *expected)
{
    char *text = yyjson_mut_val_write(member_get(yyjson_mut_doc_get_root(doc), path), 0, NULL);

    assert_non_null(text);
    assert_string_equal(text, expected);
    free(text);
}

static void expect_problems(yyjson_mut_doc *doc, yyjson_mut_doc *old, const char *expected)
{
    struct problems problems = {0};
    struct strbuf text;

    strbuf_init(&text, 1 << 16);
    builtin_validate(services(), doc, old, &problems);
    vec_foreach (&problems.list, problem)
        strbuf_addf(&text, "%s: %s\n", problem->field, problem->message);
    assert_string_equal(text.text, expected);
    strbuf_done(&text);
    problems_done(&problems);
}

static void a_service_keeps_the_address_that_it_got(void **state)
{
    yyjson_mut_doc *first = complete(SERVICE(PORTS), NULL);
    yyjson_mut_doc *again = complete(SERVICE(PORTS), first);

    (void)state;
    assert_true(strncmp(text_of(first, "spec.clusterIP"), "10.", 3) == 0);
    assert_string_equal(text_of(first, "spec.ipFamilyPolicy"), "SingleStack");
    expect_list(first, "spec.ipFamilies", "[\"IPv4\"]");
    assert_string_equal(text_of(again, "spec.clusterIP"), text_of(first, "spec.clusterIP"));
    expect_problems(again, first, "");
    yyjson_mut_doc_free(again);
    yyjson_mut_doc_free(first);
}

static void an_address_does_not_change(void **state)
{
    yyjson_mut_doc *first = complete(SERVICE("\"clusterIP\":\"10.96.0.9\"," PORTS), NULL);
    yyjson_mut_doc *other = complete(SERVICE("\"clusterIP\":\"None\"," PORTS), first);
    yyjson_mut_doc *mixed =
        complete(SERVICE("\"clusterIP\":\"10.96.0.9\",\"clusterIPs\":[\"10.96.0.8\"]," PORTS), first);

    (void)state;
    expect_problems(other, first, "spec.clusterIPs[0]: Invalid value: [\"None\"]: may not change once set\n");
    expect_problems(mixed, first,
                    "spec.clusterIPs: Invalid value: [\"10.96.0.8\"]: first value must match `clusterIP`\n");
    yyjson_mut_doc_free(mixed);
    yyjson_mut_doc_free(other);
    yyjson_mut_doc_free(first);
}

static void a_service_whose_pods_somebody_else_keeps_is_of_both_families(void **state)
{
    yyjson_mut_doc *doc = complete(OPEN, NULL);

    (void)state;
    assert_string_equal(text_of(doc, "spec.ipFamilyPolicy"), "RequireDualStack");
    expect_list(doc, "spec.ipFamilies", "[\"IPv4\",\"IPv6\"]");
    expect_list(doc, "spec.clusterIPs", "[\"None\"]");
    expect_problems(doc, NULL, "");
    yyjson_mut_doc_free(doc);
}

static void addresses_come_and_go_with_the_type(void **state)
{
    yyjson_mut_doc *external = complete(EXTERNAL, NULL);
    yyjson_mut_doc *inside = complete(SERVICE(PORTS), external);
    yyjson_mut_doc *again = complete(EXTERNAL, inside);

    (void)state;
    assert_string_equal(text_of(external, "spec.clusterIP"), "");
    assert_true(*text_of(inside, "spec.clusterIP"));
    expect_problems(inside, external, "");
    assert_string_equal(text_of(again, "spec.clusterIP"), "");
    assert_string_equal(text_of(again, "spec.ipFamilyPolicy"), "");
    expect_problems(again, inside, "");
    yyjson_mut_doc_free(again);
    yyjson_mut_doc_free(inside);
    yyjson_mut_doc_free(external);
}

static void ports_of_nodes_are_given_and_kept(void **state)
{
    static const char text[] =
        SERVICE("\"type\":\"NodePort\",\"ports\":[{\"name\":\"a\",\"port\":80},{\"name\":\"b\",\"port\":81}]");
    yyjson_mut_doc *first = complete(text, NULL);
    yyjson_mut_doc *again = complete(text, first);
    yyjson_mut_val *ports = member_get(yyjson_mut_doc_get_root(first), "spec.ports");
    int64_t number = member_number(yyjson_mut_arr_get_first(ports), "nodePort", 0);

    (void)state;
    assert_true(number >= 30000 && number <= 32767);
    assert_true(number != member_number(yyjson_mut_arr_get_last(ports), "nodePort", 0));
    assert_true(yyjson_mut_equals(ports, member_get(yyjson_mut_doc_get_root(again), "spec.ports")));
    expect_problems(again, first, "");
    yyjson_mut_doc_free(again);
    yyjson_mut_doc_free(first);
}

static void problems_come_in_the_order_of_the_api_server(void **state)
{
    yyjson_mut_doc *doc = complete(SERVICE("\"type\":\"X\",\"sessionAffinity\":\"Y\",\"ports\":[{\"port\":80,\"name\":"
                                           "\"a\"},{\"port\":80,\"name\":\"a\",\"protocol\":\"Z\"}]"),
                                   NULL);

    (void)state;
    expect_problems(doc, NULL,
                    "spec.ports[1].name: Duplicate value: \"a\"\n"
                    "spec.ports[1].protocol: Unsupported value: \"Z\": supported values: \"SCTP\", \"TCP\", \"UDP\"\n"
                    "spec.sessionAffinity: Unsupported value: \"Y\": supported values: \"ClientIP\", \"None\"\n"
                    "spec.type: Unsupported value: \"X\": supported values: \"ClusterIP\", \"ExternalName\", "
                    "\"LoadBalancer\", \"NodePort\"\n");
    yyjson_mut_doc_free(doc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_service_keeps_the_address_that_it_got),
        cmocka_unit_test(an_address_does_not_change),
        cmocka_unit_test(a_service_whose_pods_somebody_else_keeps_is_of_both_families),
        cmocka_unit_test(addresses_come_and_go_with_the_type),
        cmocka_unit_test(ports_of_nodes_are_given_and_kept),
        cmocka_unit_test(problems_come_in_the_order_of_the_api_server),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
