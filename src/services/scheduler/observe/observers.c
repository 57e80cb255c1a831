/* SPDX-License-Identifier: Apache-2.0 */
#include "services/scheduler/observe/observers.h"

#include <stddef.h>

/* In the order in which they are made and called. */
static const scheduler_observer_fn makers[] = {
    observe_for_journal,
    observe_for_plugin_server,
    observe_for_metrics,
    observe_for_shadow,
};

int observers_open(struct observers *observers, const struct scheduler_view *view, struct err *err)
{
    observers->view = *view;
    for (size_t i = 0; i < ARRAY_LEN(makers); i++) {
        struct scheduler_observer observer = {0};
        int r = makers[i](&observers->view, &observer, err);

        if (r < 0)
            return r;
        if (r > 0)
            vec_push(&observers->list, observer);
    }
    return 0;
}

int observers_renew(struct observers *observers, struct state *state, struct engine *engine,
                    const struct gang_notes *gang_notes, struct err *err)
{
    int r = 0;

    observers->view.state = state;
    observers->view.engine = engine;
    observers->view.gang_notes = gang_notes;
    vec_foreach (&observers->list, observer) {
        if (r >= 0 && observer->on_renewed)
            r = observer->on_renewed(observer->arg, err);
    }
    return r;
}

void observers_done(struct observers *observers)
{
    vec_foreach (&observers->list, observer) {
        if (observer->free)
            observer->free(observer->arg);
    }
    vec_done(&observers->list);
}
