// Links to notes in the pane: a click opens the note at its lines, and hovering shows it, as links in notes do.

import { App, HoverParent, Keymap } from "obsidian";
import { text } from "./texts";
import { CitedLines } from "./types";

export const VIEW_TYPE = "vault-agent-pane";

/** Make an element a link to a note, at a line of it (from 1) if one is given. */
export function linkToNote(app: App, parent: HoverParent, element: HTMLElement, note: string, line?: number): void {
	element.addClass("internal-link");
	element.setAttribute("href", "#");
	element.setAttribute("data-href", note);
	const state = line === undefined ? undefined : { eState: { line: line - 1 } };
	element.addEventListener("click", (event) => {
		event.preventDefault();
		void app.workspace.openLinkText(note, "", Keymap.isModEvent(event), state);
	});
	element.addEventListener("mouseover", (event) => {
		app.workspace.trigger("hover-link", {
			event,
			source: VIEW_TYPE,
			hoverParent: parent,
			targetEl: element,
			linktext: note,
			state: line === undefined ? undefined : { scroll: line - 1 },
		});
	});
}

/** The notes that an answer is based on, each a link. */
export function renderReceipts(app: App, hover: HoverParent, parent: HTMLElement, cited: CitedLines[]): void {
	const distinct = new Map(cited.map((each) => [JSON.stringify(each), each]));
	if (!distinct.size) return;
	const list = parent.createDiv({ cls: "vault-agent-receipts" });
	list.createDiv({ text: text("receipts"), cls: "vault-agent-soft" });
	for (const { path, lines } of distinct.values()) {
		const row = list.createDiv();
		linkToNote(app, hover, row.createEl("a", { text: shortName(path) }), path, lines[0]);
		const [from, to] = lines;
		if (from !== undefined)
			row.createSpan({ text: ` ${text("lines", { from, to: to ?? from })}`, cls: "vault-agent-soft" });
	}
}

/** A note's name without its folders and its ending. */
export function shortName(path: string): string {
	return (path.split("/").pop() ?? path).replace(/\.md$/, "");
}
