/* SPDX-License-Identifier: Apache-2.0 */
#include "local/rights/policies.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "local/rights/identity.h"
#include "local/rights/policy.h"
#include "text/yaml.h"

static yyjson_doc *doc_of(const char *text)
{
    struct yaml_docs docs = {0};

    assert_int_equal(yaml_parse(text, strlen(text), "object", &docs, NULL), 0);
    yyjson_mut_doc *copy = yyjson_doc_mut_copy(docs.items[0].json, NULL);
    yyjson_doc *doc = yyjson_mut_doc_imut_copy(copy, NULL);

    yyjson_mut_doc_free(copy);
    yaml_docs_done(&docs);
    return doc;
}

static bool allows(const char *rule, const struct rights_question *question)
{
    yyjson_doc *doc = doc_of(rule);
    bool is_allowed = rule_allows(yyjson_doc_get_root(doc), question);

    yyjson_doc_free(doc);
    return is_allowed;
}

#define PODS(v, part, named)    \
    (&(struct rights_question){ \
        .verb = (v), .group = "", .resource = "pods", .subresource = (part), .namespace = "a", .name = (named)})

static void a_rule_allows_its_words_and_no_others(void **state)
{
    static const char rule[] = "{verbs: ['get','list'],apiGroups: [''],resources: ['pods','*/scale']}";

    (void)state;
    assert_true(allows(rule, PODS("get", "", "x")));
    assert_false(allows(rule, PODS("delete", "", "x")));
    assert_false(allows(rule, PODS("get", "log", "x")));
    assert_true(allows(rule, PODS("get", "scale", "x")));
    assert_false(allows(rule, &(struct rights_question){
                                  .verb = "get", .group = "apps", .resource = "pods", .subresource = "", .name = ""}));
}

static void a_star_allows_everything_but_is_asked_for_by_a_star_alone(void **state)
{
    (void)state;
    assert_true(allows("{verbs: ['*'],apiGroups: ['*'],resources: ['*']}", PODS("get", "log", "x")));
    assert_true(allows("{verbs: ['*'],apiGroups: [''],resources: ['pods']}", PODS("*", "", "")));
    assert_false(allows("{verbs: ['get','list'],apiGroups: [''],resources: ['pods']}", PODS("*", "", "")));
}

static void a_rule_for_names_allows_no_other_name_and_no_list(void **state)
{
    static const char rule[] = "{verbs: ['get','list'],apiGroups: [''],resources: ['pods'],resourceNames: ['x','*']}";

    (void)state;
    assert_true(allows(rule, PODS("get", "", "x")));
    assert_false(allows(rule, PODS("get", "", "y")));
    assert_false(allows(rule, PODS("list", "", "")));
}

static void paths_match_by_their_beginning(void **state)
{
    static const char rule[] = "{verbs: ['get'],nonResourceURLs: ['/healthz','/metrics/*']}";

    (void)state;
    assert_true(allows(rule, &(struct rights_question){.verb = "get", .path = "/healthz"}));
    assert_false(allows(rule, &(struct rights_question){.verb = "get", .path = "/healthz/x"}));
    assert_true(allows(rule, &(struct rights_question){.verb = "get", .path = "/metrics/x"}));
    assert_false(allows(rule, PODS("get", "", "x")));
}

static struct identity *account(void)
{
    struct identity *identity = identity_new("system:serviceaccount:a:robot", 0);

    identity_set_account(identity, "a", "robot", "uid");
    identity_add_group(identity, "system:serviceaccounts");
    return identity;
}

static bool has(const char *subjects, const struct identity *identity)
{
    yyjson_doc *doc = doc_of(subjects);
    bool is_meant = subjects_have(yyjson_doc_get_root(doc), identity);

    yyjson_doc_free(doc);
    return is_meant;
}

static void subjects_are_users_groups_and_accounts(void **state)
{
    struct identity *robot = account();

    (void)state;
    assert_true(has("[{kind: 'ServiceAccount',namespace: 'a',name: 'robot'}]", robot));
    assert_false(has("[{kind: 'ServiceAccount',namespace: 'b',name: 'robot'}]", robot));
    assert_true(has("[{kind: 'User',name: 'system:serviceaccount:a:robot'}]", robot));
    assert_true(has("[{kind: 'User',name: 'x'},{kind: 'Group',name: 'system:serviceaccounts'}]", robot));
    assert_false(
        has("[{kind: 'Group',name: 'robot'},{kind: 'User',name: 'robot'},{kind: 'Other',name: 'robot'}]", robot));
    identity_unref(robot);
}

static void bindings_hold_in_their_namespace(void **state)
{
    struct identity *robot = account();
    struct policies policies = {0};
    struct rights_question question = *PODS("get", "", "x");

    (void)state;
    policies_put(&policies, POLICY_ROLES, "a", "reads",
                 doc_of("{rules: [{verbs: ['get'],apiGroups: [''],resources: ['pods']}]}"));
    assert_false(policies_allow(&policies, robot, &question));
    policies_put(&policies, POLICY_BINDINGS, "a", "reads",
                 doc_of("{roleRef: {kind: 'Role',name: 'reads'},subjects: [{kind: 'ServiceAccount',namespace: 'a',"
                        "name: 'robot'}]}"));
    assert_true(policies_allow(&policies, robot, &question));
    question.namespace = "b";
    assert_false(policies_allow(&policies, robot, &question));
    question.namespace = "";
    assert_false(policies_allow(&policies, robot, &question));
    question.namespace = "a";
    policies_drop(&policies, POLICY_ROLES, "a", "reads");
    assert_false(policies_allow(&policies, robot, &question));
    policies_done(&policies);
    identity_unref(robot);
}

static void a_role_has_the_rules_of_roles_that_it_selects(void **state)
{
    struct identity *robot = account();
    struct policies policies = {0};

    (void)state;
    policies_put(&policies, POLICY_CLUSTER_ROLES, "", "all",
                 doc_of("{aggregationRule: {clusterRoleSelectors: [{matchLabels: {part: 'yes'}}]},rules: []}"));
    policies_put(
        &policies, POLICY_CLUSTER_ROLES, "", "part",
        doc_of("{metadata: {labels: {part: 'yes'}},aggregationRule: {clusterRoleSelectors: [{matchExpressions: [{key: "
               "'part',operator: 'Exists'}]}]},rules: [{verbs: ['get'],apiGroups: [''],resources: ['pods']}]}"));
    policies_put(
        &policies, POLICY_CLUSTER_ROLES, "", "other",
        doc_of("{metadata: {labels: {part: 'no'}},rules: [{verbs: ['delete'],apiGroups: [''],resources: ['nodes']}]}"));
    policies_put(&policies, POLICY_CLUSTER_BINDINGS, "", "all",
                 doc_of("{roleRef: {kind: 'ClusterRole',name: 'all'},subjects: [{kind: 'Group',name: "
                        "'system:serviceaccounts'}]}"));
    assert_true(policies_allow(&policies, robot, PODS("get", "", "x")));
    assert_false(policies_allow(&policies, robot, PODS("delete", "", "x")));
    policies_done(&policies);
    identity_unref(robot);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rule_allows_its_words_and_no_others),
        cmocka_unit_test(a_star_allows_everything_but_is_asked_for_by_a_star_alone),
        cmocka_unit_test(a_rule_for_names_allows_no_other_name_and_no_list),
        cmocka_unit_test(paths_match_by_their_beginning),
        cmocka_unit_test(subjects_are_users_groups_and_accounts),
        cmocka_unit_test(bindings_hold_in_their_namespace),
        cmocka_unit_test(a_role_has_the_rules_of_roles_that_it_selects),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
