/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <yyjson.h>

#include "base/err.h"
#include "base/list.h"
#include "base/time.h"
#include "base/vec.h"
#include "frame/service.h"
#include "frame/work.h"
#include "kube/client/resource.h"
#include "local/controllers/pod_life.h"
#include "net/loop.h"

/*
 * What all controllers of workloads have in common. A controller brings its owners (Jobs, for example) into line with the
 * world: it compares an owner with its children (pods), starts requests that bring the two closer, and is called again when
 * these are done and whenever something has changed. It keeps no plan: everything follows from the objects, so that a
 * restart at any moment costs nothing.
 *
 * Nothing is created twice. The answer to a request is taken in before the owner is looked at again, so that a child counts
 * from the moment at which the server has it. The names of children come from a fixed sequence (child_names_next()), so that
 * a controller that is killed and started again makes the same children.
 */
struct controller;
struct family;
struct follow_event;
struct owner;

enum { CONTROLLER_CHILD_KINDS = 2, CHILD_NAME_MAX = 254 };

/* A child: an object whose controller is an owner. Of pods only facts are kept. */
struct child {
    struct list_link in_family;
    struct family *family;
    uint32_t kind;  // index into `children` of the controller's kind
    char *namespace, *name, *uid;
    char *mark;  // the value of the label that the controller's kind names; ""
    uint64_t version;
    nsec_t created;
    bool is_ending;       // it has a deletionTimestamp
    struct pod_life pod;  // of pods
    yyjson_doc *doc;      // the object; NULL for pods, unless `keeps` says otherwise
    uint32_t seen;        // of adoption.c: the last review that its labels were found in
};

/* An object that an owner selects and that has no controller. */
struct orphan {
    uint32_t kind;  // of a child
    char *name, *uid;
};

struct owner {
    struct controller *controller;
    struct work_item work;
    struct family *family;  // its children
    char *namespace, *name, *uid;
    uint64_t version;
    yyjson_doc *doc;
    yyjson_val *object;  // as it is now
    void *state;         // the controller's own; NULL at first

    /* Of actions.c. */
    struct list calls;
    struct err failure;       // the first one of this round
    struct loop_timer again;  // owner_look_again()
    nsec_t due;               // when it fires
    VEC(char *) buried;       // children that went away while requests were under way
    bool is_started;          // a round is under way

    /* Of adoption.c. */
    struct list_link in_selecting;
    VEC(struct orphan) orphans;  // found by the review that is under way
    uint32_t review;             // number of the last one
    uint32_t review_kind;        // of the children that it lists
    bool is_selecting;           // in the controller's list
    bool needs_review;
};

/* Whether owners adopt children that they select and release those that they do not select any more (adoption.h). */
enum adoption {
    ADOPTION_NONE,
    ADOPTION_ALL,
    ADOPTION_UNFINISHED,  // pods that have not ended
    ADOPTION_LABELED,     // all; as the server writes a selector of its own, an owner that is new has nothing to adopt
};

struct controller_kind {
    struct service_kind service;  // filled in by CONTROLLER_SERVICE()
    const char *component;        // that events come from
    enum kube_known owner;
    enum kube_known children[CONTROLLER_CHILD_KINDS];
    uint32_t child_kinds;
    const char *mark;                        // NULL: none
    bool (*keeps)(yyjson_val *pod);          // whether the whole pod is kept; NULL: never
    const char *(*family_of)(yyjson_val *);  // the uid of the owner of a child without a controller; NULL: none has one
    const char *uid_label;                   // of children, with the uid of the owner that made them; NULL: none
    const char *name_label;                  // of children, with the name of the owner; NULL: none
    void (*sync)(struct owner *owner);       // starts whatever brings the owner into line
    enum adoption adoption;                  // of children
    const char *finalizer;                   // that adopted children get and released ones lose; NULL: none
    bool (*may_adopt)(const struct owner *owner, const char *name);  // of the first kind; NULL: all that it selects
    /* Records the event that a child was created or deleted; NULL: "Created pod: NAME". */
    void (*tell)(const struct owner *owner, uint32_t kind, const char *name, bool is_created);
    /* A change of any object of the children's kinds, whoever controls it. May be NULL. */
    void (*seen)(struct controller *controller, const struct follow_event *event);
    nsec_t interval;                      // between two looks at an owner, at least; 0: none
    void (*forget)(struct owner *owner);  // frees `state`; may be NULL
    void (*lost)(struct controller *controller, struct child *child);  // a child whose owner is not there; may be NULL
    void (*close)(struct controller *controller);                      // may be NULL
};

/* One kind that is followed: its owners, or children of one kind. */
struct controller_watch {
    struct controller *controller;
    struct follower *follower;
    uint32_t kind;  // of the children
};

struct controller {
    const struct controller_kind *kind;
    struct service *service;
    struct work *work;
    struct controller_watch owners, children[CONTROLLER_CHILD_KINDS];
    struct families *families;
    struct list strays;     // of `lost`
    struct list selecting;  // owners whose selector may match an object that another one made
    bool is_synced;
};

int controller_open(struct service *service, struct err *err);
void controller_lead(struct service *service);
void controller_stop(struct service *service);
void controller_close(struct service *service);

#define CONTROLLER_SERVICE(title)       \
    {.name = (title),                   \
     .has_api = true,                   \
     .can_elect = true,                 \
     .configure = controller_configure, \
     .open = controller_open,           \
     .lead = controller_lead,           \
     .stop = controller_stop,           \
     .close = controller_close}
int controller_configure(struct service *service, struct err *err);

/* Takes in an object that the server has answered with, before the watch shows it. */
void controller_put_owner(struct controller *controller, yyjson_val *object);
void controller_put_child(struct controller *controller, uint32_t kind, yyjson_val *object);
void controller_drop_child(struct controller *controller, const char *uid);

/* Walks over all children of an owner, in the order in which they were first seen. */
#define owner_foreach(owner, at)                                                              \
    for (struct child *at = family_first((owner)->family), *at##_next_ = family_next(at); at; \
         at = at##_next_, at##_next_ = family_next(at))

/* Walks over all owners of the controller; `*cursor` starts at 0. NULL at the end. */
struct owner *controller_next_owner(const struct controller *controller, size_t *cursor);

/* The child of the owner with that uid; NULL when there is none. */
struct child *owner_child(const struct owner *owner, const char *uid);

struct child *family_first(const struct family *family);
struct child *family_next(const struct child *child);
