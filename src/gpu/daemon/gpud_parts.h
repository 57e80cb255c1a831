/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "base/time.h"
#include "base/vec.h"
#include "gpu/daemon/arbiter/arbiter.h"
#include "gpu/daemon/book.h"
#include "gpu/daemon/config.h"
#include "gpu/daemon/gpud.h"
#include "gpu/daemon/group_spec.h"
#include "gpu/daemon/ledger.h"
#include "gpu/daemon/pages.h"
#include "gpu/daemon/patience.h"
#include "gpu/daemon/peer.h"
#include "gpu/mig/slices.h"
#include "gpu/protocol/message.h"
#include "net/loop.h"
#include "net/watch.h"

/* What the files of the daemon share. Groups own sessions; both belong to one gpud. */

struct http_exchange;
struct http_server;
struct meter;
struct metrics;
struct nvml;
struct slices;
struct strbuf;
struct taking;
struct watcher;

enum { SESSIONS_MAX = GPU_PROCESSES_MAX };  // of one group
enum { ENDINGS_MAX = 32, ENDING_TEXT_SIZE = 256 };

/* How memory beyond requests comes back to an owner, in the order in which it is tried (reclaim.c). */
enum reclaim_step { RECLAIM_TRIM, RECLAIM_PARK, RECLAIM_KILL, RECLAIM_REFUSE, RECLAIM_STEPS };

/* A process that the daemon has ended, for whoever asks why. */
struct ending {
    char group[GROUP_NAME_SIZE];
    pid_t pid;
    enum gpu_reason reason;
    char text[ENDING_TEXT_SIZE];
    nsec_t at;
};

/* A GPU of this node; its index is the one that ledger and arbiter use. */
struct device {
    struct gpud_gpu_spec spec;
    uint8_t uuid[16];
    uint64_t context_bytes;  // what a context has been seen to take
    uint64_t nvml_used;      // of all processes, as NVML said last
    bool has_nvml;
    uint64_t looks;                    // at NVML
    const struct group *last_holder;   // to tell a change of hands; only compared, never followed
    nsec_t closed_at;                  // the gate of the last holder
    bool waited_for;                   // by someone who could go on
    struct mig_view mig;               // as it was after the last change of ours
    uint64_t reclaims[RECLAIM_STEPS];  // waits of owners that have ended, by the last step that was needed
};

/* What a session does on one GPU of its group. */
struct session_gpu {
    uint32_t yielded_word;
    bool is_awaited;       // has to drain before the lease ends
    bool is_seen;          // by NVML, with
    uint64_t plain_seen;   // so much allocated, and besides
    uint64_t plain_most;   // since then, granted and not used included
    uint64_t plain_asked;  // allocated when NVML was asked
    uint64_t hidden;       // what no call shows
};

/* A reservation that waits for what others have to give back. */
struct pending {
    bool is_used;
    bool is_loan;  // beyond the group's request, while a group leaves the GPU
    uint32_t sequence;
    uint32_t gpu;  // of the group
    enum gpu_memory_kind kind;
    uint64_t bytes;
    nsec_t since, deadline;
    enum reclaim_step step;  // the last one that was needed so far
    struct loop_timer timer;
};

/*
 * One process. It begins with a connection; its memory is counted until the process ends, whether or not the connection
 * lasts, since what it has on the GPU lasts as well.
 */
struct session {
    struct group *group;
    struct list_link in_group;
    struct peer peer;
    char name[GPU_NAME_SIZE];
    struct book_slot *slot;  // NULL until it has said HELLO
    int fd, events;          // -1: not connected
    struct loop_watch on_fd, on_events, on_end;
    struct shared_page page;  // its own; mem is NULL until it has said HELLO
    struct session_gpu gpus[GPU_MAX];
    uint64_t attached;  // a bit for each GPU that ATTACH was sent for
    bool may_attach;
    uint64_t pids;  // its entry in the group's page; 0: none
    struct pending pending;
    struct patience patience;
    nsec_t since;
    bool is_killed;              // by us; it may take its time
    bool is_awaited;             // has to answer before its group's parking or resuming goes on
    bool is_promised;            // what its slot says of host memory is not there yet
    struct gpu_message stopped;  // what it said when it stopped
    struct gpu_message moved;    // and after its last move
    nsec_t window;               // of counting messages
    uint32_t messages;
    struct loop_timer pause;
};

enum { UNHOOKED_MAX = 16 };

/* What sessions that have ended had counted on one GPU of their group. */
struct group_gone {
    uint64_t launches, work_ns, wait_ns, traffic, killed;
};

/* Where a group is on its way from the GPU and back, see park/park.c. */
enum park_state {
    PARK_RUNNING,
    PARK_STOPPING,
    PARK_TAKING,
    PARK_MOVING,
    PARK_PARKED,
    PARK_RESUMING,
    PARK_STATE_COUNT_
};

struct group_park {
    enum park_state state;
    nsec_t entered[PARK_STATE_COUNT_];  // when each state was entered last
    struct http_exchange *exchange;     // who waits for the end of it; NULL: nobody
    struct taking *taking;
    struct loop_timer deadline;
    uint32_t number;    // of the last order: answers to an earlier one mean nothing
    bool is_displaced;  // for an owner of memory, and not by an order: comes back by itself
    nsec_t failed_at;   // the last time that it could not be parked or resumed; 0: never
};

/* What was done about memory that a group had borrowed. */
struct group_reclaim {
    uint64_t done[RECLAIM_STEPS];
    char last[ENDING_TEXT_SIZE];  // for people; empty: nothing yet
    nsec_t last_at;
};

struct group {
    struct gpud *gpud;
    uint32_t index;  // in ledger and in gpud->groups
    int lease;       // in the arbiter; -1: compute is not shaped
    struct group_spec spec;
    struct mig_slice slice;     // where the spec wants one
    uint32_t devices[GPU_MAX];  // by the index in the group
    struct shared_page page;
    int listener;
    struct loop_watch on_listener;
    struct list sessions;
    bool is_open;                  // the gate, where compute is shaped
    struct loop_timer alone;       // runs while it holds its GPUs and nobody else has work
    uint32_t first_word[GPU_MAX];  // of the lease
    nsec_t busy;                   // the most that a session has reported for the lease
    bool wants_more;
    bool is_static;  // from the configuration
    int owner;       // a pidfd; -1: nobody's
    struct loop_watch on_owner;
    uint32_t is_over;  // a bit for each GPU of which it has more than its limit
    struct group_park park;
    struct group_reclaim reclaim;

    /* Figures that only grow. */
    uint64_t denied[GPU_REASON_COUNT_];
    struct group_gone gone[GPU_MAX];
    uint64_t bad_messages;
    struct {
        char name[GPU_NOTICE_SIZE];
        uint64_t count;        // 0: nothing here
    } unhooked[UNHOOKED_MAX];  // functions that tenants should not have got; the last one is for all others
    nsec_t waited_before;      // for leases, until the last one began
    nsec_t busy_before;        // for the share since the last look
    nsec_t looked_at;
};

/* The sessions of a group, one by one; NULL past the last one. */
static inline struct session *session_first(const struct group *group)
{
    return list_first(&group->sessions, struct session, in_group);
}

static inline struct session *session_next(const struct session *session)
{
    return list_item(session->in_group.next, struct session, in_group);
}

struct gpud {
    struct loop *loop;
    struct log *log;
    const struct gpud_config *config;
    struct arbiter arbiter;
    struct ledger ledger;
    struct book *book;
    struct device devices[GPU_MAX];
    uint32_t device_count;
    struct group *groups[LEDGER_GROUPS_MAX];
    int timer;  // timerfd: a millisecond, which is what loops count in, is too coarse for leases
    nsec_t timer_at;
    struct loop_watch on_timer;
    struct http_server *api;
    struct http_server *metrics_server;
    struct metrics *metrics;
    struct meter *handover;
    struct meter *gate_wait;
    struct nvml *nvml;
    struct watcher *watcher;
    struct slices *slices;   // NULL: the driver cannot be asked
    bool has_driver_limits;  // the driver could limit memory by itself
    nsec_t started;
    uint64_t unregistered;  // processes that were seen on a shared GPU without being tenants
    uint64_t handovers;
    struct ending endings[ENDINGS_MAX];  // a ring
    uint64_t ending_count;               // of all time
    struct loop_timer returning;         // while a displaced group waits to come back
    int spare;                           // a descriptor for when all others are in use
    struct loop_task saving;
    struct loop_timer save_again;
    bool is_stopping;  // what tenants hold stays in the book
};

/* gpud.c */
nsec_t gpud_now(void);
int gpud_find_device(const struct gpud *gpud, const char *text);

/* group.c: how groups come and go. */
MUST_CHECK int group_add(struct gpud *gpud, const struct group_spec *spec, struct group **ret_group, struct err *err);

/* One that has a slice already. */
MUST_CHECK int group_add_slice(struct gpud *gpud, const struct group_spec *spec, const struct mig_slice *slice,
                               struct group **ret_group, struct err *err);
MUST_CHECK int group_change(struct group *group, const struct group_spec *spec, struct err *err);

/* Ends its sessions. Its processes keep what they hold on the GPU until they end; `kills` ends them. */
void group_remove(struct group *group, bool kills);
struct group *group_find(const struct gpud *gpud, const char *name);

/* The index in the group of a GPU of the node; -1 when it has none of it. */
int group_gpu(const struct group *group, uint32_t device);
void group_path(const struct group *group, char *text, size_t size);
struct gpu_control_line *group_line(const struct group *group, uint32_t gpu);

/* session.c: how processes come and go. */
void session_accept(struct group *group, int fd);

/* A process that a daemon before us knew and that is still there. */
void session_adopt(struct group *group, struct book_slot *slot, int pidfd);
void session_free(struct session *session);
void session_send(struct session *session, int fd, const struct gpu_message *message, const int *fds, size_t fd_count);
void session_notice(struct session *session, enum gpu_reason reason, uint32_t gpu, const char *text);

/* Ends the process and records why: `text` is for people. Does nothing to one that was told before. */
void session_kill(struct session *session, enum gpu_reason reason, uint32_t gpu, const char *text);
struct gpu_tenant_line *session_line(const struct session *session, uint32_t gpu);
struct ledger_holding *session_holding(const struct session *session, uint32_t gpu);

/* memory.c: what tenants ask of the ledger. */
void memory_reserve(struct session *session, const struct gpu_message *message);
void memory_release(struct session *session, const struct gpu_message *message);
void memory_attach(struct session *session, const struct gpu_message *message);
void memory_query(struct session *session, const struct gpu_message *message);
void memory_forget(struct session *session);  // the process has ended
void memory_retry(struct gpud *gpud);         // something was given back
uint64_t memory_credit(const struct group *group, uint32_t gpu);
uint64_t memory_free_for(const struct group *group, uint32_t gpu);  // what it would be granted now

/* On behalf of a process: takes so much for it, without waiting for others; gives it back; takes its unused credit. */
MUST_CHECK bool memory_take(struct session *session, uint32_t gpu, uint64_t bytes);
void memory_give(struct session *session, uint32_t gpu, uint64_t bytes);
void memory_take_back(struct session *session);

/* Of a reservation that waited. */
void memory_refuse(struct session *session, const struct pending *pending);

/* reclaim.c: memory beyond requests comes back to whom it is kept for. reclaim_wait() answers the message later, and
 * reclaim_end() ends the wait without an answer. A loan is not waited for unless reclaim_may_come(): a parkable group leaves
 * the GPU, or can make room for another one. */
bool reclaim_may_come(const struct session *session, uint32_t gpu);
void reclaim_wait_for_loan(struct session *session, const struct gpu_message *message, uint64_t bytes);
void reclaim_wait(struct session *session, const struct gpu_message *message, uint64_t bytes);
void reclaim_end(struct session *session);

/* Whether an owner other than `asker` waits for memory of the GPU; and whether `asker` may not borrow more of it, because of
 * that or because a displaced group wants to come back. */
bool reclaim_has_waiting(const struct gpud *gpud, const struct group *asker, uint32_t device);
bool reclaim_is_owed(const struct gpud *gpud, const struct group *asker, uint32_t device);

/* Records what is done to a group's borrowed memory for `owner`, in the log as well; the text is in `group->reclaim.last`. */
void reclaim_note(struct group *group, enum reclaim_step step, const struct group *owner, uint64_t bytes);
const char *reclaim_step_name(enum reclaim_step step);

/* leases.c: gates and the arbiter. */
void leases_join(struct group *group);
void leases_change(struct group *group);  // has other shares in its spec
void leases_leave(struct group *group);
void leases_ask(struct session *session, const struct gpu_message *message);
void leases_yield(struct session *session, const struct gpu_message *message);
void leases_drained(struct session *session, const struct gpu_message *message);
void leases_forget(struct session *session);  // it will not answer any more
void leases_run(struct gpud *gpud);           // carries out what the arbiter says
void leases_tick(void *gpud);

/* park/: groups that leave their GPU. The two orders are handlers of the API, and answer when all is done. */
void park_order(void *gpud, struct http_exchange *exchange);
void resume_order(void *gpud, struct http_exchange *exchange);
void park_init(struct group *group);
void park_done(struct group *group);
void park_stopped(struct session *session, const struct gpu_message *message);
void park_parked(struct session *session, const struct gpu_message *message);
void park_resumed(struct session *session, const struct gpu_message *message);
void park_forget(struct session *session, bool has_ended);
void park_adopt(struct session *session);
uint64_t park_host_bytes(const struct group *group);  // that its processes hold, or are promised
uint64_t park_host_taken(const struct gpud *gpud);
const char *park_state_name(const struct group *group);

/* Parks a group for an owner of memory; it comes back when there is room and it has something to do. False where it cannot be
 * parked now. */
MUST_CHECK bool park_displace(struct group *group);

/* A parkable group that has borrowed memory of the GPU and has been there for its turn; NULL: none. */
struct group *park_next_to_leave(const struct gpud *gpud, uint32_t device, const struct group *asker);

/* Whether a displaced group waits to come back to the GPU. */
bool park_wants_back(const struct group *group);
void park_look_for_room(void *gpud);
uint32_t park_welcome_flags(
    const struct group *group);  // one that begins while its group is parked waits with the others

/* state.c: groups that a next daemon has to know. */
void state_save(void *gpud);  // and again after a while, when it cannot be written
void state_load(struct gpud *gpud);
void state_adopt(struct gpud *gpud);

/* watcher.c: what NVML sees. */
void watcher_start(struct gpud *gpud);

/* Looks soon: a tenant has said that it has grown. */
void watcher_hurry(struct gpud *gpud);

/* There is more to watch than before: a group, or a tenant. */
void watcher_wake(struct gpud *gpud);

/* Somebody reads figures: those of GPUs that nobody shares are brought up to date for the next time. */
void watcher_glance(struct gpud *gpud);

/* Whether NVML is asked and answers; whether what it said about a GPU is not old. */
bool watcher_is_watching(const struct gpud *gpud);
bool watcher_knows(const struct gpud *gpud, uint32_t device);
void watcher_free(struct watcher *watcher);

/* slices.c: slices of GPUs for groups, by a thread of their own. The first two are for the start of the daemon, and block. */
void slices_start(struct gpud *gpud);
MUST_CHECK int slices_take_now(struct gpud *gpud, const struct group_spec *spec, struct mig_slice *ret_slice,
                               struct err *err);

/* All groups of the daemon before are there: slices of others have no owner any more. */
void slices_keep(struct gpud *gpud);

/* Makes a group with a slice, and answers when it has one. */
void slices_order(struct gpud *gpud, const struct group_spec *spec, struct http_exchange *exchange);
void slices_give(struct gpud *gpud, const char *group);  // it is gone
void slices_free(struct gpud *gpud);

/* api.c, figures.c, meters.c */
MUST_CHECK int api_start(struct gpud *gpud, struct err *err);
void api_reply_group(struct http_exchange *exchange, int status, const struct group *group);
void figures_status(struct gpud *gpud, struct strbuf *text);
void meters_init(struct gpud *gpud);
void meters_handover(struct gpud *gpud, nsec_t took);
void meters_wait(const struct group *group, nsec_t took);
void meters_forget(const struct group *group);
