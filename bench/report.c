// SPDX-License-Identifier: GPL-2.0-only
/*
 * From the plugin's windows to figures.
 *
 *	report [options] A.raw A.sym [B.raw B.sym [C.raw C.sym]]
 *
 * A.raw is what count.so wrote, A.sym is "nm -n vmlinux". With a second kernel
 * everything is a comparison, A being the base. A third one is a peer, which stands
 * beside them in the tables, in JSON and in the picture.
 *
 *	(none)		one line per row: kernel instructions per operation
 *	-r ROW		one row, a number or a name: by symbol and by class
 *	-a		with -r: by instruction, every address that was executed
 *	-n LINES	with -r: symbols shown (default 25)
 *	-t		tab-separated, for scripts: row, name, A, spread [, B, spread [...]]
 *	-j		everything as JSON
 *	-s		an SVG picture: each row of B, and of C, in percent of A
 *	-P FILE		with -r: by part, a table of symbols (bench/idle-parts), and in row
 *			ipi_idle without CPUs that are idle and get no IPI. Only windows with one
 *			wake-up for an operation and no tick are used, if there are any, of these
 *			the median of the parts "arch" and "interrupt" together
 *	-m FILE		modelled cycles of each row, costs from FILE (bench/power-latency)
 *	-f PERCENT	exit 1 if a row of B is worse than A by more than that, or one of entry
 *			and exit is not below C; says so on stderr, and a summary at the end
 *
 * The figure of a row is one of its windows: with all of them sorted by cost, the
 * one a quarter from the cheapest. In most rows all windows are equal. In the others
 * (fork, execve, ping-pong) work falls in that is not the operation's own: slab and
 * page allocator refills, RCU callbacks. A window in which an asynchronous interrupt
 * came in (a timer tick) is left out; if a row has no other windows, they are used and
 * the figure is marked "~". The spread is the dearest window minus the cheapest one,
 * per operation. In the rows that measure timer interrupts, each is an operation. In
 * the rows of the module, code of modules does not count. An IPI makes two rows: what
 * CPU 0 did for it, the sender, and what all others did.
 */
#include <fnmatch.h>
#include <getopt.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "classes.h"

enum {
#define ROW_NUMBER(number, name, text)	ROW_##name = number,
	BENCH_ROWS(ROW_NUMBER)
};

#define MAX_ROW		64
#define MAX_CLASSES	256

struct symbol {
	uint64_t addr;
	char *name;
};

struct insn {
	uint64_t addr;
	uint32_t word;
	double count;			/* per operation, after finish() */
};

struct window {
	unsigned int ops;
	uint64_t kernel;
	uint64_t user;
	int interrupts;			/* asynchronous ones, by vector */
	int handlers;			/* or by handler, where there is none by vector */
	struct insn *insns;
	size_t nr_insns;
	double own;			/* with -P: what is_own(), per operation */
};

/* One row of one kernel: all its windows, then one of them per operation. */
struct row {
	struct window *windows;
	size_t nr_windows;
	size_t used;			/* the windows that are left */
	bool dirty;			/* no window without an interrupt */
	double kernel, user, spread;
	double own_min, own_max;
	struct insn *insns;		/* sorted by address */
	size_t nr_insns;
	double *by_symbol;		/* [kernel->nr_symbols + 1], last: no symbol */
	double by_class[MAX_CLASSES];
	double by_vector[4096];		/* exceptions, by vector >> 4 */
};

struct kernel {
	const char *file;
	struct symbol *symbols;
	size_t nr_symbols;
	uint64_t base;			/* where the kernel is linked */
	struct row rows[MAX_ROW];
};

static const struct {
	int number;
	const char *name;
	const char *text;
} names[] = {
#define ROW_NAME(number, name, text)	{ number, #name, text },
	BENCH_ROWS(ROW_NAME)
};

#define NR_NAMES	(sizeof(names) / sizeof(names[0]))

/* Lines of the table of parts, in its order */
static struct part {
	char name[16];
	char pattern[64];
} parts[256];

static int nr_parts;

static char *classes[MAX_CLASSES];
static int nr_classes;

static void die(const char *what, const char *which)
{
	fprintf(stderr, "report: %s: %s\n", which, what);
	exit(2);
}

static void *grow(void *array, size_t n, size_t size)
{
	/* To the next power of two, when n has reached one. */
	if (n & (n - 1))
		return array;
	array = realloc(array, (n ? 2 * n : 1) * size);
	if (!array)
		die("out of memory", "report");
	return array;
}

static int intern_class(const char *name)
{
	int i;

	for (i = 0; i < nr_classes; i++)
		if (!strcmp(classes[i], name))
			return i;
	if (nr_classes == MAX_CLASSES)
		die("too many classes", name);
	classes[nr_classes] = strdup(name);
	return nr_classes++;
}

static void read_parts(const char *file)
{
	FILE *f = fopen(file, "r");
	char line[256];

	if (!f)
		die("cannot be read", file);
	while (fgets(line, sizeof(line), f)) {
		if (line[0] == '#')
			continue;
		if (nr_parts == sizeof(parts) / sizeof(parts[0]) ||
		    sscanf(line, "%15s %63s", parts[nr_parts].name,
			   parts[nr_parts].pattern) != 2)
			die("has a line that is not: part pattern", file);
		nr_parts++;
	}
	fclose(f);
	if (!nr_parts)
		die("has no parts", file);
}

static const char *part_of(const char *symbol)
{
	for (int i = 0; i < nr_parts; i++)
		if (!fnmatch(parts[i].pattern, symbol, 0))
			return parts[i].name;
	return "rest";
}

static bool is_own(const char *part)
{
	return !strcmp(part, "arch") || !strcmp(part, "interrupt");
}

static int compare_symbols(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static void read_symbols(struct kernel *k, const char *file)
{
	FILE *f = fopen(file, "r");
	char line[1024], name[512], type;
	unsigned long long addr;

	if (!f)
		die("cannot be read", file);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%llx %c %511s", &addr, &type, name) != 3 ||
		    !strchr("tTwW", type))
			continue;
		if (!strcmp(name, "_stext") || !strcmp(name, "_text"))
			k->base = addr & ~0xfffffffull;
		/* The first name at an address stays: aliases come after it. */
		if (k->nr_symbols && k->symbols[k->nr_symbols - 1].addr == addr)
			continue;
		k->symbols = grow(k->symbols, k->nr_symbols, sizeof(*k->symbols));
		k->symbols[k->nr_symbols].addr = addr;
		k->symbols[k->nr_symbols++].name = strdup(name);
	}
	fclose(f);
	if (!k->nr_symbols || !k->base)
		die("has no kernel symbols (it should be: nm -n vmlinux)", file);
	qsort(k->symbols, k->nr_symbols, sizeof(*k->symbols), compare_symbols);
}

static const char *symbol_name(const struct kernel *k, size_t i)
{
	return i < k->nr_symbols ? k->symbols[i].name : "[module or unknown]";
}

static size_t find_symbol(const struct kernel *k, uint64_t addr)
{
	size_t lo = 0, hi = k->nr_symbols;

	if (addr < k->symbols[0].addr || addr > k->symbols[hi - 1].addr + 0x10000)
		return k->nr_symbols;
	while (hi - lo > 1) {
		size_t mid = (lo + hi) / 2;

		if (k->symbols[mid].addr <= addr)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

/*
 * The vector that starts at @addr, or 0. Not for Book3E. On 64-bit, with relocation on,
 * vectors are 0x4000 higher, and scv 0 arrives at 0x3000. On 32-bit, a handler goes on
 * where the next vector is not in use: those are not in the list.
 */
static unsigned int vector_at(const struct kernel *k, uint64_t addr)
{
	static const unsigned int vectors[] = {
		0x100, 0x200, 0x300, 0x400, 0x500, 0x600, 0x700, 0x800, 0x900, 0xc00,
		0xd00, 0x1000, 0x1100, 0x1200, 0x1300, 0x1400,
		/* 64-bit only */
		0x380, 0x480, 0x980, 0xa00, 0xb00, 0xe00, 0xe20, 0xe40, 0xe60, 0xe80,
		0xea0, 0xf00, 0xf20, 0xf40, 0xf60, 0xf80, 0x1500, 0x1600, 0x1700, 0x1800,
	};
	bool is_64 = k->base > UINT32_MAX;
	uint64_t offset = addr - k->base;

	if (is_64 && offset == 0x3000)
		return 0x3000;
	if (is_64 && offset >= 0x4000 && offset < 0x6000)
		offset -= 0x4000;
	for (size_t i = 0; i < (is_64 ? sizeof(vectors) / sizeof(vectors[0]) : 16); i++)
		if (vectors[i] == offset)
			return offset;
	return 0;
}

/*
 * Does an asynchronous interrupt come in at @addr, by its vector? IPIs do not count in
 * the rows that measure them.
 */
static bool is_interrupt(const struct kernel *k, uint64_t addr, bool ipi)
{
	static const unsigned int timer[] = { 0x900, 0x980 };
	static const unsigned int other[] = { 0x500, 0xa00, 0xe60, 0xe80, 0xea0, 0xf00 };
	unsigned int vector = vector_at(k, addr);
	size_t i;

	for (i = 0; i < sizeof(timer) / sizeof(timer[0]); i++)
		if (vector == timer[i])
			return true;
	for (i = 0; i < sizeof(other) / sizeof(other[0]); i++)
		if (vector == other[i])
			return !ipi;
	return false;
}

/* The same by its C handler, for Book3E, whose vectors are anywhere. */
static bool is_handler(const struct kernel *k, uint64_t addr, bool ipi)
{
	size_t i = find_symbol(k, addr);

	if (i == k->nr_symbols || k->symbols[i].addr != addr)
		return false;
	return !strcmp(k->symbols[i].name, "timer_interrupt") ||
	       (!ipi && !strcmp(k->symbols[i].name, "do_IRQ"));
}

static struct window *new_window(struct kernel *k, unsigned int number, unsigned int ops)
{
	struct row *row = &k->rows[number];
	struct window *w;

	row->windows = grow(row->windows, row->nr_windows, sizeof(*w));
	w = &row->windows[row->nr_windows++];
	memset(w, 0, sizeof(*w));
	w->ops = ops;
	return w;
}

static void add_insn(struct kernel *k, struct window *w, unsigned int number,
		     uint64_t addr, uint64_t count, uint32_t word)
{
	bool module = number >= ROW_timer_kernel && number <= ROW_ipi_self;
	bool ipi = (number >= ROW_ipi_busy && number <= ROW_ipi_self) ||
		   (number >= ROW_pingpong_threads && number <= ROW_pingpong_cores_cede);

	if (addr < BENCH_USER_START)		/* real mode */
		addr |= k->base;
	if (module && find_symbol(k, addr) == k->nr_symbols)
		return;
	w->kernel += count;
	if (is_interrupt(k, addr, ipi))
		w->interrupts += count;
	else if (is_handler(k, addr, ipi))
		w->handlers += count;
	w->insns = grow(w->insns, w->nr_insns, sizeof(*w->insns));
	w->insns[w->nr_insns].addr = addr;
	w->insns[w->nr_insns].word = word;
	w->insns[w->nr_insns++].count = count;
}

static void read_windows(struct kernel *k, const char *file)
{
	FILE *f = fopen(file, "r");
	struct window *w = NULL, *sender = NULL;
	unsigned int number, ops, word;
	unsigned long long addr, count;
	char line[128];
	int cpu, last = 0;

	if (!f)
		die("cannot be read", file);
	k->file = file;
	/* By part: of the one CPU that the IPI goes to, the last. */
	while (nr_parts && fgets(line, sizeof(line), f))
		if (sscanf(line, "%d %llx", &cpu, &addr) == 2 && cpu > last)
			last = cpu;
	rewind(f);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "window %u %u", &number, &ops) == 2) {
			if (number >= ROW_send_busy || !ops)
				die("has a window that makes no sense", file);
			w = sender = new_window(k, number, ops);
			if (number >= ROW_ipi_busy && number <= ROW_ipi_lock)
				sender = new_window(k, number + BENCH_SENDER, ops);
		} else if (w && sscanf(line, "%d user %llu", &cpu, &count) == 2) {
			(cpu ? w : sender)->user += count;
		} else if (w && sscanf(line, "%d %llx %llu %x", &cpu, &addr, &count,
				       &word) == 4) {
			if (nr_parts && number == ROW_ipi_idle && cpu && cpu != last)
				continue;
			add_insn(k, cpu ? w : sender, number, addr, count, word);
		} else if (!strcmp(line, "end\n")) {
			w = NULL;
		} else {
			die("is not what the plugin writes", file);
		}
	}
	fclose(f);
}

static int compare_insns(const void *a, const void *b)
{
	const struct insn *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static double per_op(const struct window *w)
{
	return (double)w->kernel / w->ops;
}

static int compare_windows(const void *a, const void *b)
{
	double x = per_op(a), y = per_op(b);

	return x < y ? -1 : x > y;
}

/* How often an exception of the kind that wakes a CPU came in during @w */
static double wakeups(const struct kernel *k, const struct window *w)
{
	double sum = 0;

	for (size_t i = 0; i < w->nr_insns; i++) {
		switch (vector_at(k, w->insns[i].addr)) {
		case 0x100: case 0x500: case 0x900: case 0x980: case 0xa00: case 0xe80: case 0xea0:
			sum += w->insns[i].count;
		}
	}
	return sum;
}

/* Did the timer interrupt's handler run in @w, even if it did not wake the CPU up? */
static bool has_tick(const struct kernel *k, const struct window *w)
{
	for (size_t i = 0; i < w->nr_insns; i++) {
		const char *name = symbol_name(k, find_symbol(k, w->insns[i].addr));

		if (!strncmp(name, "timer_interrupt", 15) || !strcmp(name, "timer_replay"))
			return true;
	}
	return false;
}

/* What an architecture has a say in, per operation */
static double own_of(const struct kernel *k, const struct window *w)
{
	double sum = 0;

	for (size_t i = 0; i < w->nr_insns; i++)
		if (is_own(part_of(symbol_name(k, find_symbol(k, w->insns[i].addr)))))
			sum += w->insns[i].count;
	return sum / w->ops;
}

static int compare_own(const void *a, const void *b)
{
	const struct window *x = a, *y = b;

	return x->own < y->own ? -1 : x->own > y->own;
}

/* From all windows of a row to its figures. */
static void finish(struct kernel *k, struct row *row, bool timer)
{
	struct window *w = row->windows, *best;

	row->dirty = !timer;
	for (size_t i = 0; i < row->nr_windows; i++) {
		if (!w[i].interrupts)
			w[i].interrupts = w[i].handlers;
		if (timer)
			w[i].ops = w[i].interrupts;
		else if (!w[i].interrupts)
			row->dirty = false;
	}
	for (size_t i = 0; i < row->nr_windows; i++)
		if (w[i].ops && (timer || !w[i].interrupts || row->dirty))
			w[row->used++] = w[i];
	if (!row->used)
		die("no timer interrupt came in", k->file);
	if (nr_parts) {
		size_t n = 0;

		for (size_t i = 0; i < row->used; i++)
			if (wakeups(k, &w[i]) == w[i].ops && !has_tick(k, &w[i]))
				w[n++] = w[i];
		if (n)
			row->used = n;
	}
	qsort(w, row->used, sizeof(*w), compare_windows);
	row->spread = per_op(&w[row->used - 1]) - per_op(w);
	best = &w[row->used / 4];
	if (nr_parts) {
		for (size_t i = 0; i < row->used; i++)
			w[i].own = own_of(k, &w[i]);
		qsort(w, row->used, sizeof(*w), compare_own);
		row->own_min = w[0].own;
		row->own_max = w[row->used - 1].own;
		best = &w[row->used / 2];
	}
	row->kernel = per_op(best);
	row->user = (double)best->user / best->ops;

	row->insns = best->insns;
	row->nr_insns = best->nr_insns;
	qsort(row->insns, row->nr_insns, sizeof(*row->insns), compare_insns);
	row->by_symbol = calloc(k->nr_symbols + 1, sizeof(double));
	if (!row->by_symbol)
		die("out of memory", "report");
	for (size_t i = 0; i < row->nr_insns; i++) {
		struct insn *insn = &row->insns[i];
		unsigned int vector = vector_at(k, insn->addr);
		char buf[32];

		insn->count /= best->ops;
		row->by_symbol[find_symbol(k, insn->addr)] += insn->count;
		row->by_class[intern_class(class_of(insn->word, buf))] += insn->count;
		if (vector)
			row->by_vector[vector >> 4] += insn->count;
	}
}

static void read_kernel(struct kernel *k, const char *raw, const char *sym)
{
	bool any = false;

	read_symbols(k, sym);
	read_windows(k, raw);
	for (int i = 0; i < MAX_ROW; i++) {
		if (k->rows[i].nr_windows) {
			finish(k, &k->rows[i], i == ROW_timer_user || i == ROW_timer_kernel);
			any = true;
		}
	}
	if (!any)
		die("has no complete window: did the guest run the workload?", raw);
}

static const char *row_text(int number, bool text)
{
	for (size_t i = 0; i < NR_NAMES; i++)
		if (names[i].number == number)
			return text ? names[i].text : names[i].name;
	return "?";
}

static int row_number(const char *arg)
{
	for (size_t i = 0; i < NR_NAMES; i++)
		if (!strcmp(names[i].name, arg))
			return names[i].number;
	return atoi(arg);
}

static double percent(double a, double b)
{
	return a ? (b - a) / a * 100 : 0;
}

static void print_change(double a, double b)
{
	double p = percent(a, b);

	if (fabs(p) < 0.005)
		printf("  same");
	else if (p < 0)
		printf("%6.2f %% fewer: better", -p);
	else
		printf("%6.2f %% more: WORSE", p);
}

static void print_count(const struct row *row)
{
	printf(" %c%11.1f", row->dirty ? '~' : ' ', row->kernel);
}

static void print_verdict(const struct row *x, const struct row *y)
{
	printf("  ");
	if (x->dirty || y->dirty)
		printf("  no verdict: ticks  ");
	else if (fabs(percent(x->kernel, y->kernel)) < 0.05 &&
		 fabs(y->kernel - x->kernel) < fmax(x->spread, y->spread) / 50)
		printf("  same, within 1/50 of the spread");
	else
		print_change(x->kernel, y->kernel);
}

/* In each of the kernels that there are? */
static bool in_all(struct kernel **kernels, int n, int number)
{
	for (int k = 0; k < n; k++)
		if (!kernels[k]->rows[number].nr_windows)
			return false;
	return true;
}

static void print_tabs(struct kernel **kernels, int n)
{
	for (int i = 0; i < MAX_ROW; i++) {
		if (!in_all(kernels, n, i))
			continue;
		printf("%d\t%s", i, row_text(i, false));
		for (int k = 0; k < n; k++)
			printf("\t%.3f\t%.3f", kernels[k]->rows[i].kernel,
			       kernels[k]->rows[i].spread);
		printf("\n");
	}
}

static void print_rows(struct kernel **kernels, int n)
{
	printf("Kernel instructions per operation (~: a timer tick is in it)\n");
	printf("row  %-34s %12s", "figure", n > 1 ? "base" : "count");
	if (n > 1)
		printf(" %12s  %-22s", "series", "change");
	if (n > 2)
		printf(" %12s  %-22s", "peer", "series against peer");
	printf(n == 1 ? "  spread\n" : n == 2 ? " spread base, series\n" :
	       " spread base, series, peer\n");
	for (int i = 0; i < MAX_ROW; i++) {
		if (!in_all(kernels, n, i))
			continue;
		printf("%3d  %-34s", i, row_text(i, true));
		for (int k = 0; k < n; k++) {
			print_count(&kernels[k]->rows[i]);
			if (k == 1)
				print_verdict(&kernels[0]->rows[i], &kernels[1]->rows[i]);
			else if (k == 2)
				print_verdict(&kernels[2]->rows[i], &kernels[1]->rows[i]);
		}
		printf(n > 1 ? "\t" : "  ");
		for (int k = 0; k < n; k++)
			printf("%s%.1f", k ? ", " : "", kernels[k]->rows[i].spread);
		printf("\n");
	}
}

/* A line of a breakdown: a name, and its count in one kernel or both. */
struct line {
	const char *name;
	double a, b;
};

static bool compare_kernels;

static int compare_lines(const void *p, const void *q)
{
	const struct line *x = p, *y = q;
	double dx = compare_kernels ? fabs(x->b - x->a) : x->a;
	double dy = compare_kernels ? fabs(y->b - y->a) : y->a;

	if (dx == dy)
		return x->a + x->b < y->a + y->b ? 1 : -1;
	return dx < dy ? 1 : -1;
}

static void print_lines(const char *title, struct line *lines, size_t n, size_t max)
{
	double total_a = 0, total_b = 0, biggest = 0;

	qsort(lines, n, sizeof(*lines), compare_lines);
	for (size_t i = 0; i < n; i++) {
		double size = compare_kernels ? fabs(lines[i].b - lines[i].a) : lines[i].a;

		total_a += lines[i].a;
		total_b += lines[i].b;
		biggest = fmax(biggest, size);
	}
	if (compare_kernels)
		printf("\n%10s %10s %10s  %s\n", "base", "series", "change", title);
	else
		printf("\n%10s  %s\n", "count", title);
	for (size_t i = 0; i < n && i < max; i++) {
		double size = lines[i].a;

		if (compare_kernels) {
			size = lines[i].b - lines[i].a;
			printf("%10.2f %10.2f %+10.2f  ", lines[i].a, lines[i].b, size);
		} else {
			printf("%10.2f  ", lines[i].a);
		}
		printf("%-36s ", lines[i].name);
		for (int bar = 0; biggest && bar < fabs(size) / biggest * 30; bar++)
			putchar(size < 0 ? '-' : compare_kernels ? '+' : '#');
		putchar('\n');
	}
	if (n > max)
		printf("%*s  ... and %zu more\n", compare_kernels ? 32 : 10, "", n - max);
	if (compare_kernels)
		printf("%10.2f %10.2f %+10.2f  total\n", total_a, total_b, total_b - total_a);
	else
		printf("%10.2f  total\n", total_a);
}

static void add_line(struct line **lines, size_t *n, const char *name,
		     double count, bool second)
{
	struct line *l = *lines;
	size_t i;

	if (!count)
		return;
	/* Static functions may share a name: their counts go together. */
	for (i = 0; i < *n; i++)
		if (!strcmp(l[i].name, name))
			break;
	if (i == *n) {
		*lines = l = grow(l, *n, sizeof(*l));
		l[i] = (struct line){ .name = name };
		(*n)++;
	}
	if (second)
		l[i].b += count;
	else
		l[i].a += count;
}

static size_t symbol_lines(struct kernel *a, struct kernel *b, int number,
			   struct line **lines)
{
	size_t n = 0;

	for (int second = 0; second < (b ? 2 : 1); second++) {
		struct kernel *k = second ? b : a;

		for (size_t i = 0; i <= k->nr_symbols; i++)
			add_line(lines, &n, symbol_name(k, i),
				 k->rows[number].by_symbol[i], second);
	}
	return n;
}

static size_t class_lines(struct kernel *a, struct kernel *b, int number,
			  struct line **lines)
{
	size_t n = 0;

	for (int second = 0; second < (b ? 2 : 1); second++)
		for (int i = 0; i < nr_classes; i++)
			add_line(lines, &n, classes[i],
				 (second ? b : a)->rows[number].by_class[i], second);
	return n;
}

static size_t vector_lines(struct kernel *a, struct kernel *b, int number,
			   struct line **lines)
{
	static char text[4096][8];
	size_t n = 0;

	for (int second = 0; second < (b ? 2 : 1); second++) {
		for (int i = 0; i < 4096; i++) {
			snprintf(text[i], sizeof(text[i]), "0x%x", i << 4);
			add_line(lines, &n, text[i],
				 (second ? b : a)->rows[number].by_vector[i], second);
		}
	}
	return n;
}

/* A row by part, and what an architecture has a say in */
static void print_parts(struct kernel *a, struct kernel *b, int number)
{
	struct line *lines = NULL, own = { 0 };
	size_t n = 0;

	for (int second = 0; second < (b ? 2 : 1); second++) {
		struct kernel *k = second ? b : a;

		for (size_t i = 0; i <= k->nr_symbols; i++)
			add_line(&lines, &n, part_of(symbol_name(k, i)),
				 k->rows[number].by_symbol[i], second);
	}
	for (size_t i = 0; i < n; i++) {
		if (!is_own(lines[i].name))
			continue;
		own.a += lines[i].a;
		own.b += lines[i].b;
	}
	compare_kernels = b;
	printf("Row %d: %s, by part\n", number, row_text(number, true));
	print_lines("part", lines, n, n);
	if (b) {
		printf("%10.2f %10.2f %+10.2f  arch and interrupt: ", own.a, own.b,
		       own.b - own.a);
		print_change(own.a, own.b);
		printf("\n");
	}
	for (int second = 0; second < (b ? 2 : 1); second++) {
		struct row *row = &(second ? b : a)->rows[number];

		printf("%s: median of %zu of %zu windows, from %.2f to %.2f\n",
		       second ? "series" : b ? "base" : "arch and interrupt", row->used,
		       row->nr_windows, row->own_min, row->own_max);
	}
}

static void print_row(struct kernel *a, struct kernel *b, int number, size_t max)
{
	struct row *x = &a->rows[number];
	struct line *lines = NULL;
	size_t n;

	compare_kernels = b;
	printf("Row %d: %s: %.2f kernel instructions per operation", number,
	       row_text(number, true), x->kernel);
	if (b) {
		printf(", %.2f in the series: ", b->rows[number].kernel);
		print_change(x->kernel, b->rows[number].kernel);
	}
	printf("\n");
	n = symbol_lines(a, b, number, &lines);
	print_lines("by symbol", lines, n, max);
	free(lines);
	lines = NULL;
	n = class_lines(a, b, number, &lines);
	print_lines("by class", lines, n, n);
	free(lines);
	lines = NULL;
	n = vector_lines(a, b, number, &lines);
	print_lines("exceptions by vector", lines, n, n);
	free(lines);
}

static void print_insns(struct kernel *k, int number)
{
	struct row *row = &k->rows[number];

	for (size_t i = 0; i < row->nr_insns; i++) {
		size_t s = find_symbol(k, row->insns[i].addr);
		char buf[32];

		printf("%10.3f %llx %08x %-14s %s", row->insns[i].count,
		       (unsigned long long)row->insns[i].addr, row->insns[i].word,
		       class_of(row->insns[i].word, buf), symbol_name(k, s));
		if (s < k->nr_symbols)
			printf("+0x%llx", (unsigned long long)
			       (row->insns[i].addr - k->symbols[s].addr));
		printf("\n");
	}
}

static void json_lines(const char *name, struct line *lines, size_t n)
{
	printf(",\n    \"%s\": {", name);
	for (size_t i = 0; i < n; i++) {
		printf("%s\n      \"%s\": ", i ? "," : "", lines[i].name);
		if (compare_kernels)
			printf("[%.3f, %.3f]", lines[i].a, lines[i].b);
		else
			printf("%.3f", lines[i].a);
	}
	printf("\n    }");
}

static void print_json(struct kernel *a, struct kernel *b, struct kernel *c)
{
	bool first = true;

	compare_kernels = b;
	printf("[");
	for (int i = 0; i < MAX_ROW; i++) {
		struct row *x = &a->rows[i], *y = b ? &b->rows[i] : NULL;
		struct line *lines = NULL;
		size_t n;

		if (!x->nr_windows || (y && !y->nr_windows))
			continue;
		printf("%s\n  {\n    \"row\": %d, \"name\": \"%s\", \"text\": \"%s\",\n",
		       first ? "" : ",", i, row_text(i, false), row_text(i, true));
		first = false;
		printf("    \"kernel\": %.3f, \"user\": %.3f, \"spread\": %.3f, "
		       "\"windows\": %zu, \"tick\": %s", x->kernel, x->user, x->spread,
		       x->used, x->dirty ? "true" : "false");
		if (y)
			printf(",\n    \"series_kernel\": %.3f, \"series_user\": %.3f, "
			       "\"series_spread\": %.3f, \"series_windows\": %zu, "
			       "\"series_tick\": %s, \"change_percent\": %.3f",
			       y->kernel, y->user, y->spread, y->used,
			       y->dirty ? "true" : "false",
			       percent(x->kernel, y->kernel));
		if (c && c->rows[i].nr_windows)
			printf(",\n    \"peer_kernel\": %.3f, \"peer_spread\": %.3f, "
			       "\"peer_tick\": %s", c->rows[i].kernel, c->rows[i].spread,
			       c->rows[i].dirty ? "true" : "false");
		n = symbol_lines(a, b, i, &lines);
		json_lines("symbols", lines, n);
		free(lines);
		lines = NULL;
		n = class_lines(a, b, i, &lines);
		json_lines("classes", lines, n);
		free(lines);
		lines = NULL;
		n = vector_lines(a, b, i, &lines);
		json_lines("vectors", lines, n);
		free(lines);
		printf("\n  }");
	}
	printf("\n]\n");
}

/* One line of bench/power-latency. */
static struct cost {
	char name[32];
	double cycles[2];		/* POWER9, POWER10 */
	bool assumed;
} costs[MAX_CLASSES];
static int nr_costs;

static void read_costs(const char *file)
{
	FILE *f = fopen(file, "r");
	char line[256], source[128];

	if (!f)
		die("cannot be read", file);
	while (fgets(line, sizeof(line), f)) {
		struct cost *c = &costs[nr_costs];

		if (line[0] == '#')
			continue;
		if (nr_costs == MAX_CLASSES ||
		    sscanf(line, "%31[^|]| %lf | %lf | %127[^\n]", c->name, &c->cycles[0],
			   &c->cycles[1], source) != 4)
			die("has a line that is not: class | cycles | cycles | source", file);
		for (char *end = c->name + strlen(c->name); end > c->name && end[-1] == ' ';)
			*--end = 0;
		c->assumed = !strncmp(source, "assumed", 7);
		nr_costs++;
	}
	fclose(f);
}

static const struct cost *find_cost(const char *class)
{
	size_t first = strcspn(class, " ");

	for (int i = 0; i < nr_costs; i++)
		if (!strcmp(costs[i].name, class))
			return &costs[i];
	for (int i = 0; i < nr_costs; i++)
		if (strlen(costs[i].name) == first && !strncmp(costs[i].name, class, first))
			return &costs[i];
	die("has no cost", class);
	return NULL;
}

static double cycles(const struct row *row, int cpu, double factor)
{
	double sum = 0;

	for (int i = 0; i < nr_classes; i++) {
		const struct cost *c = find_cost(classes[i]);

		sum += row->by_class[i] * c->cycles[cpu] * (c->assumed ? factor : 1);
	}
	return sum;
}

static void print_cycles(struct kernel *a, struct kernel *b)
{
	static const double factors[] = { 1, 0.5, 2 };

	printf("Modelled cycles per operation: a model, no measurement. \"x 0.5\", \"x 2\":\n"
	       "what is assumed and not published at half and at twice its value.\n");
	printf("row  %-34s CPU      assumed %12s", "figure", b ? "base" : "cycles");
	printf(b ? " %12s  change\n" : "\n", "series");
	for (int i = 0; i < MAX_ROW; i++) {
		if (!a->rows[i].nr_windows || (b && !b->rows[i].nr_windows))
			continue;
		for (int line = 0; line < 6; line++) {
			double x = cycles(&a->rows[i], line / 3, factors[line % 3]), y;

			printf("%3d  %-34s %-8s x %-5g %12.0f", i, row_text(i, true),
			       line / 3 ? "POWER10" : "POWER9", factors[line % 3], x);
			if (b) {
				y = cycles(&b->rows[i], line / 3, factors[line % 3]);
				printf(" %12.0f  ", y);
				print_change(x, y);
			}
			printf("\n");
		}
	}
}

/* Two bars of a row, B and C, in percent of A, with A's 100 % as a line. */
static void print_svg(struct kernel **kernels, int n)
{
	const int left = 270, scale = 4, bar = 15, limit = 130;
	static const char *const colors[] = { "", "#2b6cb0", "#a0a0a0" };
	int rows = 0, y = 62, height;

	for (int i = 0; i < MAX_ROW; i++)
		rows += in_all(kernels, n, i);
	height = y + rows * (bar * (n - 1) + 8) + 6;
	printf("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
	       "font-family=\"sans-serif\" font-size=\"12\">\n"
	       "<!-- SPDX-License-Identifier: GPL-2.0-only -->\n"
	       "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
	       "<text x=\"%d\" y=\"20\" font-size=\"14\">Kernel instructions per operation, "
	       "base = 100 %%: shorter is better</text>\n", left + limit * scale + 120, height,
	       left);
	for (int k = 1; k < n; k++)
		printf("<rect x=\"%d\" y=\"30\" width=\"12\" height=\"12\" fill=\"%s\"/>"
		       "<text x=\"%d\" y=\"41\">%s</text>\n", left + (k - 1) * 90, colors[k],
		       left + (k - 1) * 90 + 18, k == 1 ? "series" : "peer");
	for (int i = 0; i < MAX_ROW; i++) {
		double base;

		if (!in_all(kernels, n, i))
			continue;
		base = kernels[0]->rows[i].kernel;
		printf("<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n", left - 8,
		       y + bar * (n - 1) / 2 + 4, row_text(i, true));
		for (int k = 1; k < n; k++, y += bar) {
			double value = kernels[k]->rows[i].kernel;
			double share = fmin(value / base * 100, limit);

			printf("<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>"
			       "<text x=\"%.1f\" y=\"%d\">%.0f", left, y, share * scale, bar - 1,
			       k == 1 && value > base ? "#c0392b" : colors[k],
			       left + share * scale + 5, y + 11, value);
			if (k == 1)
				printf(" of %.0f", base);
			printf("</text>\n");
		}
		y += 8;
	}
	printf("<line x1=\"%d\" y1=\"52\" x2=\"%d\" y2=\"%d\" stroke=\"black\" "
	       "stroke-dasharray=\"4 3\"/>\n</svg>\n", left + 100 * scale,
	       left + 100 * scale, height - 6);
}

/*
 * Rows that are entry, exit and little else. The peer has to be beaten in these: the
 * others depend on what generic code a later kernel has.
 */
static bool is_entry(int number)
{
	return (number >= ROW_sc_getppid && number <= ROW_sc_getpgid) ||
	       (number >= ROW_minor_fault && number <= ROW_timer_kernel) ||
	       number == ROW_sc_seccomp || number == ROW_sc_audit;
}

static int check_worse(struct kernel *a, struct kernel *b, struct kernel *c, double limit)
{
	int rows = 0, worse = 0, no_verdict = 0, missing = 0, not_below = 0, worst = 0;
	double p, worst_p = 0;

	for (int i = 0; i < MAX_ROW; i++) {
		struct row *x = &a->rows[i], *y = &b->rows[i], *z = c ? &c->rows[i] : NULL;

		if (!x->nr_windows)
			continue;
		rows++;
		if (!y->nr_windows) {
			fprintf(stderr, "report: row %d (%s) is missing in %s\n", i,
				row_text(i, false), b->file);
			missing++;
			continue;
		}
		if (z && is_entry(i) && z->nr_windows && !y->dirty && !z->dirty &&
		    y->kernel >= z->kernel) {
			fprintf(stderr, "report: row %d (%s) is not below the peer\n", i,
				row_text(i, false));
			not_below++;
		}
		if (x->dirty || y->dirty) {
			fprintf(stderr, "report: row %d (%s) has a tick in each window: no verdict\n",
				i, row_text(i, false));
			no_verdict++;
			continue;
		}
		p = percent(x->kernel, y->kernel);
		if (!worst || p > worst_p) {
			worst = i;
			worst_p = p;
		}
		if (p > limit) {
			fprintf(stderr, "report: row %d (%s) is worse by more than %g %%\n",
				i, row_text(i, false), limit);
			worse++;
		}
	}
	fprintf(stderr, "report: %d rows: %d worse by more than %g %%, %d missing, "
		"%d without a verdict", rows, worse, limit, missing, no_verdict);
	if (c)
		fprintf(stderr, ", %d not below the peer", not_below);
	if (worst)
		fprintf(stderr, "; worst: %s, %+.2f %%", row_text(worst, false), worst_p);
	fprintf(stderr, "\n");
	return worse || missing || not_below;
}

static void usage(FILE *f)
{
	fprintf(f, "usage: report [-r ROW [-a | -P FILE] [-n LINES]] [-t | -j | -s | -m FILE] [-f PERCENT]\n"
		"              A.raw A.sym [B.raw B.sym [C.raw C.sym]]\n");
}

int main(int argc, char **argv)
{
	static struct kernel a, b, c;
	struct kernel *kernels[] = { &a, &b, &c }, *second, *third;
	bool tabs = false, json = false, svg = false, insns = false;
	double limit = -1;
	size_t max = 25;
	int row = 0, opt, n;

	while ((opt = getopt(argc, argv, "r:aP:n:tjsm:f:h")) != -1) {
		switch (opt) {
		case 'r':	row = row_number(optarg);	break;
		case 'a':	insns = true;			break;
		case 'P':	read_parts(optarg);		break;
		case 'n':	max = atoi(optarg);		break;
		case 't':	tabs = true;			break;
		case 'j':	json = true;			break;
		case 's':	svg = true;			break;
		case 'm':	read_costs(optarg);		break;
		case 'f':	limit = atof(optarg);		break;
		case 'h':	usage(stdout);			return 0;
		default:	usage(stderr);			return 2;
		}
	}
	n = (argc - optind) / 2;
	if (n < 1 || n > 3 || argc - optind != 2 * n) {
		usage(stderr);
		return 2;
	}
	for (int k = 0; k < n; k++)
		read_kernel(kernels[k], argv[optind + 2 * k], argv[optind + 2 * k + 1]);
	second = n > 1 ? &b : NULL;
	third = n > 2 ? &c : NULL;
	if (row < 0 || row >= MAX_ROW ||
	    (row && (!a.rows[row].nr_windows ||
		     (second && !b.rows[row].nr_windows))))
		die("no such row was measured", row_text(row, false));

	if (json)
		print_json(&a, second, third);
	else if (nr_costs)
		print_cycles(&a, second);
	else if (svg && second)
		print_svg(kernels, n);
	else if (row && nr_parts)
		print_parts(&a, second, row);
	else if (row && insns)
		print_insns(second ? second : &a, row);
	else if (row)
		print_row(&a, second, row, max);
	else if (tabs)
		print_tabs(kernels, n);
	else
		print_rows(kernels, n);
	return second && limit >= 0 ? check_worse(&a, second, third, limit) : 0;
}
