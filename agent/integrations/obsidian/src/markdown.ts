// An answer as elements. Its words may be a stranger's, so nothing in it is loaded, embedded or run: no HTML, no
// pictures, no blocks of other plugins, which Obsidian's own renderer would carry out.

/** What makes an element a link to a note. */
export type LinkMaker = (element: HTMLElement, note: string) => void;

const INLINE =
	/`([^`\n]+)`|\*\*([^*\n]+)\*\*|\*([^*\n]+)\*|!?\[\[([^\]|\n]+)(?:\|([^\]\n]+))?\]\]|!?\[([^\]\n]*)\]\(([^)\s]+)\)/g;
const ITEM = /^(\s*)(?:[-*+]|(\d{1,9})[.)])\s+(.*)$/;

/** Quotes within each other that are shown as such; deeper ones are shown as they are written. */
const DEEPEST = 8;

/** Append the Markdown of an answer to an element that stands in so many quotes. */
export function renderAnswer(parent: HTMLElement, markdown: string, link: LinkMaker, quotes = 0): void {
	const lines = markdown.replace(/\r\n?/g, "\n").split("\n");
	for (let at = 0; at < lines.length; ) at = block(parent, lines, at, link, quotes);
}

/** Append the block that begins at a line; returns the line after it. */
function block(parent: HTMLElement, lines: string[], at: number, link: LinkMaker, quotes: number): number {
	const line = lines[at] ?? "";
	if (!line.trim()) return at + 1;
	const fence = /^\s*(`{3,}|~{3,})/.exec(line)?.[1];
	if (fence) {
		const end = lines.findIndex((each, number) => number > at && each.trim().startsWith(fence));
		const last = end < 0 ? lines.length : end;
		parent.createEl("pre").createEl("code", { text: lines.slice(at + 1, last).join("\n") });
		return last + 1;
	}
	const heading = /^(#{1,6})\s+(.*)$/.exec(line);
	if (heading) {
		inline(parent.createDiv({ cls: "vault-agent-heading" }), heading[2] ?? "", link);
		return at + 1;
	}
	if (ITEM.test(line)) return list(parent, lines, at, link);
	const taken = (each: string, begin: RegExp): boolean => begin.test(each);
	if (line.startsWith(">")) {
		const end = after(lines, at, (each) => taken(each, /^>/));
		const inner = lines.slice(at, end).map((each) => each.replace(/^>\s?/, ""));
		if (quotes < DEEPEST) renderAnswer(parent.createEl("blockquote"), inner.join("\n"), link, quotes + 1);
		else inline(parent.createEl("p"), inner.join("\n"), link);
		return end;
	}
	if (line.startsWith("|")) {
		const end = after(lines, at, (each) => taken(each, /^\|/));
		table(parent, lines.slice(at, end), link);
		return end;
	}
	const end = after(lines, at, (each) => Boolean(each.trim()) && !/^\s*(`{3,}|~{3,}|#{1,6}\s|>|\|)/.test(each) && !ITEM.test(each));
	inline(parent.createEl("p"), lines.slice(at, Math.max(end, at + 1)).join("\n"), link);
	return Math.max(end, at + 1);
}

function after(lines: string[], at: number, belongs: (line: string) => boolean): number {
	const end = lines.findIndex((each, number) => number >= at && !belongs(each));
	return end < 0 ? lines.length : end;
}

function list(parent: HTMLElement, lines: string[], at: number, link: LinkMaker): number {
	const open: { depth: number; element: HTMLElement }[] = [];
	for (; at < lines.length; at++) {
		const found = ITEM.exec(lines[at] ?? "");
		if (!found) break;
		const depth = (found[1] ?? "").length;
		while (open.length > 1 && depth < (open.at(-1)?.depth ?? 0)) open.pop();
		const last = open.at(-1);
		if (!last || depth > last.depth) {
			const above = (last?.element.lastElementChild as HTMLElement | null) ?? last?.element ?? parent;
			open.push({ depth, element: above.createEl(found[2] ? "ol" : "ul") });
		}
		inline((open.at(-1)?.element ?? parent).createEl("li"), found[3] ?? "", link);
	}
	return at;
}

function table(parent: HTMLElement, rows: string[], link: LinkMaker): void {
	const body = parent.createEl("table");
	for (const [number, row] of rows.entries()) {
		if (/^\|[\s:|-]+\|?$/.test(row)) continue;
		const line = body.createEl("tr");
		for (const cell of row.replace(/^\||\|\s*$/g, "").split("|"))
			inline(line.createEl(number === 0 ? "th" : "td"), cell.trim(), link);
	}
}

function inline(parent: HTMLElement, markdown: string, link: LinkMaker): void {
	let last = 0;
	for (const found of markdown.matchAll(INLINE)) {
		parent.appendText(markdown.slice(last, found.index));
		last = found.index + found[0].length;
		const [whole, code, strong, soft, note, alias, label, target] = found;
		if (code !== undefined) parent.createEl("code", { text: code });
		else if (strong !== undefined) inline(parent.createEl("strong"), strong, link);
		else if (soft !== undefined) inline(parent.createEl("em"), soft, link);
		else if (note !== undefined) link(parent.createEl("a", { text: alias ?? note }), note);
		else if (target !== undefined) address(parent, whole, label ?? "", target, link);
	}
	parent.appendText(markdown.slice(last));
}

/** A Markdown link: to a note, to a page of the web that names its host, or else as it was written. */
function address(parent: HTMLElement, whole: string, label: string, target: string, link: LinkMaker): void {
	const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(target)?.[1]?.toLowerCase();
	if (scheme === undefined && !target.startsWith("//")) {
		link(parent.createEl("a", { text: label || target }), decoded(target));
	} else if ((scheme === "https" || scheme === "http") && URL.canParse(target)) {
		const host = new URL(target).host;
		parent.createEl("a", {
			text: label.includes(host) ? label : `${label} (${host})`,
			cls: "external-link",
			attr: { href: target, rel: "noopener noreferrer", target: "_blank", title: target },
		});
	} else {
		parent.appendText(whole);
	}
}

function decoded(target: string): string {
	try {
		return decodeURIComponent(target);
	} catch {
		return target;
	}
}
