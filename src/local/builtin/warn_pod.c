/* SPDX-License-Identifier: Apache-2.0 */
/* Warnings about pods and their templates, in the words and in the order of the API server. */
#include <string.h>

#include "base/macros.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "local/api/problems.h"
#include "local/builtin/members.h"
#include "local/builtin/warn_internal.h"

/* Ports are compared with each other; a pod with more of them than this is not one that a person has written. */
enum { PORTS_MAX = 64, FIELD_BYTES_MAX = 1024 };

static const char *const container_lists[] = {"initContainers", "containers", "ephemeralContainers"};

/* One text for each key that is out of use. */
struct old_name {
    const char *name;
    const char *text;
};

static const char *find_old(const struct old_name *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i].name, name) == 0)
            return names[i].text;
    return NULL;
}

/* --- Labels of nodes --- */

static const char *old_label(const char *label)
{
    static const struct old_name labels[] = {
        {"beta.kubernetes.io/arch", "deprecated since v1.14; use \"kubernetes.io/arch\" instead"},
        {"beta.kubernetes.io/os", "deprecated since v1.14; use \"kubernetes.io/os\" instead"},
        {"failure-domain.beta.kubernetes.io/region",
         "deprecated since v1.17; use \"topology.kubernetes.io/region\" instead"},
        {"failure-domain.beta.kubernetes.io/zone",
         "deprecated since v1.17; use \"topology.kubernetes.io/zone\" instead"},
        {"beta.kubernetes.io/instance-type",
         "deprecated since v1.17; use \"node.kubernetes.io/instance-type\" instead"},
        {"app.kubernetes.io/created-by", "deprecated since v1.9"},
        {"scheduler.alpha.kubernetes.io/preferAvoidPods", "deprecated since v1.22; use Taints and Tolerations instead"},
        {"node-role.kubernetes.io/master", "use \"node-role.kubernetes.io/control-plane\" instead"},
    };

    return find_old(labels, ARRAY_LEN(labels), label);
}

static void warn_term(const struct warning *warning, yyjson_mut_val *term, const struct field *field)
{
    const struct field expressions = field_member(field, "matchExpressions");
    size_t index = 0;

    MEMBER_ITEMS (expression, member_get(term, "matchExpressions")) {
        const struct field at = field_item(&expressions, index++);
        const char *key = member_text(expression, "key");
        if (old_label(key))
            warn_at(warning, FIELD(&at, "key"), "%s is %s", key, old_label(key));
    }
}

static void warn_node_labels(const struct warning *warning, yyjson_mut_val *spec, const struct field *field)
{
    const struct field selector = field_member(field, "nodeSelector");
    const struct field affinity = field_member(FIELD(field, "affinity"), "nodeAffinity");
    const struct field required = field_member(&affinity, "requiredDuringSchedulingIgnoredDuringExecution");
    const struct field terms = field_member(&required, "nodeSelectorTerms");
    const struct field preferred = field_member(&affinity, "preferredDuringSchedulingIgnoredDuringExecution");
    yyjson_mut_val *node = member_get(spec, "affinity.nodeAffinity");
    yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(member_get(spec, "nodeSelector"));
    size_t index = 0;

    for (yyjson_mut_val *key; (key = yyjson_mut_obj_iter_next(&iter));) {
        const struct field at = field_key(&selector, yyjson_mut_get_str(key));
        if (old_label(yyjson_mut_get_str(key)))
            warn_at(warning, &at, "%s", old_label(yyjson_mut_get_str(key)));
    }
    MEMBER_ITEMS (term, member_get(node, "requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms")) {
        const struct field at = field_item(&terms, index++);
        warn_term(warning, term, &at);
    }
    index = 0;
    MEMBER_ITEMS (term, member_get(node, "preferredDuringSchedulingIgnoredDuringExecution")) {
        const struct field at = field_item(&preferred, index++);
        warn_term(warning, member_get(term, "preference"), FIELD(&at, "preference"));
    }
}

/* --- Selectors of pods --- */

static void warn_no_selector(const struct warning *warning, yyjson_mut_val *term, const struct field *field)
{
    if (!member_get(term, "labelSelector"))
        warn_at(warning, FIELD(field, "labelSelector"), "a null labelSelector results in matching no pod");
}

static void warn_spread(const struct warning *warning, yyjson_mut_val *spec, const struct field *field)
{
    const struct field constraints = field_member(field, "topologySpreadConstraints");
    size_t index = 0;

    MEMBER_ITEMS (constraint, member_get(spec, "topologySpreadConstraints")) {
        const struct field at = field_item(&constraints, index++);
        const char *key = member_text(constraint, "topologyKey");
        if (old_label(key))
            warn_at(warning, FIELD(&at, "topologyKey"), "%s is %s", key, old_label(key));
        warn_no_selector(warning, constraint, &at);
    }
}

static void warn_affinity(const struct warning *warning, yyjson_mut_val *spec, const struct field *field)
{
    static const char *const sides[] = {"podAffinity", "podAntiAffinity"};
    static const char required[] = "requiredDuringSchedulingIgnoredDuringExecution";
    static const char preferred[] = "preferredDuringSchedulingIgnoredDuringExecution";
    const struct field affinity = field_member(field, "affinity");

    for (size_t i = 0; i < ARRAY_LEN(sides); i++) {
        yyjson_mut_val *side = member_get(member_get(spec, "affinity"), sides[i]);
        const struct field side_field = field_member(&affinity, sides[i]);
        const struct field required_field = field_member(&side_field, required);
        const struct field preferred_field = field_member(&side_field, preferred);
        size_t index = 0;

        MEMBER_ITEMS (term, member_get(side, required)) {
            const struct field at = field_item(&required_field, index++);
            warn_no_selector(warning, term, &at);
        }
        index = 0;
        MEMBER_ITEMS (term, member_get(side, preferred)) {
            const struct field at = field_item(&preferred_field, index++);
            warn_no_selector(warning, member_get(term, "podAffinityTerm"), FIELD(&at, "podAffinityTerm"));
        }
    }
}

/* --- Volumes and lists --- */

static void warn_volumes(const struct warning *warning, yyjson_mut_val *spec, const struct field *field)
{
    static const struct old_name sources[] = {
        {"photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"},
        {"gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"},
        {"scaleIO", "deprecated in v1.16, non-functional in v1.22+"},
        {"flocker", "deprecated in v1.22, non-functional in v1.25+"},
        {"storageos", "deprecated in v1.22, non-functional in v1.25+"},
        {"quobyte", "deprecated in v1.22, non-functional in v1.25+"},
        {"glusterfs", "deprecated in v1.25, non-functional in v1.26+"},
        {"cephfs", "deprecated in v1.28, non-functional in v1.31+"},
        {"rbd", "deprecated in v1.28, non-functional in v1.31+"},
    };
    const struct field volumes = field_member(field, "volumes");
    size_t index = 0;

    MEMBER_ITEMS (volume, member_get(spec, "volumes")) {
        const struct field at = field_item(&volumes, index++);
        for (size_t i = 0; i < ARRAY_LEN(sources); i++)
            if (member_get(volume, sources[i].name))
                warn_at(warning, FIELD(&at, strcmp(sources[i].name, "storageos") == 0 ? "storageOS" : sources[i].name),
                        "%s", sources[i].text);
    }
}

/* Items of a list that have the same text in a member. */
static void warn_repeated(const struct warning *warning, yyjson_mut_val *list, const struct field *field,
                          const char *member)
{
    struct strmap seen = {0};
    size_t index = 0;

    MEMBER_ITEMS (item, list) {
        const struct field at = field_item(field, index++);
        const char *text = member_text(item, member);
        if (strmap_put(&seen, "", text, item))
            warn_at(warning, FIELD(&at, member), "duplicate %s \"%s\"", member, text);
    }
    strmap_done(&seen);
}

static void warn_lists(const struct warning *warning, yyjson_mut_val *spec, const struct field *field)
{
    const struct field secrets = field_member(field, "imagePullSecrets");
    size_t index = 0;

    warn_repeated(warning, member_get(spec, "hostAliases"), FIELD(field, "hostAliases"), "ip");
    warn_repeated(warning, member_get(spec, "imagePullSecrets"), &secrets, "name");
    MEMBER_ITEMS (secret, member_get(spec, "imagePullSecrets")) {
        const struct field at = field_item(&secrets, index++);
        if (!*member_text(secret, "name"))
            warn_at(warning, FIELD(&at, "name"), "invalid empty name \"\"");
    }
    warn_fraction(warning, FIELD(field, "overhead"), member_get(spec, "overhead"), "memory");
    warn_fraction(warning, FIELD(field, "overhead"), member_get(spec, "overhead"), "ephemeral-storage");
}

static void warn_annotations(const struct warning *warning, yyjson_mut_val *pod, const struct field *field)
{
    static const struct old_name annotations[] = {
        {"scheduler.alpha.kubernetes.io/critical-pod",
         "non-functional in v1.16+; use the \"priorityClassName\" field instead"},
        {"security.alpha.kubernetes.io/sysctls", "non-functional in v1.11+; use the \"sysctls\" field instead"},
        {"security.alpha.kubernetes.io/unsafe-sysctls", "non-functional in v1.11+; use the \"sysctls\" field instead"},
    };
    const struct field parent = field_member(FIELD(field, "metadata"), "annotations");
    yyjson_mut_val *found = member_get(pod, "metadata.annotations");

    for (size_t i = 0; i < ARRAY_LEN(annotations); i++) {
        const struct field at = field_key(&parent, annotations[i].name);
        if (yyjson_mut_obj_get(found, annotations[i].name))
            warn_at(warning, &at, "%s", annotations[i].text);
    }
}

/* --- Containers --- */

/* Whether a variable that is defined again does not build on its first value. */
static bool hides_first(yyjson_mut_val *variable)
{
    const char *value = member_text(variable, "value");
    struct strbuf reference;

    strbuf_init(&reference, FIELD_BYTES_MAX);
    strbuf_addf(&reference, "$(%s)", member_text(variable, "name"));
    bool is_hidden =
        member_get(variable, "valueFrom") || strcmp(value, reference.text) == 0 || !strstr(value, reference.text);

    strbuf_done(&reference);
    return is_hidden;
}

static void warn_variables(const struct warning *warning, yyjson_mut_val *container, const struct field *field)
{
    const struct field env = field_member(field, "env");
    struct strmap seen = {0};
    size_t index = 0;

    MEMBER_ITEMS (variable, member_get(container, "env")) {
        const struct field at = field_item(&env, index++);
        const char *name = member_text(variable, "name");
        if (strmap_put(&seen, "", name, variable) && hides_first(variable))
            warn_at(warning, &at, "hides previous definition of \"%s\", which may be dropped when using apply", name);
    }
    strmap_done(&seen);
}

static void warn_container(const struct warning *warning, yyjson_mut_val *container, const struct field *field)
{
    static const char *const resources[] = {"memory", "ephemeral-storage"};
    const struct field parent = field_member(field, "resources");

    for (size_t i = 0; i < ARRAY_LEN(resources); i++) {
        warn_fraction(warning, FIELD(&parent, "limits"), member_get(container, "resources.limits"), resources[i]);
        warn_fraction(warning, FIELD(&parent, "requests"), member_get(container, "resources.requests"), resources[i]);
    }
    warn_variables(warning, container, field);
}

/* --- Ports --- */

/* The ports of all containers, each with its field as a text. */
struct ports {
    yyjson_mut_val *list[PORTS_MAX];
    struct strbuf fields[PORTS_MAX];
    size_t count;
};

static void add_ports(struct ports *ports, yyjson_mut_val *container, const struct field *field)
{
    const struct field parent = field_member(field, "ports");
    size_t index = 0;

    MEMBER_ITEMS (port, member_get(container, "ports")) {
        const struct field at = field_item(&parent, index++);
        if (ports->count == PORTS_MAX)
            return;
        strbuf_init(&ports->fields[ports->count], FIELD_BYTES_MAX);
        field_format(&at, &ports->fields[ports->count]);
        ports->list[ports->count++] = port;
    }
}

static void ports_done(struct ports *ports)
{
    for (size_t i = 0; i < ports->count; i++)
        strbuf_done(&ports->fields[i]);
}

/* How two definitions of one port stand to each other; NULL where both are useful. */
static const char *port_clash(yyjson_mut_val *a, yyjson_mut_val *b)
{
    int64_t host_a = member_number(a, "hostPort", 0);
    int64_t host_b = member_number(b, "hostPort", 0);
    bool is_same_address = strcmp(member_text(a, "hostIP"), member_text(b, "hostIP")) == 0;

    if (member_number(a, "containerPort", 0) != member_number(b, "containerPort", 0) ||
        strcmp(member_text(a, "protocol"), member_text(b, "protocol")) != 0)
        return NULL;
    if (is_same_address && host_a == host_b)
        return "duplicate";
    if (host_a == 0 || host_b == 0)
        return "overlapping";
    bool is_one_open = !*member_text(a, "hostIP") != !*member_text(b, "hostIP");
    return host_a == host_b && is_one_open ? "dangerously ambiguous" : NULL;
}

static void warn_port(const struct warning *warning, const struct ports *ports, size_t at)
{
    yyjson_mut_val *port = ports->list[at];
    /* The text of a field has no parts: it stands for itself. */
    const struct field field = field_member(NULL, ports->fields[at].text);

    if (*member_text(port, "hostIP") && member_number(port, "hostPort", 0) == 0)
        warn_at(warning, &field,
                "hostIP set without hostPort: {Name:%s HostPort:0 ContainerPort:%lld Protocol:%s HostIP:%s}",
                member_text(port, "name"), (long long)member_number(port, "containerPort", 0),
                member_text(port, "protocol"), member_text(port, "hostIP"));
    for (size_t i = 0; i < at; i++) {
        const char *clash = port_clash(port, ports->list[i]);
        if (clash)
            warn_at(warning, &field, "%s port definition with %s", clash, ports->fields[i].text);
    }
}

static void warn_port_name(const struct warning *warning, const struct ports *ports, size_t at)
{
    const struct field field = field_member(NULL, ports->fields[at].text);
    const char *name = member_text(ports->list[at], "name");

    for (size_t i = 0; i < at && *name; i++) {
        const char *other = ports->fields[i].text;
        if (strcmp(member_text(ports->list[i], "name"), name) != 0)
            continue;
        warn_at(warning, &field,
                "duplicate port name \"%s\" with %s, services and probes that select ports by name will use %s", name,
                other, other);
        return;
    }
}

static void warn_ports(const struct warning *warning, const struct ports *ports)
{
    for (size_t i = 0; i < ports->count; i++)
        warn_port(warning, ports, i);
    for (size_t i = 0; i < ports->count; i++)
        warn_port_name(warning, ports, i);
}

/* --- Pods --- */

static void warn_containers(const struct warning *warning, yyjson_mut_val *spec, const struct field *field)
{
    struct ports ports = {.count = 0};

    for (size_t i = 0; i < ARRAY_LEN(container_lists); i++) {
        const struct field list = field_member(field, container_lists[i]);
        size_t index = 0;
        MEMBER_ITEMS (container, member_get(spec, container_lists[i])) {
            const struct field at = field_item(&list, index++);
            warn_container(warning, container, &at);
            add_ports(&ports, container, &at);
        }
    }
    warn_ports(warning, &ports);
    ports_done(&ports);
}

void warn_pod(const struct warning *warning, yyjson_mut_val *pod, const struct field *field)
{
    const struct field spec_field = field_member(field, "spec");
    yyjson_mut_val *spec = member_get(pod, "spec");

    if (!spec)
        return;
    warn_node_labels(warning, spec, &spec_field);
    warn_spread(warning, spec, &spec_field);
    warn_annotations(warning, pod, field);
    warn_volumes(warning, spec, &spec_field);
    warn_lists(warning, spec, &spec_field);
    warn_containers(warning, spec, &spec_field);
    if (member_number(spec, "terminationGracePeriodSeconds", 0) < 0)
        warn_at(warning, FIELD(&spec_field, "terminationGracePeriodSeconds"),
                "must be >= 0; negative values are invalid and will be treated as 1");
    warn_affinity(warning, spec, &spec_field);
}
