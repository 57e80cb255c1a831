/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clients of the API, many at a time, over the Unix socket of `muster up`: bench/local/figures runs it.
 *
 *     load SOCKET read  CONNECTIONS SECONDS          GET of one object, one after the other on each connection
 *     load SOCKET write CONNECTIONS SECONDS          PUT of an object of each connection, every one on the disk when answered
 *     load SOCKET watch WATCHERS RATE SECONDS        watches, while RATE changes are written a second
 *
 * Prints one line of JSON: requests or events a second, and the time that answers and events took.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define PATH "/api/v1/namespaces/default/configmaps"

enum { CLIENTS_MAX = 16384, BUFFER = 1 << 16, SAMPLES_MAX = 1 << 22, TEXT_BYTES = 400, WRITERS = 32 };

struct client {
    int fd;
    int number;
    double sent;     // when its request was
    size_t expects;  // bytes of the answer that are still to come; 0: its head is
    char head[8192];
    size_t head_len;
    bool is_asking;
};

static struct client *clients;
static float *samples;
static size_t sample_count;
static uint64_t serial;

static double now(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static _Noreturn void fail(const char *what)
{
    (void)fprintf(stderr, "load: %s: %s\n", what, strerror(errno));
    exit(1);
}

static int connect_to(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) < 0)
        fail(path);
    return fd;
}

static void send_text(int fd, const char *text, size_t len)
{
    while (len > 0) {
        ssize_t sent = send(fd, text, len, MSG_NOSIGNAL);
        if (sent < 0 && errno != EINTR)
            fail("send");
        text += sent > 0 ? sent : 0;
        len -= sent > 0 ? (size_t)sent : 0;
    }
}

/* An object whose contents differ each time, so that each write is one. */
static size_t write_request(char *to, size_t size, const char *method, const char *path, const char *name)
{
    char body[TEXT_BYTES + 256], filler[TEXT_BYTES + 1];

    memset(filler, 'x', TEXT_BYTES);
    filler[TEXT_BYTES] = '\0';
    int len =
        snprintf(body, sizeof body, "{\"metadata\":{\"name\":\"%s\"},\"data\":{\"serial\":\"%llu\",\"text\":\"%s\"}}",
                 name, (unsigned long long)++serial, filler);
    return (size_t)snprintf(
        to, size, "%s %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
        method, path, len, body);
}

static void ask(struct client *client, bool is_write)
{
    char text[2048], name[32], path[128];
    size_t len;

    (void)snprintf(name, sizeof name, "load-%d", client->number);
    (void)snprintf(path, sizeof path, PATH "/%s", name);
    if (is_write)
        len = write_request(text, sizeof text, "PUT", path, name);
    else
        len = (size_t)snprintf(text, sizeof text, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", path);
    client->sent = now();
    client->head_len = 0;
    client->expects = 0;
    send_text(client->fd, text, len);
}

static void sample(double seconds)
{
    if (sample_count < SAMPLES_MAX)
        samples[sample_count++] = (float)seconds;
}

/* Takes bytes of an answer with a Content-Length. True when it is complete. */
static bool take_answer(struct client *client, const char *bytes, size_t len)
{
    if (client->expects == 0) {
        size_t part =
            len < sizeof client->head - 1 - client->head_len ? len : sizeof client->head - 1 - client->head_len;
        memcpy(client->head + client->head_len, bytes, part);
        client->head_len += part;
        client->head[client->head_len] = '\0';
        const char *end = strstr(client->head, "\r\n\r\n");
        const char *length = strstr(client->head, "Content-Length: ");
        if (!end)
            return false;
        if (!length || strncmp(client->head, "HTTP/1.1 2", 10) != 0) {
            (void)fprintf(stderr, "load: %.400s\n", client->head);
            exit(1);
        }
        size_t whole = (size_t)(end + 4 - client->head) + strtoul(length + 16, NULL, 10);
        size_t taken = client->head_len - part + len;
        client->expects = whole - taken;
        return client->expects == 0;
    }
    client->expects -= len;
    return client->expects == 0;
}

static int compare(const void *a, const void *b)
{
    float left = *(const float *)a, right = *(const float *)b;

    return left < right ? -1 : left > right;
}

static void print(const char *what, double count, double seconds)
{
    qsort(samples, sample_count, sizeof *samples, compare);
    double middle = sample_count ? samples[sample_count / 2] : 0;
    double slow = sample_count ? samples[sample_count * 99 / 100] : 0;

    printf("{\"what\": \"%s\", \"per_second\": %.0f, \"median_ms\": %.2f, \"p99_ms\": %.2f}\n", what, count / seconds,
           middle * 1e3, slow * 1e3);
}

static int add_all(int count, const char *socket)
{
    int poll = epoll_create1(EPOLL_CLOEXEC);

    clients = calloc((size_t)count, sizeof *clients);
    if (!clients || poll < 0)
        fail("starting");
    for (int i = 0; i < count; i++) {
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &clients[i]};
        clients[i] = (struct client){.fd = connect_to(socket), .number = i};
        if (epoll_ctl(poll, EPOLL_CTL_ADD, clients[i].fd, &event) < 0)
            fail("epoll_ctl");
    }
    return poll;
}

static void make_objects(const char *socket, int count, int first)
{
    static char buffer[BUFFER];
    int fd = connect_to(socket);

    for (int i = first; i < count; i++) {
        char text[2048], name[32];
        (void)snprintf(name, sizeof name, "load-%d", i);
        send_text(fd, text, write_request(text, sizeof text, "POST", PATH, name));
        if (recv(fd, buffer, sizeof buffer, 0) <= 0)
            fail("recv");
    }
    (void)close(fd);
}

static void run_requests(const char *socket, bool is_write, int count, double seconds)
{
    static char buffer[BUFFER];
    struct epoll_event events[256];
    uint64_t answers = 0;

    make_objects(socket, count, 0);
    int poll = add_all(count, socket);
    double start = now(), end = start + seconds;
    for (int i = 0; i < count; i++)
        ask(&clients[i], is_write);
    while (now() < end) {
        int ready = epoll_wait(poll, events, 256, 100);
        for (int i = 0; i < ready; i++) {
            struct client *client = events[i].data.ptr;
            ssize_t len = recv(client->fd, buffer, sizeof buffer, 0);
            if (len <= 0)
                fail("recv");
            if (!take_answer(client, buffer, (size_t)len))
                continue;
            answers++;
            sample(now() - client->sent);
            ask(client, is_write);
        }
    }
    print(is_write ? "writes" : "reads", (double)answers, now() - start);
}

/* Events are lines that end with the brace of an object; the lines of chunks do not. */
static uint64_t count_lines(const char *bytes, size_t len)
{
    uint64_t lines = 0;

    for (const char *at = bytes; (at = memchr(at, '\n', (size_t)(bytes + len - at))); at++)
        lines += at > bytes && at[-1] == '}';
    return lines;
}

/* All watches begin with the objects that are there. */
static void begin_watches(int poll, int count)
{
    static const char request[] = "GET " PATH "?watch=1 HTTP/1.1\r\nHost: localhost\r\n\r\n";
    static char buffer[BUFFER];
    struct epoll_event events[256];
    double start = now();

    for (int i = 0; i < count; i++)
        send_text(clients[i].fd, request, strlen(request));
    while (now() - start < 2) {
        int ready = epoll_wait(poll, events, 256, 100);
        for (int i = 0; i < ready; i++) {
            if (recv(((struct client *)events[i].data.ptr)->fd, buffer, sizeof buffer, 0) <= 0)
                fail("recv");
        }
    }
}

/* The writers are the last clients. Each sends a change when one is due and it has none under way. */
static uint64_t write_due(int first, double due, uint64_t written)
{
    for (int i = first; i < first + WRITERS && (double)written < due; i++) {
        if (clients[i].is_asking)
            continue;
        clients[i].is_asking = true;
        ask(&clients[i], true);
        written++;
    }
    return written;
}

static void run_watches(const char *socket, int count, double rate, double seconds)
{
    static char buffer[BUFFER];
    struct epoll_event events[256];
    uint64_t told = 0, writes = 0, answers = 0;

    make_objects(socket, count + WRITERS, count);
    int poll = add_all(count + WRITERS, socket);
    begin_watches(poll, count);
    double start = now();
    for (double at = 0; at < seconds || (told < answers * (uint64_t)count && at < 3 * seconds); at = now() - start) {
        if (at < seconds)
            writes = write_due(count, at * rate, writes);
        int ready = epoll_wait(poll, events, 256, 1);
        for (int i = 0; i < ready; i++) {
            struct client *client = events[i].data.ptr;
            ssize_t len = recv(client->fd, buffer, sizeof buffer, 0);
            if (len <= 0)
                fail("recv");
            if (client->number < count) {
                told += count_lines(buffer, (size_t)len);
            } else if (take_answer(client, buffer, (size_t)len)) {
                answers++;
                client->is_asking = false;
                sample(now() - client->sent);
            }
        }
    }
    double took = now() - start;
    qsort(samples, sample_count, sizeof *samples, compare);
    printf("{\"what\": \"watches\", \"watchers\": %d, \"changes_per_second\": %.0f, \"events_per_second\": %.0f, "
           "\"untold\": %lld, \"seconds_behind\": %.2f, \"p99_ms\": %.2f}\n",
           count, (double)answers / seconds, (double)told / took,
           (long long)(answers * (uint64_t)count) - (long long)told, took - seconds,
           sample_count ? samples[sample_count * 99 / 100] * 1e3 : 0.0);
}

int main(int argc, char **argv)
{
    if (argc < 5) {
        (void)fprintf(stderr, "usage: load SOCKET read|write CONNECTIONS SECONDS | watch WATCHERS RATE SECONDS\n");
        return 2;
    }
    int count = atoi(argv[3]);

    samples = malloc(SAMPLES_MAX * sizeof *samples);
    if (!samples || count < 1 || count > CLIENTS_MAX)
        return 2;
    if (strcmp(argv[2], "watch") == 0 && argc == 6)
        run_watches(argv[1], count, atof(argv[4]), atof(argv[5]));
    else
        run_requests(argv[1], strcmp(argv[2], "write") == 0, count, atof(argv[4]));
    return 0;
}
