// Undo of the agent's last change of a note: what it was is shown first, and later edits of the person stay.

import { App, Modal, Notice, Setting, TFile } from "obsidian";
import { Api } from "./api";
import { text } from "./texts";
import { LoggedCommit, UndoReport } from "./types";

const HUMAN = "human";
const LOOKED_AT = "50";

/** Ask whether the agent's last change of a note is to be undone; says so if there is none. */
export async function offerUndo(app: App, api: Api, file: TFile): Promise<void> {
	try {
		const query = { path: file.path, limit: LOOKED_AT };
		const found = lastChange((await api.get<{ commits: LoggedCommit[] }>("/api/v1/log", query)).commits);
		if (found) new UndoModal(app, api, found).open();
		else new Notice(text("undoNone"));
	} catch (error) {
		new Notice(text("failed", { why: (error as Error).message }));
	}
}

/** The newest change that is not the person's, no undo, and not undone. */
export function lastChange(commits: LoggedCommit[]): LoggedCommit | undefined {
	const undone = new Set(commits.flatMap((each) => each.undoes));
	return commits.find((each) => each.actor !== HUMAN && !each.undoes.length && !undone.has(each.commit));
}

class UndoModal extends Modal {
	constructor(
		app: App,
		private readonly api: Api,
		private readonly change: LoggedCommit,
	) {
		super(app);
	}

	onOpen(): void {
		const { change, contentEl } = this;
		this.setTitle(text("undoTitle"));
		contentEl.createEl("p", { text: change.subject });
		const when = new Date(change.when).toLocaleString();
		contentEl.createEl("p", { text: text("undoWhen", { when, actor: change.actor }), cls: "vault-agent-soft" });
		contentEl.createDiv({ text: text("undoFiles") });
		const files = contentEl.createEl("ul");
		for (const each of change.files) files.createEl("li", { text: each.path });
		contentEl.createEl("p", { text: text("undoKeeps"), cls: "vault-agent-soft" });
		new Setting(contentEl)
			.addButton((button) => button.setButtonText(text("cancel")).onClick(() => this.close()))
			.addButton((button) =>
				button
					.setButtonText(text("undo"))
					.setCta()
					.onClick(() => {
						button.setDisabled(true);
						void this.undo().finally(() => this.close());
					}),
			);
	}

	onClose(): void {
		this.contentEl.empty();
	}

	private async undo(): Promise<void> {
		try {
			const done = await this.api.post<UndoReport>("/api/v1/undo", { commits: [this.change.commit] });
			const lines = [text("undone", { count: done.files.length })];
			if (done.queued) lines[0] = text("undoQueued", { why: done.queued });
			for (const each of done.refused) lines.push(text("undoRefused", { path: each.path, reason: each.reason }));
			new Notice(lines.join("\n"), 10_000);
		} catch (error) {
			new Notice(text("failed", { why: (error as Error).message }), 10_000);
		}
	}
}
