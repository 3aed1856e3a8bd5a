// The side pane: what waits for the person, the conversation, and the notes related to the open one.

import { HoverParent, HoverPopover, ItemView, Notice, Platform, WorkspaceLeaf } from "obsidian";
import { inAddress, Offline } from "./api";
import { Conversation } from "./conversation";
import { inboxFolder, leaveNote } from "./inbox";
import { linkToNote, shortName, VIEW_TYPE } from "./links";
import type VaultAgentPlugin from "./main";
import { Given, NeedsList } from "./needs";
import { RelatedNotes } from "./related";
import { text } from "./texts";
import { About } from "./types";

export class AgentPane extends ItemView implements HoverParent {
	hoverPopover: HoverPopover | null = null;
	private conversation!: Conversation;
	private needs!: NeedsList;
	private related!: RelatedNotes;
	private state!: HTMLElement;
	private needsTitle!: HTMLElement;
	private chip!: HTMLElement;
	private input!: HTMLTextAreaElement;
	private button!: HTMLButtonElement;
	private about: About | null = null;
	private sending = false;

	constructor(
		leaf: WorkspaceLeaf,
		private readonly plugin: VaultAgentPlugin,
	) {
		super(leaf);
	}

	getViewType(): string {
		return VIEW_TYPE;
	}

	getDisplayText(): string {
		return text("pane");
	}

	getIcon(): string {
		return "message-circle";
	}

	async onOpen(): Promise<void> {
		const root = this.contentEl;
		root.empty();
		root.addClass("vault-agent-pane");
		this.state = root.createDiv({ cls: "vault-agent-state" });
		const needs = root.createEl("details", { cls: "vault-agent-needs", attr: { open: "" } });
		this.needsTitle = needs.createEl("summary", { text: text("needs") });
		const log = root.createDiv({ cls: "vault-agent-log", attr: { role: "log", "aria-live": "polite" } });
		this.compose(root.createDiv({ cls: "vault-agent-compose" }));
		const related = root.createEl("details", { cls: "vault-agent-related-notes", attr: { open: "" } });
		related.createEl("summary", { text: text("related") });

		const { api } = this.plugin;
		this.conversation = new Conversation(this.app, api, this, log, () => this.onRun());
		const decide = (path: string, given: Given): Promise<void> => this.decide(path, given);
		this.needs = new NeedsList(this.app, api, this, needs.createDiv(), decide);
		this.related = new RelatedNotes(this.app, api, this, related.createDiv());
		needs.toggle(!Platform.isMobile);
		related.toggle(!Platform.isMobile);
		await this.showState();
		this.onRun();
		void this.plugin.refresh();
	}

	async onClose(): Promise<void> {
		this.conversation.close();
	}

	/** Begin a question about a note, or about some lines of it. */
	askAbout(about: About): void {
		this.about = about;
		this.showChip();
		this.input.focus();
	}

	/** Show how things are, as the plugin has just read it. */
	async showState(): Promise<void> {
		const { needs, problem } = this.plugin.status;
		const { connection } = this.plugin;
		this.state.empty();
		if (Platform.isMobile) {
			this.state.setText(text("mobile", { folder: await inboxFolder(this.app) }));
			return;
		}
		if (!connection.token) {
			this.state.setText(text("signIn"));
			const open = this.state.createEl("button", { text: text("openSettings") });
			open.addEventListener("click", () => this.plugin.openSettings());
		} else if (problem) {
			this.state.setText(problem);
		}
		if (!needs) return;
		const count = needs.approvals.length + needs.questions.length + needs.others.length;
		this.needsTitle.setText(count ? `${text("needs")} (${count})` : text("needs"));
		this.needs.show(needs);
	}

	/** Look for the notes that are related to what is written. */
	async lookForRelated(again = false): Promise<void> {
		if (Platform.isMobile || !this.plugin.connection.token) return;
		if (again) this.related.forget();
		try {
			await this.related.look();
		} catch {
			this.related.forget(); // the line of the state says what is wrong
		}
	}

	private compose(form: HTMLElement): void {
		this.chip = form.createDiv({ cls: "vault-agent-chip" });
		this.input = form.createEl("textarea", {
			attr: { rows: "3", placeholder: text("placeholder"), "aria-label": text("placeholder") },
		});
		const buttons = form.createDiv({ cls: "vault-agent-buttons" });
		this.button = buttons.createEl("button", { text: text("send"), cls: "mod-cta" });
		const fresh = buttons.createEl("button", { text: text("fresh") });
		this.button.addEventListener("click", () => void (this.conversation.isRunning ? this.stop() : this.send()));
		fresh.addEventListener("click", () => {
			if (!this.conversation.isRunning) this.conversation.clear();
		});
		this.input.addEventListener("keydown", (event) => {
			if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
			event.preventDefault();
			if (!this.conversation.isRunning) void this.send();
		});
		this.showChip();
	}

	private showChip(): void {
		this.chip.empty();
		this.chip.toggle(this.about !== null);
		if (!this.about) return;
		const { path, lines } = this.about;
		const what = lines ? `${shortName(path)}, ${text("lines", { from: lines[0], to: lines[1] })}` : shortName(path);
		this.chip.createSpan({ text: text("about", { what }) });
		const away = this.chip.createEl("button", { text: "×", attr: { "aria-label": text("removeAbout") } });
		away.addEventListener("click", () => {
			this.about = null;
			this.showChip();
		});
	}

	/** What is asked, with the note that it is about by its name: the agent reads the note itself, and knows whose words
	 * are in it. */
	private request(): string {
		const words = this.input.value.trim();
		if (!this.about || !words) return words;
		const { path, lines } = this.about;
		const note = path.replace(/\.md$/, "");
		const about = lines ? text("aboutLines", { note, from: lines[0], to: lines[1] }) : text("aboutNote", { note });
		return `${about}\n\n${words}`;
	}

	private async send(): Promise<void> {
		const request = this.request();
		if (!request || this.sending) return;
		this.sending = true;
		try {
			if (Platform.isMobile) await this.leave(request);
			else await this.begin(request);
		} finally {
			this.sending = false;
		}
	}

	private async begin(request: string): Promise<void> {
		try {
			await this.conversation.ask(request);
		} catch (error) {
			const line = this.conversation.say((error as Error).message);
			await this.plugin.refresh(); // whether it is away, or this device was signed out
			if (!(error instanceof Offline) && this.plugin.connection.token) return;
			const leave = line.createEl("button", { text: text("leaveNote") });
			leave.addEventListener("click", () => void this.leave(request).then(() => leave.remove()));
			return;
		}
		this.clearInput();
	}

	private clearInput(): void {
		this.input.value = "";
		this.about = null;
		this.showChip();
	}

	private async leave(request: string): Promise<void> {
		try {
			const file = await leaveNote(this.app, request);
			this.clearInput();
			const line = this.conversation.say(text("left", { path: file.path }));
			linkToNote(this.app, this, line.createEl("a", { text: shortName(file.path) }), file.path);
		} catch (error) {
			new Notice(text("failed", { why: (error as Error).message }));
		}
	}

	private async stop(): Promise<void> {
		try {
			await this.conversation.stop();
		} catch (error) {
			new Notice(text("failed", { why: (error as Error).message }));
		}
	}

	private async decide(path: string, given: Given): Promise<void> {
		const { api } = this.plugin;
		try {
			let goesOn: string;
			if (this.conversation.waitsFor(path)) {
				goesOn = await this.conversation.answer(given);
			} else {
				const group = given.yes === undefined ? "questions" : "approvals";
				goesOn = (await api.post<{ goes_on: string }>(`/api/v1/${group}/${inAddress(path)}`, given)).goes_on;
			}
			new Notice(text("decided", { on: goesOn === "daemon" ? text("goesOnDaemon") : "" }).trim());
		} catch (error) {
			new Notice(text("failed", { why: (error as Error).message }), 10_000);
		}
		await this.plugin.refresh();
	}

	private onRun(): void {
		const { isRunning } = this.conversation;
		this.button.setText(text(isRunning ? "stop" : "send"));
		this.plugin.setWorking(isRunning);
		if (!isRunning) void this.plugin.refresh();
	}
}
