// The conversation in the pane: what was asked, the answer as it is written, and its receipts.

import { App, HoverParent } from "obsidian";
import { Api, Offline } from "./api";
import { linkToNote, renderReceipts } from "./links";
import { renderAnswer } from "./markdown";
import { text } from "./texts";
import { Following, RunEvent, RunResult, RunState } from "./types";
import { Given } from "./needs";

const TRIES = 5;
const PAUSE = 1000;

export class Conversation {
	private session = "";
	private run = "";
	/** The last run, and the notes in which it waits for the person. */
	private waiting: { run: string; notes: string[] } = { run: "", notes: [] };
	private closed = false;

	/** `changed` is called when a run begins, waits or is over. */
	constructor(
		private readonly app: App,
		private readonly api: Api,
		private readonly hover: HoverParent,
		private readonly log: HTMLElement,
		private readonly changed: () => void,
	) {}

	get isRunning(): boolean {
		return this.run !== "";
	}

	/** Begin a new conversation. */
	clear(): void {
		this.session = "";
		this.waiting = { run: "", notes: [] };
		this.log.empty();
	}

	/** Follow nothing any more; the agent itself goes on. */
	close(): void {
		this.closed = true;
	}

	/** Ask; the answer is followed from then on. Throws if the request was not taken. */
	async ask(task: string): Promise<void> {
		const run = await this.api.post<RunState>("/api/v1/runs", { task, session: this.session });
		this.message("you", task);
		void this.follow(run.id);
	}

	async stop(): Promise<void> {
		if (this.run) await this.api.post(`/api/v1/runs/${encodeURIComponent(this.run)}/cancel`, undefined);
	}

	/** True if the last run here waits for a decision in this note and for nothing else: an answer to a run that waits
	 * for several would not say which it means. */
	waitsFor(note: string): boolean {
		return this.waiting.notes.length === 1 && this.waiting.notes[0] === note;
	}

	/** Decide what the last run waits for; it goes on here if nothing else goes on with it. */
	async answer(given: Given): Promise<string> {
		const { run } = this.waiting;
		const next = await this.api.post<Following>(`/api/v1/runs/${encodeURIComponent(run)}/answer`, given);
		if (next.run) {
			this.waiting = { run: "", notes: [] };
			void this.follow(next.run);
		}
		return next.goes_on;
	}

	/** A sentence of the plugin in the conversation. */
	say(sentence: string): HTMLElement {
		const line = this.log.createDiv({ text: sentence, cls: "vault-agent-remark" });
		line.scrollIntoView({ block: "end" });
		return line;
	}

	private async follow(run: string): Promise<void> {
		this.run = run;
		this.changed();
		const body = this.message("agent", "");
		const live = body.createDiv({ cls: "vault-agent-live" });
		const steps = body.createDiv({ cls: "vault-agent-soft" });
		let [after, failures] = ["0", 0];
		try {
			while (!this.closed) {
				let events: RunEvent[];
				try {
					events = await this.api.events(run, after);
					failures = 0;
				} catch (error) {
					if (!(error instanceof Offline) || ++failures >= TRIES) throw error;
					await new Promise((resolve) => window.setTimeout(resolve, PAUSE));
					continue;
				}
				for (const event of events) {
					after = event.id || after;
					if (this.take(event, body, live, steps)) return;
				}
			}
		} catch (error) {
			const lost = error instanceof Offline ? text("lost") : text("failed", { why: (error as Error).message });
			steps.setText(lost);
		} finally {
			this.run = "";
			this.changed();
		}
	}

	/** Take an event in; true if the run is over. */
	private take(event: RunEvent, body: HTMLElement, live: HTMLElement, steps: HTMLElement): boolean {
		const { data } = event;
		switch (event.name) {
			case "text":
				live.appendText(String(data.text));
				steps.empty();
				break;
			case "step":
				live.empty(); // the text before a call of a tool is not the answer
				break;
			case "tool":
				steps.setText(text("uses", { tool: String(data.tool), subject: String(data.subject) }));
				break;
			case "retry":
				steps.setText(text("retries", { seconds: Math.ceil(Number(data.seconds)) }));
				break;
			case "end":
				body.empty();
				this.finish(body, data as unknown as RunResult);
				return true;
			case "failed":
				steps.setText(text("failed", { why: String(data.reason) }));
				return true;
		}
		live.scrollIntoView({ block: "end" });
		return false;
	}

	private finish(body: HTMLElement, result: RunResult): void {
		this.session = result.session;
		renderAnswer(body, result.answer, (element, note) => linkToNote(this.app, this.hover, element, note));
		if (result.reason)
			body.createEl("p", { text: [result.reason, result.hint].filter(Boolean).join(" · "), cls: "vault-agent-soft" });
		for (const each of result.remarks) body.createEl("p", { text: each, cls: "vault-agent-soft" });
		renderReceipts(this.app, this.hover, body, result.used.length ? result.used : result.sources);
		const notes = [result.waits_for ?? "", ...result.also_waits_for].filter(Boolean);
		this.waiting = { run: this.run, notes };
		if (notes.length) body.createEl("p", { text: text("waits"), cls: "vault-agent-remark" });
		body.scrollIntoView({ block: "end" });
	}

	private message(who: "you" | "agent", words: string): HTMLElement {
		const message = this.log.createDiv({ cls: `vault-agent-message vault-agent-${who}` });
		message.createDiv({ text: text(who), cls: "vault-agent-who" });
		const body = message.createDiv({ text: words, cls: "vault-agent-body" });
		message.scrollIntoView({ block: "end" });
		return body;
	}
}
