#include "tests/support/nats_server.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"
#include "tests/support/await.h"
#include "tests/support/http_get.h"
#include "tests/support/temp.h"

#define READY_TIMEOUT_MS 60000

struct nats_server {
    char *folder;
    char *configuration_path;
    char *output_path;
    char *common; /* the part of the configuration that stays */
    char address[32];
    char url[48];
    int port;
    int monitor_port;
    pid_t pid;
};

static const char *binary(void)
{
    const char *path = getenv("NATS_SERVER");
    if (path == NULL || path[0] != '/' || access(path, X_OK) != 0) {
        fail_msg("no nats-server at NATS_SERVER=%s: run scripts/test, which fetches it, or set an absolute path", path == NULL ? "" : path);
        abort(); /* not reached: fail_msg has left */
    }
    return path;
}

/* Never the same one twice in one process: servers that are prepared do not hold theirs yet. */
static int free_port(void)
{
    static bool given[65536];
    int port = 0;
    do {
        port = http_free_port();
        assert_true(port > 0);
    } while (given[port]);
    given[port] = true;
    return port;
}

static void write_configuration(const struct nats_server *server, const char *more)
{
    FILE *file = fopen(server->configuration_path, "w");
    assert_non_null(file);
    fprintf(file, "%s%s\n", server->common, more == NULL ? "" : more);
    assert_int_equal(fclose(file), 0);
}

static struct nats_server *prepare(const char *common, const char *more)
{
    struct nats_server *server = memory_new(1, sizeof *server);
    server->folder = temp_directory("tarry-nats");
    server->configuration_path = temp_path(server->folder, "server.conf");
    server->output_path = temp_path(server->folder, "server.out");
    server->port = free_port();
    server->monitor_port = free_port();
    snprintf(server->address, sizeof server->address, "127.0.0.1:%d", server->port);
    snprintf(server->url, sizeof server->url, "nats://%s", server->address);
    char text[2048];
    snprintf(text, sizeof text, "listen: \"%s\"\nhttp: \"127.0.0.1:%d\"\njetstream { store_dir: \"%s/store\" }\n%s", server->address,
             server->monitor_port, server->folder, common);
    server->common = memory_text(text, strlen(text));
    write_configuration(server, more);
    return server;
}

struct nats_server *nats_server_prepare(const char *configuration)
{
    return prepare("", configuration);
}

static void output_to(const char *path)
{
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int out = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (nothing < 0 || out < 0 || dup2(nothing, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 || dup2(out, STDERR_FILENO) < 0) {
        _exit(126);
    }
    (void)close_range(3, UINT_MAX, 0); /* sockets of a mock cluster in this process, which are not for others */
}

void nats_server_restart_soon(struct nats_server *server)
{
    assert_int_equal(server->pid, 0);
    const char *program = binary();
    pid_t parent = getpid();
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        /* the child dies with us; a look whether we were faster */
        if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) {
            _exit(126);
        }
        output_to(server->output_path);
        execl(program, program, "-c", server->configuration_path, (char *)NULL);
        _exit(127);
    }
    server->pid = pid;
}

static bool takes_connections(const struct nats_server *server)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)server->port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    bool taken = connect(fd, (const struct sockaddr *)&address, sizeof address) == 0;
    close(fd);
    return taken;
}

static bool healthy(void *context)
{
    struct nats_server *server = context;
    int status = 0;
    if (waitpid(server->pid, &status, WNOHANG) != 0) {
        server->pid = 0;
        fail_msg("nats-server ended with status %d: see %s", status, server->output_path);
    }
    return takes_connections(server) && http_get(server->monitor_port, "/healthz", 2000, NULL, 0) == 200;
}

void nats_server_wait_ready(struct nats_server *server)
{
    if (!await_condition(healthy, server, READY_TIMEOUT_MS)) {
        fail_msg("nats-server was not ready within %d ms: see %s", READY_TIMEOUT_MS, server->output_path);
    }
}

void nats_server_restart(struct nats_server *server)
{
    nats_server_restart_soon(server);
    nats_server_wait_ready(server);
}

struct nats_server *nats_server_start(const char *configuration)
{
    struct nats_server *server = nats_server_prepare(configuration);
    nats_server_restart(server);
    return server;
}

static void end_with(struct nats_server *server, int signal_number)
{
    assert_true(server->pid > 0);
    kill(server->pid, signal_number);
    int status = 0;
    while (waitpid(server->pid, &status, 0) < 0) {
        assert_int_equal(errno, EINTR);
    }
    server->pid = 0;
}

void nats_server_stop(struct nats_server *server)
{
    end_with(server, SIGTERM);
}

void nats_server_kill(struct nats_server *server)
{
    end_with(server, SIGKILL);
}

void nats_server_free(struct nats_server *server)
{
    if (server == NULL) {
        return;
    }
    if (server->pid > 0) {
        nats_server_kill(server);
    }
    temp_remove(server->folder);
    free(server->configuration_path);
    free(server->output_path);
    free(server->common);
    free(server);
}

const char *nats_server_url(const struct nats_server *server)
{
    return server->url;
}

const char *nats_server_address(const struct nats_server *server)
{
    return server->address;
}

void nats_server_freeze(struct nats_server *server)
{
    assert_int_equal(kill(server->pid, SIGSTOP), 0);
    int status = 0; /* a thread of it may run on for moments */
    assert_int_equal(waitpid(server->pid, &status, WUNTRACED), server->pid);
    assert_true(WIFSTOPPED(status));
}

void nats_server_thaw(struct nats_server *server)
{
    assert_int_equal(kill(server->pid, SIGCONT), 0);
}

void nats_server_configure(struct nats_server *server, const char *configuration)
{
    write_configuration(server, configuration);
    if (server->pid > 0) {
        assert_int_equal(kill(server->pid, SIGHUP), 0);
    }
}

pid_t nats_server_pid(const struct nats_server *server)
{
    return server->pid;
}

bool nats_server_is_new(void)
{
    char command[600];
    int length = snprintf(command, sizeof command, "'%s' --version", binary());
    assert_true(length > 0 && (size_t)length < sizeof command);
    FILE *output = popen(command, "r");
    assert_non_null(output);
    char text[64] = "";
    const char *line = fgets(text, sizeof text, output);
    pclose(output);
    static const char start[] = "nats-server: v2.";
    if (line == NULL || strncmp(line, start, strlen(start)) != 0) {
        fail_msg("%s --version says \"%s\", not %s...", binary(), text, start);
    }
    return strtol(text + strlen(start), NULL, 10) >= 15;
}

/* /jsz of a server whose meta group has a leader names it. */
static bool has_leader(void *context)
{
    const struct nats_server *server = context;
    char body[8192];
    if (http_get(server->monitor_port, "/jsz", 2000, body, sizeof body) != 200) {
        return false;
    }
    const char *cluster = strstr(body, "\"meta_cluster\"");
    return cluster != NULL && strstr(cluster, "\"leader\": \"") != NULL && strstr(cluster, "\"leader\": \"\"") == NULL;
}

void nats_cluster_start(struct nats_cluster *cluster)
{
    int ports[NATS_CLUSTER_SIZE];
    for (int i = 0; i < NATS_CLUSTER_SIZE; i++) {
        ports[i] = free_port();
    }
    cluster->urls[0] = '\0';
    for (int i = 0; i < NATS_CLUSTER_SIZE; i++) {
        char common[512];
        snprintf(common, sizeof common,
                 "server_name: s%d\ncluster { name: c, listen: \"127.0.0.1:%d\", no_advertise: true,\n"
                 "routes: [nats://127.0.0.1:%d, nats://127.0.0.1:%d, nats://127.0.0.1:%d] }\n",
                 i, ports[i], ports[0], ports[1], ports[2]);
        cluster->servers[i] = prepare(common, NULL);
        nats_server_restart_soon(cluster->servers[i]);
        size_t length = strlen(cluster->urls);
        snprintf(cluster->urls + length, sizeof cluster->urls - length, "%s%s", i == 0 ? "" : ",", cluster->servers[i]->url);
    }
    for (int i = 0; i < NATS_CLUSTER_SIZE; i++) {
        nats_server_wait_ready(cluster->servers[i]);
        if (!await_condition(has_leader, cluster->servers[i], READY_TIMEOUT_MS)) {
            fail_msg("the cluster elected no leader within %d ms: see %s", READY_TIMEOUT_MS, cluster->servers[i]->output_path);
        }
    }
}

void nats_cluster_free(struct nats_cluster *cluster)
{
    for (int i = 0; i < NATS_CLUSTER_SIZE; i++) {
        nats_server_free(cluster->servers[i]);
        cluster->servers[i] = NULL;
    }
}
