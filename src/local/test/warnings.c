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
#include "local/builtin/builtin.h"

#define TEMPLATE(spec) "{\"metadata\":{\"name\":\"a\",\"generation\":1},\"spec\":{\"template\":{\"spec\":" spec "}}}"
#define TWO_PORTS                                                                                     \
    "{\"containers\":[{\"name\":\"m\",\"ports\":[{\"containerPort\":80,\"protocol\":\"TCP\",\"name\"" \
    ":\"p\"},{\"containerPort\":80,\"protocol\":\"TCP\",\"name\":\"p\"}]}]}"

static yyjson_mut_doc *doc_of(const char *text)
{
    yyjson_doc *read = text ? yyjson_read(text, strlen(text), 0) : NULL;
    yyjson_mut_doc *doc = read ? yyjson_doc_mut_copy(read, NULL) : NULL;

    assert_true(doc || !text);
    yyjson_doc_free(read);
    return doc;
}

static void add_line(void *arg, const char *text)
{
    strbuf_addf(arg, "%s\n", text);
}

/* `expected` has a line for each warning. */
static void expect_warnings(const char *group, const char *plural, const char *object, const char *old,
                            const char *expected)
{
    const struct api_kind *kind = builtin_kind_find(group, "v1", plural);
    yyjson_mut_doc *doc = doc_of(object);
    yyjson_mut_doc *old_doc = doc_of(old);
    struct strbuf text;

    assert_non_null(kind);
    strbuf_init(&text, 1 << 16);
    builtin_warn(kind, doc, old_doc, add_line, &text);
    assert_string_equal(text.text, expected);
    strbuf_done(&text);
    yyjson_mut_doc_free(doc);
    yyjson_mut_doc_free(old_doc);
}

static void ports_that_stand_twice_are_warned_of(void **state)
{
    (void)state;
    expect_warnings("apps", "deployments", TEMPLATE(TWO_PORTS), NULL,
                    "spec.template.spec.containers[0].ports[1]: duplicate port definition with "
                    "spec.template.spec.containers[0].ports[0]\n"
                    "spec.template.spec.containers[0].ports[1]: duplicate port name \"p\" with "
                    "spec.template.spec.containers[0].ports[0], services and probes that select ports by name will use "
                    "spec.template.spec.containers[0].ports[0]\n");
    expect_warnings("", "pods",
                    "{\"metadata\":{\"name\":\"a\"},\"spec\":{\"containers\":[{\"ports\":[{\"containerPort\":80,"
                    "\"protocol\":\"TCP\"}]},{\"ports\":[{\"containerPort\":80,\"protocol\":\"TCP\",\"hostPort\":81}]}"
                    "]}}",
                    NULL,
                    "spec.containers[1].ports[0]: overlapping port definition with spec.containers[0].ports[0]\n");
}

static void terms_without_a_selector_are_warned_of(void **state)
{
    (void)state;
    expect_warnings("", "pods",
                    "{\"metadata\":{\"name\":\"a\"},\"spec\":{\"topologySpreadConstraints\":[{\"topologyKey\":\"z\"}],"
                    "\"affinity\":{\"podAffinity\":{\"preferredDuringSchedulingIgnoredDuringExecution\":[{"
                    "\"podAffinityTerm\":{\"topologyKey\":\"z\"}}]}}}}",
                    NULL,
                    "spec.topologySpreadConstraints[0].labelSelector: a null labelSelector results in matching no pod\n"
                    "spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm."
                    "labelSelector: a null labelSelector results in matching no pod\n");
}

static void parts_of_bytes_and_hidden_variables_are_warned_of(void **state)
{
    (void)state;
    expect_warnings("", "pods",
                    "{\"metadata\":{\"name\":\"a\"},\"spec\":{\"containers\":[{\"resources\":{\"requests\":{\"memory\":"
                    "\"500m\",\"cpu\":\"500m\"}},\"env\":[{\"name\":\"A\",\"value\":\"1\"},{\"name\":\"A\",\"value\":"
                    "\"$(A)2\"},{\"name\":\"A\",\"value\":\"3\"}]}]}}",
                    NULL,
                    "spec.containers[0].resources.requests[memory]: fractional byte value \"500m\" is invalid, must be "
                    "an integer\n"
                    "spec.containers[0].env[2]: hides previous definition of \"A\", which may be dropped when using "
                    "apply\n");
}

static void names_that_make_poor_hostnames_are_warned_of(void **state)
{
    (void)state;
    expect_warnings(
        "batch", "jobs", "{\"metadata\":{\"name\":\"a.b\"}}", NULL,
        "metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a "
        "DNS label is recommended: [must not contain dots]\n");
    expect_warnings("", "configmaps", "{\"metadata\":{\"name\":\"a.b\"}}", NULL, "");
}

static void changed_templates_are_looked_at_and_changed_pods_are_not(void **state)
{
    static const char newer[] = "{\"metadata\":{\"name\":\"a\",\"generation\":2},\"spec\":{\"template\":{\"spec\":{"
                                "\"terminationGracePeriodSeconds\":-1}}}}";
    static const char older[] = "{\"metadata\":{\"name\":\"a\",\"generation\":1},\"spec\":{}}";

    (void)state;
    expect_warnings("apps", "replicasets", newer, older,
                    "spec.template.spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and "
                    "will be treated as 1\n");
    expect_warnings("apps", "replicasets", newer, newer, "");
    expect_warnings("", "pods", "{\"spec\":{\"terminationGracePeriodSeconds\":-1}}", "{\"spec\":{}}", "");
}

static void services_are_warned_of_members_that_do_nothing(void **state)
{
    (void)state;
    expect_warnings("", "services",
                    "{\"spec\":{\"clusterIP\":\"None\",\"sessionAffinity\":\"ClientIP\",\"type\":\"ClusterIP\","
                    "\"externalName\":\"a\"}}",
                    NULL,
                    "spec.SessionAffinity is ignored for headless services\n"
                    "spec.externalName is ignored when spec.type is not \"ExternalName\"\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ports_that_stand_twice_are_warned_of),
        cmocka_unit_test(terms_without_a_selector_are_warned_of),
        cmocka_unit_test(parts_of_bytes_and_hidden_variables_are_warned_of),
        cmocka_unit_test(names_that_make_poor_hostnames_are_warned_of),
        cmocka_unit_test(changed_templates_are_looked_at_and_changed_pods_are_not),
        cmocka_unit_test(services_are_warned_of_members_that_do_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
