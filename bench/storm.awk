# SPDX-License-Identifier: GPL-2.0-only
# What count.so or lines.so saw of bench/storm -> figures of an IPI, sender and receiver:
#
#	awk -v cpus=N -f bench/storm.awk COUNTS LINES
#
# prints: kernel instructions, messages for cache lines, those of them between nodes.
# Modules are left out by the address of their code. Of the windows it is the median, by
# each figure, as a timer's tick may be in some.
function in_module(code) { return code ~ /^c008/ }

FNR == 1 { file++ }
$1 == "window" { a = b = 0; ops = $3; next }
$1 == "end" {
	if (file == 1) {
		insns[++n] = a / ops / cpus
	} else {
		moves[++m] = a / ops / cpus
		nodes[m] = b / ops / cpus
	}
	next
}
file == 1 { if ($2 != "user" && !in_module($2)) a += $3; next }
!in_module($2) { a += $3 + $5; b += $4 + $6 }

function median(v, n,    i, j, t) {
	for (i = 2; i <= n; i++)
		for (j = i; j > 1 && v[j - 1] > v[j]; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
	return v[int((n + 1) / 2)]
}
END {
	if (!n || !m) {
		print "storm.awk: no window" > "/dev/stderr"
		exit 1
	}
	printf "%.1f %.2f %.2f\n", median(insns, n), median(moves, m), median(nodes, m)
}
