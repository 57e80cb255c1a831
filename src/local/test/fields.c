/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/macros.h"
#include "base/strbuf.h"
#include "local/api/kinds.h"
#include "local/builtin/builtin.h"
#include "local/wire/types.h"

static yyjson_mut_doc *doc_of(const char *text)
{
    yyjson_doc *read = yyjson_read(text, strlen(text), 0);
    yyjson_mut_doc *doc = yyjson_doc_mut_copy(read, NULL);

    assert_non_null(doc);
    yyjson_doc_free(read);
    return doc;
}

/* What the object becomes, and the faults as one text; "" for none. */
static void expect(const char *group, const char *plural, const char *given, const char *becomes, const char *faulty)
{
    yyjson_mut_doc *doc = doc_of(given);
    struct field_faults faults = {0};
    struct err err = {0};
    struct strbuf text;

    assert_int_equal(builtin_check_fields(builtin_kind_find(group, "v1", plural), doc, &faults, &err), 0);
    char *written = yyjson_mut_write(doc, 0, NULL);
    assert_string_equal(written, becomes);
    strbuf_init(&text, 4096);
    if (faults.texts.len)
        field_faults_format(&faults, &text);
    assert_string_equal(text.text, faulty);
    strbuf_done(&text);
    free(written);
    field_faults_done(&faults);
    yyjson_mut_doc_free(doc);
}

static void expect_error(const char *plural, const char *given, const char *words)
{
    yyjson_mut_doc *doc = doc_of(given);
    struct field_faults faults = {0};
    struct err err = {0};

    assert_true(builtin_check_fields(builtin_kind_find("", "v1", plural), doc, &faults, &err) < 0);
    assert_string_equal(err.text, words);
    field_faults_done(&faults);
    yyjson_mut_doc_free(doc);
}

static void unknown_and_repeated_members_are_listed(void **state)
{
    (void)state;
    expect("", "configmaps",
           "{\"metadata\":{\"name\":\"a\",\"nme\":1,\"labels\":{\"x\":\"1\",\"x\":\"2\"}},\"data\":{\"k\":\"v\"},"
           "\"data\":{\"k\":\"w\"},\"spec\":{}}",
           "{\"metadata\":{\"name\":\"a\",\"labels\":{\"x\":\"2\"}},\"data\":{\"k\":\"w\"}}",
           "strict decoding error: unknown field \"metadata.nme\", duplicate field \"metadata.labels.x\", duplicate "
           "field \"data\", unknown field \"spec\"");
    expect("", "pods", "{\"spec\":{\"containers\":[{\"name\":\"a\"},{\"name\":\"b\",\"imag\":1}]}}",
           "{\"spec\":{\"containers\":[{\"name\":\"a\",\"resources\":{}},{\"name\":\"b\",\"resources\":{}}]},"
           "\"metadata\":{},\"status\":{}}",
           "strict decoding error: unknown field \"spec.containers[1].imag\"");
}

static void empty_members_go_and_come(void **state)
{
    (void)state;
    expect("rbac.authorization.k8s.io", "roles", "{\"metadata\":{\"name\":\"\",\"labels\":{},\"annotations\":null}}",
           "{\"metadata\":{},\"rules\":null}", "");
    expect("apps", "deployments",
           "{\"metadata\":{\"creationTimestamp\":null},\"spec\":{\"replicas\":0,\"paused\":false,\"minReadySeconds\":0,"
           "\"selector\":{},\"template\":{}},\"status\":{}}",
           "{\"metadata\":{},\"spec\":{\"replicas\":0,\"selector\":{},\"template\":{\"metadata\":{},\"spec\":"
           "{\"containers\":null}},\"strategy\":{}},\"status\":{}}",
           "");
}

static void lists_without_elements_are_the_clients_until_they_are_cleared(void **state)
{
    const struct api_kind *roles = builtin_kind_find("rbac.authorization.k8s.io", "v1", "roles");
    yyjson_mut_doc *doc = doc_of("{\"metadata\":{},\"rules\":[]}");
    struct field_faults faults = {0};
    struct err err = {0};

    (void)state;
    assert_int_equal(builtin_check_fields(roles, doc, &faults, &err), 0);
    assert_true(faults.has_empty);
    assert_true(yyjson_mut_is_arr(yyjson_mut_obj_get(yyjson_mut_doc_get_root(doc), "rules")));
    builtin_clear_empty(roles, doc);
    assert_true(yyjson_mut_is_null(yyjson_mut_obj_get(yyjson_mut_doc_get_root(doc), "rules")));
    field_faults_done(&faults);
    yyjson_mut_doc_free(doc);
}

static void values_are_written_in_one_way(void **state)
{
    (void)state;
    expect(
        "", "pods",
        "{\"spec\":{\"containers\":[{\"name\":\"a\",\"resources\":{\"limits\":{\"cpu\":\"1000m\",\"memory\":\"1024Mi\","
        "\"a/b\":2,\"c\":\"1e3\",\"d\":\"0.5\",\"e\":\"-1\",\"f\":null}}}]},\"metadata\":{\"creationTimestamp\":"
        "\"2026-01-02T03:04:05.7+01:00\"}}",
        "{\"spec\":{\"containers\":[{\"name\":\"a\",\"resources\":{\"limits\":{\"cpu\":\"1\",\"memory\":\"1Gi\","
        "\"a/b\":\"2\",\"c\":\"1e3\",\"d\":\"500m\",\"e\":\"-1\",\"f\":\"0\"}}}]},\"metadata\":{\"creationTimestamp\":"
        "\"2026-01-02T02:04:05Z\"},\"status\":{}}",
        "");
    expect("coordination.k8s.io", "leases", "{\"spec\":{\"renewTime\":\"2026-01-02T03:04:05.000001Z\"}}",
           "{\"spec\":{\"renewTime\":\"2026-01-02T03:04:05.000001Z\"},\"metadata\":{}}", "");
}

static void wrong_types_are_named_as_go_does(void **state)
{
    (void)state;
    expect_error("pods", "{\"spec\":{\"containers\":[{\"name\":5}]}}",
                 "Pod in version \"v1\" cannot be handled as a Pod: json: cannot unmarshal number into Go struct field "
                 "Container.spec.containers.name of type string");
    expect_error("pods", "{\"spec\":{\"containers\":{}}}",
                 "Pod in version \"v1\" cannot be handled as a Pod: json: cannot unmarshal object into Go struct field "
                 "PodSpec.spec.containers of type []v1.Container");
    expect_error("pods", "{\"metadata\":{\"labels\":{\"a\":true}}}",
                 "Pod in version \"v1\" cannot be handled as a Pod: json: cannot unmarshal bool into Go struct field "
                 "ObjectMeta.metadata.labels of type string");
    expect_error(
        "pods", "{\"spec\":{\"priority\":1.5,\"containers\":null}}",
        "Pod in version \"v1\" cannot be handled as a Pod: json: cannot unmarshal number 1.5 into Go struct field "
        "PodSpec.spec.priority of type int32");
    expect_error("pods", "{\"spec\":{\"restartPolicy\":1,\"containers\":null}}",
                 "Pod in version \"v1\" cannot be handled as a Pod: json: cannot unmarshal number into Go struct field "
                 "PodSpec.spec.restartPolicy of type v1.RestartPolicy");
    expect_error("pods", "{\"spec\":{\"containers\":[{\"resources\":{\"limits\":{\"cpu\":\"1x\"}}}]}}",
                 "Pod in version \"v1\" cannot be handled as a Pod: quantities must match the regular expression "
                 "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
    expect_error("secrets", "{\"data\":{\"a\":\"abc\"}}",
                 "Secret in version \"v1\" cannot be handled as a Secret: illegal base64 data at input byte 0");
}

static void lists_know_their_keys(void **state)
{
    const struct type *pod = type_find("", "v1", "Pod");
    const struct type *spec = row_struct(type_member(pod, "spec"));
    const struct type_row *containers = type_member(spec, "containers");
    const struct type_row *ports = type_member(row_struct(containers), "ports");

    (void)state;
    assert_string_equal(row_list_keys(containers), "name");
    assert_string_equal(row_list_keys(ports), "containerPort protocol");
    assert_string_equal(row_merge_key(ports), "containerPort");
    assert_true(type_member(spec, "nodeSelector")->flags & ROW_ATOMIC);
    assert_non_null(type_member(row_struct(type_member(spec, "volumes")), "emptyDir"));
    assert_null(type_member(spec, "nothing"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unknown_and_repeated_members_are_listed),
        cmocka_unit_test(empty_members_go_and_come),
        cmocka_unit_test(lists_without_elements_are_the_clients_until_they_are_cleared),
        cmocka_unit_test(values_are_written_in_one_way),
        cmocka_unit_test(wrong_types_are_named_as_go_does),
        cmocka_unit_test(lists_know_their_keys),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
