# SPDX-License-Identifier: GPL-2.0-only
# Figures of tools/bench-ipi, "NAME NODES CPUS INSNS MESSAGES BETWEEN" a line -> a table
# like that of the patches which brought an IPI a node.
{ if (!(($2, $3) in seen)) { seen[$2, $3] = 1; point[++n] = $2 SUBSEP $3 } value[$1, $2, $3] = $4 " " $5 " " $6 }
END {
	columns = split(names, name, " ")
	printf "For one IPI within a node, sender and receiver: messages between CPUs for cache lines\n"
	printf "(of them between nodes), kernel instructions\n\n nodes  cpus   "
	for (c = 1; c <= columns; c++) printf " %-22s", name[c]
	printf "\n --------------"
	for (c = 1; c <= columns; c++) printf "-----------------------"
	printf "\n"
	for (p = 1; p <= n; p++) {
		split(point[p], at, SUBSEP)
		printf " %-5s  0-%-5d", at[1] == last ? "" : at[1], at[1] * at[2] - 1
		last = at[1]
		for (c = 1; c <= columns; c++) {
			if (!((name[c], at[1], at[2]) in value)) {
				printf "  %21s", "not measured"
				continue
			}
			split(value[name[c], at[1], at[2]], v, " ")
			printf "  %6.2f (%4.2f) %7.1f", v[2], v[3], v[1]
		}
		printf "\n"
	}
}
