// SPDX-License-Identifier: GPL-2.0-only
/*
 * ipi-test [rounds [hotplug-rounds [xive]]] - IPIs arrive, and are counted where they
 * belong. With the module /lab/ipitest.ko:
 *
 *  - all kinds of IPIs, from all CPUs to all CPUs at once, none of them lost;
 *  - /proc/interrupts: one row IPI-NODE for each node with CPUs, which counts only on
 *    these, and did count on each of them;
 *  - all CPUs of the last node go offline and come back, while the others send.
 *
 * xive: on powernv, IPIs by XIVE and not by doorbell. Exit 4 (skip) with one CPU.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MAX	64

static int node_of[MAX];		/* by CPU, -1: not online */
static int nr_cpus, nr_nodes, failures, checks;

static void result(bool ok, const char *fmt, ...)
{
	va_list ap;

	checks++;
	failures += !ok;
	printf("%sok %d ", ok ? "" : "not ", checks);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	fflush(stdout);
}

static int read_text(const char *path, char *buf, int size)
{
	int fd = open(path, O_RDONLY), n = -1, k = 0;

	if (fd < 0)
		return -1;
	while (k < size - 1 && (n = read(fd, buf + k, size - 1 - k)) > 0)
		k += n;
	close(fd);
	buf[k] = 0;
	return n < 0 ? -1 : k;
}

/* "0-3,8" of each node -> node_of[] */
static void read_nodes(void)
{
	char path[64], list[256], *p;
	int node, a, b, n;

	memset(node_of, -1, sizeof(node_of));
	nr_cpus = nr_nodes = 0;
	for (node = 0; node < 256; node++) {
		snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/cpulist", node);
		if (read_text(path, list, sizeof(list)) <= 1)
			continue;
		nr_nodes++;
		for (p = list; sscanf(p, "%d%n", &a, &n) == 1; ) {
			p += n;
			b = a;
			if (*p == '-' && sscanf(p + 1, "%d%n", &b, &n) == 1)
				p += n + 1;
			for (; a <= b && a < MAX; a++, nr_cpus++)
				node_of[a] = node;
			if (*p++ != ',')
				break;
		}
	}
}

struct row {
	int node;
	unsigned int irq;
	unsigned long count[MAX];	/* by CPU */
};

/* The rows "NR: counts  XIVE-IPI  HWIRQ Edge IPI-NODE"; returns how many */
static int read_rows(struct row *rows, int max)
{
	static char text[1 << 20];
	int column[MAX], columns = 0, n = 0, c;
	char *line, *save, *p, *name;

	if (read_text("/proc/interrupts", text, sizeof(text)) < 0)
		return -1;
	line = strtok_r(text, "\n", &save);
	for (p = line; p && (p = strstr(p, "CPU")); p += 3)
		if (columns < MAX)
			column[columns++] = atoi(p + 3);
	while ((line = strtok_r(NULL, "\n", &save)) && n < max) {
		name = strstr(line, "IPI-");
		while (name && strstr(name + 1, "IPI-"))
			name = strstr(name + 1, "IPI-");
		if (!strstr(line, "XIVE-IPI") || !name)
			continue;
		memset(&rows[n], 0, sizeof(rows[n]));
		rows[n].node = atoi(name + 4);
		rows[n].irq = strtoul(line, &p, 10);
		p++;
		for (c = 0; c < columns; c++)
			rows[n].count[column[c]] = strtoul(p, &p, 10);
		n++;
	}
	return n;
}

static void check_rows(const struct row *before, int nr_before, bool must_count)
{
	struct row rows[MAX];
	int n = read_rows(rows, MAX), i, k, cpu, foreign = 0, silent = 0, twice = 0;

	if (!n) {
		printf("# no XIVE-IPI in /proc/interrupts: another interrupt controller\n");
		return;
	}
	for (i = 0; i < n; i++) {
		printf("# irq %u IPI-%d:", rows[i].irq, rows[i].node);
		for (cpu = 0; cpu < nr_cpus; cpu++)
			printf(" %lu", rows[i].count[cpu]);
		printf("\n");
		for (k = 0; k < i; k++)
			twice += rows[k].node == rows[i].node;
		for (cpu = 0; cpu < MAX; cpu++) {
			unsigned long was = 0;

			for (k = 0; k < nr_before; k++)
				if (before[k].node == rows[i].node)
					was = before[k].count[cpu];
			if (node_of[cpu] < 0)
				continue;
			foreign += node_of[cpu] != rows[i].node && rows[i].count[cpu];
			silent += node_of[cpu] == rows[i].node && rows[i].count[cpu] <= was;
		}
	}
	result(n == nr_nodes && !twice, "%d rows of IPIs for %d nodes with CPUs", n, nr_nodes);
	result(!foreign, "a row counts only on the CPUs of its node");
	if (must_count)
		result(!silent, "it counts on each of these");
}

static int load(const char *parameters)
{
	int fd = open("/lab/ipitest.ko", O_RDONLY | O_CLOEXEC), err = 0;

	if (fd < 0 || syscall(__NR_finit_module, fd, parameters, 0))
		err = errno;
	if (fd >= 0)
		close(fd);
	return err;
}

static unsigned long parameter(const char *name)
{
	char path[64], text[32] = "";

	snprintf(path, sizeof(path), "/sys/module/ipitest/parameters/%s", name);
	return read_text(path, text, sizeof(text)) > 0 ? strtoul(text, NULL, 10) : ~0ul;
}

static bool set_online(int cpu, int on)
{
	char path[64];
	int fd, n;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", cpu);
	fd = open(path, O_WRONLY);
	n = fd < 0 ? -1 : write(fd, on ? "1" : "0", 1);
	if (n != 1)
		printf("# CPU %d online = %d: %s\n", cpu, on, strerror(errno));
	if (fd >= 0)
		close(fd);
	return n == 1;
}

/* The last node's CPUs, or the last CPU, go and come while the others send. */
static void hotplug(int times, const char *more)
{
	int first = nr_cpus - 1, cpu, i, bad = 0;
	char parameters[64];

	while (nr_nodes > 1 && first > 1 && node_of[first - 1] == node_of[nr_cpus - 1])
		first--;
	snprintf(parameters, sizeof(parameters), "storm=%d %s", first, more);
	if (load(parameters)) {
		result(false, "the module loads: %s", strerror(errno));
		return;
	}
	for (i = 0; i < times && !bad; i++) {
		for (cpu = first; cpu < nr_cpus; cpu++)
			bad += !set_online(cpu, 0);
		usleep(20000);
		for (cpu = first; cpu < nr_cpus; cpu++)
			bad += !set_online(cpu, 1);
		usleep(20000);
	}
	result(!bad, "CPUs %d to %d offline and online %d times under IPIs", first, nr_cpus - 1, i);
	if (syscall(__NR_delete_module, "ipitest", 0)) {
		result(false, "the module unloads: %s", strerror(errno));
		return;
	}
}

/* The module's last word is in the kernel log, as it is gone after a storm. */
static void verdict(const char *what)
{
	static char text[1 << 18];
	long n = syscall(__NR_syslog, 3, text, sizeof(text) - 1);
	unsigned long lost = ~0ul, sent = 0;
	char *p = text;

	text[n > 0 ? n : 0] = 0;
	while ((p = strstr(p, "ipitest: "))) {
		p += 9;
		sscanf(p, "%lu lost of %lu", &lost, &sent);
	}
	result(!lost && sent, "%s: %lu lost of %lu", what, lost, sent);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1000, times = argc > 2 ? atoi(argv[2]) : 10;
	const char *more = argc > 3 ? "xive=1" : "";
	struct row before[MAX];
	char parameters[64];
	int n, err;

	read_nodes();
	if (nr_cpus < 2)
		return 4;
	printf("# %d CPUs, %d nodes\n", nr_cpus, nr_nodes);
	n = read_rows(before, MAX);
	snprintf(parameters, sizeof(parameters), "rounds=%d %s", rounds, more);
	err = load(parameters);
	if (err) {
		result(false, "all to all: %s", strerror(err));
	} else {
		if (parameter("lost"))
			result(false, "all to all: a CPU waits for ever");
		else
			verdict("all to all");
		syscall(__NR_delete_module, "ipitest", 0);
	}
	check_rows(before, n, true);
	if (times && !failures) {
		hotplug(times, more);
		verdict("hotplug");
		check_rows(before, n, false);
	}
	printf("1..%d\n", checks);
	return failures ? 1 : 0;
}
