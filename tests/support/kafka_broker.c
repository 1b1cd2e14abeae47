#include "support/kafka_broker.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <librdkafka/rdkafka.h>

#include "base/memory.h"

#define READY_TIMEOUT_S 90
#define PATH_ROOM 512

struct kafka_broker {
    char folder[PATH_ROOM];
    char properties_path[PATH_ROOM + 32];
    char log_option[PATH_ROOM + 64];
    char bootstrap[32];
    int port;
    int controller_port;
    pid_t pid;
};

static const char *class_path(void)
{
    static char path[PATH_ROOM + 8];
    const char *libs = getenv("KAFKA_LIBS");
    if (libs == NULL || libs[0] == '\0') {
        libs = TARRY_TEST_SOURCE_DIR "/build/deps/kafka/libs";
    }
    struct stat info;
    if (stat(libs, &info) != 0) {
        fail_msg("no Kafka jars at %s: run scripts/lib/kafka.sh fetch, or set KAFKA_LIBS", libs);
    }
    snprintf(path, sizeof path, "%s/*", libs);
    return path;
}

/* Ports from below the ephemeral range: a client that reconnects to a stopped broker's ephemeral port may be given that very port
 * as its own and connect to itself. */
static int free_port(void)
{
    for (int tries = 0; tries < 1000; tries++) {
        uint16_t random = 0;
        assert_int_equal(getrandom(&random, sizeof random, 0), sizeof random);
        int port = 12000 + random % 20000;
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        assert_true(fd >= 0);
        struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        bool free_now = bind(fd, (const struct sockaddr *)&address, sizeof address) == 0;
        close(fd);
        if (free_now) {
            return port;
        }
    }
    fail_msg("no free loopback port found");
    return 0;
}

static void redirect(const char *path, int flags, int target_fd)
{
    int fd = open(path == NULL ? "/dev/null" : path, flags, 0600);
    if (fd < 0 || dup2(fd, target_fd) < 0) {
        _exit(126);
    }
}

/* The child dies with us: PR_SET_PDEATHSIG, and a look whether we were faster. */
static pid_t run_java(const char *const *arguments, const char *input_path, const char *output_path)
{
    pid_t parent = getpid();
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid > 0) {
        return pid;
    }
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) {
        _exit(126);
    }
    redirect(input_path, O_RDONLY, STDIN_FILENO);
    redirect(output_path, O_WRONLY | O_CREAT | O_APPEND, STDOUT_FILENO);
    dup2(STDOUT_FILENO, STDERR_FILENO);
    /* execvp takes char *const * for historical reasons and changes nothing */
    execvp("java", (char *const *)(uintptr_t)arguments);
    _exit(127);
}

static int wait_exit(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0) {
        assert_int_equal(errno, EINTR);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int kafka_broker_run_tool(const char *class_name, const char *const *arguments, const char *input_path, const char *output_path)
{
    const char *line[64] = {"java", "-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", class_path(), class_name};
    size_t count = 7;
    for (size_t i = 0; arguments[i] != NULL; i++) {
        assert_true(count < 63);
        line[count++] = arguments[i];
    }
    return wait_exit(run_java(line, input_path, output_path));
}

static void write_properties(const struct kafka_broker *broker, const char *const *settings, size_t setting_count)
{
    FILE *file = fopen(broker->properties_path, "w");
    assert_non_null(file);
    fprintf(file,
            "process.roles=broker,controller\nnode.id=1\ncontroller.quorum.voters=1@127.0.0.1:%d\n"
            "listeners=PLAINTEXT://127.0.0.1:%d,CONTROLLER://127.0.0.1:%d\nadvertised.listeners=PLAINTEXT://127.0.0.1:%d\n"
            "controller.listener.names=CONTROLLER\ninter.broker.listener.name=PLAINTEXT\nlog.dirs=%s/data\n"
            "auto.create.topics.enable=false\nnum.partitions=1\noffsets.topic.num.partitions=1\n"
            "offsets.topic.replication.factor=1\ntransaction.state.log.num.partitions=1\n"
            "transaction.state.log.replication.factor=1\ntransaction.state.log.min.isr=1\n"
            "share.coordinator.state.topic.replication.factor=1\nshare.coordinator.state.topic.min.isr=1\n"
            "group.initial.rebalance.delay.ms=0\ngroup.min.session.timeout.ms=1000\n",
            broker->controller_port, broker->port, broker->controller_port, broker->port, broker->folder);
    for (size_t i = 0; i < setting_count; i++) {
        fprintf(file, "%s\n", settings[i]);
    }
    assert_int_equal(fclose(file), 0);
}

static void write_log_configuration(const struct kafka_broker *broker)
{
    char path[PATH_ROOM + 32];
    snprintf(path, sizeof path, "%s/log4j2.properties", broker->folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file,
            "appender.file.type=File\nappender.file.name=file\nappender.file.fileName=%s/broker.log\n"
            "appender.file.layout.type=PatternLayout\nappender.file.layout.pattern=%%d %%p %%m (%%c)%%n\n"
            "rootLogger.level=info\nrootLogger.appenderRef.file.ref=file\n",
            broker->folder);
    assert_int_equal(fclose(file), 0);
}

static void format_storage(const struct kafka_broker *broker)
{
    /* A cluster id is 22 characters of URL-safe base64; the last one holds two bits only, and 'w' is a legal one. */
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    uint8_t random[21];
    assert_int_equal(getrandom(random, sizeof random, 0), sizeof random);
    char text[23] = {0};
    for (size_t i = 0; i < sizeof random; i++) {
        text[i] = digits[random[i] % (sizeof digits - 1)];
    }
    text[21] = 'w';
    char output[PATH_ROOM + 32];
    snprintf(output, sizeof output, "%s/format.out", broker->folder);
    const char *const arguments[] = {"format", "-t", text, "-c", broker->properties_path, NULL};
    int code = kafka_broker_run_tool("kafka.tools.StorageTool", arguments, NULL, output);
    if (code != 0) {
        fail_msg("formatting Kafka's storage failed with %d: see %s", code, output);
    }
}

void kafka_broker_restart_soon(struct kafka_broker *broker)
{
    assert_int_equal(broker->pid, 0);
    char output[PATH_ROOM + 32];
    snprintf(output, sizeof output, "%s/broker.out", broker->folder);
    const char *const arguments[] = {"java", "-Xms256m", "-Xmx1g", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", broker->log_option,
                                     "-cp", class_path(), "kafka.Kafka", broker->properties_path, NULL};
    broker->pid = run_java(arguments, NULL, output);
}

static bool answers(rd_kafka_t *client)
{
    const struct rd_kafka_metadata *metadata = NULL;
    bool ready = rd_kafka_metadata(client, 0, NULL, &metadata, 1000) == RD_KAFKA_RESP_ERR_NO_ERROR;
    if (ready) {
        ready = metadata->broker_cnt > 0;
        rd_kafka_metadata_destroy(metadata);
    }
    return ready;
}

void kafka_broker_wait_ready(struct kafka_broker *broker)
{
    char text[256];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_set(conf, "bootstrap.servers", broker->bootstrap, NULL, 0);
    rd_kafka_conf_set(conf, "reconnect.backoff.max.ms", "200", NULL, 0);
    rd_kafka_conf_set(conf, "log_level", "0", NULL, 0);
    rd_kafka_t *client = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text, sizeof text);
    assert_non_null(client);
    time_t give_up = time(NULL) + READY_TIMEOUT_S;
    bool ready = false;
    int status = 0;
    while (!ready && time(NULL) < give_up && waitpid(broker->pid, &status, WNOHANG) == 0) {
        ready = answers(client);
        /* a refused connection answers at once: do not spin */
        struct timespec pause = {0, 50 * 1000 * 1000};
        nanosleep(&pause, NULL);
    }
    rd_kafka_destroy(client);
    if (!ready) {
        fail_msg("Kafka did not start within %d s: see %s/broker.out and broker.log", READY_TIMEOUT_S, broker->folder);
    }
}

struct kafka_broker *kafka_broker_start(const char *const *settings, size_t setting_count)
{
    struct kafka_broker *broker = memory_new(1, sizeof *broker);
    const char *base = getenv("TMPDIR");
    snprintf(broker->folder, sizeof broker->folder, "%.400s/tarry-kafka-XXXXXX", base == NULL ? "/tmp" : base);
    assert_non_null(mkdtemp(broker->folder));
    broker->port = free_port();
    do {
        broker->controller_port = free_port();
    } while (broker->controller_port == broker->port);
    snprintf(broker->bootstrap, sizeof broker->bootstrap, "127.0.0.1:%d", broker->port);
    snprintf(broker->properties_path, sizeof broker->properties_path, "%s/server.properties", broker->folder);
    snprintf(broker->log_option, sizeof broker->log_option, "-Dlog4j2.configurationFile=%s/log4j2.properties", broker->folder);
    write_properties(broker, settings, setting_count);
    write_log_configuration(broker);
    format_storage(broker);
    kafka_broker_restart_soon(broker);
    kafka_broker_wait_ready(broker);
    return broker;
}

void kafka_broker_restart(struct kafka_broker *broker)
{
    kafka_broker_restart_soon(broker);
    kafka_broker_wait_ready(broker);
}

static void end_with(struct kafka_broker *broker, int signal_number)
{
    assert_true(broker->pid > 0);
    kill(broker->pid, signal_number);
    wait_exit(broker->pid);
    broker->pid = 0;
}

void kafka_broker_stop(struct kafka_broker *broker)
{
    end_with(broker, SIGTERM);
}

void kafka_broker_kill(struct kafka_broker *broker)
{
    end_with(broker, SIGKILL);
}

void kafka_broker_freeze(struct kafka_broker *broker)
{
    assert_int_equal(kill(broker->pid, SIGSTOP), 0);
}

void kafka_broker_thaw(struct kafka_broker *broker)
{
    assert_int_equal(kill(broker->pid, SIGCONT), 0);
}

pid_t kafka_broker_pid(const struct kafka_broker *broker)
{
    return broker->pid;
}

const char *kafka_broker_bootstrap(const struct kafka_broker *broker)
{
    return broker->bootstrap;
}

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *place)
{
    (void)info;
    (void)kind;
    (void)place;
    return remove(path);
}

void kafka_broker_free(struct kafka_broker *broker)
{
    if (broker == NULL) {
        return;
    }
    if (broker->pid > 0) {
        kafka_broker_kill(broker);
    }
    nftw(broker->folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    free(broker);
}
