// The notes that are close to what is being written: to the title, and the paragraph at the cursor.

import { App, HoverParent, MarkdownView } from "obsidian";
import { Api } from "./api";
import { linkToNote } from "./links";
import { text } from "./texts";
import { Passage } from "./types";

const MOST = 6;
const LONGEST = 1000;

export class RelatedNotes {
	private asked = "";
	private view: MarkdownView | null = null;

	constructor(
		private readonly app: App,
		private readonly api: Api,
		private readonly hover: HoverParent,
		private readonly parent: HTMLElement,
	) {}

	/** Look anew, if the note or its paragraph is another one. Failures are left to the line of the state. */
	async look(): Promise<void> {
		const view = this.app.workspace.getActiveViewOfType(MarkdownView) ?? this.view;
		this.view = view?.file && view.containerEl.isConnected ? view : null;
		const file = this.view?.file;
		if (!this.view || !file) {
			this.asked = "";
			this.parent.setText(text("relatedClosed"));
			return;
		}
		const task = `${file.basename}\n${paragraph(this.view)}`.slice(0, LONGEST);
		if (`${file.path}\n${task}` === this.asked) return;
		this.asked = `${file.path}\n${task}`;
		const asked = this.asked;
		const query = { task, limit: String(MOST * 3), all: "true" };
		const { pieces } = await this.api.get<{ pieces: Passage[] }>("/api/v1/recall", query);
		if (asked === this.asked) this.show(pieces.filter((each) => each.path !== file.path));
	}

	/** Let the next look ask, even if nothing was written since. */
	forget(): void {
		this.asked = "";
	}

	private show(passages: Passage[]): void {
		this.parent.empty();
		const best = new Map<string, Passage>();
		for (const each of passages) if (!best.has(each.path)) best.set(each.path, each);
		for (const each of [...best.values()].slice(0, MOST)) {
			const row = this.parent.createDiv({ cls: "vault-agent-related" });
			linkToNote(this.app, this.hover, row.createEl("a", { text: each.title }), each.path, each.lines[0]);
			row.createDiv({ text: each.text.replace(/\s+/g, " ").slice(0, 140), cls: "vault-agent-soft" });
		}
		if (!best.size) this.parent.createDiv({ text: text("relatedNone"), cls: "vault-agent-soft" });
	}
}

/** The lines around the cursor up to the next empty ones. */
function paragraph(view: MarkdownView): string {
	const { editor } = view;
	const at = editor.getCursor().line;
	let [from, to] = [at, at];
	while (from > 0 && editor.getLine(from - 1).trim()) from--;
	while (to < editor.lastLine() && editor.getLine(to + 1).trim()) to++;
	return editor.getRange({ line: from, ch: 0 }, { line: to, ch: editor.getLine(to).length });
}
