// What waits for the person, each with its buttons. A yes is given to exactly what is shown.

import { App, HoverParent } from "obsidian";
import { Api, inAddress } from "./api";
import { linkToNote, shortName } from "./links";
import { text } from "./texts";
import { Approval, Needs, OtherNeed, Question } from "./types";

/** A decision of the person: a yes or a no, or the words of an answer. */
export interface Given {
	yes?: boolean;
	text?: string;
}

export class NeedsList {
	private shown = "";

	/** `decide` sends a decision, and is told the note that asks. */
	constructor(
		private readonly app: App,
		private readonly api: Api,
		private readonly hover: HoverParent,
		private readonly parent: HTMLElement,
		private readonly decide: (path: string, given: Given) => Promise<void>,
	) {}

	/** Show these; nothing is drawn anew while they are the same, so that a half-typed answer stays. */
	show(needs: Needs): void {
		const key = JSON.stringify(needs);
		if (key === this.shown) return;
		this.shown = key;
		this.parent.empty();
		if (needs.stopped) this.parent.createDiv({ text: needs.stopped, cls: "vault-agent-need" });
		for (const each of needs.approvals) this.approval(each);
		for (const each of needs.questions) this.question(each);
		for (const each of needs.others) this.other(each);
		if (!this.parent.childElementCount)
			this.parent.createDiv({ text: text("needsNothing"), cls: "vault-agent-soft" });
	}

	private row(title: string, path: string | null): HTMLElement {
		const row = this.parent.createDiv({ cls: "vault-agent-need" });
		if (title) row.createDiv({ text: title });
		if (path) linkToNote(this.app, this.hover, row.createEl("a", { text: shortName(path) }), path);
		return row;
	}

	/** What is asked stands there in full before it can be answered. */
	private approval(asked: Approval): void {
		const row = this.row("", asked.path);
		const whole = row.createEl("pre", { text: "…" });
		const buttons = row.createDiv({ cls: "vault-agent-buttons" });
		void this.fill(whole, asked.path).then((isShown) => {
			if (!isShown) return;
			this.button(buttons, text("yes"), () => this.decide(asked.path, { yes: true }), "mod-cta");
			this.button(buttons, text("no"), () => this.decide(asked.path, { yes: false }));
		});
	}

	private async fill(whole: HTMLElement, path: string): Promise<boolean> {
		try {
			whole.setText((await this.api.get<{ text: string }>(`/api/v1/approvals/${inAddress(path)}`)).text);
			return true;
		} catch (error) {
			whole.setText(text("failed", { why: (error as Error).message }));
			this.shown = ""; // the next look tries again
			return false;
		}
	}

	private question(asked: Question): void {
		const row = this.row(asked.question, asked.path);
		const buttons = row.createDiv({ cls: "vault-agent-buttons" });
		for (const option of asked.options)
			this.button(buttons, option, () => this.decide(asked.path, { text: option }));
		const form = row.createDiv({ cls: "vault-agent-buttons" });
		const words = form.createEl("input", {
			type: "text",
			attr: { placeholder: text("answerPlaceholder"), "aria-label": text("answerPlaceholder") },
		});
		this.button(form, text("answer"), async () => {
			if (words.value.trim()) await this.decide(asked.path, { text: words.value.trim() });
		});
	}

	private other(need: OtherNeed): void {
		const row = this.row(need.title, need.path);
		if (need.command) row.createDiv({ text: text("helps", { command: need.command }), cls: "vault-agent-soft" });
	}

	/** A button that can be pressed once until its deed is done. */
	private button(parent: HTMLElement, label: string, deed: () => Promise<void>, cls = ""): void {
		const made = parent.createEl("button", { text: label, cls });
		made.addEventListener("click", () => {
			made.disabled = true;
			void deed().finally(() => {
				made.disabled = false;
			});
		});
	}
}
