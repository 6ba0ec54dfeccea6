# SPDX-License-Identifier: GPL-2.0-only
# Figures of tools/bench-ipi, "NAME NODES CPUS INSNS MESSAGES BETWEEN" a line -> a picture:
# messages for cache lines of one IPI, over nodes and CPUs; in all, and between nodes.
{
	if (!(($2, $3) in x)) { x[$2, $3] = ++n; label[n] = $2 "x" $3 }
	all[$1, x[$2, $3]] = $5
	nodes[$1, x[$2, $3]] = $6
	if ($5 > top) top = $5
}
function px(i) { return 60 + (i - 0.5) * 620 / n }
function py(v) { return 300 - v * 250 / top }
function curve(v, name, dash,    i, points) {
	for (i = 1; i <= n; i++) points = points sprintf("%.1f,%.1f ", px(i), py(v[name, i]))
	printf "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"%s/>\n", points, color, dash
}
END {
	split("#c0392b #7f8c8d #2b6cb0", colors, " ")
	columns = split(names, name, " ")
	print "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"700\" height=\"350\" font-family=\"sans-serif\" font-size=\"12\">"
	print "<!-- SPDX-License-Identifier: GPL-2.0-only -->"
	print "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>"
	print "<text x=\"60\" y=\"20\" font-size=\"14\">Messages for cache lines of one IPI within a node; dashed: between nodes</text>"
	for (v = 0; v <= top; v += 2)
		printf "<line x1=\"60\" x2=\"680\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#ddd\"/><text x=\"50\" y=\"%.1f\" text-anchor=\"end\">%d</text>\n", py(v), py(v), py(v) + 4, v
	for (i = 1; i <= n; i++)
		printf "<text x=\"%.1f\" y=\"318\" text-anchor=\"middle\">%s</text>\n", px(i), label[i]
	print "<text x=\"370\" y=\"338\" text-anchor=\"middle\">nodes x CPUs in each, all of which send</text>"
	for (c = 1; c <= columns; c++) {
		color = colors[(c - 1) % 3 + 1]
		curve(all, name[c], "")
		curve(nodes, name[c], " stroke-dasharray=\"5 4\"")
		printf "<text x=\"%d\" y=\"38\" fill=\"%s\">%s</text>\n", 60 + (c - 1) * 140, color, name[c]
	}
	print "</svg>"
}
