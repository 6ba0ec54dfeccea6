// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes trouble while a command runs, again and again until the time is over:
 *
 *	pester SECONDS nmi|hotplug|both|none COMMAND [ARGS]
 *
 * nmi:     system resets of all other CPUs at random moments, by sysrq-l, which on
 *          pseries is a hypercall (H_SIGNAL_SYS_RESET) and so hits masked code as well
 * hotplug: each CPU but the first goes off and comes back, in turn
 *
 * Backtraces of all CPUs are in the way on a console, so it stays silent meanwhile,
 * and what the kernel logged that is no backtrace on request is printed at the end.
 * Fails if the command does or nothing could be made.
 */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t stop;

static void on_term(int sig)
{
	stop = 1;
}

static bool write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);
	bool ok;

	if (fd < 0)
		return false;
	ok = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	close(fd);
	return ok;
}

static void wait_us(uint32_t us)
{
	struct timespec ts = { .tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000 };

	nanosleep(&ts, NULL);
}

/* Returns how often it was possible. */
static int make_trouble(bool nmi, bool hotplug)
{
	int cpus = sysconf(_SC_NPROCESSORS_CONF), cpu = 1, done = 0;
	uint32_t seed = 4711;
	char path[64];

	while (!stop) {
		seed = seed * 1664525 + 1013904223;
		wait_us(1000 + (seed >> 8) % 50000);
		if (nmi)
			done += write_file("/proc/sysrq-trigger", "l");
		if (hotplug && cpus > 1 && !(seed >> 28 & 3)) {
			snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", cpu);
			done += write_file(path, "0");
			wait_us((seed >> 8) % 20000);
			write_file(path, "1");
			cpu = cpu % (cpus - 1) + 1;
		}
	}
	return done;
}

/* System resets that the CPUs counted */
static long count_nmis(void)
{
	char line[4096], *p, *next;
	long n = 0, more;
	FILE *f = fopen("/proc/interrupts", "r");

	while (f && fgets(line, sizeof(line), f)) {
		p = strstr(line, "NMI:");
		if (!p)
			continue;
		for (p += 4; ; p = next) {
			more = strtol(p, &next, 10);
			if (next == p)
				break;
			n += more;
		}
	}
	if (f)
		fclose(f);
	return n;
}

/* Lines of the kernel log that tell of a fault, as tools/scan would find them */
static int print_faults(void)
{
	static const char *const words[] = {
		"WARNING:", "BUG:", "Oops", "stall", "LOCKUP", "soft lockup", "Unrecoverable",
		"Bad kernel stack", "nobody cared", "corrupt", "scheduling while atomic",
	};
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK), found = 0;
	char line[2048], *text;
	unsigned int i;
	ssize_t n;

	while (fd >= 0 && ((n = read(fd, line, sizeof(line) - 1)) > 0 || errno == EPIPE)) {
		if (n <= 0)
			continue;
		line[n] = 0;
		text = strchr(line, ';');
		for (i = 0; text && i < sizeof(words) / sizeof(words[0]); i++) {
			/* the watchdog's start, and empty NVRAM */
			if (strstr(text, words[i]) && !strstr(text, "stall warnings") &&
			    !strstr(text, "nvram")) {
				printf("kernel: %s", text + 1);
				found++;
				break;
			}
		}
	}
	close(fd);
	return found;
}

int main(int argc, char **argv)
{
	int seconds, runs = 0, status, fds[2], trouble = 0, faults;
	long nmis;
	bool nmi, hotplug;
	pid_t pester, pid;
	time_t end;

	if (argc < 4) {
		fprintf(stderr, "usage: pester SECONDS nmi|hotplug|both|none COMMAND [ARGS]\n");
		return 1;
	}
	seconds = atoi(argv[1]);
	nmi = !strcmp(argv[2], "nmi") || !strcmp(argv[2], "both");
	hotplug = !strcmp(argv[2], "hotplug") || !strcmp(argv[2], "both");
	end = time(NULL) + seconds;
	write_file("/proc/sys/kernel/sysrq", "1");
	write_file("/proc/sys/kernel/printk", "1 1 1 1");
	if (pipe(fds))
		return 1;
	nmis = count_nmis();
	pester = fork();
	if (!pester) {
		signal(SIGTERM, on_term);
		trouble = make_trouble(nmi, hotplug);
		if (write(fds[1], &trouble, sizeof(trouble)) < 0)
			_exit(1);
		_exit(0);
	}
	do {
		char path[256];

		pid = fork();
		if (!pid) {
			snprintf(path, sizeof(path), "/lab/%s", argv[3]);
			execv(path, argv + 3);
			perror(path);
			_exit(127);
		}
		if (waitpid(pid, &status, 0) != pid)
			status = -1;
		runs++;
	} while (!status && time(NULL) < end);
	kill(pester, SIGTERM);
	waitpid(pester, NULL, 0);
	close(fds[1]);
	if (read(fds[0], &trouble, sizeof(trouble)) != sizeof(trouble))
		trouble = 0;
	write_file("/proc/sys/kernel/printk", "7 4 1 7");
	faults = print_faults();
	nmis = count_nmis() - nmis;
	printf("# %d runs of %s, status %x; trouble %d times, %ld NMIs; %d faults\n", runs,
	       argv[3], status, trouble, nmis, faults);
	return status || faults || ((nmi || hotplug) && !trouble) || (nmi && !nmis);
}
