#include "tests/support/cli_program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/await.h"

#define DEADLINE_MS 120000
#define BLOCK 65536

struct ends {
    int ours;
    int theirs;
};

static struct ends make_terminal(void)
{
    struct ends ends = {posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), -1};
    struct winsize size = {.ws_row = 24, .ws_col = 100};
    assert_true(ends.ours >= 0 && grantpt(ends.ours) == 0 && unlockpt(ends.ours) == 0);
    ends.theirs = open(ptsname(ends.ours), O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_true(ends.theirs >= 0 && ioctl(ends.theirs, TIOCSWINSZ, &size) == 0);
    return ends;
}

static struct ends make_pipe(void)
{
    int fds[2];
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    return (struct ends){fds[0], fds[1]};
}

static void __attribute__((noreturn)) become(const char *path, char **argv, int in, int out, int err)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 || dup2(err, STDERR_FILENO) < 0) {
        _exit(126);
    }
    (void)execv(path, argv);
    _exit(127);
}

struct cli_program cli_program_start(enum cli_program_out out, const char *input_path, const char *const *arguments)
{
    char *path = getenv("E2E_TARRY_BIN");
    char *argv[CLI_PROGRAM_ARGUMENTS_MAX + 2] = {path};
    if (path == NULL) {
        fail_msg("E2E_TARRY_BIN must name the built tarry (ctest sets it)");
    }
    for (size_t i = 0; arguments[i] != NULL; i++) {
        assert_true(i < CLI_PROGRAM_ARGUMENTS_MAX);
        argv[i + 1] = (char *)(uintptr_t)arguments[i];
    }
    struct ends ends = out == CLI_PROGRAM_TERMINAL ? make_terminal() : make_pipe();
    struct cli_program program = {.out = ends.ours, .err = memfd_create("errors", MFD_CLOEXEC), .code = -1};
    int in = open(input_path == NULL ? "/dev/null" : input_path, O_RDONLY | O_CLOEXEC);
    assert_true(in >= 0 && program.err >= 0);
    fflush(NULL);
    program.pid = fork();
    assert_true(program.pid >= 0);
    if (program.pid == 0) {
        become(path, argv, in, ends.theirs, program.err);
    }
    close(in);
    close(ends.theirs);
    return program;
}

/* False: its end. A terminal's other end says EIO when nobody has it open any more. */
static bool read_some(struct cli_program *program, int64_t end_ms)
{
    struct pollfd poll_fd = {.fd = program->out, .events = POLLIN};
    int64_t left_ms = end_ms - await_mono_ms();
    if (left_ms <= 0 || poll(&poll_fd, 1, (int)left_ms) <= 0) {
        (void)kill(program->pid, SIGKILL);
        fail_msg("tarry did not end within %d ms", DEADLINE_MS);
    }
    program->text = realloc(program->text, program->length + BLOCK + 1);
    assert_non_null(program->text);
    ssize_t count = read(program->out, program->text + program->length, BLOCK);
    program->length += count > 0 ? (size_t)count : 0;
    program->text[program->length] = '\0';
    return count > 0 || (count < 0 && errno == EINTR);
}

static char *read_errors(int fd)
{
    off_t length = lseek(fd, 0, SEEK_END);
    char *text = calloc(1, (size_t)length + 1);
    assert_true(text != NULL && pread(fd, text, (size_t)length, 0) == length);
    close(fd);
    return text;
}

void cli_program_finish(struct cli_program *program)
{
    int status = 0;
    struct rusage usage;
    int64_t end_ms = await_mono_ms() + DEADLINE_MS;
    while (read_some(program, end_ms)) {
    }
    assert_int_equal(wait4(program->pid, &status, 0, &usage), program->pid);
    close(program->out);
    program->errors = read_errors(program->err);
    program->code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    program->rss_kib = usage.ru_maxrss;
}

void cli_program_free(struct cli_program *program)
{
    free(program->text);
    free(program->errors);
    *program = (struct cli_program){0};
}

struct cli_program cli_program_run(enum cli_program_out out, const char *const *arguments)
{
    struct cli_program program = cli_program_start(out, NULL, arguments);
    cli_program_finish(&program);
    return program;
}

void cli_program_expect(const struct cli_program *program, int code)
{
    if (program->code != code) {
        fail_msg("exit code %d instead of %d; it said:\n%s\n%.2000s", program->code, code, program->errors, program->text);
    }
}

size_t cli_program_lines(const struct cli_program *program)
{
    size_t lines = 0;
    for (size_t i = 0; i < program->length; i++) {
        lines += program->text[i] == '\n';
    }
    return lines;
}
