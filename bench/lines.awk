# SPDX-License-Identifier: GPL-2.0-only
# Windows of lines.so -> which data makes CPUs talk to each other.
#
#	awk -f bench/lines.awk SYMBOLS WINDOWS		SYMBOLS: nm -n vmlinux
#
# Of each row it shows the window a quarter from the cheapest, as report.c does.
# Addresses are compared as strings: 16 hexadecimal digits each.

function symbol(addr, heap,    lo, hi, mid) {
	lo = 1
	hi = nr_symbols
	if (addr "" < at[1] "" || addr "" >= at[hi] "") return heap
	while (hi - lo > 1) {
		mid = int((lo + hi) / 2)
		if (at[mid] "" <= addr "") lo = mid; else hi = mid
	}
	return symbol_name[lo]
}

NR == FNR {
	if (NF == 3 && $2 ~ /^[bBdDrRtTwW]$/) {
		at[++nr_symbols] = $1
		symbol_name[nr_symbols] = $3
	}
	next
}
$1 == "window" {
	w++
	row[w] = $2
	ops[w] = $3
	next
}
$1 == "end" { next }
{
	total[w] += $3 + $5
	event[w, ++n[w]] = $0
}
END {
	if (!w) {
		print "lines.awk: no window" > "/dev/stderr"
		exit 1
	}
	# Windows by row, the cheap ones first: sorted[row, 1], sorted[row, 2]...
	for (i = 1; i <= w; i++) {
		r = row[i]
		if (!(r in windows)) order[++rows] = r
		for (k = ++windows[r]; k > 1 && total[sorted[r, k - 1]] > total[i]; k--)
			sorted[r, k] = sorted[r, k - 1]
		sorted[r, k] = i
	}
	for (i = 1; i <= rows; i++)
		show(sorted[order[i], int((windows[order[i]] - 1) / 4) + 1])
}

function show(w,    k, f, key, sum, m, i, j, t, keys) {
	delete keys
	for (k = 1; k <= n[w]; k++) {
		split(event[w, k], f, " ")
		key = symbol(f[1], "(allocated)") "  by  " symbol(f[2], "(module)")
		if (!((key, 0) in sum)) { keys[++m] = key; sum[key, 0] = 0 }
		for (i = 3; i <= 6; i++) { sum[key, i] += f[i]; all[i] += f[i] }
		sum[key, 0] += f[3] + f[5]
	}
	printf "\nRow %d, messages per operation: %.2f (%.2f between nodes)\n", row[w],
		total[w] / ops[w], (all[4] + all[6]) / ops[w]
	printf "%9s %9s %9s %9s  %s\n", "moves", "nodes", "takes", "nodes", "data  by  code"
	for (i = 2; i <= m; i++)
		for (j = i; j > 1 && sum[keys[j], 0] > sum[keys[j - 1], 0]; j--) {
			t = keys[j]; keys[j] = keys[j - 1]; keys[j - 1] = t
		}
	for (i = 1; i <= m; i++)
		printf "%9.2f %9.2f %9.2f %9.2f  %s\n", sum[keys[i], 3] / ops[w], sum[keys[i], 4] / ops[w],
			sum[keys[i], 5] / ops[w], sum[keys[i], 6] / ops[w], keys[i]
	delete all
}
