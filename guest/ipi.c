// SPDX-License-Identifier: GPL-2.0-only
/*
 * ipi [rounds [hotplug-rounds [xive|lose=N|add|flood=N]...]] - IPIs arrive, and are counted
 * where they belong. With the module /lab/ipitest.ko:
 *
 *  - all kinds of IPIs, from all CPUs to all CPUs at once, none of them lost;
 *  - with flood=N, N times from each CPU to each other as fast as they arrive;
 *  - /proc/interrupts: one row IPI-NODE for each node with CPUs, which counts only on
 *    these, and did count on each of them;
 *  - all CPUs of the last node go offline and come back, while the others send;
 *  - the tracepoints of interrupt handlers see IPIs while they are enabled.
 *
 * xive: on powernv, IPIs by XIVE and not by doorbell. lose: every Nth is not sent, so that
 * the test can be seen failing. add: first wait until somebody adds a CPU to the machine
 * (device_add of QEMU). Exit 4 (skip) with one CPU.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <sys/syscall.h>

#define KTAP_SECONDS	20000		/* init has a limit, and the module its own */
#include "ktap.h"

#define MAX	64

static int node_of[MAX];		/* by CPU, -1: not online */
static int nr_cpus, nr_nodes;

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

static int rounds = 1000, times = 10, flood;
static char more[64];			/* parameters of the module */
static bool add;
static struct row before[MAX], now[MAX];
static int nr_before, nr_now;

/* Reads the rows again, and shows them. Without XIVE there are none. */
static int rows_now(void)
{
	int n = read_rows(now, MAX), i, cpu;

	if (!n && access("/sys/kernel/debug/powerpc/xive", F_OK))
		SKIP("another interrupt controller");
	for (i = 0; i < n; i++) {
		printf("# irq %u IPI-%d:", now[i].irq, now[i].node);
		for (cpu = 0; cpu < MAX; cpu++)
			if (now[i].count[cpu] || node_of[cpu] == now[i].node)
				printf(" CPU%d %lu", cpu, now[i].count[cpu]);
		printf("\n");
	}
	return n;
}

/* What was counted before the tests */
static unsigned long count_before(int node, int cpu)
{
	int k;

	for (k = 0; k < nr_before; k++)
		if (before[k].node == node)
			return before[k].count[cpu];
	return 0;
}

static void check_rows(void)
{
	int n = rows_now(), i, k, cpu;

	CHECK_EQ(n, nr_nodes);
	for (i = 0; i < n; i++) {
		for (k = 0; k < i; k++)
			CHECK(now[k].node != now[i].node);
		for (cpu = 0; cpu < MAX; cpu++)
			if (node_of[cpu] >= 0 && node_of[cpu] != now[i].node &&
			    now[i].count[cpu]) {
				ktap_note("row IPI-%d counts on CPU %d of node %d", now[i].node,
					  cpu, node_of[cpu]);
				CHECK(0);
			}
	}
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

/* The module's last word is in the kernel log, as it is gone after a storm. */
static void check_none_lost(void)
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
	ktap_note("%ld lost of %lu", (long)lost, sent);
	CHECK(sent);
	CHECK_EQ(lost, 0);
}

/* @how: a parameter of the module that takes a number */
static void all_to_all(const char *how, int nr)
{
	char parameters[128];
	int err;

	snprintf(parameters, sizeof(parameters), "%s=%d %s", how, nr, more);
	err = load(parameters);
	if (err)
		ktap_note("loading the module: %s", strerror(err));
	CHECK(!err);
	if (parameter("lost"))
		ktap_note("a CPU waits for ever");
	CHECK_EQ(parameter("lost"), 0);
	check_none_lost();
	CHECK(!syscall(__NR_delete_module, "ipitest", 0));
}

TEST("all kinds of IPIs, all CPUs to all, and none is lost")
{
	all_to_all("rounds", rounds);
}

TEST("one row of IPIs for each node with CPUs, which counts on no others")
{
	check_rows();
}

static unsigned long sum_of_rows(void)
{
	unsigned long sum = 0;
	int i, cpu;

	nr_now = rows_now();
	for (i = 0; i < nr_now; i++)
		for (cpu = 0; cpu < MAX; cpu++)
			sum += now[i].count[cpu];
	return sum;
}

TEST("a row counts on each CPU of its node")
{
	int i, cpu;

	if (!sum_of_rows())
		SKIP("IPIs are doorbells");
	for (i = 0; i < nr_now; i++)
		for (cpu = 0; cpu < MAX; cpu++)
			if (node_of[cpu] == now[i].node)
				CHECK(now[i].count[cpu] > count_before(now[i].node, cpu));
}

TEST("as many IPIs as go, and none is lost")
{
	unsigned long sum;
	time_t start;

	if (!flood)
		SKIP("not asked for");
	sum = sum_of_rows();
	start = time(NULL);
	all_to_all("flood", flood);
	ktap_note("%ld s", (long)(time(NULL) - start));
	sum = sum_of_rows() - sum;
	ktap_note("%lu interrupts", sum);
	check_rows();
}

TEST("the last node's CPUs, or the last CPU, go and come while the others send")
{
	int first = nr_cpus - 1, cpu, i, bad = 0;
	char parameters[128];

	if (!times)
		SKIP("not asked for");
	while (nr_nodes > 1 && first > 1 && node_of[first - 1] == node_of[nr_cpus - 1])
		first--;
	snprintf(parameters, sizeof(parameters), "storm=%d %s", first, more);
	CHECK_EQ(load(parameters), 0);
	for (i = 0; i < times && !bad; i++) {
		for (cpu = first; cpu < nr_cpus; cpu++)
			bad += !set_online(cpu, 0);
		usleep(20000);
		for (cpu = first; cpu < nr_cpus; cpu++)
			bad += !set_online(cpu, 1);
		usleep(20000);
	}
	ktap_note("CPUs %d to %d offline and online %d times", first, nr_cpus - 1, i);
	CHECK(!syscall(__NR_delete_module, "ipitest", 0));
	check_none_lost();
	CHECK_EQ(bad, 0);
	check_rows();
}

#define EVENTS	"/sys/kernel/tracing/events/irq/"

static bool write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_TRUNC);
	bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return ok;
}

static int count_text(const char *text, const char *what)
{
	int n = 0;

	for (; (text = strstr(text, what)); text += strlen(what))
		n++;
	return n;
}

/* Handlers of IPIs on record, entry and exit, when @enable was written to their events */
static void traced(const char *enable, int *entries, int *exits)
{
	static char text[1 << 22];

	CHECK(write_text("/sys/kernel/tracing/trace", ""));
	CHECK(write_text(EVENTS "irq_handler_entry/enable", enable));
	CHECK(write_text(EVENTS "irq_handler_exit/enable", enable));
	all_to_all("rounds", 8);
	CHECK(write_text(EVENTS "irq_handler_entry/enable", "0"));
	CHECK(write_text(EVENTS "irq_handler_exit/enable", "0"));
	CHECK(read_text("/sys/kernel/tracing/trace", text, sizeof(text)) > 0);
	*entries = count_text(text, "name=IPI");
	*exits = count_text(text, "ret=handled");
}

TEST("tracepoints see the handler of an IPI while they are enabled")
{
	int entries, exits;

	if (access(EVENTS, F_OK))
		SKIP("a kernel without tracepoints");
	rows_now();
	traced("1", &entries, &exits);
	ktap_note("%d entries, %d exits", entries, exits);
	CHECK(entries > nr_cpus && exits >= entries - nr_cpus);
	traced("0", &entries, &exits);
	CHECK_EQ(entries + exits, 0);
	check_rows();
}

/* How IPIs end: flags=S is StoreEOI, H by hypercall. */
static void note_flags(void)
{
	char text[4096], *line;

	if (read_text("/sys/kernel/debug/powerpc/xive/ipis", text, sizeof(text)) < 0)
		return;
	line = strstr(text, "CPU 0:");
	if (line)
		ktap_note("%.*s", (int)strcspn(line, "\n"), line);
}

/* Within a minute */
static bool cpu_added(void)
{
	int was = nr_cpus, i;

	printf("# waits for a CPU, has %d\n", was);
	fflush(stdout);
	for (i = 0; i < 120 && nr_cpus == was; i++) {
		usleep(500000);
		read_nodes();
	}
	return nr_cpus > was;
}

int main(int argc, char **argv)
{
	int i;

	if (argc > 1)
		rounds = atoi(argv[1]);
	if (argc > 2)
		times = atoi(argv[2]);
	for (i = 3; i < argc; i++) {
		if (!strcmp(argv[i], "xive")) {
			strcat(more, "xive=1 ");
		} else if (!strncmp(argv[i], "lose=", 5) && strlen(argv[i]) < 20) {
			snprintf(more + strlen(more), 32, "%s ", argv[i]);
		} else if (!strcmp(argv[i], "add")) {
			add = true;
		} else if (sscanf(argv[i], "flood=%d", &flood) != 1) {
			printf("no argument is called so: %s\n", argv[i]);
			return 1;
		}
	}
	read_nodes();
	if (add && !cpu_added()) {
		printf("no CPU was added\n");
		return 1;
	}
	if (nr_cpus < 2)
		return 4;
	printf("# %d CPUs, %d nodes\n", nr_cpus, nr_nodes);
	note_flags();
	nr_before = read_rows(before, MAX);
	return ktap_main(1, argv);
}
