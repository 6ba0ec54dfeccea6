// SPDX-License-Identifier: GPL-2.0-only
/*
 * init - PID 1 of a lab guest: runs tests, prints KTAP, switches the machine off
 *
 * What to do comes from the kernel command line:
 *
 *   lab.run=TEST,TEST,...  what to run, in this order; nothing: boot, power off
 *       TEST is NAME:ARG:ARG...  runs the program /lab/NAME with these arguments
 *               NAME             if /lab/NAME is a text: runs each TEST in it,
 *                                one a line, without those that start with #
 *               shell            an interactive shell on the console
 *   lab.timeout=SECONDS    how long one test may take, 120 if not given
 *   lab.end=reboot         reset at the end, for machines without a power-off
 *
 * If an option is given twice, the last one counts.
 *
 * A test passes with exit code 0 and is skipped with exit code 4. It runs in
 * the directory of its program, and its output is indented by two spaces, as
 * KTAP wants it of subtests. What it leaves running is killed at its end.
 */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define MAX_TESTS	512
#define MAX_ARGS	32
#define EXIT_SKIP	4

/* How long killed processes may take to disappear. */
#define KILL_SECONDS	10

static const struct {
	const char *type, *dir, *options;
} mounts[] = {
	{ "proc",	"/proc",		NULL },
	{ "sysfs",	"/sys",			NULL },
	{ "devtmpfs",	"/dev",			NULL },
	{ "devpts",	"/dev/pts",		NULL },
	{ "tmpfs",	"/dev/shm",		NULL },
	{ "tmpfs",	"/tmp",			NULL },
	{ "debugfs",	"/sys/kernel/debug",	NULL },
	{ "tracefs",	"/sys/kernel/tracing",	NULL },
	{ "cgroup2",	"/sys/fs/cgroup",	NULL },
};

static char cmdline[4096];
static char *tests[MAX_TESTS];
static int nr_tests;
static sigset_t wait_mask;	/* signals blocked while waiting: none */

static void on_sigchld(int sig)
{
	/* Only there to end ppoll(). */
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static void write_all(const char *buf, size_t len)
{
	while (len) {
		ssize_t n = write(STDOUT_FILENO, buf, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return;
		buf += n;
		len -= n;
	}
}

/* One line for the console. */
static void say(const char *fmt, ...)
{
	char buf[1024];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(buf, sizeof(buf) - 2, fmt, ap);
	va_end(ap);
	if (n > (int)sizeof(buf) - 3)
		n = sizeof(buf) - 3;
	memcpy(buf + n, "\r\n", 2);
	write_all(buf, n + 2);
}

/*
 * With output processing the tty layer gives the driver a line and its end in
 * two pieces, and kernel messages get in between. So we write "\r\n" ourselves,
 * and only the shell gets a cooked terminal.
 */
static void console_cooked(bool cooked)
{
	struct termios t;

	if (tcgetattr(STDOUT_FILENO, &t))
		return;
	if (cooked)
		t.c_oflag |= OPOST;
	else
		t.c_oflag &= ~OPOST;
	tcsetattr(STDOUT_FILENO, TCSADRAIN, &t);
}

static void console_open(const char *path)
{
	int i, fd = open(path, O_RDWR | O_NOCTTY);

	if (fd < 0)
		return;
	for (i = 0; i < 3; i++)
		dup2(fd, i);
	if (fd > 2)
		close(fd);
}

static void mount_all(void)
{
	size_t i;

	for (i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++) {
		mkdir(mounts[i].dir, 0755);
		/* A kernel without the file system is fine: ENODEV, ENOENT. */
		if (mount("none", mounts[i].dir, mounts[i].type, 0,
			  mounts[i].options) &&
		    errno != ENODEV && errno != ENOENT && errno != EBUSY)
			say("# lab: mount %s: %s", mounts[i].dir, strerror(errno));
	}
}

static void loopback_up(void)
{
	struct ifreq ifr = { .ifr_name = "lo" };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (fd < 0)
		return;		/* a kernel without IP */
	ifr.ifr_flags = IFF_UP | IFF_RUNNING;
	if (ioctl(fd, SIOCSIFFLAGS, &ifr))
		say("# lab: lo: %s", strerror(errno));
	close(fd);
}

static char *read_file(const char *path)
{
	size_t size = 0, len = 0;
	char *buf = NULL;
	ssize_t n;
	int fd = open(path, O_RDONLY);

	if (fd < 0)
		return NULL;
	do {
		if (len + 1 >= size) {
			size += 4096;
			buf = realloc(buf, size);
			if (!buf)
				break;
		}
		n = read(fd, buf + len, size - len - 1);
		if (n > 0)
			len += n;
	} while (n > 0);
	if (buf)
		buf[len] = 0;
	close(fd);
	return buf;
}

/* The value of the last lab.NAME= on the command line, or "". */
static const char *option(const char *name)
{
	static char value[sizeof(cmdline)];
	char *word, *save, copy[sizeof(cmdline)];
	size_t len = strlen(name);

	value[0] = 0;
	strcpy(copy, cmdline);
	for (word = strtok_r(copy, " \n", &save); word;
	     word = strtok_r(NULL, " \n", &save))
		if (!strncmp(word, name, len) && word[len] == '=')
			strcpy(value, word + len + 1);
	return value;
}

static void add_test(const char *test)
{
	if (nr_tests == MAX_TESTS)
		say("# lab: more than %d tests, %s is left out", MAX_TESTS, test);
	else
		tests[nr_tests++] = strdup(test);
}

/* A test from the command line: a program, or a text with a test a line. */
static void add_tests(const char *name)
{
	char path[256], *buf = NULL, *line, *save;

	snprintf(path, sizeof(path), "/lab/%s", name);
	if (access(path, X_OK))
		buf = read_file(path);
	if (!buf) {
		add_test(name);		/* if there is none, it fails visibly */
		return;
	}
	for (line = strtok_r(buf, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save))
		if (line[0] != '#')
			add_test(line);
	free(buf);
}

static void collect_tests(void)
{
	char *run = strdup(option("lab.run")), *word, *save;

	for (word = strtok_r(run, ",", &save); word;
	     word = strtok_r(NULL, ",", &save))
		add_tests(word);
	free(run);
}

/* Copy what the test wrote to the console, indented. Returns false at the end. */
static bool copy_output(int fd, bool *line_start)
{
	char in[512], out[sizeof(in) * 4];
	size_t len = 0;
	ssize_t n, i;

	n = read(fd, in, sizeof(in));
	if (n <= 0)
		return n < 0 && (errno == EINTR || errno == EAGAIN);
	for (i = 0; i < n; i++) {
		if (*line_start) {
			out[len++] = ' ';
			out[len++] = ' ';
		}
		*line_start = in[i] == '\n';
		if (*line_start)
			out[len++] = '\r';
		out[len++] = in[i];
	}
	write_all(out, len);
	return true;
}

/* Kill everything but us, say what there was. False if something stays. */
static bool kill_rest(const char *name)
{
	double end = now() + KILL_SECONDS;
	int status, killed = 0;
	pid_t pid;

	kill(-1, SIGKILL);
	for (;;) {
		pid = waitpid(-1, &status, WNOHANG);
		if (pid < 0 && errno == ECHILD)
			break;
		if (pid > 0) {
			killed += WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
			continue;
		}
		if (now() > end) {
			say("# %s: a process cannot be killed", name);
			return false;
		}
		kill(-1, SIGKILL);	/* whatever was forked meanwhile */
		usleep(10000);
	}
	if (killed)
		say("# %s: killed %d left-over process%s", name, killed,
		    killed == 1 ? "" : "es");
	return true;
}

static void __attribute__((noreturn)) child(char **argv, int out)
{
	char path[256], *slash;
	int in = open("/dev/null", O_RDONLY);

	snprintf(path, sizeof(path), "/lab/%s", argv[0]);
	argv[0] = strdup(path);

	setsid();
	dup2(in, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(out, STDERR_FILENO);
	close(in);
	close(out);
	signal(SIGCHLD, SIG_DFL);
	sigprocmask(SIG_SETMASK, &wait_mask, NULL);

	slash = strrchr(path, '/');
	*slash = 0;
	if (!chdir(path))
		execv(argv[0], argv);
	printf("# %s: %s\n", argv[0], strerror(errno));
	fflush(stdout);
	_exit(127);
}

/*
 * Run one test within its time. Returns its wait status, or -1 if there is
 * none, after a line that says why.
 */
static int run_test(char **argv, const char *name, int seconds)
{
	double left, end = now() + seconds;
	int fds[2], status = -1;
	bool line_start = true;
	bool exited = false, open = true;
	pid_t pid, p;

	pid = pipe2(fds, O_CLOEXEC) ? -1 : fork();
	if (pid < 0) {
		say("# %s: %s", name, strerror(errno));
		return -1;
	}
	if (!pid)
		child(argv, fds[1]);
	close(fds[1]);
	fcntl(fds[0], F_SETFL, O_NONBLOCK);

	while (!exited) {
		struct pollfd pfd = { .fd = open ? fds[0] : -1, .events = POLLIN };
		struct timespec ts;
		int s;

		while ((p = waitpid(-1, &s, WNOHANG)) > 0) {
			if (p == pid) {
				exited = true;
				status = s;
			}
		}
		left = end - now();
		if (exited || left <= 0)
			break;
		ts.tv_sec = (time_t)left;
		ts.tv_nsec = (left - ts.tv_sec) * 1e9;
		if (ppoll(&pfd, 1, &ts, &wait_mask) > 0)
			open = copy_output(fds[0], &line_start);
	}

	/* What it wrote last; after the kill, nobody writes any more. */
	if (!kill_rest(name)) {
		exited = false;
		status = -1;
	}
	errno = 0;
	while (open && errno != EAGAIN)
		open = copy_output(fds[0], &line_start);
	close(fds[0]);
	if (!line_start)
		write_all("\r\n", 2);
	if (left <= 0 && status == -1)
		say("# %s: not finished after %d seconds, killed", name, seconds);
	return status;
}

/* The tty behind /dev/console, which itself cannot control a session. */
static void open_tty(void)
{
	char path[128] = "/dev/", *active, *last;

	active = read_file("/sys/class/tty/console/active");
	if (!active)
		return;
	active[strcspn(active, "\n")] = 0;
	last = strrchr(active, ' ');
	strncat(path, last ? last + 1 : active, sizeof(path) - 6);
	free(active);
	console_open(path);
	ioctl(STDIN_FILENO, TIOCSCTTY, 1);
}

static int run_shell(void)
{
	int status = -1;
	pid_t pid;

	if (access("/bin/sh", X_OK)) {
		say("# shell: this image has none; ppc64le-shell has");
		return -1;
	}
	say("# shell: type exit to go on");
	console_cooked(true);
	pid = fork();
	if (!pid) {
		setsid();
		open_tty();
		signal(SIGCHLD, SIG_DFL);
		sigprocmask(SIG_SETMASK, &wait_mask, NULL);
		if (chdir("/"))
			_exit(127);
		setenv("PS1", "guest# ", 1);
		execl("/bin/sh", "-sh", NULL);
		_exit(127);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	console_cooked(false);
	/* A shell's exit code is that of the last command: no verdict. */
	return kill_rest("shell") ? 0 : -1;
}

static void one_test(int nr, char *test, int seconds)
{
	char *argv[MAX_ARGS + 1], name[512] = "", *save, *word;
	int status, argc = 0;
	double start = now();

	for (word = strtok_r(test, ":", &save); word && argc < MAX_ARGS;
	     word = strtok_r(NULL, ":", &save)) {
		argv[argc++] = word;
		snprintf(name + strlen(name), sizeof(name) - strlen(name),
			 "%s%s", argc > 1 ? " " : "", word);
	}
	argv[argc] = NULL;
	if (!argc) {
		say("not ok %d (no name)", nr);
		return;
	}

	say("# %s: starts", name);
	if (!strcmp(name, "shell"))
		status = run_shell();
	else
		status = run_test(argv, name, seconds);

	if (status != -1 && WIFSIGNALED(status))
		say("# %s: killed by signal %d (%s)", name, WTERMSIG(status),
		    strsignal(WTERMSIG(status)));
	else if (status > 0 && WEXITSTATUS(status) != EXIT_SKIP)
		say("# %s: exit code %d", name, WEXITSTATUS(status));
	say("# %s: %.3f s", name, now() - start);

	if (status == 0)
		say("ok %d %s", nr, name);
	else if (status != -1 && WIFEXITED(status) &&
		 WEXITSTATUS(status) == EXIT_SKIP)
		say("ok %d %s # SKIP", nr, name);
	else
		say("not ok %d %s", nr, name);
}

int main(void)
{
	struct sigaction sa = { .sa_handler = on_sigchld };
	struct utsname u;
	sigset_t block;
	char *text;
	int i, seconds;

	if (getpid() != 1) {
		fprintf(stderr, "init: this is PID 1 of a lab guest, nothing to run by hand\n");
		return 1;
	}
	if (fcntl(STDOUT_FILENO, F_GETFD) < 0)
		console_open("/dev/console");
	console_cooked(false);
	umask(022);
	setenv("PATH", "/lab:/bin:/sbin:/usr/bin:/usr/sbin", 1);
	setenv("HOME", "/", 1);
	setenv("TERM", "linux", 0);

	sigaction(SIGCHLD, &sa, NULL);
	sigemptyset(&block);
	sigaddset(&block, SIGCHLD);
	sigprocmask(SIG_BLOCK, &block, &wait_mask);
	sigdelset(&wait_mask, SIGCHLD);

	mount_all();
	loopback_up();

	text = read_file("/proc/cmdline");
	if (text)
		strncpy(cmdline, text, sizeof(cmdline) - 1);
	else
		say("# lab: no /proc/cmdline: nothing to run");
	free(text);

	uname(&u);
	say("# lab: %s %s %s, %ld CPUs, %ldk pages", u.sysname, u.release,
	    u.machine, sysconf(_SC_NPROCESSORS_ONLN),
	    sysconf(_SC_PAGESIZE) / 1024);

	collect_tests();
	seconds = atoi(option("lab.timeout"));
	if (seconds <= 0)
		seconds = 120;

	say("KTAP version 1");
	say("1..%d", nr_tests);
	for (i = 0; i < nr_tests; i++)
		one_test(i + 1, tests[i], seconds);
	say("# lab: done");

	sync();
	tcdrain(STDOUT_FILENO);
	reboot(strcmp(option("lab.end"), "reboot") ? RB_POWER_OFF : RB_AUTOBOOT);
	say("# lab: cannot switch off: %s", strerror(errno));
	for (;;)
		pause();
}
