// SPDX-License-Identifier: GPL-2.0-only
/*
 * TCG plugin: which cache lines move between CPUs, and between nodes?
 *
 *	qemu-system-ppc64 ... -plugin build/bench/lines.so,out=FILE,node=CPUS
 *	out=FILE	where the windows are written
 *	node=CPUS	that many CPUs, in the order of their numbers, are a node
 *	nodes=N		instead, CPU i is on node i mod N
 *	endian=be	the guest kernel is big-endian
 *
 * A model, with caches that never forget: a line of 128 bytes is held by a set of CPUs.
 * A write takes it from all others; a read adds the reader. What the kernel does to its
 * own memory is followed from the first instruction on, and counted between the
 * markers of bench.h. Two things cost a message to another CPU:
 *
 *	move	a CPU accesses a line that it does not hold and another does
 *	take	a CPU writes to a line that it holds, but not alone
 *
 * Either is also counted as one between nodes: a move if nobody on its own node holds
 * the line, a take if somebody on another node does. Lines that no CPU has touched yet
 * come from memory, and are no messages. Output, a window at a time:
 *
 *	window ROW OPS
 *	LINE-ADDRESS CODE-ADDRESS MOVES NODE-MOVES TAKES NODE-TAKES
 *	end
 */
#include <stdlib.h>

#include "window.h"

#define KERNEL		0xc000000000000000ull
#define IO_START	0xc00a000000000000ull	/* ioremap(): devices, no memory */
#define IO_END		0xc00c000000000000ull
#define LINE		128
#define HASH		(1 << 20)
#define MAX_CPUS	64

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

struct line {
	struct line *next;
	uint64_t addr;
	uint64_t holders;			/* a bit a CPU */
};

/* What one instruction did to one line in this window. */
struct event {
	struct event *next;
	uint64_t line, code;
	uint64_t moves, node_moves, takes, node_takes;
};

static struct line *lines[HASH];
static struct event *events[HASH];
static unsigned int cpus_per_node = MAX_CPUS;
static unsigned int nr_nodes;			/* by turns; 0: not */

static void *new(size_t size)
{
	void *p = calloc(1, size);

	if (!p) {
		fprintf(stderr, "lines.so: out of memory\n");
		exit(1);
	}
	return p;
}

static struct line *find_line(uint64_t addr)
{
	struct line **head = &lines[addr / LINE % HASH], *l;

	for (l = *head; l; l = l->next)
		if (l->addr == addr)
			return l;
	l = new(sizeof(*l));
	l->addr = addr;
	l->next = *head;
	*head = l;
	return l;
}

static struct event *find_event(uint64_t line, uint64_t code)
{
	struct event **head = &events[(line / LINE ^ code / 4) % HASH], *e;

	for (e = *head; e; e = e->next)
		if (e->line == line && e->code == code)
			return e;
	e = new(sizeof(*e));
	e->line = line;
	e->code = code;
	e->next = *head;
	*head = e;
	return e;
}

static uint64_t node_of(unsigned int cpu)
{
	unsigned int first = cpu / cpus_per_node * cpus_per_node;
	uint64_t node = 0;

	for (unsigned int i = cpu % (nr_nodes ?: 1); nr_nodes && i < MAX_CPUS; i += nr_nodes)
		node |= 1ull << i;
	if (nr_nodes)
		return node;
	if (cpus_per_node >= 64)
		return ~0ull;
	return ((1ull << cpus_per_node) - 1) << first;
}

static void access_memory(unsigned int cpu, qemu_plugin_meminfo_t info,
			  uint64_t addr, void *udata)
{
	uint64_t me = 1ull << cpu, node = node_of(cpu), code = (uintptr_t)udata;
	bool store = qemu_plugin_mem_is_store(info);
	struct line *l;

	if (addr < KERNEL) {
		/* Real mode, or memory of a user. */
		if (code >= KERNEL)
			return;
		addr |= KERNEL;
	}
	if (addr >= IO_START && addr < IO_END)
		return;
	pthread_mutex_lock(&lock);
	l = find_line(addr & ~(LINE - 1ull));
	if (counting && l->holders && !(l->holders & me)) {
		struct event *e = find_event(l->addr, code);

		e->moves++;
		e->node_moves += !(l->holders & node);
	} else if (counting && store && l->holders & ~me) {
		struct event *e = find_event(l->addr, code);

		e->takes++;
		e->node_takes += !!(l->holders & ~node);
	}
	l->holders = store ? me : l->holders | me;
	pthread_mutex_unlock(&lock);
}

static void window_clear(void)
{
	for (int i = 0; i < HASH; i++) {
		for (struct event *e = events[i], *next; e; e = next) {
			next = e->next;
			free(e);
		}
		events[i] = NULL;
	}
}

static void window_write(void)
{
	for (int i = 0; i < HASH; i++)
		for (struct event *e = events[i]; e; e = e->next)
			fprintf(out, "%016llx %016llx %llu %llu %llu %llu\n",
				(unsigned long long)e->line, (unsigned long long)e->code,
				(unsigned long long)e->moves,
				(unsigned long long)e->node_moves,
				(unsigned long long)e->takes,
				(unsigned long long)e->node_takes);
}

static void translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb);

	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint64_t addr = qemu_plugin_insn_vaddr(insn);

		watch_marker(insn, insn_word(qemu_plugin_insn_data(insn)));
		if (addr >= KERNEL || addr < BENCH_USER_START)
			qemu_plugin_register_vcpu_mem_cb(insn, access_memory,
				QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW,
				(void *)(uintptr_t)addr);
	}
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info,
			int argc, char **argv)
{
	for (int i = 0; i < argc; i++) {
		if (window_argument(argv[i])) {
			continue;
		} else if (!strncmp(argv[i], "node=", 5) && atoi(argv[i] + 5) > 0) {
			cpus_per_node = atoi(argv[i] + 5);
		} else if (!strncmp(argv[i], "nodes=", 6) && atoi(argv[i] + 6) > 0) {
			nr_nodes = atoi(argv[i] + 6);
		} else {
			fprintf(stderr, "lines.so: unknown argument %s\n", argv[i]);
			return -1;
		}
	}
	if (!out || info->system.max_vcpus > MAX_CPUS) {
		fprintf(stderr, "lines.so: out=FILE is needed, and at most %d CPUs\n", MAX_CPUS);
		return -1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
	return 0;
}
