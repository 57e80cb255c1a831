/* SPDX-License-Identifier: Apache-2.0 */
#include "services/starter/dependency.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/err.h"

static const char *const type_names[] = {
    [DEPENDENCY_AFTER] = "after",          [DEPENDENCY_AFTER_ANY] = "afterany",
    [DEPENDENCY_AFTER_OK] = "afterok",     [DEPENDENCY_AFTER_NOT_OK] = "afternotok",
    [DEPENDENCY_AFTER_CORR] = "aftercorr", [DEPENDENCY_SINGLETON] = "singleton",
};
_Static_assert(ARRAY_LEN(type_names) == _DEPENDENCY_TYPE_MAX, "a name for each type");

struct judging {
    dependency_look_fn look;
    void *arg;
    bool is_any;  // one condition is enough
    bool is_first;
    enum dependency_state state;
};

/* For all: the worst of them. For any: the best. */
static void add(struct judging *judging, enum dependency_state state)
{
    static const int order[] = {[DEPENDENCY_MET] = 0, [DEPENDENCY_OPEN] = 1, [DEPENDENCY_NEVER] = 2};
    bool is_worse = order[state] > order[judging->state];

    if (judging->is_first || is_worse != judging->is_any)
        judging->state = state;
    judging->is_first = false;
}

static int type_of(const char *text, size_t len)
{
    for (int i = 0; i < _DEPENDENCY_TYPE_MAX; i++) {
        if (strlen(type_names[i]) == len && strncmp(type_names[i], text, len) == 0)
            return i;
    }
    return -1;
}

/* "afterok:12:13", without what follows. */
static int judge_one(struct judging *judging, const char *text, size_t len, struct err *err)
{
    size_t head = strcspn(text, ":,?");
    int type = head <= len ? type_of(text, head) : -1;
    const char *end = text + len;

    if (type < 0)
        return err_set(err, -EINVAL,
                       "dependency '%.*s': expected afterok, afterany, afternotok, after, aftercorr or singleton",
                       (int)MIN(len, (size_t)100), text);
    if (type == DEPENDENCY_SINGLETON) {
        if (head != len)
            return err_set(err, -EINVAL, "dependency 'singleton' names no job");
        add(judging, judging->look(judging->arg, DEPENDENCY_SINGLETON, ""));
        return 0;
    }
    if (head == len)
        return err_set(err, -EINVAL, "dependency '%s' names no job", type_names[type]);
    for (const char *at = text + head; at < end;) {
        char name[DEPENDENCY_NAME_MAX];
        size_t size = strcspn(at + 1, ":,?");

        at++;
        if (size == 0 || size >= sizeof name)
            return err_set(err, -EINVAL, "dependency '%s' names no job", type_names[type]);
        memcpy(name, at, size);
        name[size] = '\0';
        add(judging, judging->look(judging->arg, (enum dependency_type)type, name));
        at += size;
    }
    return 0;
}

int dependency_judge(const char *text, dependency_look_fn look, void *arg, enum dependency_state *ret, struct err *err)
{
    struct judging judging = {.look = look, .arg = arg, .is_any = strchr(text, '?') != NULL, .is_first = true};
    char separator = judging.is_any ? '?' : ',';

    *ret = DEPENDENCY_NEVER;
    if (strlen(text) > DEPENDENCY_BYTES_MAX)
        return err_set(err, -EINVAL, "the dependency is longer than %d bytes", DEPENDENCY_BYTES_MAX);
    if (judging.is_any && strchr(text, ','))
        return err_set(err, -EINVAL,
                       "separate conditions by ',' if all of them must hold, or by '?' if one is enough; found both");
    for (const char *at = text;;) {
        size_t len = strcspn(at, (char[]){separator, '\0'});
        int code = judge_one(&judging, at, len, err);

        if (code < 0)
            return code;
        if (!at[len])
            break;
        at += len + 1;
    }
    *ret = judging.state;
    return 0;
}
